//! Creating a team workspace.

use fanfare_core::Result;
use fanfare_people::team;
use maud::{Markup, html};

use super::{PAGE, TITLE, page};
use crate::{
    dashboard::{page_member::PageMember, parts},
    oauth_connect::{PageResponse, Visit},
};

/// Creates a team workspace and shows it from now on.
pub async fn create(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let name = visit.form("name").unwrap_or_default();
    match team::create_workspace(&seat.act, name).await {
        Ok(id) => Ok(PageResponse::SwitchWorkspace(id)),
        Err(error) if parts::is_shown_beside(&error) => {
            let main = page(&visit, &seat, Some(&error)).await?;
            Ok(PageResponse::WideInvalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

/// Returns the form that creates one.
pub fn section(visit: &Visit) -> Markup {
    let sent = visit.form("name").filter(|_| visit.route == "/dashboard/team/workspaces");
    html! {
        details.confirm open[sent.is_some()] {
            summary { "Create a team workspace" }
            p.soft { "It belongs to you, has your plan, and keeps its accounts, posts and members apart from your other workspaces." }
            form.narrow method="post" action={ (PAGE) "/workspaces" } {
                (parts::csrf_field(visit))
                div.field {
                    label for="workspace-name" { "Name of the workspace" }
                    input #workspace-name name="name" required maxlength="200" autocomplete="off" value=[sent];
                }
                button type="submit" { "Create the workspace" }
            }
        }
    }
}
