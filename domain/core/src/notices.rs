//! Notices of rows that have changed, for the requests that wait for them: ended imports, signups, and
//! changes on networks.
//!
//! Within a process they are sent after the commit. Between processes PostgreSQL delivers them with the commit
//! (`LISTEN`, `NOTIFY`). A notice may be lost with a connection, so a waiting request also reads the row now and then.

use std::time::Duration;

use fanfare_entities::{AssetId, OutgoingId, SignupId};
use sea_orm::{
    ConnectionTrait, DbErr,
    sqlx::{
        self,
        postgres::{PgConnectOptions, PgListener, PgPoolOptions},
    },
};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{Domain, db};

/// PostgreSQL's name of the channel; a notice's payload names the row.
const CHANNEL: &str = "fanfare_notices";

/// The number of notices that a slow request may be behind before it reads the row itself.
const CAPACITY: usize = 1_024;

/// The pause before a lost connection to PostgreSQL is tried again.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// A row that requests wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// A file that is copied.
    Import(AssetId),
    /// A signup.
    Signup(SignupId),
    /// A change on a network.
    Outgoing(OutgoingId),
}

impl Awaited {
    fn payload(self) -> String {
        match self {
            Self::Import(id) => format!("import {}", id.0),
            Self::Signup(id) => format!("signup {}", id.0),
            Self::Outgoing(id) => format!("outgoing {}", id.0),
        }
    }

    fn parse(payload: &str) -> Option<Self> {
        let (kind, id) = payload.split_once(' ')?;
        match kind {
            "import" => id.parse().ok().map(|id| Self::Import(AssetId(id))),
            "signup" => id.parse().ok().map(|id| Self::Signup(SignupId(id))),
            "outgoing" => id.parse().ok().map(|id| Self::Outgoing(OutgoingId(id))),
            _ => None,
        }
    }
}

/// Passes notices to the waiting requests of this process.
#[derive(Debug)]
pub struct Notices {
    changed: broadcast::Sender<Awaited>,
    stop: CancellationToken,
    _stops: DropGuard,
}

impl Default for Notices {
    fn default() -> Self {
        let stop = CancellationToken::new();
        Self { changed: broadcast::Sender::new(CAPACITY), _stops: stop.clone().drop_guard(), stop }
    }
}

impl Notices {
    /// Returns the notices from now on. Must be called before the row is first read.
    #[must_use]
    pub fn subscribe(&self) -> Subscription {
        Subscription(self.changed.subscribe())
    }

    /// Notifies this process that a row has changed; called after the commit.
    pub fn notify(&self, row: Awaited) {
        // Sending fails if no request waits, which is fine.
        let _ = self.changed.send(row);
    }
}

/// The notices that one request receives.
#[derive(Debug)]
pub struct Subscription(broadcast::Receiver<Awaited>);

impl Subscription {
    /// Waits until a row may have changed: its notice has come, or some notices were missed.
    pub async fn wait_for(&mut self, row: Awaited) {
        loop {
            match self.0.recv().await {
                Ok(changed) if changed != row => {}
                Ok(_) | Err(RecvError::Lagged(_)) => return,
                // The service is stopping; the caller's timeout decides.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// Notifies the other processes: with the commit if `conn` is a transaction, else at once.
pub async fn notify_other_processes<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    row: Awaited,
) -> Result<(), DbErr> {
    if cx.db.is_postgres() {
        let sql = "SELECT pg_notify($1, $2)";
        let values = [CHANNEL.into(), row.payload().into()];
        let _ = conn.query_one_raw(db::statement(conn, sql, values)).await?;
    }
    Ok(())
}

/// Notifies all processes of a change that is committed. One that is not heard costs a wait of some seconds.
pub async fn announce(cx: &Domain, row: Awaited) {
    cx.notices.notify(row);
    if let Err(error) = notify_other_processes(cx, &cx.db.write, row).await {
        tracing::debug!(%error, "a notice was not sent");
    }
}

/// Listens for notices of other processes until the last clone of `cx` is dropped. On SQLite there are no other
/// processes.
pub fn listen(cx: &Domain) {
    if !cx.db.is_postgres() {
        return;
    }
    let server = cx.db.write.get_postgres_connection_pool().connect_options();
    let (changed, stop) = (cx.notices.changed.clone(), cx.notices.stop.clone());
    tokio::spawn(stop.run_until_cancelled_owned(async move {
        loop {
            let Err(error) = forward(&server, &changed).await;
            tracing::debug!(%error, "notices are not heard; requests look for themselves");
            tokio::time::sleep(RECONNECT_DELAY).await;
        }
    }));
}

/// Listens on a connection of its own, which does not count against those of requests.
async fn forward(
    server: &PgConnectOptions,
    changed: &broadcast::Sender<Awaited>,
) -> Result<std::convert::Infallible, sqlx::Error> {
    let one = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
    let mut listener = PgListener::connect_with(&one.connect_with(server.clone()).await?).await?;
    listener.listen(CHANNEL).await?;
    loop {
        let notice = listener.recv().await?;
        if let Some(row) = Awaited::parse(notice.payload()) {
            let _ = changed.send(row);
        }
    }
}
