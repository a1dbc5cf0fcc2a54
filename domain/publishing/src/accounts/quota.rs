//! The quota of connected accounts of a workspace.

use fanfare_core::{access::PlanTier, error::Result};
use fanfare_entities::{WorkspaceId, subscription};
use fanfare_people::{
    billing::Plans,
    quota::{Quota, count_accounts},
};
use sea_orm::{DatabaseTransaction, EntityTrait, QuerySelect};

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
/// [`fanfare_core::Code::PlanLimit`].
pub(super) async fn require_room(
    conn: &DatabaseTransaction,
    workspace: WorkspaceId,
    (plans, tier): (&Plans, PlanTier),
) -> Result<()> {
    Quota::Accounts.require_room(plans, tier, count_accounts(conn, workspace).await?)
}
