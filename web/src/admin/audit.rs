//! `/admin/audit`: who did what, when and why.

use fanfare_core::Result;
use fanfare_ops::ops::audit;
use maud::{Markup, html};
use serde_json::Value;

use super::{
    live,
    parts::{empty, table, time},
    visit::{PageResponse, Visit},
};

/// Shows the page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let part = live::embed(visit, "audit").await?;
    Ok(PageResponse::Page("Audit log", html! { h1 { "Audit log" } (part) }))
}

/// Renders the live part of the page.
pub async fn part(visit: Visit) -> Result<Markup> {
    let page = audit::list(&visit.cx, visit.parsed("before")?).await?;
    let rows: Vec<_> = page.entries.iter().map(row).collect();
    let heads = ["When (UTC)", "Who", "What", "On", "Why", "Outcome", "Request"];
    Ok(html! {
        @if rows.is_empty() { (empty("No actions yet.")) } @else {
            (table("What operators did, and what was done in workspaces, newest first", &heads, &rows))
        }
        @if let Some(next) = page.next {
            p.actions { a.button href={ "/admin/audit?before=" (next) } rel="next" { "Older" } }
        }
    })
}

fn row(entry: &audit::AuditEntry) -> Vec<Markup> {
    vec![
        time(entry.at),
        html! { (entry.operator) },
        html! { (entry.action.replace('_', " ")) },
        target(&entry.target),
        html! { span.break { (if entry.reason.is_empty() { "–" } else { &entry.reason }) } },
        html! { (entry.outcome) (details(&entry.details)) },
        html! { span.break.soft { (entry.request_id) } },
    ]
}

/// Renders the target of an action, with a link if it is a post.
fn target(name: &str) -> Markup {
    html! {
        @match name.strip_prefix("post:") {
            Some(id) => a href={ "/admin/work/post/" (id) } { (name) },
            None => (name),
        }
    }
}

/// Renders the posts that were retried, and those that were not with the reason.
fn details(details: &Value) -> Markup {
    let list = |key: &str| details[key].as_array().cloned().unwrap_or_default();
    let (sent, left, risky) = (list("sent"), list("left_out"), list("risk_accepted"));
    html! {
        @if !(sent.is_empty() && left.is_empty()) {
            details {
                summary { "Which" }
                @if !sent.is_empty() {
                    p { "Sent again: " @for id in &sent { (post(id)) @if risky.contains(id) { " (the risk was accepted)" } " " } }
                }
                @for one in &left { p { "Left out: " (post(&one["id"])) " " (one["why"].as_str().unwrap_or_default()) } }
            }
        }
        (more(details))
    }
}

/// Renders what else an entry says: ids, roles and scopes.
fn more(details: &Value) -> Markup {
    let is_shown = |name: &str| !["sent", "left_out", "risk_accepted"].contains(&name);
    let rest = details.as_object().into_iter().flatten().filter(|(name, _)| is_shown(name));
    let lines = rest.filter_map(|(name, value)| Some((name.replace('_', " "), in_words(value)?)));
    let lines: Vec<_> = lines.collect();
    html! {
        @if !lines.is_empty() {
            details {
                summary { "More" }
                @for (name, value) in &lines { p.break { (name) ": " (value) } }
            }
        }
    }
}

/// Returns a value as a person reads it; `None` for null.
fn in_words(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(all) => Some(all.iter().filter_map(in_words).collect::<Vec<_>>().join(", ")),
        Value::Object(all) => {
            let pairs = all.iter().filter_map(|(name, value)| {
                Some(format!("{} {}", name.replace('_', " "), in_words(value)?))
            });
            Some(pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
    }
}

fn post(id: &Value) -> Markup {
    html! { a href={ "/admin/work/post/" (id) } { (id) } }
}
