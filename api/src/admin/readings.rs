//! `/admin/readings`: the lag of reading metrics, inboxes and business profiles, and what networks refuse.

use fanfare_domain::{
    Result,
    ops::readings::{self, Reading, Refused, Share},
};
use fanfare_entities::Millis;
use maud::{Markup, html};

use super::{
    live,
    parts::{distance, empty, number, span, table},
    visit::{Answer, Visit},
};

/// The lag from which on a reading counts as late, in ms.
const LATE: Millis = 30 * 60_000;

/// Shows the page.
pub async fn show(visit: Visit) -> Result<Answer> {
    let part = live::embed(visit, "readings").await?;
    Ok(Answer::Page("Readings", html! { h1 { "Readings" } (part) }))
}

/// Renders the live part of the page.
pub async fn part(visit: Visit) -> Result<Markup> {
    let now = visit.cx.clock.now();
    let (lags, refused) = (readings::lags(&visit.cx).await?, readings::refused(&visit.cx).await?);
    Ok(html! {
        p.soft { "Numbers, inboxes and business profiles are read in the background; publishing comes first." }
        (lag_table(&lags, now))
        h2 { "Quota" }
        (share_table(&readings::shares()))
        h2 { "Refused numbers" }
        p.soft { "A number that a network refuses costs only itself: it is left out for a while, then asked for again." }
        (refused_table(&refused, now))
    })
}

fn lag_table(lags: &[Reading], now: Millis) -> Markup {
    if lags.is_empty() {
        return empty("No connected account is read.");
    }
    let rows: Vec<_> = lags
        .iter()
        .map(|one| {
            vec![
                html! { strong { (one.platform) } },
                html! { (what(one.kind)) },
                html! { (number(one.accounts)) },
                html! { (number(one.due)) },
                html! {
                    @match one.lag {
                        Some(lag) => { span.late[lag > LATE] { (span(lag)) } }
                        None => { span.soft { "none" } }
                    }
                },
                html! { @match one.oldest { Some(at) => { (distance(at, now)) } None => { span.soft { "–" } } } },
                html! { (number(one.never)) },
                html! { (number(one.hour)) },
            ]
        })
        .collect();
    let heads =
        ["Platform", "Read", "Accounts", "Due", "Lag", "Oldest reading", "Never read", "Last hour"];
    table("Lag by platform", &heads, &rows)
}

fn what(kind: &str) -> &str {
    match kind {
        "sync_analytics" => "numbers",
        "sync_inbox" => "inbox",
        "sync_business" => "business profile",
        other => other,
    }
}

fn share_table(shares: &[Share]) -> Markup {
    let rows: Vec<_> = shares
        .iter()
        .map(|one| {
            let window = span(i64::try_from(one.span.as_millis()).unwrap_or(i64::MAX));
            vec![
                html! { strong { (one.platform) } },
                html! { (number(one.calls.into())) " in " (window) },
                html! { (number(one.reading.into())) },
                html! { (number((one.calls - one.reading.min(one.calls)).into())) },
            ]
        })
        .collect();
    let heads =
        ["Platform", "Calls of an app", "For reading, at most", "Left to publishing, at least"];
    table("Shares of the networks' quotas", &heads, &rows)
}

fn refused_table(refused: &[Refused], now: Millis) -> Markup {
    if refused.is_empty() {
        return empty("No network refuses a number.");
    }
    let rows: Vec<_> = refused
        .iter()
        .map(|one| {
            vec![
                html! { strong { (one.platform) } },
                html! { code { (one.number) } },
                html! { (number(one.accounts)) },
                distance(one.until, now),
            ]
        })
        .collect();
    let heads = ["Platform", "Number", "Accounts", "Asked again"];
    table("Numbers that networks refuse", &heads, &rows)
}
