//! The quota of connected accounts of a workspace.

use fanfare_entities::{WorkspaceId, account, account::AccountStatus, subscription};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter,
    QuerySelect,
};

use crate::{access::PlanTier, billing::Plans, error::Result, quota::Quota};

/// Locks the workspace, so that one account is connected at a time: of two connects with the same account the second
/// finds the first one's row, and two connects cannot both take the last place. It has to be called before an account's
/// row is locked.
pub(super) async fn lock_workspace(
    conn: &DatabaseTransaction,
    workspace: WorkspaceId,
) -> Result<PlanTier> {
    let paid = subscription::Entity::find_by_id(workspace).lock_exclusive().one(conn).await?;
    Ok(paid.map_or(PlanTier::Starter, |paid| paid.plan_tier))
}

/// Fails if the plan has no room for one more account.
///
/// # Errors
/// [`crate::Code::PlanLimit`].
pub(super) async fn require_room(
    conn: &DatabaseTransaction,
    workspace: WorkspaceId,
    (plans, tier): (&Plans, PlanTier),
) -> Result<()> {
    Quota::Accounts.require_room(plans, tier, count(conn, workspace).await?)
}

/// Counts the accounts that need room in the plan: those on simulated networks need none.
///
/// # Errors
/// The database's.
pub(crate) async fn count<C: ConnectionTrait>(conn: &C, workspace: WorkspaceId) -> Result<u64> {
    let accounts = account::Entity::find()
        .filter(account::Column::WorkspaceId.eq(workspace))
        .filter(account::Column::Sandbox.eq(false))
        .filter(account::Column::Status.ne(AccountStatus::Disconnected));
    Ok(accounts.count(conn).await?)
}
