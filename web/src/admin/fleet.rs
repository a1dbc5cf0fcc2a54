//! `/admin/fleet`: the workers.

use fanfare_core::Result;
use fanfare_entities::Millis;
use fanfare_ops::ops::fleet::{self, Worker, WorkerState};
use maud::{Markup, html};
use url::form_urlencoded;

use super::{
    live,
    parts::{action_link, badge, empty, number, relative_time},
    visit::{PageResponse, Visit},
};

/// Shows the page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let part = live::embed(visit, "fleet").await?;
    Ok(PageResponse::Page(
        "Fleet",
        html! {
            h1 { "Fleet" }
            p.soft {
                "Every worker tells of itself every two seconds. One that was silent for 15 seconds counts as dead; what it \
                 held is taken over when its leases lapse, within a minute."
            }
            (part)
        },
    ))
}

/// Renders the live part of the page.
pub async fn part(visit: Visit) -> Result<Markup> {
    let (fleet, now) = (fleet::list(&visit.cx).await?, visit.cx.clock.now());
    Ok(html! {
        @if fleet.is_empty() {
            (empty("No worker has reported yet. Start one with `fanfare worker`."))
        }
        div.cards.wide { @for worker in &fleet { (card(worker, now)) } }
    })
}

fn card(worker: &Worker, now: Millis) -> Markup {
    let query: String = form_urlencoded::Serializer::new(String::new())
        .append_pair("worker", &worker.name)
        .finish();
    html! {
        section.card aria-label={ "Worker " (worker.name) } {
            h2.break { (worker.name) " " (badge(worker.state.as_str())) }
            dl.facts {
                dt { "Host" } dd { (worker.host) ", process " (worker.pid) }
                dt { "Version" } dd { (worker.version) }
                dt { "Queues" } dd { (worker.queues.replace(',', ", ")) }
                dt { "Slots" } dd { (number(i64::from(worker.running_count))) " running, " (worker.slots) " for posts" }
                dt { "Started" } dd { (relative_time(worker.started_at, now)) }
                dt { "Last report" } dd { (relative_time(worker.seen_at, now)) }
            }
            (running(worker, now))
            @match worker.state {
                WorkerState::Working => p.actions { (action_link("drain", &query, "Drain…")) },
                WorkerState::Draining | WorkerState::Drained => p.actions { (action_link("wake", &query, "Let it work again…")) },
                WorkerState::Dead => {},
            }
        }
    }
}

fn running(worker: &Worker, now: Millis) -> Markup {
    if worker.running.is_empty() {
        return html! { p.soft { "Nothing is running." } };
    }
    html! {
        p.soft { "Longest-running jobs:" }
        ul.running {
            @for row in worker.running.iter().take(5) {
                li {
                    @match row.kind.as_str() {
                        "publish_post" => a href={ "/admin/work/post/" (row.id) } { "post " (row.id) },
                        "deliver_webhook" => a href={ "/admin/work/delivery/" (row.id) } { "delivery " (row.id) },
                        "copy_media" => a href={ "/admin/work/copy/" (row.id) } { "copy " (row.id) },
                        other => (other.replace('_', " ")),
                    }
                    " " span.soft { (relative_time(row.since, now)) }
                }
            }
        }
    }
}
