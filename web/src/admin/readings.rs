//! `/admin/readings`: the lag of reading metrics, inboxes and business profiles, and what networks refuse.

use fanfare_core::Result;
use fanfare_entities::Millis;
use fanfare_ops::ops::readings::{self, QuotaShare, ReadingLag, RefusedMetric};
use maud::{Markup, html};

use super::{
    live,
    parts::{duration, empty, number, relative_time, table},
    visit::{PageResponse, Visit},
};

/// The lag from which on a reading counts as late, in ms.
const LATE: Millis = 30 * 60_000;

/// Shows the page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let part = live::embed(visit, "readings").await?;
    Ok(PageResponse::Page("Readings", html! { h1 { "Readings" } (part) }))
}

/// Renders the live part of the page.
pub async fn part(visit: Visit) -> Result<Markup> {
    let now = visit.cx.clock.now();
    let (lags, refused) =
        (readings::lags(&visit.cx).await?, readings::refused_metrics(&visit.cx).await?);
    Ok(html! {
        p.soft { "Numbers, inboxes and business profiles are read in the background; publishing comes first." }
        (lag_table(&lags, now))
        h2 { "Quota" }
        (share_table(&readings::quota_shares()))
        h2 { "Refused numbers" }
        p.soft { "A number that a network refuses costs only itself: it is left out for a while, then asked for again." }
        (refused_table(&refused, now))
    })
}

fn lag_table(lags: &[ReadingLag], now: Millis) -> Markup {
    if lags.is_empty() {
        return empty("No connected account is read.");
    }
    let rows: Vec<_> = lags
        .iter()
        .map(|one| {
            vec![
                html! { strong { (one.platform) } },
                html! { (kind_label(one.kind)) },
                html! { (number(one.accounts)) },
                html! { (number(one.due)) },
                html! {
                    @match one.lag {
                        Some(lag) => { span.late[lag > LATE] { (duration(lag)) } }
                        None => { span.soft { "none" } }
                    }
                },
                html! { @match one.oldest { Some(at) => { (relative_time(at, now)) } None => { span.soft { "–" } } } },
                html! { (number(one.never)) },
                html! { (number(one.hour)) },
            ]
        })
        .collect();
    let heads =
        ["Platform", "Read", "Accounts", "Due", "Lag", "Oldest reading", "Never read", "Last hour"];
    table("Lag by platform", &heads, &rows)
}

fn kind_label(kind: &str) -> &str {
    match kind {
        "sync_analytics" => "numbers",
        "sync_inbox" => "inbox",
        "sync_business" => "business profile",
        other => other,
    }
}

fn share_table(shares: &[QuotaShare]) -> Markup {
    let rows: Vec<_> = shares
        .iter()
        .map(|one| {
            let window = duration(i64::try_from(one.span.as_millis()).unwrap_or(i64::MAX));
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

fn refused_table(refused: &[RefusedMetric], now: Millis) -> Markup {
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
                relative_time(one.until, now),
            ]
        })
        .collect();
    let heads = ["Platform", "Number", "Accounts", "Asked again"];
    table("Numbers that networks refuse", &heads, &rows)
}
