//! Inviting people into a workspace, and withdrawing invitations.

use fanfare_core::{
    Code, Error, Result,
    access::{Role, role_name},
    clock::Time,
};
use fanfare_people::invitations::{self, Invitation};
use maud::{Markup, html};
use uuid::Uuid;

use super::{PAGE, TITLE, answer, chosen_role, page, require_same_workspace, role_choice};
use crate::{
    browser::mail_note::mail_note,
    dashboard::{confirm, page_member::PageMember, parts},
    oauth_connect::{PageResponse, Visit},
};

/// Sends an invitation.
pub async fn send(mut visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    match try_send(&mut visit, &seat).await {
        Ok(Some(link)) => {
            let main = html! { (handed_out(&visit, &link)) (page(&visit, &seat, None).await?) };
            Ok(PageResponse::Wide(TITLE, main))
        }
        sent => answer(&visit, &seat, sent.map(|_| "invited")).await,
    }
}

/// Renders the link of an invitation that no mail server sends.
fn handed_out(visit: &Visit, link: &str) -> Markup {
    html! {
        div.flash.good role="status" {
            p { "The invitation is made. Give this link to the person; it works once, for seven days, and is shown only now:" }
            label for="link" { "Link of the invitation" }
            input #link.wide readonly value=(link);
        }
        (mail_note(&visit.cx))
    }
}

async fn try_send(visit: &mut Visit, seat: &PageMember) -> Result<Option<String>> {
    require_same_workspace(visit, seat)?;
    let role = chosen_role(visit)?;
    confirm::require_password(visit).await?;
    invitations::send(&seat.act, visit.form("email").unwrap_or_default(), role).await
}

/// Withdraws an invitation.
pub async fn withdraw(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let absent = || Error::new(Code::NotFound, "There is no such invitation.");
    let id = Uuid::parse_str(visit.path("id")).map_err(|_| absent())?;
    let withdrawn = match require_same_workspace(&visit, &seat) {
        Ok(()) => invitations::withdraw(&seat.act, id).await,
        Err(error) => Err(error),
    };
    answer(&visit, &seat, withdrawn.map(|()| "withdrawn")).await
}

/// Returns the open invitations and the form that sends one.
pub async fn section(visit: &Visit, seat: &PageMember) -> Result<Markup> {
    if seat.act.membership.is_personal {
        return Ok(html! {
            h2 { "Invitations" }
            p.soft { "People are invited into team workspaces, not into your personal one. Create a team workspace to work with others." }
        });
    }
    let open = invitations::list(&seat.act).await?;
    let here =
        html! { input type="hidden" name="workspace_id" value=(seat.act.membership.workspace_id); };
    Ok(html! {
        h2 { "Invitations" }
        @for one in &open { (card(visit, one, &here)) }
        form.narrow method="post" action={ (PAGE) "/invitations" } {
            (parts::csrf_field(visit))
            (here)
            div.field {
                label for="invite-email" { "E-mail address" }
                input #invite-email type="email" name="email" required maxlength="254" autocomplete="off" value=[visit.form("email")];
            }
            div.field {
                label for="invite-role" { "Role" }
                (role_choice("invite-role", Role::Publisher))
            }
            (confirm::password_field(visit, "invite"))
            button type="submit" { "Invite" }
        }
    })
}

fn card(visit: &Visit, one: &Invitation, here: &Markup) -> Markup {
    html! {
        section.card {
            h3 { (parts::one_line(&one.email, 254)) " " span.badge.plain { (role_name(one.role)) } }
            p.soft { "Invited; the link expires on " (parts::minute(visit, Time(one.expires_at))) ". A new invitation replaces it." }
            (parts::confirmed_action(visit, "Withdraw", &format!("{PAGE}/invitations/{}", one.id),
                "The link in the e-mail stops working.", "Withdraw this invitation", here))
        }
    }
}
