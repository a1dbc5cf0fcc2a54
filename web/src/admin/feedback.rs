//! `/admin/feedback`: the messages of the public board, and those that were taken off it.

use fanfare_core::Result;
use fanfare_entities::FeedbackId;
use fanfare_ops::feedback::{self, BoardMessage};
use maud::{Markup, html};

use super::{
    parts::{empty, table, time},
    visit::{PageResponse, Visit},
};

const STATUSES: [&str; 5] = ["open", "planned", "started", "done", "declined"];

/// Shows the page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let before = visit.parsed("before")?.map(FeedbackId);
    let items = feedback::list_all(&visit.cx, before).await?;
    let rows: Vec<_> = items.iter().map(row).collect();
    let page = html! {
        h1 { "Feedback" }
        @if rows.is_empty() { (empty("Nobody has sent feedback yet.")) } @else {
            (table("Messages, newest first", &["When (UTC)", "Message", "On the board", "Change"], &rows))
        }
        @if let Some(last) = items.last().filter(|_| items.len() >= 50) {
            p.actions { a.button href={ "/admin/feedback?before=" (last.id) } rel="next" { "Older" } }
        }
    };
    Ok(PageResponse::Page("Feedback", page))
}

fn row(item: &BoardMessage) -> Vec<Markup> {
    vec![
        time(item.created_at),
        html! {
            strong { (item.title) } " " span.soft { (item.category) }
            @for line in item.description.lines() { br; span.break { (line) } }
        },
        html! { @if item.hidden { "no" } @else { a href={ "/feedback/" (item.id) } { "yes" } } ", " (item.status) },
        change(item),
    ]
}

/// Renders the form that changes an item; the next page asks for the reason.
fn change(item: &BoardMessage) -> Markup {
    let (status, place) = (format!("status-{}", item.id), format!("hidden-{}", item.id));
    html! {
        form.inline method="get" action="/admin/act/moderate" {
            input type="hidden" name="feedback" value=(item.id);
            label for=(status) { "Status" }
            select id=(status) name="status" {
                @for known in STATUSES { option value=(known) selected[known == item.status] { (known) } }
            }
            label for=(place) { "Board" }
            select id=(place) name="hidden" {
                option value="false" selected[!item.hidden] { "show" }
                option value="true" selected[item.hidden] { "hide" }
            }
            button type="submit" { "Change…" }
        }
    }
}
