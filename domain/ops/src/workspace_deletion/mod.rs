//! The deletion of a workspace: asked for by an admin, stopped within its grace or carried out, with a receipt.
//!
//! A row of `workspace_deletions` is the work. [`fates`] says for each table what becomes of the rows of the workspace.

mod access;
pub mod fates;
mod files;
mod held;
mod notice;
mod operator;
mod receipt;
mod rows;
mod tokens;
mod view;
mod work;

use fanfare_core::{
    Act, RefusalDetails, Reply, Tx,
    access::{self as places, Membership},
    audit_trail,
    clock::to_rfc3339,
    error::{Code, Error, Result, refusal::DeletionBlocker},
};
use fanfare_entities::{
    Millis, UserId, WorkspaceId, workspace, workspace_deletion,
    workspace_deletion::{Column, DeletionState},
};
use fanfare_jobs::JobKind;
use fanfare_people::{billing::subscriptions, team};
use fanfare_publishing::posts::leaving;
use schemars::JsonSchema;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter,
    QueryOrder, QuerySelect,
};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

pub use operator::{Announcement, Preview, delete, find, preview};
pub use receipt::Receipt;
pub use view::{Deletion, OneDeletion};
pub use work::{claim, put_off, run};

use self::held::as_json;

/// The time within which a deletion can be stopped, in ms.
pub const GRACE: Millis = 30 * 24 * 3_600_000;

/// The confirmation of a deletion.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeletionQuery {
    /// The name of the workspace, as it is shown.
    #[schemars(length(max = 200))]
    pub name: String,
}

const PERSONAL: DeletionBlocker = DeletionBlocker {
    code: "personal_workspace",
    message: "It is your personal workspace, without which you could not log in.",
    remedy: "Disconnect its accounts and delete its posts and files; ask the operator of this service to delete you.",
};

const LIVE: DeletionBlocker = DeletionBlocker {
    code: "live_subscription",
    message: "Your subscription, which belongs to your personal workspace, has not ended.",
    remedy: "Cancel the subscription first: POST /api/v1/subscription/cancel, or /dashboard/billing.",
};

/// Starts the deletion of a workspace. Keys, tools and links end at once, and its posts are paused; the rest is removed
/// after [`GRACE`]. A deletion that there is stays as it is.
///
/// # Errors
/// [`Code::WorkspaceNotFound`], [`Code::InsufficientWorkspacePermissions`] for all but admins who see all of it,
/// [`Code::InvalidField`] for another name, [`Code::WorkspaceDeletionBlocked`].
pub async fn start(
    act: &Act,
    id: WorkspaceId,
    confirmation: &DeletionQuery,
) -> Result<Reply<OneDeletion>> {
    let here = within(act, id).await?;
    team::require_manager(&here.membership)?;
    require_name(&here.membership, &confirmation.name)?;
    let mut tx = here.begin().await?;
    team::lock(&here, tx.conn()).await?;
    if let Some(open) = open_of(tx.conn(), id).await? {
        let reply = Reply::ok(&OneDeletion::of(&open)?).with_status(202);
        return act.finish(tx, reply).await;
    }
    let own = workspace::Entity::find_by_id(id).one(tx.conn()).await?.ok_or_else(absent)?;
    require_unblocked(tx.conn(), &own).await?;
    let row = begin_grace(&mut tx, &own, Some(act.caller.user_id), GRACE).await?;
    let details = json!({"due_at": to_rfc3339(row.ends_at)});
    note(&tx, &here, "workspace_deletion_started", details).await?;
    let reply = Reply::ok(&OneDeletion::of(&row)?).with_status(202);
    act.finish(tx, reply).await
}

/// Writes the row of a deletion, with all that follows from it at once, and e-mails to those who can stop it.
async fn begin_grace(
    tx: &mut Tx,
    own: &workspace::Model,
    person: Option<UserId>,
    grace: Millis,
) -> Result<workspace_deletion::Model> {
    let now = tx.now();
    let row = workspace_deletion::ActiveModel {
        uid: Set(Uuid::now_v7()),
        workspace_id: Set(own.id),
        requested_by: Set(person.or(Some(own.owner_id))),
        state: Set(DeletionState::Waiting),
        ends_at: Set(now + grace),
        receipt: Set(as_json(&Receipt::default())?),
        // A worker pauses the posts that are too many for this transaction.
        due_at: Set(Some(now)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ended_at: Set(None),
        ..Default::default()
    };
    let row = workspace_deletion::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    set_end(tx.conn(), own.id, Some(row.ends_at)).await?;
    access::end_all(tx.conn(), own.id, now).await?;
    Box::pin(leaving::pause_some(tx, own.id)).await?;
    if grace > 0 {
        notice::write(tx, own, &row, person).await?;
    }
    tx.enqueue_global(JobKind::DeleteWorkspace, row.id.0, now);
    Ok(row)
}

/// Writes into the row of the workspace when it is deleted.
async fn set_end<C: ConnectionTrait>(conn: &C, id: WorkspaceId, at: Option<Millis>) -> Result<()> {
    let row = workspace::ActiveModel { id: Set(id), deletion_at: Set(at), ..Default::default() };
    workspace::Entity::update(row).exec(conn).await?;
    Ok(())
}

/// Shows the deletion of a workspace: to its members, and once it is gone to the person who asked for it.
///
/// # Errors
/// [`Code::WorkspaceNotFound`], or [`Code::DeletionNotFound`] if nobody has asked for one.
pub async fn show(act: &Act, id: WorkspaceId) -> Result<Reply<OneDeletion>> {
    let here = within(act, id).await;
    let row = latest_of(&act.cx.db.read, id).await?;
    match (here, row) {
        (Ok(_), Some(row)) => Ok(Reply::ok(&OneDeletion::of(&row)?)),
        (Ok(_), None) => Err(none()),
        (Err(_), Some(row)) if row.requested_by == Some(act.caller.user_id) => {
            Ok(Reply::ok(&OneDeletion::of(&row)?))
        }
        (Err(error), _) => Err(error),
    }
}

/// Stops the deletion of a workspace before it begins. Keys, tools and links stay ended; posts that were paused for it
/// are scheduled again, if their time is still ahead.
///
/// # Errors
/// As for [`start`]; [`Code::DeletionNotFound`], or [`Code::InvalidTransition`] once it has begun.
pub async fn stop(act: &Act, id: WorkspaceId) -> Result<Reply<OneDeletion>> {
    let here = within(act, id).await?;
    team::require_manager(&here.membership)?;
    let mut tx = here.begin().await?;
    team::lock(&here, tx.conn()).await?;
    let row = latest_of(tx.conn(), id).await?.ok_or_else(none)?;
    let row = match row.state {
        DeletionState::Stopped => row,
        DeletionState::Waiting if row.ends_at > tx.now() => {
            note(&tx, &here, "workspace_deletion_stopped", json!({})).await?;
            stop_row(&mut tx, row).await?
        }
        DeletionState::Waiting | DeletionState::Deleting | DeletionState::Done => {
            return Err(has_begun(&row));
        }
    };
    act.finish(tx, Reply::ok(&OneDeletion::of(&row)?)).await
}

/// Writes the entry of the audit log.
async fn note(tx: &Tx, here: &Act, action: &'static str, details: Value) -> Result<()> {
    let target = format!("workspace:{}", here.membership.workspace_id);
    audit_trail::note(tx.conn(), here, (action, target), details).await
}

async fn stop_row(
    tx: &mut Tx,
    row: workspace_deletion::Model,
) -> Result<workspace_deletion::Model> {
    let now = tx.now();
    let id = row.workspace_id;
    let stopped = workspace_deletion::ActiveModel {
        id: Set(row.id),
        state: Set(DeletionState::Stopped),
        ended_at: Set(Some(now)),
        // A worker schedules the posts that are too many for this transaction.
        due_at: Set(Some(now)),
        fencing_token: Set(row.fencing_token + 1),
        lease_expirations: Set(0),
        updated_at: Set(now),
        ..Default::default()
    };
    let stopped = stopped.update(tx.conn()).await?;
    set_end(tx.conn(), id, None).await?;
    Box::pin(leaving::resume_some(tx, id)).await?;
    tx.enqueue_global(JobKind::DeleteWorkspace, stopped.id.0, now);
    Ok(stopped)
}

fn has_begun(row: &workspace_deletion::Model) -> Error {
    let message = format!(
        "The deletion has begun, at {}; nothing stops it any more.",
        to_rfc3339(row.ends_at)
    );
    let status = if row.state == DeletionState::Done { "done" } else { "deleting" };
    Error::new(Code::InvalidTransition, message).with_state(status, &[])
}

/// Returns the request as one in the workspace of its path.
async fn within(act: &Act, id: WorkspaceId) -> Result<Act> {
    let membership = places::membership(&act.cx, &act.caller, Some(id)).await?;
    Ok(Act { membership, ..act.clone() })
}

fn require_name(membership: &Membership, name: &str) -> Result<()> {
    if membership.workspace_name.trim() == name.trim() {
        return Ok(());
    }
    let message = "name is not the name of the workspace.";
    let remedy = "Send its name exactly; GET /api/v1/whoami shows it.";
    Err(Error::field(Code::InvalidField, "name", message, remedy))
}

/// Fails if something keeps the workspace.
async fn require_unblocked<C: ConnectionTrait>(conn: &C, own: &workspace::Model) -> Result<()> {
    let blockers = blockers(conn, own).await?;
    let Some(first) = blockers.first() else { return Ok(()) };
    let message = format!("The workspace cannot be deleted. {}", first.message);
    let remedy = Some(first.remedy.to_owned());
    let details = RefusalDetails { blockers: Some(blockers), remedy, ..RefusalDetails::default() };
    Err(Error::new(Code::WorkspaceDeletionBlocked, message).with_details(details))
}

/// Returns what keeps a workspace. A subscription is the person's: it stays when a team workspace goes.
async fn blockers<C: ConnectionTrait>(
    conn: &C,
    own: &workspace::Model,
) -> Result<Vec<DeletionBlocker>> {
    if !own.personal {
        return Ok(Vec::new());
    }
    let mut found = vec![PERSONAL];
    if subscriptions::live(conn, own.owner_id).await?.is_some() {
        found.push(LIVE);
    }
    Ok(found)
}

/// Returns the deletion of a workspace that is neither done nor stopped, and locks it.
async fn open_of<C: ConnectionTrait>(
    conn: &C,
    id: WorkspaceId,
) -> Result<Option<workspace_deletion::Model>> {
    let open = [DeletionState::Waiting, DeletionState::Deleting];
    let found = workspace_deletion::Entity::find()
        .filter(Column::WorkspaceId.eq(id))
        .filter(Column::State.is_in(open))
        .lock_exclusive();
    Ok(found.one(conn).await?)
}

/// Returns the last deletion of a workspace.
async fn latest_of<C: ConnectionTrait>(
    conn: &C,
    id: WorkspaceId,
) -> Result<Option<workspace_deletion::Model>> {
    let found = workspace_deletion::Entity::find()
        .filter(Column::WorkspaceId.eq(id))
        .order_by_desc(Column::Id)
        .limit(1);
    Ok(found.one(conn).await?)
}

fn absent() -> Error {
    Error::new(Code::WorkspaceNotFound, "There is no such workspace.")
}

fn none() -> Error {
    Error::new(Code::DeletionNotFound, "Nobody has asked to delete this workspace.")
}
