//! `/admin/work/{kind}/{id}`: the history of one work row.

use fanfare_core::{Code, Error, Result};
use fanfare_ops::ops::{
    search::WorkKind,
    story::{self, Story, StoryAttempt, StoryDelivery, StoryEvent},
};
use maud::{Markup, html};
use serde_json::Value;

use super::{
    live,
    parts::{action_link, badge, empty, table, time},
    visit::{PageResponse, Visit, parse},
};

/// Shows the page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let kind = kind_and_id(&visit)?.0.as_str();
    let part = live::embed(visit, "work").await?;
    Ok(PageResponse::Page(
        "Work",
        html! {
            p.soft { a href={ "/admin/work?kind=" (kind) } { "Work" } " / " (kind) }
            (part)
        },
    ))
}

/// Returns the kind and id of the row in the path; 404 if they are malformed.
fn kind_and_id(visit: &Visit) -> Result<(WorkKind, i64)> {
    let (kind, id) = (visit.path("kind"), visit.path("id"));
    let found = WorkKind::named(kind).and_then(|kind| Ok((kind, parse("id", id)?)));
    found.map_err(|_| {
        Error::new(Code::NotFound, format!("There is no page /admin/work/{kind}/{id}."))
    })
}

/// Renders the live part of the page.
pub async fn part(visit: Visit) -> Result<Markup> {
    let (kind, id) = kind_and_id(&visit)?;
    let story = story::story(&visit.cx, kind, id).await?;
    Ok(html! {
        h1 { (story.title) " " (badge(&story.status)) }
        p { strong { "Next: " } (story.next) }
        (error(&story))
        div.columns {
            section { h2 { "Facts" } (facts(&story)) }
            section { h2 { "Times (UTC)" } (times(&story)) }
        }
        @if kind == WorkKind::Post {
            h2 { "Tries" } (attempts(&story.attempts))
            h2 { "Events" } (events(&story.events))
            h2 { "To whom" } (deliveries(&story.deliveries))
        }
        @if let Some(post) = story.post {
            p { a href={ "/admin/work/post/" (post) } { "The story of post " (post) } }
        }
    })
}

fn error(story: &Story) -> Markup {
    html! {
        @if let Some(error) = &story.error { div.flash.bad { (fault(error)) } }
        @if story.risky {
            p { "It may be public already: check the account before you send it again." }
        }
        @if story.can_retry { p.actions { (action_link("retry", &format!("post={}", story.id), "Send it again…")) } }
    }
}

/// Renders an error of the ledger, with the network's message.
fn fault(error: &Value) -> Markup {
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    let reply = &error["platform_error"];
    html! {
        p { strong { code { (text("code")) } } " " (text("message")) }
        @if error["remedy"].is_string() { p { (text("remedy")) } }
        @if reply.is_object() {
            p.soft.break {
                "The network said: "
                @for key in ["status", "code", "message"] {
                    @match &reply[key] {
                        Value::Null => {},
                        Value::String(text) => { (text) " " },
                        other => { (other) " " },
                    }
                }
            }
        }
    }
}

fn facts(story: &Story) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in &story.facts {
                @if !value.is_empty() { dt { (name) } dd.break { (value) } }
            }
        }
    }
}

fn times(story: &Story) -> Markup {
    html! {
        dl.facts {
            @for (name, at) in &story.times {
                @if let Some(at) = at { dt { (name) } dd { (time(*at)) } }
            }
        }
    }
}

fn attempts(attempts: &[StoryAttempt]) -> Markup {
    if attempts.is_empty() {
        return empty("No attempts yet.");
    }
    html! {
        @for attempt in attempts {
            section.card {
                h3 {
                    "Try " (attempt.number) " "
                    (badge(attempt.outcome.as_deref().unwrap_or("running")))
                }
                p.soft.break {
                    (time(attempt.started_at)) " to "
                    @if let Some(end) = attempt.ended_at { (time(end)) } @else { "–" }
                    ", by " (attempt.worker)
                }
                @if let Some(error) = &attempt.error { (fault(error)) }
                (steps(&attempt.steps))
            }
        }
    }
}

fn steps(steps: &Value) -> Markup {
    let Some(steps) = steps.as_array().filter(|steps| !steps.is_empty()) else { return html! {} };
    let text = |step: &Value, key: &str| step[key].as_str().unwrap_or("–").replace('T', " ");
    let row = |step: &Value| {
        ["name", "phase", "started_at", "ended_at", "remote_id"]
            .iter()
            .map(|key| html! { span.break { (text(step, key)) } })
            .collect::<Vec<_>>()
    };
    let rows: Vec<_> = steps.iter().map(row).collect();
    table("Steps", &["Step", "Phase", "Began", "Ended", "The network's id"], &rows)
}

fn events(events: &[StoryEvent]) -> Markup {
    if events.is_empty() {
        return empty("No events yet.");
    }
    let row = |event: &StoryEvent| {
        vec![
            time(event.at),
            html! { code { (event.event_type) } },
            html! { (event.message) },
            html! { span.break.soft { (event.request_id.as_deref().unwrap_or("–")) } },
        ]
    };
    let rows: Vec<_> = events.iter().map(row).collect();
    table("Events", &["When (UTC)", "Event", "What", "Request"], &rows)
}

fn deliveries(deliveries: &[StoryDelivery]) -> Markup {
    if deliveries.is_empty() {
        return empty("No webhook subscribes to it.");
    }
    let row = |delivery: &StoryDelivery| {
        vec![
            html! { a href={ "/admin/work/delivery/" (delivery.id) } { (delivery.id) } },
            html! { code { (delivery.event_type) } },
            html! { span.break { (delivery.address) } },
            badge(&delivery.status),
            html! { (delivery.tries) },
            html! { @if let Some(status) = delivery.last_status { (status) } @else { "–" } },
        ]
    };
    let rows: Vec<_> = deliveries.iter().map(row).collect();
    table("Deliveries", &["Delivery", "Event", "Receiver", "Status", "Tries", "Answer"], &rows)
}
