//! The rows that have the inboxes of accounts read: items from before they were connected, and those that no webhook
//! reported.

mod request;
mod statements;

use fanfare_core::{
    Domain,
    access::PlanTier,
    durable::{self, Lease},
    error::Result,
};
use fanfare_entities::{
    Millis, WorkspaceId, account,
    inbox_sync::{self, Column},
    subscription,
};
use fanfare_jobs::JobKind;
use fanfare_platforms as platforms;
use sea_orm::{ActiveValue::Set, ConnectionTrait, EntityTrait, sea_query::OnConflict};

use super::shortened;

pub use self::{
    request::{SyncRequest, SyncRequestedList, SyncStatus, request},
    statements::{known_comments, store_comments, store_messages},
};

const MINUTE: Millis = 60_000;

/// Adds the row that reads an inbox, in the transaction that connects its account.
///
/// # Errors
/// The database's.
pub(crate) async fn on_connect<C: ConnectionTrait>(
    conn: &C,
    account: &account::Model,
    now: Millis,
) -> Result<()> {
    let platform: platforms::PlatformId =
        fanfare_publishing::platforms::from_row(&account.platform)?;
    if platforms::find(platform).inbox().is_none() {
        return Ok(());
    }
    let due_at = now + shortened(MINUTE, if account.sandbox { 1.0 } else { 60.0 });
    let row = inbox_sync::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        backfilled: Set(false),
        needs_permission: Set(false),
        due_at: Set(Some(due_at)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let known = OnConflict::column(Column::AccountId)
        .update_columns([Column::DueAt, Column::NeedsPermission, Column::Attempts])
        .to_owned();
    inbox_sync::Entity::insert(row).on_conflict(known).exec_without_returning(conn).await?;
    Ok(())
}

/// Returns true if a workspace's plan includes the inbox.
///
/// # Errors
/// The database's.
pub async fn has_inbox_plan(cx: &Domain, workspace: WorkspaceId) -> Result<bool> {
    let paid = subscription::Entity::find_by_id(workspace).one(&cx.db.read).await?;
    Ok(paid.is_some_and(|paid| paid.active && paid.plan_tier >= PlanTier::Pro))
}

/// Claims an account's inbox, if it is due.
///
/// # Errors
/// The database's.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<inbox_sync::Model>> {
    let now = cx.clock.now();
    let taken = durable::claim(&cx.db.write, JobKind::SyncInbox, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// The outcome of a reading.
#[derive(Debug, Clone, Copy)]
pub struct SyncOutcome {
    /// The time of the next reading; `None` for never.
    pub due_at: Option<Millis>,
    /// Everything was read.
    pub synced: bool,
    /// The network sends webhooks for the account.
    pub subscribed: bool,
    /// The account has not granted the permission for it.
    pub needs_permission: bool,
    /// The number of readings in a row that failed.
    pub attempts: i32,
}

/// Releases an inbox until the next reading.
///
/// # Errors
/// The database's; then its lease expires.
pub async fn finish(cx: &Domain, row: &inbox_sync::Model, outcome: SyncOutcome) -> Result<()> {
    let now = cx.clock.now();
    let change = inbox_sync::ActiveModel {
        backfilled: Set(row.backfilled || outcome.synced),
        subscribed_at: Set(row.subscribed_at.or(outcome.subscribed.then_some(now))),
        last_synced_at: Set(if outcome.synced { Some(now) } else { row.last_synced_at }),
        needs_permission: Set(outcome.needs_permission),
        attempts: Set(outcome.attempts),
        ..Default::default()
    };
    let lease = Lease::new(row.id.0, row.fencing_token);
    durable::give_back::<inbox_sync::Entity>(lease, outcome.due_at, now)
        .set(change)
        .exec(&cx.db.write)
        .await?;
    Ok(())
}
