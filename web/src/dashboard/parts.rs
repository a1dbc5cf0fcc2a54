//! Parts that the pages of the dashboard share.

use fanfare_core::{
    Code, Error,
    access::Scope,
    clock::{Time, to_rfc3339},
    zone::local,
};
use fanfare_entities::Millis;
use fanfare_people::oauth_provider::scope_description;
use maud::{Markup, html};
use serde::Serialize;
use serde_json::Value;
use url::form_urlencoded;
use uuid::Uuid;

use crate::{
    browser::{form, refusal::refusal},
    oauth_connect::Visit,
};

/// Returns the hidden token of a form.
pub fn csrf_field(visit: &Visit) -> Markup {
    html! { input type="hidden" name="csrf" value=(form::csrf_token(&visit.token)); }
}

/// Returns the day of a time, in the page's time zone.
pub fn day(visit: &Visit, time: Millis) -> String {
    local(time, visit.zone()).format("%-d %b %Y").to_string()
}

/// Renders a time to the minute, in the page's time zone, or "never".
pub fn minute_or_never(visit: &Visit, time: Option<Millis>) -> Markup {
    html! { @match time { Some(time) => (local_time(time, visit.zone())), None => "never" } }
}

/// Returns the beginning of a user's text, in one line.
pub fn one_line(text: &str, most: usize) -> String {
    let mut words = text.split_whitespace();
    let mut line = String::new();
    while line.chars().count() <= most
        && let Some(word) = words.next()
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().take(most + 1));
    }
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most).chain(['…']).collect()
}

/// Renders a time in this time zone.
pub fn local_time(time: Millis, zone: &str) -> Markup {
    let shown = local(time, zone).format("%a %-d %b %Y, %H:%M").to_string();
    html! { time datetime=(to_rfc3339(time)) { (shown) } }
}

/// Renders a time of a reply to the second, in this time zone.
pub fn local_second(Time(time): Time, zone: &str) -> Markup {
    let shown = local(time, zone).format("%-d %b %Y, %H:%M:%S").to_string();
    html! { time datetime=(to_rfc3339(time)) { (shown) } }
}

/// Returns the name of a value as replies write it.
pub fn name_of(value: impl Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    name.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Renders a status in words and colour.
pub fn badge(status: &str) -> Markup {
    let tone = match status {
        "published" | "connected" | "ready" | "completed" => "good",
        "failed" | "reconnect_required" => "bad",
        "paused" | "not known" | "partly published" | "asked to wait" => "warn",
        "scheduled" | "publishing" | "processing" | "asking" | "trying again" | "queued"
        | "running" | "under way" => "busy",
        _ => "plain",
    };
    html! { span class={ "badge " (tone) } { (status.replace('_', " ")) } }
}

/// Renders the error of a form.
pub fn form_error(error: Option<&Error>) -> Markup {
    html! {
        @if let Some(error) = error { (refusal(error)) }
    }
}

/// Returns true for an error that the user can correct in the form.
pub fn is_about_the_form(error: &Error) -> bool {
    let codes = [Code::KeyLimit, Code::ClientLimit, Code::RateLimited, Code::WorkspaceNotFound];
    !error.violations().is_empty() || codes.contains(&error.code())
}

/// Returns the values of a group of checkboxes.
pub fn ticked(visit: &Visit, name: &str) -> Vec<String> {
    visit.form.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone()).collect()
}

/// Renders a checkbox for each scope.
pub fn scopes(name: &str, ticked: &[Scope]) -> Markup {
    html! {
        fieldset {
            legend { "It may" }
            @for scope in Scope::ALL {
                @let id = format!("{name}-{}", scope.as_str().replace(':', "-"));
                div.tick {
                    input id=(id) type="checkbox" name=(name) value=(scope.as_str()) checked[ticked.contains(&scope)];
                    label.beside for=(id) { (scope_description(scope)) " " code.soft { (scope.as_str()) } }
                }
            }
        }
    }
}

/// Renders an action that cannot be undone: it expands, explains the effect and has a button of its own.
pub fn confirmed_action(
    visit: &Visit,
    label: &str,
    action: &str,
    what: &str,
    button: &str,
    fields: &Markup,
) -> Markup {
    html! {
        details.confirm {
            summary { (label) }
            p { (what) }
            form.narrow method="post" action=(action) {
                (csrf_field(visit))
                (fields)
                button.danger type="submit" { (button) }
            }
        }
    }
}

/// Renders a hidden field that makes a form sent twice act once.
pub fn once_field() -> Markup {
    html! { input type="hidden" name="once" value=(Uuid::now_v7()); }
}

/// Returns the idempotency key of a form with [`once`] in it.
pub fn once_key(visit: &Visit) -> Uuid {
    let sent = visit.form("once").and_then(|text| Uuid::parse_str(text).ok());
    sent.unwrap_or_else(Uuid::now_v7)
}

/// Returns true for an error that is shown beside the form it is about.
pub fn is_shown_beside(error: &Error) -> bool {
    let elsewhere = [Code::InsufficientWorkspacePermissions, Code::WorkspaceNotFound];
    let kind = error.status();
    let theirs = ((400..500).contains(&kind) && kind != 404) || kind == 502;
    theirs && !elsewhere.contains(&error.code())
}

/// Renders the message in place of a page that the workspace's plan does not include.
pub fn not_included(error: &Error) -> Markup {
    html! {
        p.flash.warn { (error.message()) }
        p.actions { a.button.strong href="/dashboard/billing" { "Compare plans" } }
    }
}

/// Renders a note that a change was made.
pub fn success_note(words: Option<&str>) -> Markup {
    html! { @if let Some(words) = words { p.flash.good role="status" { (words) } } }
}

/// Returns a user's text with its line breaks, cut if it is longer than any network allows.
pub fn lines(text: &str) -> String {
    let short: String = text.chars().take(5_000).collect();
    if short.len() < text.len() { short + "…" } else { short }
}

/// Renders a time of a reply to the minute, in the page's time zone.
pub fn minute(visit: &Visit, Time(time): Time) -> Markup {
    local_time(time, visit.zone())
}

/// Renders the link to the next page of a list.
pub fn next(page: &str, cursor: Option<&str>) -> Markup {
    html! {
        @if let Some(cursor) = cursor {
            @let cursor: String = form_urlencoded::byte_serialize(cursor.as_bytes()).collect();
            @let sign = if page.contains('?') { '&' } else { '?' };
            p.actions { a.button rel="next" href={ (page) (sign) "cursor=" (cursor) } { "Older" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_text_is_cut_to_one_line() {
        assert_eq!(one_line("one\n two", 10), "one two");
        assert_eq!(one_line("one two", 5), "one t…");
        assert_eq!(one_line(&"x".repeat(100_000), 3), "xxx…");
        assert_eq!(one_line("", 3), "");
    }
}
