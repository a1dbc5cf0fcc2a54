//! What a caller may do, so that no next step is offered that would be refused.

use fanfare_entities::WorkspaceId;

use super::Operation;
use crate::{
    Act,
    access::{Caller, Membership, PlanTier, Role, Scope},
};

/// The rights of a caller.
#[derive(Debug, Clone)]
pub struct Rights {
    scopes: Vec<Scope>,
    role: Role,
    plan: Option<PlanTier>,
    changes: bool,
    workspace: Option<WorkspaceId>,
}

impl Rights {
    /// Returns the rights of a caller: in the workspace of the request or, if that is not known, in the one that is meant
    /// where none is named.
    #[must_use]
    pub fn new(caller: &Caller, membership: Option<&Membership>) -> Self {
        let named = membership.filter(|it| {
            !it.is_personal && caller.key_workspace.is_none_or(|own| own != it.workspace_id)
        });
        Self {
            scopes: caller.scopes.clone(),
            role: membership.map_or(Role::Viewer, |it| it.role),
            plan: membership.map(|it| it.plan),
            changes: membership.is_none_or(|it| it.require_active().is_ok()),
            workspace: named.map(|it| it.workspace_id),
        }
    }

    /// Returns the rights of the caller of an action.
    #[must_use]
    pub fn of(act: &Act) -> Self {
        Self::new(&act.caller, Some(&act.membership))
    }

    /// Returns the workspace that a call has to name; `None` if it is found without its name.
    #[must_use]
    pub(super) const fn workspace(&self) -> Option<WorkspaceId> {
        self.workspace
    }

    /// Returns true if the caller may call an operation.
    #[must_use]
    pub fn allow(&self, operation: &Operation) -> bool {
        operation.scope.is_none_or(|scope| self.scopes.contains(&scope))
            && self.role >= operation.role
            && operation.plan.is_none_or(|needed| self.plan.is_some_and(|own| own >= needed))
            && (self.changes || operation.method == "GET")
    }
}
