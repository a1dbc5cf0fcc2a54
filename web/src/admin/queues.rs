//! `/admin/queues`: waiting work, lateness and throughput.

use fanfare_core::Result;
use fanfare_ops::ops::{
    pauses::{self, Pause},
    queues::{self, MAX_COUNTED, QueueState},
};
use maud::{Markup, html};

use super::{
    chart::chart,
    live,
    parts::{at_most, duration, number},
    visit::{PageResponse, Visit},
};

/// Redirects `/admin` to the queues.
pub async fn start(_visit: Visit) -> Result<PageResponse> {
    Ok(PageResponse::Redirect("/admin/queues".to_owned()))
}

/// Shows the page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let part = live::embed(visit, "queues").await?;
    Ok(PageResponse::Page(
        "Queues",
        html! {
            h1 { "Queues" }
            p.soft {
                "What is due and not taken, and what came of the last hour. Lateness is from the time a row was due to the \
                 beginning of its call; tries after a failure are not in it."
            }
            p.keys.soft {
                span.key.done {} "done " span.key.failed {} "failed " span.key.depth {} "waiting"
            }
            (part)
        },
    ))
}

/// Renders the live part of the page.
pub async fn part(visit: Visit) -> Result<Markup> {
    let queues = queues::list(&visit.cx).await?;
    let (posts, others): (Vec<_>, Vec<_>) =
        queues.iter().partition(|queue| !queue.platform.is_empty());
    let queued = posts.first().and_then(|queue| queue.queued);
    Ok(html! {
        h2 { "Posts" }
        p.soft { (queue_depth(queued)) }
        (paused(&pauses::list(&visit.cx).await?))
        div.cards { @for queue in posts { (card(queue, &queue.platform)) } }
        h2 { "Other work" }
        div.cards { @for queue in others { (card(queue, &queue.name())) } }
    })
}

/// Renders the pauses. Paused work is due but not counted as late, since it waits for an operator.
fn paused(pauses: &[Pause]) -> Markup {
    html! {
        @if !pauses.is_empty() {
            p.flash.warn {
                "Paused: "
                @for (n, pause) in pauses.iter().enumerate() {
                    @if n > 0 { ", " }
                    (pause.name()) " (" (number(pause.held)) " waiting)"
                }
                ". " a href="/admin/platforms" { "Resume on the platforms page" } "."
            }
        }
    }
}

fn queue_depth(queued: Option<u64>) -> String {
    match queued {
        Some(queued) => format!("{queued} ids in the queue."),
        None => "The queue does not answer; every worker schedules for itself.".to_owned(),
    }
}

fn card(queue: &QueueState, name: &str) -> Markup {
    let more = if queue.depth >= MAX_COUNTED { "+" } else { "" };
    let late = queue.oldest.is_some_and(|oldest| oldest > 30_000);
    html! {
        section.card aria-label=(name) {
            h3 { (name) }
            dl.figures {
                div { dt { "Due" } dd { (number(queue.depth)) (more) } }
                div { dt { "Oldest" } dd.late[late] { (queue.oldest.map_or("–".to_owned(), duration)) } }
                div { dt { "Late p50" } dd { (at_most(queue.p50)) } }
                div { dt { "Late p99" } dd { (at_most(queue.p99)) } }
                div { dt { "Done" } dd { (number(queue.done)) } }
                div { dt { "Failed" } dd.late[queue.failed > 0] { (number(queue.failed)) } }
                @if queue.retried > 0 {
                    div { dt { "To be repeated" } dd { (number(queue.retried)) } }
                }
            }
            @if queue.is_idle() { p.soft { "Nothing in the last day." } } @else {
                (chart(name, "Last hour", "a minute", &queue.hour))
                (chart(name, "Last day", "15 minutes", &queue.day))
            }
        }
    }
}
