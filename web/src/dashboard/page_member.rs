//! The user's membership in the workspace that a page shows.

use fanfare_core::{
    Act, Code, PostId, Result,
    access::{self, Caller, Membership, Role},
    clock::Time,
    limits::Meter,
};
use fanfare_entities::PostSetId;
use fanfare_people::users::{self, Workspace};
use maud::{Markup, html};

use super::parts;
use crate::oauth_connect::{PageResponse, Visit};

/// The user of a page and the membership in its workspace.
pub struct PageMember {
    /// The caller for the domain's functions.
    pub act: Act,
    /// The workspaces of the user.
    pub workspaces: Vec<Workspace>,
}

impl PageMember {
    /// Finds the membership in the workspace that was chosen last, or else in the user's own.
    ///
    /// # Errors
    /// The database's.
    pub async fn of(visit: &Visit) -> Result<Self> {
        let caller = Caller::browser_session(visit.session.user_id);
        let membership = match access::membership(&visit.cx, &caller, visit.workspace).await {
            Err(error) if error.code() == Code::WorkspaceNotFound => {
                access::membership(&visit.cx, &caller, None).await?
            }
            found => found?,
        };
        Self::at(visit, caller, membership).await
    }

    /// Finds the membership in the workspace of a post.
    ///
    /// # Errors
    /// [`Code::PostNotFound`].
    pub async fn of_post(visit: &Visit, id: PostId) -> Result<Self> {
        let caller = Caller::browser_session(visit.session.user_id);
        let membership = access::membership_for_post(&visit.cx, &caller, id).await?;
        Self::at(visit, caller, membership).await
    }

    /// Finds the membership in the workspace of a post set.
    ///
    /// # Errors
    /// [`Code::PostSetNotFound`].
    pub async fn of_post_set(visit: &Visit, id: PostSetId) -> Result<Self> {
        let caller = Caller::browser_session(visit.session.user_id);
        let membership = access::membership_for_post_set(&visit.cx, &caller, id).await?;
        Self::at(visit, caller, membership).await
    }

    async fn at(visit: &Visit, caller: Caller, membership: Membership) -> Result<Self> {
        let person = visit.session.user_id;
        let workspaces = users::workspaces_of(&visit.cx, person, Role::Viewer).await?;
        let (cx, request_id) = (visit.cx.clone(), visit.request_id.clone());
        visit.show_zone(&membership.timezone);
        let meter = Meter::default();
        let act =
            Act { cx, caller, membership, request_id, reservation: None, meter, if_match: None };
        Ok(Self { act, workspaces })
    }

    /// Returns true if the role is at least this one.
    pub fn may(&self, role: Role) -> bool {
        self.act.membership.role >= role
    }

    /// Returns the time zone in which times are shown.
    pub fn zone(&self) -> &str {
        &self.act.membership.timezone
    }

    /// Renders the heading of a page, with its main actions and the switch between workspaces.
    pub fn head(&self, visit: &Visit, title: &str, actions: &Markup) -> Markup {
        let here = self.act.membership.workspace_id;
        let name = self.workspaces.iter().find(|one| one.id == here);
        html! {
            div.head {
                h1 { (title) }
                div.actions { (actions) }
            }
            @if self.workspaces.len() > 1 {
                form.switch method="post" action="/dashboard/workspace" {
                    (parts::csrf_field(visit))
                    label for="workspace" { "Workspace" }
                    select #workspace name="workspace_id" {
                        @for one in &self.workspaces {
                            option value=(one.id) selected[one.id == here] { (parts::one_line(&one.name, 60)) }
                        }
                    }
                    button.quiet type="submit" { "Show" }
                }
            } @else if let Some(name) = name {
                p.soft { (parts::one_line(&name.name, 60)) }
            }
            @if let Some(at) = self.act.membership.deletion_at {
                p.flash.warn {
                    "This workspace will be deleted on " (parts::minute(visit, Time(at))) ". "
                    a href="/dashboard/settings" { "Settings" }
                }
            }
        }
    }
}

/// Switches to another workspace.
pub async fn choose(visit: Visit) -> Result<PageResponse> {
    let id = visit.form("workspace_id").unwrap_or_default();
    let id = crate::browser::visit::parse("workspace_id", id)?;
    let id = fanfare_core::WorkspaceId(id);
    let caller = Caller::browser_session(visit.session.user_id);
    access::membership(&visit.cx, &caller, Some(id)).await?;
    Ok(PageResponse::SwitchWorkspace(id))
}
