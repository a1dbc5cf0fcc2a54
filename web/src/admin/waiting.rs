//! `/admin/waiting`: posts that wait for a person to decide.

use fanfare_core::Result;
use fanfare_entities::Millis;
use fanfare_ops::ops::{
    needs_attention::{self, AttentionReason},
    search::{SearchPage, WorkKind},
};
use maud::{Markup, html};

use super::{
    live,
    parts::{action_link, empty},
    visit::{PageResponse, Visit},
    work,
};

/// Shows the page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let part = live::embed(visit, "waiting").await?;
    Ok(PageResponse::Page("Missed and unknown", html! { h1 { "Missed and unknown" } (part) }))
}

/// Renders the live part of the page.
pub async fn part(visit: Visit) -> Result<Markup> {
    let (cx, now) = (&visit.cx, visit.cx.clock.now());
    let unknown =
        needs_attention::list(cx, AttentionReason::Unknown, visit.parsed("unknown")?).await?;
    let missed =
        needs_attention::list(cx, AttentionReason::Missed, visit.parsed("missed")?).await?;
    Ok(html! {
        h2 { "Outcome unknown" }
        p.soft {
            "A public call had no answer, and the network could not be asked what became of it. Look at the account. If \
             the post is there, nothing is to be done. If it is not, send it again: its page asks you to say so."
        }
        (list("Posts whose outcome is unknown", "unknown", &unknown, now))
        h2 { "Missed" }
        p.soft {
            "They could not go out within the allowed lateness, and nothing was sent: sending them again is safe, if their \
             time still makes sense."
        }
        (list("Posts that were missed", "missed", &missed, now))
        @if !missed.rows.is_empty() {
            p.actions { (action_link("retry", "status=failed&error=missed", "Send missed ones again…")) }
        }
    })
}

fn list(caption: &str, name: &str, page: &SearchPage, now: Millis) -> Markup {
    html! {
        @if page.rows.is_empty() { (empty("None.")) } @else {
            (work::rows(caption, WorkKind::Post, &page.rows, now))
        }
        @if let Some(next) = page.next {
            p.actions { a.button href={ "/admin/waiting?" (name) "=" (next) } { "Older" } }
        }
    }
}
