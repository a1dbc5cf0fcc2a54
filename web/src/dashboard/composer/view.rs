//! The composer's page.

use fanfare_core::{Result, access::Role};
use fanfare_entities::{account, account::AccountStatus};
use fanfare_publishing::{accounts, platforms::label};
use maud::{Markup, html};

use super::{PAGE, StepOutcome, TITLE, ai, check, draft::Draft, media, settings};
use crate::{
    dashboard::{
        marks::{account_name, mark},
        page_member::PageMember,
        parts::{self, one_line},
    },
    oauth_connect::Visit,
};

/// Renders the page.
///
/// # Errors
/// The database's.
pub async fn page(
    visit: &Visit,
    seat: &PageMember,
    draft: &Draft,
    outcome: &StepOutcome,
) -> Result<Markup> {
    let rows = accounts::all(&seat.act).await?;
    let head = seat.head(visit, TITLE, &html! {});
    if !seat.may(Role::Editor) {
        let words = "Your role in this workspace lets you look, but not write. Ask one of its admins for the role Editor or Publisher.";
        return Ok(html! { (head) p.empty { (words) } });
    }
    if rows.is_empty() {
        return Ok(html! {
            (head)
            div.empty {
                p { "A post needs an account to go out on, and none is connected yet." }
                p { a href="/dashboard/accounts" { "Connect an account" } }
            }
        });
    }
    let is_fresh = draft.fields.is_empty();
    let result = if is_fresh {
        html! { p.soft { "What is missing, the length of the text and a preview stand here once you press “Check”." } }
    } else {
        check::shown(seat, draft, &outcome.checked).await?
    };
    Ok(html! {
        (head)
        @if let Some(error) = &outcome.error { p.flash.bad #refusal role="alert" tabindex="-1" autofocus { (one_line(error.message(), 400)) } }
        @if let Some(done) = &outcome.done { p.flash.good role="status" { (done) } }
        form.composer #composer method="post" action=(PAGE) data-part={ (PAGE) "/part" }
            data-kept={ (seat.act.caller.user_id) "/" (seat.act.membership.workspace_id) }
            data-fresh=[(is_fresh && draft.is_empty()).then_some("")] {
            (parts::csrf_field(visit))
            input type="hidden" name="once" value=(draft.once);
            button.default type="submit" name="do" value="check" tabindex="-1" aria-hidden="true" { "Check" }
            div.write {
                (account_fields(&rows, draft))
                div.field {
                    label for="caption" { "Text" }
                    textarea #caption name="caption" rows="9" { "\n" (draft.caption) }
                }
                (media::section(seat, draft, outcome.upload.as_deref()).await?)
                div #settings { (settings::fields(seat, draft, &outcome.checked.problems).await?) }
                (send(seat, draft))
            }
            div.aside {
                section #result aria-live="polite" aria-label="Check and preview" { (result) }
                (ai::panel(seat, draft, outcome).await?)
            }
        }
    })
}

fn account_fields(rows: &[account::Model], draft: &Draft) -> Markup {
    html! {
        fieldset {
            legend { "Accounts" }
            div.picks {
                @for row in rows {
                    @let id = format!("account-{}", row.id);
                    div.tick {
                        input id=(id) type="checkbox" name="account_id" value=(row.id)
                            checked[draft.accounts.contains(&row.id.0)];
                        label.beside for=(id) {
                            (mark(&row.platform)) " "
                            strong title=(one_line(&row.username, 200)) { (account_name(&row.username)) } " "
                            span.soft { (label(&row.platform)) }
                            @if row.sandbox { " " span.badge.warn { "simulated" } }
                            @if row.status == AccountStatus::ReconnectRequired { " " span.badge.bad { "connect again" } }
                        }
                    }
                }
            }
        }
    }
}

fn send(seat: &PageMember, draft: &Draft) -> Markup {
    if !seat.may(Role::Publisher) {
        return html! {
            p.soft { "Your role writes drafts. A publisher of the workspace gives them a time and publishes them." }
            div.row {
                button type="submit" name="do" value="check" { "Check" }
                button.strong type="submit" name="do" value="draft" { "Save as draft" }
            }
        };
    }
    html! {
        fieldset {
            legend { "When" }
            div.field {
                label for="scheduled_at" { "Time in " (seat.zone()) }
                input #scheduled_at type="datetime-local" name="scheduled_at" value=[draft.at.as_deref()];
            }
            div.row {
                button type="submit" name="do" value="check" { "Check" }
                button type="submit" name="do" value="draft" { "Save as draft" }
                button.strong type="submit" name="do" value="schedule" { "Schedule" }
            }
            details.confirm {
                summary { "Publish now" }
                p { "The post becomes public at once, whatever time stands above." }
                button.danger type="submit" name="do" value="publish" { "Publish now" }
            }
        }
    }
}
