//! `/admin/webhooks`: webhooks whose deliveries fail.

use fanfare_core::Result;
use fanfare_entities::Millis;
use fanfare_ops::ops::failing_webhooks::{self, FailingWebhook};
use maud::{Markup, html};

use super::{
    live,
    parts::{action_link, badge, empty, number, relative_time, table, truncated},
    visit::{PageResponse, Visit},
};

/// Shows the page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let part = live::embed(visit, "webhooks").await?;
    Ok(PageResponse::Page(
        "Webhooks",
        html! {
            h1 { "Webhooks" }
            p.soft {
                "Receivers whose last try failed, the longest failing first. A webhook is disabled after five days without a \
                 success. Addresses are shown without what may be secret in them."
            }
            (part)
        },
    ))
}

/// Renders the live part of the page.
pub async fn part(visit: Visit) -> Result<Markup> {
    let (failing, now) = (failing_webhooks::list(&visit.cx).await?, visit.cx.clock.now());
    let rows: Vec<_> = failing.iter().map(|hook| row(hook, now)).collect();
    let heads = ["Receiver", "State", "Failing", "Waiting", "Given up", "Last answer", ""];
    Ok(html! {
        @if rows.is_empty() { (empty("All webhooks receive their deliveries.")) } @else {
            (table("Failing webhooks", &heads, &rows))
        }
    })
}

fn row(hook: &FailingWebhook, now: Millis) -> Vec<Markup> {
    let workspace = hook.workspace_id;
    vec![
        html! {
            span.break { (hook.address) }
            br; span.break.soft { (hook.id) }
            br; a.soft href={ "/admin/work?kind=delivery&workspace=" (workspace) } { "its workspace's deliveries" }
        },
        html! {
            (badge(if hook.enabled { "failing" } else { "disabled" }))
            @if let Some(reason) = &hook.disabled_reason { br; span.soft { (reason) } }
        },
        html! { @if let Some(since) = hook.failing_since { (relative_time(since, now)) } },
        html! { (number(hook.pending)) },
        html! { (number(hook.failed)) },
        html! {
            @if let Some(status) = hook.last_status { (status) " " }
            @if let Some(error) = &hook.last_error { span.soft.clip title=(error) { (truncated(error, 80)) } }
        },
        action_link("replay", &format!("webhook={}", hook.id), "Replay…"),
    ]
}
