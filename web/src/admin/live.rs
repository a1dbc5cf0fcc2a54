//! Live pages, updated by server-sent events: each event is the part of the page that changes.

use std::{convert::Infallible, time::Duration};

use fanfare_core::{Code, Error, Result};
use fanfare_ops::ops::sessions;
use futures_util::{Stream, stream};
use maud::{Markup, html};
use salvo::{Response, sse, sse::SseEvent};
use url::form_urlencoded::Serializer;

use super::{
    audit, fleet, platforms, queues, readings, story,
    visit::{PageResponse, RenderPart, Visit},
    waiting, webhooks,
};

/// The interval between two events.
const EVERY: Duration = Duration::from_secs(2);

/// The number of events after which the browser reconnects, so that it notices an ended session and a process that
/// shuts down.
const EVENTS: u32 = 30;

/// The pages that are live.
const PARTS: &[(&str, RenderPart)] = &[
    ("queues", |visit| Box::pin(queues::part(visit))),
    ("fleet", |visit| Box::pin(fleet::part(visit))),
    ("platforms", |visit| Box::pin(platforms::part(visit))),
    ("readings", |visit| Box::pin(readings::part(visit))),
    ("work", |visit| Box::pin(story::part(visit))),
    ("webhooks", |visit| Box::pin(webhooks::part(visit))),
    ("waiting", |visit| Box::pin(waiting::part(visit))),
    ("audit", |visit| Box::pin(audit::part(visit))),
];

/// Responds with the stream of a page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let name = visit.path("page");
    let found = PARTS.iter().find(|(known, _)| *known == name);
    let missing = || Error::new(Code::NotFound, "There is no such page.");
    found.map(|(_, part)| PageResponse::Live(*part)).ok_or_else(missing)
}

/// Renders the live part of a page, which is complete without a script and updated by one.
pub async fn embed(visit: Visit, name: &str) -> Result<Markup> {
    let found = PARTS.iter().find(|(known, _)| *known == name);
    let Some((_, part)) = found else { return Err(Error::internal("a live page has no part")) };
    let address = address(&visit, name);
    let now = part(visit).await?;
    Ok(html! { div #live data-live=(address) { (now) } })
}

/// Returns the address of this page's stream, with the page's own query.
fn address(visit: &Visit, name: &str) -> String {
    let steps = ["kind", "id"].map(|step| visit.path(step)).into_iter();
    let path = steps
        .filter(|step| !step.is_empty())
        .fold(format!("/admin/live/{name}"), |path, step| path + "/" + step);
    let query = Serializer::new(String::new()).extend_pairs(&visit.query).finish();
    if query.is_empty() { path } else { path + "?" + &query }
}

/// Responds with a stream of the part.
pub fn stream(res: &mut Response, visit: Visit, part: RenderPart) {
    sse::stream(res, events(visit, part));
}

fn events(
    visit: Visit,
    part: RenderPart,
) -> impl Stream<Item = Result<SseEvent, Infallible>> + Send {
    let unchanged = String::new();
    stream::unfold((visit, 0, unchanged), move |(visit, sent, before)| async move {
        if sent >= EVENTS {
            return None;
        }
        let stopping = &visit.cx.stopping;
        stopping.sleep(EVERY).await;
        if stopping.closed.is_cancelled() {
            return None;
        }
        // Nothing is sent once the session has ended.
        sessions::find(&visit.cx, &visit.token).await.ok()??;
        let now = part(visit.clone()).await.ok()?.into_string();
        let event = if now == before {
            SseEvent::default().comment("unchanged")
        } else {
            SseEvent::default().name("part").text(now.as_str())
        };
        Some((Ok(event), (visit, sent + 1, now)))
    })
}
