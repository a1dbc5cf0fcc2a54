//! `/admin/audit`: who did what, when and why.

use fanfare_domain::{Result, ops::audit};
use maud::{Markup, html};

use super::{
    parts::{empty, table, time},
    visit::{Answer, Visit},
};

/// The page.
pub async fn show(visit: Visit) -> Result<Answer> {
    let page = audit::list(&visit.cx, visit.parsed("before")?).await?;
    let rows: Vec<_> = page.entries.iter().map(row).collect();
    let heads = ["When (UTC)", "Who", "What", "On", "Why", "Outcome", "Request"];
    Ok(Answer::Page(
        "Audit log",
        html! {
            h1 { "Audit log" }
            @if rows.is_empty() { (empty("Nobody has done anything yet.")) } @else {
                (table("What operators did, newest first", &heads, &rows))
            }
            @if let Some(next) = page.next {
                p.actions { a.button href={ "/admin/audit?before=" (next) } rel="next" { "Older" } }
            }
        },
    ))
}

fn row(entry: &audit::Entry) -> Vec<Markup> {
    vec![
        time(entry.at),
        html! { (entry.operator) },
        html! { (entry.action.replace('_', " ")) },
        html! { (entry.target) },
        html! { span.break { (if entry.reason.is_empty() { "–" } else { &entry.reason }) } },
        html! { (entry.outcome) },
        html! { span.break.soft { (entry.request_id) } },
    ]
}
