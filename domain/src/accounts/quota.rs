//! The quota of connected accounts of a workspace.

use fanfare_entities::{WorkspaceId, account, account::AccountStatus, subscription};
use sea_orm::{
    ColumnTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect,
};

use crate::{
    Details,
    access::{PlanTier, plan_name},
    error::{Code, Error, Result},
};

/// Accounts that a plan includes, of all networks together. Those on simulated networks cost nothing.
#[must_use]
pub const fn of(plan: PlanTier) -> u64 {
    match plan {
        PlanTier::Starter => 10,
        PlanTier::Pro => 30,
        PlanTier::PowerUser => 100,
        PlanTier::Agency => 500,
    }
}

/// Lets one connect at a time into a workspace: of two that bring the same account the second finds it, and no two
/// share its last place. Comes before any account's row is locked.
pub(super) async fn queue_up(
    conn: &DatabaseTransaction,
    workspace: WorkspaceId,
) -> Result<PlanTier> {
    let paid = subscription::Entity::find_by_id(workspace).lock_exclusive().one(conn).await?;
    Ok(paid.map_or(PlanTier::Starter, |paid| paid.plan_tier))
}

/// Fails if the plan has no place for one more account.
///
/// # Errors
/// [`Code::PlanLimit`].
pub(super) async fn require_place(
    conn: &DatabaseTransaction,
    workspace: WorkspaceId,
    plan: PlanTier,
) -> Result<()> {
    let limit = of(plan);
    let connected = account::Entity::find()
        .filter(account::Column::WorkspaceId.eq(workspace))
        .filter(account::Column::Sandbox.eq(false))
        .filter(account::Column::Status.ne(AccountStatus::Disconnected))
        .count(conn)
        .await?;
    if connected < limit {
        return Ok(());
    }
    let plan = plan_name(plan);
    let message =
        format!("The plan {plan} has room for {limit} accounts, and {connected} are connected.");
    let remedy = "Disconnect an account that is no longer needed, or move to a larger plan.";
    Err(Error::new(Code::PlanLimit, message).with(Details {
        limit: Some(limit),
        plan: Some(plan),
        remedy: Some(remedy.to_owned()),
        ..Details::default()
    }))
}
