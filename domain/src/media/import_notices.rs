//! Notices of ended imports, for the requests that wait for them.
//!
//! Within a process they are sent after the commit. Between processes PostgreSQL delivers them with the commit
//! (`LISTEN`, `NOTIFY`). A notice may be lost with a connection, so a waiting request also reads the row now and then.

use std::time::Duration;

use fanfare_entities::AssetId;
use sea_orm::{
    ConnectionTrait, DbErr,
    sqlx::{
        self,
        postgres::{PgConnectOptions, PgListener, PgPoolOptions},
    },
};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{Domain, Tx, db};

/// PostgreSQL's name of the channel; a notice's payload is the id of the asset.
const CHANNEL: &str = "fanfare_imports";

/// The number of notices that a slow request may be behind before it reads the row itself.
const CAPACITY: usize = 1_024;

/// The pause before a lost connection to PostgreSQL is tried again.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// Passes notices to the waiting requests of this process.
#[derive(Debug)]
pub struct ImportNotices {
    ended: broadcast::Sender<AssetId>,
    stop: CancellationToken,
    _stops: DropGuard,
}

impl Default for ImportNotices {
    fn default() -> Self {
        let stop = CancellationToken::new();
        Self { ended: broadcast::Sender::new(CAPACITY), _stops: stop.clone().drop_guard(), stop }
    }
}

impl ImportNotices {
    /// Returns the notices from now on. Must be called before the row is first read.
    #[must_use]
    pub fn subscribe(&self) -> Subscription {
        Subscription(self.ended.subscribe())
    }

    /// Notifies this process that an import has ended; called after the commit.
    pub(super) fn notify(&self, id: AssetId) {
        // Sending fails if no request waits, which is fine.
        let _ = self.ended.send(id);
    }
}

/// The notices that one request receives.
#[derive(Debug)]
pub struct Subscription(broadcast::Receiver<AssetId>);

impl Subscription {
    /// Waits until an import may have ended: its notice has come, or some notices were missed.
    pub async fn wait_for(&mut self, id: AssetId) {
        loop {
            match self.0.recv().await {
                Ok(ended) if ended != id => {}
                Ok(_) | Err(RecvError::Lagged(_)) => return,
                // The service is stopping; the caller's timeout decides.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// Notifies the other processes, with the commit of this transaction.
pub(super) async fn notify_other_processes(tx: &Tx, id: AssetId) -> Result<(), DbErr> {
    if tx.domain().db.is_postgres() {
        let sql = "SELECT pg_notify($1, $2)";
        let values = [CHANNEL.into(), id.0.to_string().into()];
        let _ = tx.conn().query_one_raw(db::statement(tx.conn(), sql, values)).await?;
    }
    Ok(())
}

/// Listens for notices of other processes until the last clone of `cx` is dropped. On SQLite there are no other
/// processes.
pub fn listen(cx: &Domain) {
    if !cx.db.is_postgres() {
        return;
    }
    let server = cx.db.write.get_postgres_connection_pool().connect_options();
    let (ended, stop) = (cx.import_notices.ended.clone(), cx.import_notices.stop.clone());
    tokio::spawn(stop.run_until_cancelled_owned(async move {
        loop {
            let Err(error) = forward(&server, &ended).await;
            tracing::debug!(%error, "notices of imports are not heard; requests look for themselves");
            tokio::time::sleep(RECONNECT_DELAY).await;
        }
    }));
}

/// Listens on a connection of its own, which does not count against those of requests.
async fn forward(
    server: &PgConnectOptions,
    ended: &broadcast::Sender<AssetId>,
) -> Result<std::convert::Infallible, sqlx::Error> {
    let one = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
    let mut listener = PgListener::connect_with(&one.connect_with(server.clone()).await?).await?;
    listener.listen(CHANNEL).await?;
    loop {
        let notice = listener.recv().await?;
        if let Ok(id) = notice.payload().parse() {
            let _ = ended.send(AssetId(id));
        }
    }
}
