//! Idempotency keys: requests that can safely be sent again.
//!
//! A key is reserved before the work starts, for a minute at a time. The reply is written in the transaction that does
//! the work, so a crash between the two cannot do it twice. A reservation whose process died becomes free at the next
//! start of an embedded service, or 15 s later in a fleet; one that expires becomes free in any case. The same request
//! can take it over.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use fanfare_entities::{Millis, UserId, WorkspaceId, idempotency_key, membership};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, sea_query::Expr,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::{
    Domain, Reply,
    access::Caller,
    db::statement,
    error::{Code, Error, Result},
    processes,
    rows::{Columns, Rows, Type},
};

/// The lease of a reservation, in ms.
pub const LEASE: Millis = 60_000;

/// The interval of its renewal while the work runs: a third of the lease.
const RENEWAL: Duration = Duration::from_secs(20);

/// The time for which a reply is kept, in ms.
pub const RETENTION: Millis = 24 * 3_600_000;

/// The longest wait that a caller gets while the request still runs, in ms.
const MAX_WAIT: Millis = 1_000;

const SECRETS: &str = "idempotency_keys";

/// The owner of a set of keys: a user in a workspace, whichever API key the user sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner(Uuid);

impl Owner {
    /// Returns the owner of a user's keys in a workspace.
    #[must_use]
    pub fn of(person: UserId, workspace: WorkspaceId) -> Self {
        Self::hashed(b"fanfare idempotency\n", &[person.0.as_bytes(), workspace.0.as_bytes()])
    }

    /// Returns the owner of keys that callers without an API key send from an address.
    #[must_use]
    pub fn of_address(address: &str) -> Self {
        Self::hashed(b"fanfare idempotency of addresses\n", &[address.as_bytes()])
    }

    fn hashed(purpose: &[u8], parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        hash.update(purpose);
        for part in parts {
            hash.update(part);
        }
        let digest = hash.finalize();
        let mut bytes = [0_u8; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// Returns the id of the owner in the table.
    #[must_use]
    pub const fn id(self) -> Uuid {
        self.0
    }
}

/// A key that this request has reserved.
#[derive(Debug, Clone)]
pub struct Reservation {
    owner: Owner,
    key: String,
    print: String,
    holder: Uuid,
    settled: Arc<AtomicBool>,
}

/// The result of reserving a key.
#[derive(Debug, Clone)]
pub enum ReserveOutcome {
    /// The key is reserved for this request, which does the work.
    Acquired(Reservation),
    /// The work was done before; this was the reply.
    Replay(Reply),
}

/// Returns the SHA-256 over everything that makes two requests the same. Bodies are the same if their canonical forms
/// (RFC 8785) are: the order of keys, white space and the spelling of numbers do not matter.
#[must_use]
pub fn fingerprint(method: &str, path: &str, body: Option<&Value>) -> String {
    // A parsed body has text keys and finite numbers, so that it always has a canonical form.
    let canonical = body.map(|body| serde_json_canonicalizer::to_vec(body).unwrap_or_default());
    let mut hash = Sha256::new();
    for part in [method.as_bytes(), path.as_bytes(), &canonical.unwrap_or_default()] {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the reply that the caller got to the same request before, in a workspace that the caller is still in. This
/// comes before the lookup of resources that the request names, which may be gone by now.
///
/// # Errors
/// The database's.
pub async fn stored_reply(
    cx: &Domain,
    caller: &Caller,
    key: &str,
    print: &str,
) -> Result<Option<Reply>> {
    let stored = stored(cx, caller, [key]).await?;
    match stored.iter().find(|row| row.fingerprint == print) {
        Some(row) => replay(cx, row.status.unwrap_or_default(), row).await.map(Some),
        None => Ok(None),
    }
}

/// Returns true if a reply is stored for each of these keys and fingerprints.
///
/// # Errors
/// The database's.
pub async fn are_stored(
    cx: &Domain,
    caller: &Caller,
    requests: &[(String, String)],
) -> Result<bool> {
    let stored = stored(cx, caller, requests.iter().map(|(key, _)| key.as_str())).await?;
    Ok(requests
        .iter()
        .all(|(key, print)| stored.iter().any(|row| row.key == *key && row.fingerprint == *print)))
}

/// Returns the stored replies with one of these keys, in the workspaces that the caller is in.
async fn stored(
    cx: &Domain,
    caller: &Caller,
    keys: impl IntoIterator<Item = &str>,
) -> Result<Vec<idempotency_key::Model>> {
    let mut memberships = membership::Entity::find()
        .select_only()
        .column(membership::Column::WorkspaceId)
        .filter(membership::Column::UserId.eq(caller.user_id));
    if let Some(own) = caller.key_workspace {
        memberships = memberships.filter(membership::Column::WorkspaceId.eq(own));
    }
    let memberships: Vec<WorkspaceId> = memberships.into_tuple().all(&cx.db.read).await?;
    let owners = memberships.into_iter().map(|workspace| Owner::of(caller.user_id, workspace).0);
    let rows = idempotency_key::Entity::find()
        .filter(idempotency_key::Column::OwnerId.is_in(owners))
        .filter(idempotency_key::Column::Key.is_in(keys))
        .filter(idempotency_key::Column::CreatedAt.gte(cx.clock.now() - RETENTION))
        .filter(idempotency_key::Column::Status.is_not_null());
    Ok(rows.all(&cx.db.read).await?)
}

/// Reserves a key.
///
/// # Errors
/// [`Code::IdempotencyMismatch`] if it was used for another request, [`Code::IdempotencyInProgress`] while the first
/// one still runs.
pub async fn reserve(cx: &Domain, owner: Owner, key: &str, print: &str) -> Result<ReserveOutcome> {
    let holder = Uuid::now_v7();
    let (key, print) = (key.to_owned(), print.to_owned());
    let mine = Reservation { owner, key, print, holder, settled: Arc::default() };
    // At most twice: an expired reply is removed, and the key is reserved again.
    for _ in 0..2 {
        if mine.insert(cx).await? {
            return Ok(ReserveOutcome::Acquired(mine));
        }
        let Some(row) = mine.find(cx).await? else { continue };
        let now = cx.clock.now();
        if row.created_at + RETENTION < now {
            mine.remove(cx, row.holder).await?;
            continue;
        }
        if row.fingerprint != mine.print {
            return Err(Error::new(
                Code::IdempotencyMismatch,
                "This Idempotency-Key was used for another request.",
            ));
        }
        if let Some(status) = row.status {
            return replay(cx, status, &row).await.map(ReserveOutcome::Replay);
        }
        let free_in = retry_in(cx, &row, now).await?;
        if free_in <= 0 && mine.take_over(cx, &row).await? {
            return Ok(ReserveOutcome::Acquired(mine));
        }
        return Err(in_progress(free_in));
    }
    Err(in_progress(MAX_WAIT))
}

fn in_progress(wait: Millis) -> Error {
    let message = "A request with this Idempotency-Key is still running.";
    let seconds = u64::try_from(wait).unwrap_or_default().div_ceil(1_000).max(1);
    Error::new(Code::IdempotencyInProgress, message).with_retry_after(seconds)
}

/// Returns after how many ms the caller should retry; 0 if the holder is dead. While the holder seems to be alive it
/// may answer at any moment.
async fn retry_in(cx: &Domain, row: &idempotency_key::Model, now: Millis) -> Result<Millis> {
    let lapses_in = row.lease_until - now;
    if lapses_in <= 0 {
        return Ok(0);
    }
    match row.process_id {
        Some(process) if process == cx.process => Ok(MAX_WAIT),
        Some(process) if cx.db.is_postgres() => {
            let held_at = row.lease_until - LEASE;
            let seen_at = processes::last_seen(cx, process).await?.unwrap_or(held_at).max(held_at);
            let silent_for = now - seen_at;
            let dead_in = processes::DEAD_AFTER - silent_for;
            Ok(if silent_for < processes::SUSPICIOUS_AFTER {
                MAX_WAIT
            } else {
                lapses_in.min(dead_in)
            })
        }
        _ => Ok(lapses_in),
    }
}

/// Frees all reservations. Only valid at the start of the only process of the service.
///
/// # Errors
/// The database's.
pub async fn free_all(cx: &Domain) -> Result<u64> {
    let held =
        idempotency_key::Entity::delete_many().filter(idempotency_key::Column::Status.is_null());
    Ok(held.exec(&cx.db.write).await?.rows_affected)
}

async fn replay(cx: &Domain, status: i32, row: &idempotency_key::Model) -> Result<Reply> {
    let body = match (row.secret_id, &row.body) {
        (Some(secret), _) => {
            let opened = cx.vault.open(&cx.db.read, SECRETS, secret).await?.unwrap_or_default();
            String::from_utf8(opened).map_err(Error::internal)?
        }
        (None, body) => body.clone().unwrap_or_default(),
    };
    let status = u16::try_from(status).map_err(Error::internal)?;
    let mut reply = Reply::from_json(body).with_status(status);
    (reply.secret, reply.replayed) = (row.secret_id.is_some(), true);
    Ok(reply)
}

/// Stores the replies to requests, on the connection of the transaction that does their work.
///
/// # Errors
/// [`Code::IdempotencyInProgress`] if another request has taken over one of the keys: the transaction must not commit.
pub async fn settle<C: ConnectionTrait, T>(
    cx: &Domain,
    conn: &C,
    answers: &[(&Reservation, &Reply<T>)],
) -> Result<()> {
    const COLUMNS: Columns = &[
        ("owner_id", Type::Uuid),
        ("key", Type::Text),
        ("holder", Type::Uuid),
        ("status", Type::Int),
        ("body", Type::Text),
        ("secret_id", Type::Uuid),
    ];
    if answers.is_empty() {
        return Ok(());
    }
    let mut rows = Rows::new(conn, COLUMNS);
    for (reservation, reply) in answers {
        let body = reply.body();
        let secret = if reply.secret {
            Some(cx.vault.store(conn, SECRETS, body.as_bytes(), cx.clock.now()).await?)
        } else {
            None
        };
        rows.push([
            reservation.owner.0.into(),
            (&reservation.key).into(),
            reservation.holder.into(),
            i32::from(reply.status).into(),
            secret.is_none().then_some(body).into(),
            secret.map(|id| id.0).into(),
        ]);
    }
    let sql = format!(
        "UPDATE idempotency_keys SET status = new.status, body = new.body, secret_id = new.secret_id \
         FROM {} WHERE idempotency_keys.owner_id = new.owner_id AND idempotency_keys.key = new.key \
         AND idempotency_keys.holder = new.holder AND idempotency_keys.status IS NULL",
        rows.from("new", 1)
    );
    let settled = conn.execute_raw(statement(conn, sql, rows.values())).await?;
    if settled.rows_affected() != answers.len() as u64 {
        let message = "Another request with this Idempotency-Key has taken over.";
        return Err(Error::new(Code::IdempotencyInProgress, message).with_retry_after(1));
    }
    for (reservation, _) in answers {
        reservation.settled.store(true, Ordering::Relaxed);
    }
    Ok(())
}

impl Reservation {
    /// Returns a name that no other request has.
    pub fn name(&self) -> String {
        format!("{}\n{}\n{}", self.owner.0, self.key, self.print)
    }

    async fn insert(&self, cx: &Domain) -> Result<bool> {
        let conn = &cx.db.write;
        let now = cx.clock.now();
        let sql = "INSERT INTO idempotency_keys \
             (owner_id, key, holder, fingerprint, lease_until, created_at, process_id) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (owner_id, key) DO NOTHING";
        let values = [
            self.owner.0.into(),
            self.key.as_str().into(),
            self.holder.into(),
            self.print.as_str().into(),
            (now + LEASE).into(),
            now.into(),
            cx.process.into(),
        ];
        Ok(conn.execute_raw(statement(conn, sql, values)).await?.rows_affected() == 1)
    }

    async fn find(&self, cx: &Domain) -> Result<Option<idempotency_key::Model>> {
        let id = (self.owner.0, self.key.clone());
        Ok(idempotency_key::Entity::find_by_id(id).one(&cx.db.write).await?)
    }

    async fn remove(&self, cx: &Domain, holder: Uuid) -> Result<()> {
        idempotency_key::Entity::delete_by_id((self.owner.0, self.key.clone()))
            .filter(idempotency_key::Column::Holder.eq(holder))
            .exec(&cx.db.write)
            .await?;
        Ok(())
    }

    /// Takes a reservation over from its holder, unless that has renewed it since it was read.
    async fn take_over(&self, cx: &Domain, read: &idempotency_key::Model) -> Result<bool> {
        let now = cx.clock.now();
        let taken = idempotency_key::Entity::update_many()
            .col_expr(idempotency_key::Column::Holder, Expr::value(self.holder))
            .col_expr(idempotency_key::Column::LeaseUntil, Expr::value(now + LEASE))
            .col_expr(idempotency_key::Column::ProcessId, Expr::value(cx.process))
            .filter(self.held_by(read.holder))
            .filter(idempotency_key::Column::LeaseUntil.eq(read.lease_until))
            .exec(&cx.db.write)
            .await?;
        Ok(taken.rows_affected == 1)
    }

    /// Renews the reservation for another minute.
    ///
    /// # Errors
    /// The database's.
    async fn renew(&self, cx: &Domain) -> Result<()> {
        idempotency_key::Entity::update_many()
            .col_expr(idempotency_key::Column::LeaseUntil, Expr::value(cx.clock.now() + LEASE))
            .filter(self.held_by(self.holder))
            .exec(&cx.db.write)
            .await?;
        Ok(())
    }

    /// Keeps the key reserved until the returned handle is dropped. This runs in a task of its own, because on SQLite a
    /// renewal waits for the connection that the work holds.
    pub fn keep_renewed(&self, cx: &Domain) -> AbortOnDropHandle<()> {
        let (reservation, cx) = (self.clone(), cx.clone());
        AbortOnDropHandle::new(tokio::spawn(async move {
            loop {
                tokio::time::sleep(RENEWAL).await;
                if let Err(error) = reservation.renew(&cx).await {
                    tracing::warn!(%error, "a reserved key was not renewed");
                }
            }
        }))
    }

    /// Returns true once a reply was stored, though perhaps not committed yet.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Relaxed)
    }

    /// Frees the key without a reply, so that the same request can be sent again; nothing is stored under it any more.
    ///
    /// # Errors
    /// The database's; then the reservation expires.
    pub async fn abandon(&self, cx: &Domain) -> Result<()> {
        idempotency_key::Entity::delete_many()
            .filter(self.held_by(self.holder))
            .exec(&cx.db.write)
            .await?;
        self.settled.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the condition for the row while this holder has it without a reply.
    fn held_by(&self, holder: Uuid) -> sea_orm::Condition {
        sea_orm::Condition::all()
            .add(idempotency_key::Column::OwnerId.eq(self.owner.0))
            .add(idempotency_key::Column::Key.eq(self.key.as_str()))
            .add(idempotency_key::Column::Holder.eq(holder))
            .add(idempotency_key::Column::Status.is_null())
    }
}
