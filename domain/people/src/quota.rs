//! The room that plans have for accounts, members, brands and team workspaces.

use fanfare_core::{
    RefusalDetails,
    access::{PlanTier, plan_name},
    error::{Code, Error, Result},
};
use fanfare_entities::{WorkspaceId, account, account::AccountStatus};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter};

use crate::billing::{Plan, Plans};

/// A thing of which a plan includes a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quota {
    /// Connected accounts of a workspace. Those on simulated networks need no room.
    Accounts,
    /// Members of a workspace, invited people included.
    Members,
    /// Brands of a workspace.
    Brands,
    /// Team workspaces that a user owns.
    TeamWorkspaces,
}

impl Quota {
    /// Returns the number that a plan includes.
    #[must_use]
    pub fn of(self, plans: &Plans, tier: PlanTier) -> u64 {
        let included = |plan: &Plan| match self {
            Self::Accounts => plan.accounts,
            Self::Members => plan.members,
            Self::Brands => plan.brands,
            Self::TeamWorkspaces => plan.team_workspaces,
        };
        plans.plan(tier).map_or(0, |plan| included(plan).into())
    }

    /// Fails if a plan has no room for one more.
    ///
    /// # Errors
    /// [`Code::PlanLimit`].
    pub fn require_room(self, plans: &Plans, tier: PlanTier, used: u64) -> Result<()> {
        let limit = self.of(plans, tier);
        if used < limit {
            return Ok(());
        }
        let plan = plan_name(tier);
        let (one, several, remedy) = self.words();
        let noun = if limit == 1 { one } else { several };
        let message = format!("The plan {plan} has room for {limit} {noun}. In use: {used}.");
        Err(Error::new(Code::PlanLimit, message).with_details(RefusalDetails {
            limit: Some(limit),
            plan: Some(plan),
            remedy: Some(format!("{remedy}, or move to a larger plan.")),
            ..RefusalDetails::default()
        }))
    }

    /// Returns the noun for one and for several of them, and how to make room.
    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Accounts => {
                ("account", "accounts", "Disconnect an account that is no longer needed")
            }
            Self::Members => ("member", "members", "Remove a member or withdraw an invitation"),
            Self::Brands => ("brand", "brands", "Use one of the brands there are"),
            Self::TeamWorkspaces => {
                ("team workspace", "team workspaces", "Use one of the team workspaces that you own")
            }
        }
    }
}

/// Counts the accounts that need room in the plan: those on simulated networks need none.
///
/// # Errors
/// The database's.
pub async fn count_accounts<C: ConnectionTrait>(conn: &C, workspace: WorkspaceId) -> Result<u64> {
    let accounts = account::Entity::find()
        .filter(account::Column::WorkspaceId.eq(workspace))
        .filter(account::Column::Sandbox.eq(false))
        .filter(account::Column::Status.ne(AccountStatus::Disconnected));
    Ok(accounts.count(conn).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_room_for_as_many_as_it_includes() {
        let plans = Plans::built_in().unwrap();
        let room = |quota: Quota, used| quota.require_room(&plans, PlanTier::Pro, used);
        for (quota, included) in [
            (Quota::Accounts, 30),
            (Quota::Members, 5),
            (Quota::Brands, 5),
            (Quota::TeamWorkspaces, 1),
        ] {
            assert_eq!(quota.of(&plans, PlanTier::Pro), included);
            assert!(room(quota, included - 1).is_ok());
            let full = room(quota, included).unwrap_err();
            assert_eq!(full.code(), Code::PlanLimit);
            assert!(full.message().contains(&included.to_string()), "{}", full.message());
        }
    }
}
