//! Metrics of the account and of its posts.

use super::state::Kind;
use super::{Cx, first};
use crate::graph::insights::{InsightsRequest, MetricNames, lifetime, total};
use crate::graph::{access, failure};
use crate::metrics::MetricSubject;
use crate::reply::HandlerResult;

const OF_ACCOUNT: [MetricNames; 9] = [
    ("reach", "reach"),
    ("views", "views"),
    ("likes", "likes"),
    ("comments", "comments"),
    ("shares", "shares"),
    ("saves", "saves"),
    ("accounts_engaged", "accounts_engaged"),
    ("profile_links_taps", "clicks"),
    ("total_interactions", "total_interactions"),
];

const OF_FEED: [MetricNames; 7] = [
    ("reach", "reach"),
    ("views", "views"),
    ("likes", "likes"),
    ("comments", "comments"),
    ("saved", "saves"),
    ("shares", "shares"),
    ("reposts", "reposts"),
];

const OF_STORY: [MetricNames; 4] =
    [("reach", "reach"), ("views", "views"), ("replies", "comments"), ("shares", "shares")];

/// The time for which metrics of a story are available, in milliseconds.
const STORY_MS: i64 = 86_400_000;

/// `GET /{user}/insights` and `GET /{media}/insights`
pub(super) fn read(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let named = first(cx);
    if named != account.identity.remote_id {
        return of_media(cx, &named);
    }
    let asked = InsightsRequest::read(&cx.call, &OF_ACCOUNT)?;
    let is_total = cx.call.query_value("metric_type").as_deref() == Some("total_value");
    if !is_total {
        // Only reach is a time series.
        let names = cx.call.query_value("metric").unwrap_or_default();
        if names != "reach" {
            let message = "(#100) The following metrics should be specified with parameter metric_type=total_value";
            return Err(failure::graph(400, 100, 0, message));
        }
        return asked.series(&account);
    }
    let days = asked.days();
    match days.as_slice() {
        [(date, _)] => asked.answer(|name| account.metric(MetricSubject::Day(date), name), total),
        days => {
            let of_period = |name: &str| format!("{name}_{}", days.len());
            asked.answer(|name| account.metric(MetricSubject::Now, &of_period(name)), total)
        }
    }
}

fn of_media(cx: &Cx, named: &str) -> HandlerResult {
    let account = access::page(cx)?;
    let missing = || failure::missing(named);
    let id: u64 = named.parse().map_err(|_| missing())?;
    let found = account.read(|state| {
        let post = state.made.posts.get(&id)?;
        Some((post.content.kind, post.at_ms))
    });
    let (kind, at_ms) = found.ok_or_else(missing)?;
    if kind == Kind::Stories && cx.now_ms() >= at_ms + STORY_MS {
        return Err(missing());
    }
    let known: &[MetricNames] = if kind == Kind::Stories { &OF_STORY } else { &OF_FEED };
    let asked = InsightsRequest::read(&cx.call, known)?;
    asked.answer(|name| account.metric(MetricSubject::Post(named), name), lifetime)
}
