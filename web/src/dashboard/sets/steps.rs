//! The actions that the statuses of a set's posts and the role of its user allow.

use fanfare_core::{Result, access::Role, zone};
use fanfare_entities::{Millis, account, account::AccountStatus, post::PostStatus};
use fanfare_publishing::{
    accounts,
    platforms::label,
    posts::sets::{SetStatus, TargetRow, pages::WholeSet},
};
use maud::{Markup, html};

use super::{PAGE, entry};
use crate::{
    dashboard::{
        marks::{account_name, mark},
        page_member::PageMember,
        parts::{self, one_line},
    },
    oauth_connect::Visit,
};

fn action(whole: &WholeSet, verb: &str) -> String {
    format!("{PAGE}/{}/{verb}", whole.set.id)
}

/// Renders the hidden fields of a form that changes the set: its token, and the version that it was made from.
fn hidden(visit: &Visit, whole: &WholeSet) -> Markup {
    html! {
        (parts::csrf_field(visit))
        (parts::once_field())
        input type="hidden" name="version" value=(whole.set.version);
    }
}

/// Renders the form for the shared text. After a refusal it holds the text that was sent.
pub fn text(visit: &Visit, whole: &WholeSet) -> Markup {
    let is_refused = visit.path("verb") == "text";
    let sent = visit.form.iter().find(|(name, _)| name == "caption").map(|(_, text)| text.as_str());
    let text = sent.filter(|_| is_refused).unwrap_or_else(|| whole.text());
    html! {
        details.confirm open[is_refused] {
            summary { "Change the text" }
            form.narrow.broad method="post" action=(action(whole, "text")) {
                (hidden(visit, whole))
                div.field {
                    label for="caption" { "Shared text" }
                    textarea #caption name="caption" rows="8" aria-describedby="caption-hint" { "\n" (text) }
                    p.soft.hint #caption-hint { "It changes every post that is not out yet and has no text of its own." }
                }
                button type="submit" { "Save the text" }
            }
        }
    }
}

/// Renders the other actions.
///
/// # Errors
/// The database's.
pub async fn steps(visit: &Visit, seat: &PageMember, whole: &WholeSet) -> Result<Markup> {
    if !seat.may(Role::Publisher) {
        return Ok(html! {});
    }
    let open: Vec<&TargetRow> = whole.targets.iter().filter(|one| one.is_open()).collect();
    let is_draft = open.iter().any(|one| one.post.status == PostStatus::Draft);
    // A post with a time of its own is moved on its own page.
    let can_move = !is_draft && open.iter().any(|one| !one.own_time);
    let accounts = accounts::all(&seat.act).await?;
    Ok(html! {
        @if can_move { (timed((visit, whole), ("move", "Move it"), (seat.zone(), false))) }
        @if is_draft { (timed((visit, whole), ("schedule", "Schedule it"), (seat.zone(), at_risk(&open)))) }
        div.row {
            (plain_steps(visit, whole, &open))
            (retry(visit, whole))
            (add((visit, seat), whole, &accounts))
            (delete(visit, whole))
        }
    })
}

fn at_risk(targets: &[&TargetRow]) -> bool {
    targets.iter().any(|one| one.post.duplicate_risk)
}

fn plain_steps(visit: &Visit, whole: &WholeSet, open: &[&TargetRow]) -> Markup {
    let has = |status: PostStatus| open.iter().any(|one| one.post.status == status);
    let is_draft = has(PostStatus::Draft);
    html! {
        @if has(PostStatus::Scheduled) && !is_draft { (plain((visit, whole), "pause", "Pause")) }
        @if has(PostStatus::Paused) && !is_draft {
            @if at_risk(open) {
                (parts::confirmed_action(visit, "Resume", &action(whole, "schedule"),
                    "An earlier attempt on one of the accounts had no answer, so the post may be public there already. Look at the account first.",
                    "Resume", &looked("resume", true)))
            } @else { (plain((visit, whole), "schedule", "Resume")) }
        }
        @if has(PostStatus::Scheduled) || has(PostStatus::Paused) { (plain((visit, whole), "draft", "Make it a draft")) }
    }
}

fn plain((visit, whole): (&Visit, &WholeSet), verb: &str, button: &str) -> Markup {
    html! {
        form method="post" action=(action(whole, verb)) {
            (parts::csrf_field(visit))
            (parts::once_field())
            button type="submit" { (button) }
        }
    }
}

fn timed(
    (visit, whole): (&Visit, &WholeSet),
    (verb, button): (&str, &str),
    (zone, is_risky): (&str, bool),
) -> Markup {
    let at = whole.set.scheduled_at.map(|at| written(at, zone));
    let sent = visit.form("scheduled_at").filter(|_| visit.path("verb") == verb);
    let at = sent.map(|at| one_line(at, 30)).or(at);
    let id = format!("{verb}-at");
    html! {
        form.inline method="post" action=(action(whole, verb)) {
            (hidden(visit, whole))
            label for=(id) { "Time in " (zone) }
            input.wide id=(id) type="datetime-local" name="scheduled_at" value=[at] required;
            @if is_risky { (looked(verb, true)) }
            button type="submit" { (button) }
        }
    }
}

fn written(at: Millis, zone: &str) -> String {
    zone::local(at, zone).format("%Y-%m-%dT%H:%M").to_string()
}

fn looked(form: &str, is_needed: bool) -> Markup {
    let id = format!("risk-{form}");
    html! {
        div.tick {
            input id=(id) type="checkbox" name="acknowledge_duplicate_risk" value="1" required[is_needed];
            label.beside for=(id) { "I have looked, and it is not public" }
        }
    }
}

/// Renders the form that sends failed targets again. If one may be public already it asks first; the others go without.
fn retry(visit: &Visit, whole: &WholeSet) -> Markup {
    let failed: Vec<&TargetRow> =
        whole.targets.iter().filter(|one| one.post.status == PostStatus::Failed).collect();
    let risky = failed.iter().filter(|one| one.post.duplicate_risk).count();
    let what = format!(
        "Of {} that failed, {risky} may be public already: an earlier attempt had no answer. Look at the account first. Without the tick those are left alone, and the others are sent again now.",
        failed.len()
    );
    let fields = html! { (parts::once_field()) (looked("retry", risky == failed.len())) };
    html! {
        @if risky > 0 {
            (parts::confirmed_action(visit, "Retry what failed", &action(whole, "retry"), &what, "Retry now", &fields))
        } @else if !failed.is_empty() { (plain((visit, whole), "retry", "Retry what failed")) }
    }
}

fn add((visit, seat): (&Visit, &PageMember), whole: &WholeSet, all: &[account::Model]) -> Markup {
    let is_there =
        |row: &account::Model| whole.targets.iter().any(|one| one.post.account_id == row.id);
    let free: Vec<_> = all.iter().filter(|row| !is_there(row)).collect();
    let is_ahead = whole.set.scheduled_at.is_some_and(|at| at > seat.act.cx.clock.now());
    let is_draft = entry::status(&whole.targets) == SetStatus::Draft;
    html! {
        @if !free.is_empty() {
            details.confirm {
                summary { "Add accounts" }
                form.narrow.broad method="post" action=(action(whole, "add")) {
                    (parts::csrf_field(visit))
                    (parts::once_field())
                    fieldset {
                        legend { "Accounts" }
                        div.picks { @for row in free { (pick(row)) } }
                    }
                    div.field {
                        label for="add-caption" { "Own text for them" }
                        textarea #add-caption name="caption" rows="4" aria-describedby="add-hint" { "\n" }
                        p.soft.hint #add-hint { "Leave it empty for the shared text." }
                    }
                    @if !is_draft {
                        div.field {
                            label for="add-at" { "Time in " (seat.zone()) @if is_ahead { span.soft { " (optional)" } } }
                            input #add-at type="datetime-local" name="scheduled_at" required[!is_ahead] aria-describedby="add-at-hint";
                            p.soft.hint #add-at-hint {
                                @if is_ahead { "Leave it empty for the shared time." } @else { "The shared time has passed, so they need one of their own." }
                            }
                        }
                    }
                    button type="submit" { "Add them" }
                }
            }
        }
    }
}

fn pick(row: &account::Model) -> Markup {
    let id = format!("account-{}", row.id);
    html! {
        div.tick {
            input id=(id) type="checkbox" name="account_id" value=(row.id);
            label.beside for=(id) {
                (mark(&row.platform)) " " strong { (account_name(&row.username)) } " " span.soft { (label(&row.platform)) }
                @if row.status == AccountStatus::ReconnectRequired { " " span.badge.bad { "connect again" } }
            }
        }
    }
}

fn delete(visit: &Visit, whole: &WholeSet) -> Markup {
    let goes = |one: &&TargetRow| {
        one.is_open() || (one.post.status == PostStatus::Failed && !one.post.partly_public)
    };
    let gone: Vec<&TargetRow> = whole.targets.iter().filter(goes).collect();
    let stay = whole.targets.len() - gone.len();
    let mut what = format!("The posts on {} are deleted for good.", entry::count(gone.len()));
    if stay > 0 {
        what += &format!(" Those on {} are public or going out, and stay.", entry::count(stay));
    }
    if at_risk(&gone) {
        what += " If one is public on its network already, it stays there.";
    }
    let version = html! { (parts::once_field()) input type="hidden" name="version" value=(whole.set.version); };
    html! {
        @if !gone.is_empty() {
            (parts::confirmed_action(visit, "Delete", &action(whole, "delete"), &what, "Delete these posts", &version))
        }
    }
}
