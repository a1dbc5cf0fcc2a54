//! `/dashboard/settings`: the user's name, password and sessions, and the name, time zone and posting times of a
//! workspace.

use fanfare_core::{Code, Error, Result, access::Role, clock::Time, zone};
use fanfare_entities::AccountId;
use fanfare_people::preferences::{self, ActiveLogin};
use fanfare_publishing::posting_schedule::{OneGrid, Slots};
use maud::{Markup, html};
use secrecy::SecretString;
use serde_json::json;

use super::{choices::AccountChoices, leaving, operation, page_member::PageMember, parts};
use crate::{
    admin::parts::table,
    browser::form,
    oauth_connect::{PageResponse, Visit},
};

const TITLE: &str = "Settings";
const PAGE: &str = "/dashboard/settings";

const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Shows the settings.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    Ok(PageResponse::Wide(TITLE, page(&visit, None).await?))
}

/// Saves a part of them.
pub async fn save(mut visit: Visit) -> Result<PageResponse> {
    let part = visit.path("part").to_owned();
    let changed = match part.as_str() {
        leaving::DELETE => leaving::delete(&mut visit).await,
        part => change(&visit, part).await,
    };
    match changed {
        Ok(()) if part == "password" => Ok(PageResponse::LogOut),
        Ok(()) => Ok(PageResponse::Redirect(format!("{PAGE}?done={part}"))),
        Err(error) if parts::is_shown_beside(&error) => {
            let main = page(&visit, Some(&error)).await?;
            Ok(PageResponse::WideInvalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

async fn change(visit: &Visit, part: &str) -> Result<()> {
    let (cx, who) = (&visit.cx, (&visit.session, &visit.token));
    match part {
        "name" => {
            preferences::rename(cx, &visit.session, visit.form("name").unwrap_or_default()).await
        }
        "password" => {
            let [current, new, again] = ["password", "new_password", "password_again"]
                .map(|name| form::field(&visit.form, name));
            if new != again {
                let message = "The two new passwords differ.";
                let remedy = "Type the same password twice.";
                return Err(Error::field(Code::InvalidField, "password_again", message, remedy));
            }
            let (current, new) = (SecretString::from(current), SecretString::from(new));
            preferences::change_password(cx, who, (current, new)).await
        }
        "log-ins" => preferences::end_other_logins(cx, who).await,
        "workspace" => {
            let seat = PageMember::of(visit).await?;
            let text = |name| visit.form(name).unwrap_or_default();
            let zone = zone::meant(text("timezone"));
            preferences::set_workspace(&seat.act, text("name"), zone).await
        }
        "times" => set_times(visit).await,
        leaving::KEEP => leaving::keep(visit).await,
        _ => Err(Error::new(Code::NotFound, "There is no such setting.")),
    }
}

async fn set_times(visit: &Visit) -> Result<()> {
    let times = visit.form("times").unwrap_or_default().split([',', ' ', '\n']);
    let times: Vec<_> = times.map(str::trim).filter(|time| !time.is_empty()).collect();
    let mut body = json!({
        "id": visit.form("account_id").unwrap_or_default(),
        "times": times,
        "days": parts::ticked(visit, "days"),
    });
    if let Some(zone) = visit.form("timezone") {
        body["timezone"] = zone::meant(zone).into();
    }
    operation::run(visit, "set_account_slots", body).await.map(drop)
}

async fn page(visit: &Visit, wrong: Option<&Error>) -> Result<Markup> {
    let seat = PageMember::of(visit).await?;
    let (name, zone) = preferences::workspace_settings(&seat.act).await?;
    let log_ins = preferences::active_logins(&visit.cx, (&visit.session, &visit.token)).await?;
    let accounts = AccountChoices::of(visit, &seat).await?;
    let done = visit.query("done").map(|part| match part {
        "log-ins" => "All other log-ins are ended.",
        leaving::DELETE => "The workspace is to be deleted. You can stop it below.",
        leaving::KEEP => "The workspace stays. Make new keys for what needs them.",
        _ => "Your changes are saved.",
    });
    Ok(html! {
        (seat.head(visit, TITLE, &html! {}))
        (parts::success_note(done))
        @if visit.query("done") == Some(leaving::DELETE) { (leaving::notified(visit)) }
        (parts::form_error(wrong))
        div.columns {
            section { h2 { "You" } (person(visit)) (password(visit)) }
            section { h2 { "Workspace" } (workspace(visit, &seat, (&name, &zone))) (times(visit, &accounts, &seat).await?) (leaving::section(visit, &seat, &name)) }
        }
        datalist #zones { @for zone in zone::names() { option value=(zone) {} } }
        h2 { "Log-ins" }
        (sessions(visit, &log_ins))
    })
}

/// Returns what was sent for a field of this part, or else what is stored.
fn sent<'a>(visit: &'a Visit, part: &str, name: &str, stored: &'a str) -> &'a str {
    visit.form(name).filter(|_| visit.path("part") == part).unwrap_or(stored)
}

fn person(visit: &Visit) -> Markup {
    let name = sent(visit, "name", "name", &visit.session.name);
    html! {
        form.narrow method="post" action={ (PAGE) "/name" } {
            (parts::csrf_field(visit))
            div.field {
                label for="name" { "Your name" }
                input #name name="name" required maxlength=(preferences::MAX_NAME_CHARS) value=(name) autocomplete="name";
            }
            p.soft { "You log in as " (parts::one_line(&visit.session.email, 254)) "." }
            button type="submit" { "Save the name" }
        }
    }
}

fn password(visit: &Visit) -> Markup {
    let field = |name: &str, words: &str, kind: &str| {
        html! {
            div.field {
                label for=(name) { (words) }
                input id=(name) type="password" name=(name) required maxlength="200" autocomplete=(kind);
            }
        }
    };
    html! {
        details.confirm {
            summary { "Change the password" }
            p { "All your log-ins end, this one too; then you log in with the new password." }
            form.narrow method="post" action={ (PAGE) "/password" } {
                (parts::csrf_field(visit))
                (field("password", "Current password", "current-password"))
                (field("new_password", "New password, at least 10 characters", "new-password"))
                (field("password_again", "The new password again", "new-password"))
                button type="submit" { "Change the password" }
            }
        }
    }
}

fn workspace(visit: &Visit, seat: &PageMember, (name, zone): (&str, &str)) -> Markup {
    if !seat.may(Role::Admin) || seat.act.membership.brands.is_some() {
        return html! {
            dl.facts { dt { "Name" } dd { (parts::one_line(name, 100)) } dt { "Time zone" } dd { (zone) } }
            p.soft { "Changes need the role admin, for all brands." }
        };
    }
    let (name, zone) =
        (sent(visit, "workspace", "name", name), sent(visit, "workspace", "timezone", zone));
    html! {
        form.narrow method="post" action={ (PAGE) "/workspace" } {
            (parts::csrf_field(visit))
            div.field {
                label for="workspace-name" { "Name" }
                input #workspace-name name="name" required maxlength=(preferences::MAX_NAME_CHARS) value=(name) autocomplete="off";
            }
            div.field {
                label for="timezone" { "Time zone" }
                input #timezone name="timezone" required maxlength="100" value=(zone) list="zones" placeholder="Europe/Berlin" autocomplete="off" spellcheck="false";
                p.soft.hint { "Type a city, such as Berlin, or choose a zone of the list." }
            }
            button type="submit" { "Save the workspace" }
        }
    }
}

/// Renders the posting times of the chosen account.
async fn times(visit: &Visit, accounts: &AccountChoices, seat: &PageMember) -> Result<Markup> {
    let asked = visit.query("account_id").or_else(|| visit.form("account_id"));
    let chosen = asked.and_then(|id| accounts.accounts.iter().find(|one| one.id.to_string() == id));
    let chosen = chosen.or(accounts.accounts.first());
    let Some(account) = chosen else {
        return Ok(
            html! { h3 { "Posting times" } p.empty { "Connect an account to choose the times at which it posts." } },
        );
    };
    let grid: OneGrid =
        operation::read(visit, "get_account_slots", json!({"id": account.id})).await?;
    let grid = grid.slots;
    Ok(html! {
        h3 { "Posting times" }
        @if accounts.accounts.len() > 1 {
            form.inline method="get" action=(PAGE) {
                label for="account" { "Account" }
                select #account name="account_id" {
                    @for one in &accounts.accounts {
                        option value=(one.id) selected[one.id == account.id] { (accounts.name(one.id)) }
                    }
                }
                button type="submit" { "Show" }
            }
        }
        @if seat.may(Role::Publisher) { (grid_form(visit, account.id, &grid)) }
        @else { p { (grid.times.join(", ")) " on " (grid.days.join(", ")) " (" (grid.timezone) ")" } }
    })
}

fn grid_form(visit: &Visit, account: AccountId, grid: &Slots) -> Markup {
    let stored = grid.times.join(", ");
    let times = sent(visit, "times", "times", &stored);
    let zone = sent(visit, "times", "timezone", &grid.timezone);
    html! {
        form.narrow method="post" action={ (PAGE) "/times" } {
            (parts::csrf_field(visit))
            input type="hidden" name="account_id" value=(account);
            div.field {
                label for="times" { "Times of day, separated by commas" }
                input #times name="times" required value=(times) placeholder="09:00, 12:00, 17:00" autocomplete="off";
            }
            div.field {
                label for="grid-zone" { "Time zone of these times" }
                input #grid-zone name="timezone" value=(zone) maxlength="100" list="zones" autocomplete="off" spellcheck="false";
            }
            fieldset {
                legend { "On" }
                @for day in DAYS {
                    @let id = format!("day-{day}");
                    div.tick {
                        input id=(id) type="checkbox" name="days" value=(day) checked[grid.days.iter().any(|one| one == day)];
                        label.beside for=(id) { (day) }
                    }
                }
            }
            button type="submit" { "Save the times" }
        }
    }
}

fn sessions(visit: &Visit, log_ins: &[ActiveLogin]) -> Markup {
    let rows: Vec<_> = log_ins
        .iter()
        .map(|one| {
            vec![
                parts::minute(visit, Time(one.since)),
                parts::minute(visit, Time(one.until)),
                html! { @if one.is_this { span.badge.good { "this browser" } } @else { "another browser" } },
            ]
        })
        .collect();
    html! {
        (table("Where you are logged in, the latest first", &["Since", "Ends", "Where"], &rows))
        @if log_ins.len() > 1 {
            (parts::confirmed_action(visit, "End all others", &format!("{PAGE}/log-ins"),
                "Every other browser has to log in again.", "End all other log-ins", &html! {}))
        }
    }
}
