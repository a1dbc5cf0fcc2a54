//! The attempts to publish a post.

use fanfare_publishing::posts::{Attempt, outcome_words};
use maud::{Markup, html};

use crate::dashboard::parts::{badge, local_second, one_line};

/// Renders the attempts, latest first.
pub fn table(attempts: &[Attempt], zone: &str) -> Markup {
    html! {
        section {
            h2 { "Attempts" }
            @if attempts.is_empty() {
                p.empty { "It was not tried yet." }
            } @else {
                table {
                    caption { "Attempts to publish it, latest first" }
                    thead { tr { th scope="col" { "Attempt" } th scope="col" { "Started" } th scope="col" { "Result" } th scope="col" { "Message" } } }
                    tbody { @for attempt in attempts.iter().rev().take(50) { (line(attempt, zone)) } }
                }
            }
        }
    }
}

fn line(attempt: &Attempt, zone: &str) -> Markup {
    let message = attempt.error.as_ref().and_then(|error| error["message"].as_str());
    html! {
        tr {
            td data-label="Attempt" { div { (attempt.number) } }
            td data-label="Started" { div { (local_second(attempt.started_at, zone)) } }
            td data-label="Result" { div { (badge(outcome_words(attempt.outcome.as_deref()))) } }
            td data-label="Message" { div { (one_line(message.unwrap_or_default(), 300)) } }
        }
    }
}
