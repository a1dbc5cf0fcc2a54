//! The deletion of a workspace, on the settings page: an admin deletes the workspace that the page shows, or stops its deletion.

use fanfare_core::{Code, Error, Result, access::Role, clock::Time};
use maud::{Markup, html};
use serde_json::json;

use super::{confirm, operation, page_member::PageMember, parts};
use crate::{browser::mail_note::mail_note, oauth_connect::Visit};

const PAGE: &str = "/dashboard/settings";

/// The parts of the settings that are here.
pub const DELETE: &str = "delete-workspace";
pub const KEEP: &str = "keep-workspace";

/// Starts the deletion of the workspace that the form names.
///
/// # Errors
/// The operation's, or the password is wrong.
pub async fn delete(visit: &mut Visit) -> Result<()> {
    let id = workspace(visit).await?;
    confirm::require_password(visit).await?;
    let name = visit.form("workspace").unwrap_or_default();
    operation::run(visit, "delete_workspace", json!({"id": id, "name": name})).await.map(drop)
}

/// Stops the deletion of the workspace that the form names.
///
/// # Errors
/// The operation's.
pub async fn keep(visit: &Visit) -> Result<()> {
    let id = workspace(visit).await?;
    operation::run(visit, "stop_workspace_deletion", json!({"id": id})).await.map(drop)
}

/// Renders where the e-mail about a deletion can be read.
pub fn notified(visit: &Visit) -> Markup {
    mail_note(&visit.cx)
}

/// Returns the workspace that the form is about: another tab may have chosen another one since.
async fn workspace(visit: &Visit) -> Result<String> {
    let here = PageMember::of(visit).await?.act.membership.workspace_id.to_string();
    if visit.form("workspace_id") == Some(here.as_str()) {
        return Ok(here);
    }
    let message = "Another workspace was chosen meanwhile.";
    let remedy = "Load the page again and repeat the change.";
    Err(Error::field(Code::InvalidField, "workspace_id", message, remedy))
}

/// Renders the form that starts a deletion, or the one that stops it.
pub fn section(visit: &Visit, seat: &PageMember, name: &str) -> Markup {
    let place = &seat.act.membership;
    if place.role < Role::Admin || place.brands.is_some() || place.is_personal {
        return html! {};
    }
    let here = html! { input type="hidden" name="workspace_id" value=(place.workspace_id); };
    let Some(at) = place.deletion_at else { return start_form(visit, name, &here) };
    html! {
        h3 { "Deletion" }
        p.flash.warn {
            "This workspace will be deleted on " (parts::minute(visit, Time(at)))
            ". Until then nothing in it changes, and its posts are paused."
        }
        form.narrow method="post" action={ (PAGE) "/" (KEEP) } {
            (parts::csrf_field(visit))
            (here)
            button type="submit" { "Keep the workspace" }
        }
    }
}

fn start_form(visit: &Visit, name: &str, here: &Markup) -> Markup {
    let sent = visit.form("workspace").filter(|_| visit.path("part") == DELETE);
    html! {
        h3 { "Deletion" }
        details.confirm open[sent.is_some()] {
            summary { "Delete this workspace" }
            p {
                "All of it is deleted after 30 days: accounts, posts, files, numbers, messages, webhooks and members. Its keys, \
                 tools and links end at once, and its posts are paused. Until then you can stop it here."
            }
            form.narrow method="post" action={ (PAGE) "/" (DELETE) } {
                (parts::csrf_field(visit))
                (here)
                div.field {
                    label for="leaving" { "Type the name of the workspace: " (parts::one_line(name, 100)) }
                    input #leaving name="workspace" required maxlength="200" autocomplete="off" value=[sent];
                }
                (confirm::password_field(visit, "leaving"))
                button.danger type="submit" { "Delete the workspace" }
            }
        }
    }
}
