//! Changes on networks other than posts, each of which must happen once: a row with a ledger, which a worker carries out.
//! The request that asks for one waits for its outcome.

mod business_target;
mod failure;
mod photo;
mod statements;
mod target;

use std::time::Duration;

use fanfare_core::{
    Act, Domain, Tx, batches,
    clock::to_rfc3339,
    durable,
    error::{Code, Error, Result, refusal::RefusalDetails},
    idempotency,
    notices::Awaited,
};
use fanfare_entities::{
    AccountId, Millis, WorkspaceId, outgoing, outgoing::Column, outgoing::OutgoingStatus,
};
use fanfare_jobs::JobKind;
use fanfare_platforms::RemoteChange;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, Condition, ConnectionTrait, EntityTrait, ExprTrait, QueryFilter,
    sea_query::Expr,
};
use serde_json::json;
use sha2::{Digest, Sha256};

pub(crate) use failure::error;
pub use failure::{failure_json, from_error, from_refusal};
pub use photo::{FittedPhoto, fit_photo};
pub use statements::{begin_step, complete, defer, save_change, save_progress};
pub use target::{OutgoingOutcome, OutgoingTarget};

/// The time for which a request waits for its change.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The interval at which a waiting request looks at its change although no notice came.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// The times before and after its creation in which a message can have been made on its network, by the network's
/// clock, in ms.
const MADE_WITHIN: (Millis, Millis) = (10 * 60_000, 2 * 3_600_000);

/// The time in which the same change is refused as a duplicate, in ms.
const DUPLICATE_WINDOW: Millis = 60_000;

/// A change to be carried out.
pub(crate) struct NewOutgoing {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The row that it creates or changes.
    pub target: OutgoingTarget,
    /// The thing that it answers.
    pub scope: String,
    /// The change.
    pub change: RemoteChange,
}

/// Returns the hash of a change's content, without our own marks, which differ.
fn fingerprint(change: &RemoteChange) -> String {
    let mut change = change.clone();
    if let RemoteChange::Message { mark, human_agent, .. } = &mut change {
        mark.clear();
        *human_agent = false;
    }
    hash(&json!(change).to_string())
}

pub(crate) fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Fails if the same change may be on its way already. The row that it answers must be locked.
///
/// # Errors
/// [`Code::DuplicateRisk`].
pub(crate) async fn refuse_duplicate<C: ConnectionTrait>(
    act: &Act,
    conn: &C,
    scope: &str,
    change: &RemoteChange,
) -> Result<()> {
    let now = act.cx.clock.now();
    let same = outgoing::Entity::find()
        .filter(Column::Scope.eq(scope))
        .filter(Column::Fingerprint.eq(fingerprint(change)))
        .filter(Column::Status.ne(OutgoingStatus::Failed))
        .all(conn)
        .await?;
    // People say the same again in a conversation, but not to the same comment: a key does not mean that it is meant.
    let is_once = matches!(change, RemoteChange::Reply { .. });
    let keyed = act.reservation.is_some();
    let blocks = |row: &outgoing::Model| match row.status {
        OutgoingStatus::Sending | OutgoingStatus::Unknown => true,
        OutgoingStatus::Sent if is_once => true,
        OutgoingStatus::Sent => !keyed && row.updated_at > now - DUPLICATE_WINDOW,
        OutgoingStatus::Failed => false,
    };
    let mut standing = Vec::new();
    for row in same.iter().filter(|row| blocks(row)) {
        if !(is_once && target::is_deleted(conn, row).await?) {
            standing.push(row);
        }
    }
    let Some(sent) = standing.first() else { return Ok(()) };
    if is_once && sent.status == OutgoingStatus::Sent {
        let at = to_rfc3339(sent.updated_at);
        let message = format!(
            "The same answer to this comment was sent at {at}: sending it again shows it twice."
        );
        let remedy = "Look at the comment's replies; to send it once more, repeat with `acknowledge_duplicate_risk: true`.";
        let details = RefusalDetails { remedy: Some(remedy.to_owned()), ..Default::default() };
        return Err(Error::new(Code::DuplicateRisk, message).with_details(details));
    }
    let message =
        "The same was sent a moment ago, or may have been: sending it again may show it twice.";
    Err(Error::new(Code::DuplicateRisk, message))
}

/// Returns the changes of this that are on their way. To rely on it, the row that they are about must be locked.
///
/// # Errors
/// The database's.
pub(crate) async fn open_changes<C: ConnectionTrait>(
    conn: &C,
    target: OutgoingTarget,
) -> Result<Vec<outgoing::Model>> {
    let (target, id) = target.stored();
    let open = outgoing::Entity::find()
        .filter(Column::Target.eq(target))
        .filter(Column::TargetId.eq(id))
        .filter(Column::DueAt.is_not_null());
    Ok(open.all(conn).await?)
}

/// Fails because another change of the same is on its way.
pub(crate) fn is_on_its_way() -> Error {
    let message = "A change of this is on its way; wait until its outcome is known.";
    let remedy = "Read it until its outcome is known, then send this again.";
    let details = RefusalDetails { remedy: Some(remedy.to_owned()), ..Default::default() };
    Error::new(Code::DuplicateRisk, message).with_details(details)
}

/// Fails if another change of the same scope is open. The row that it is about must be locked.
///
/// # Errors
/// [`Code::DuplicateRisk`].
pub(crate) async fn refuse_open<C: ConnectionTrait>(conn: &C, scope: &str) -> Result<()> {
    let open = outgoing::Entity::find()
        .filter(Column::Scope.eq(scope))
        .filter(Column::DueAt.is_not_null())
        .one(conn)
        .await?;
    open.map_or(Ok(()), |_| Err(is_on_its_way()))
}

/// Returns true if a change of one of these scopes was carried out.
///
/// # Errors
/// The database's.
pub(crate) async fn was_sent(cx: &Domain, scopes: impl Iterator<Item = String>) -> Result<bool> {
    let sent = outgoing::Entity::find()
        .filter(Column::Scope.is_in(scopes))
        .filter(Column::Status.eq(OutgoingStatus::Sent));
    Ok(sent.one(&cx.db.read).await?.is_some())
}

/// Returns the change that the same request with the same `Idempotency-Key` recorded before and never answered. One that
/// failed, or that is older than its key, gives the key back: the request is carried out again.
///
/// # Errors
/// The database's.
pub(crate) async fn find_by_request(act: &Act) -> Result<Option<outgoing::Model>> {
    let Some(key) = dedup_key(act) else { return Ok(None) };
    let is_over = Condition::any()
        .add(Column::Status.eq(OutgoingStatus::Failed))
        .add(Column::CreatedAt.lt(act.cx.clock.now() - idempotency::RETENTION));
    outgoing::Entity::update_many()
        .col_expr(Column::DedupKey, Expr::value(None::<String>))
        .filter(Column::DedupKey.eq(&key))
        .filter(is_over)
        .exec(&act.cx.db.write)
        .await?;
    let found = outgoing::Entity::find().filter(Column::DedupKey.eq(key));
    Ok(found.one(&act.cx.db.write).await?)
}

fn dedup_key(act: &Act) -> Option<String> {
    act.reservation.as_ref().map(|reservation| hash(&reservation.name()))
}

/// Inserts a change, due at once.
///
/// # Errors
/// The database's.
pub(crate) async fn insert(act: &Act, tx: &mut Tx, new: NewOutgoing) -> Result<outgoing::Model> {
    let now = tx.now();
    let (target, target_id) = new.target.stored();
    let row = outgoing::ActiveModel {
        workspace_id: Set(new.workspace_id),
        account_id: Set(new.account_id),
        target: Set(target.to_owned()),
        target_id: Set(target_id),
        scope: Set(new.scope),
        fingerprint: Set(fingerprint(&new.change)),
        dedup_key: Set(dedup_key(act)),
        change: Set(json!(new.change)),
        status: Set(OutgoingStatus::Sending),
        steps: Set(json!([])),
        repeated: Set(0),
        request_id: Set(act.request_id.clone()),
        due_at: Set(Some(now)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let row = outgoing::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    tx.enqueue(JobKind::SendOutgoing, row.workspace_id, row.id.0, now);
    Ok(row)
}

/// Commits a change that this request has recorded, and waits until a worker has carried it out or put it off, for ten
/// seconds at most; after that it continues without the request.
///
/// # Errors
/// The database's.
pub(crate) async fn commit_and_wait(tx: Tx, row: outgoing::Model) -> Result<outgoing::Model> {
    let (cx, id) = (tx.domain().clone(), row.id);
    let mut notices = cx.notices.subscribe();
    tx.commit().await?;
    let until = tokio::time::Instant::now() + REQUEST_TIMEOUT;
    loop {
        // A notice may have been lost.
        let look = until.min(tokio::time::Instant::now() + LOOK_INTERVAL);
        let _ = tokio::time::timeout_at(look, notices.wait_for(Awaited::Outgoing(id))).await;
        let row = outgoing::Entity::find_by_id(id).one(&cx.db.write).await?;
        let row = row.ok_or_else(|| Error::internal("a change is gone"))?;
        if rests(&row, cx.clock.now()) || tokio::time::Instant::now() >= until {
            return Ok(row);
        }
    }
}

/// Returns true if nothing is done about a change now: it has ended, or was put off.
fn rests(row: &outgoing::Model, now: Millis) -> bool {
    row.due_at.is_none_or(|due_at| row.lease_expirations == 0 && due_at > now)
}

/// Claims a change if it is due.
///
/// # Errors
/// The database's.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<outgoing::Model>> {
    let now = cx.clock.now();
    let taken = durable::claim(&cx.db.write, JobKind::SendOutgoing, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// Records that a change has happened, as the network itself reports, and applies it to its target. A worker that is
/// carrying it out loses the row. The account must be locked.
///
/// # Errors
/// The database's.
pub(crate) async fn confirm_by_network(
    tx: &Tx,
    target: OutgoingTarget,
    remote_id: &str,
) -> Result<()> {
    let (table, id) = target.stored();
    let is_open = Column::Status.is_in([OutgoingStatus::Sending, OutgoingStatus::Unknown]);
    // The refusal of a repeated call says that it was made, but not under which id.
    let is_nameless = Column::Status.eq(OutgoingStatus::Sent).and(Column::RemoteId.eq(""));
    let rows = outgoing::Entity::find()
        .filter(Column::Target.eq(table))
        .filter(Column::TargetId.eq(id))
        .filter(is_open.or(is_nameless))
        .all(tx.conn())
        .await?;
    for row in rows {
        let change = outgoing::ActiveModel {
            status: Set(OutgoingStatus::Sent),
            remote_id: Set(Some(remote_id.to_owned())),
            sending_at: Set(None),
            sending_until: Set(None),
            absent_at: Set(None),
            due_at: Set(None),
            lease_expirations: Set(0),
            fencing_token: Set(row.fencing_token + 1),
            updated_at: Set(tx.now()),
            ..Default::default()
        };
        if statements::write(tx.conn(), &row, change).await? {
            let sent = OutgoingOutcome::Sent(remote_id.to_owned());
            statements::register_result(tx, &row, &sent).await?;
            target::apply(tx, &row, &sent).await?;
        }
    }
    Ok(())
}

/// Deletes changes that ended before `before`.
///
/// # Errors
/// The database's.
pub(crate) async fn prune(cx: &Domain, before: Millis) -> Result<u64> {
    let ended = Column::DueAt.is_null().and(Column::UpdatedAt.lt(before));
    batches::delete::<outgoing::Entity>(cx, Column::UpdatedAt, ended).await
}

/// Returns the change in a row.
///
/// # Errors
/// The column cannot be read.
pub fn change_of(row: &outgoing::Model) -> Result<RemoteChange> {
    serde_json::from_value(row.change.clone()).map_err(Error::internal)
}

/// Returns the times at which a network may have received what was created at `created_at`.
pub(crate) const fn made_within(created_at: Millis) -> (Millis, Millis) {
    (created_at - MADE_WITHIN.0, created_at + MADE_WITHIN.1)
}

/// Returns the mark for an id, which a network may send back with a message.
pub(crate) fn mark(id: uuid::Uuid) -> String {
    format!("fanfare {}", id.simple())
}

/// Returns the message of an account that was sent with this mark.
///
/// # Errors
/// The database's.
pub(crate) async fn find_marked<C: ConnectionTrait>(
    conn: &C,
    account: AccountId,
    mark: &str,
) -> Result<Option<i64>> {
    let open = outgoing::Entity::find()
        .filter(Column::AccountId.eq(account))
        .filter(Column::Target.eq("message"))
        .filter(Column::DueAt.is_not_null())
        .all(conn)
        .await?;
    let is_it = |row: &&outgoing::Model| row.change["mark"] == mark;
    Ok(open.iter().find(is_it).map(|row| row.target_id))
}
