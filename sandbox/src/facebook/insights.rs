//! Metrics of the page and of its posts. A page with few likes has none, and reels return theirs without names.

use serde_json::{Value, json};

use super::{Cx, Facebook, first, representations};
use crate::graph::insights::{InsightsRequest, MetricNames, lifetime, total};
use crate::graph::{access, failure};
use crate::metrics::{self, MetricSubject, MetricValue};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

const OF_PAGE: [MetricNames; 6] = [
    ("page_total_media_view_unique", "reach"),
    ("page_media_view", "views"),
    ("page_post_engagements", "engagements"),
    ("page_views_total", "profile_views"),
    ("page_daily_follows", "follows"),
    ("page_daily_unfollows", "unfollows"),
];

const OF_POST: [MetricNames; 3] = [
    ("post_total_media_view_unique", "reach"),
    ("post_media_view", "views"),
    ("post_clicks", "clicks"),
];

/// `GET /{page}/insights` and `GET /{post}/insights`
pub(super) fn read(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let named = first(cx);
    if named != account.identity.remote_id {
        is_there(&account, &named)?;
        let asked = InsightsRequest::read(&cx.call, &OF_POST)?;
        return asked.answer(|name| account.metric(MetricSubject::Post(&named), name), lifetime);
    }
    let asked = InsightsRequest::read(&cx.call, &OF_PAGE)?;
    if cx.call.query_value("period").as_deref() == Some("total_over_range") {
        let days = asked.days().len();
        let of_period = |name: &str| format!("{name}_{days}");
        return asked.answer(|name| account.metric(MetricSubject::Now, &of_period(name)), total);
    }
    asked.series(&account)
}

/// `GET /{video}/video_insights`
pub(super) fn of_reel(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let named = first(cx);
    is_there(&account, &named)?;
    let counted = |name: &str| account.metric(MetricSubject::Post(&named), name);
    let plays = counted("plays").or_else(|| counted("views"));
    let data: Vec<Value> = match plays {
        Some(MetricValue::Number(plays)) => vec![lifetime("blue_reels_play_count", plays)],
        _ => Vec::new(),
    };
    Ok(Reply::ok(&json!({ "data": data })))
}

fn is_there(account: &Account<Facebook>, named: &str) -> Result<(), Reply> {
    let number = representations::number(named).ok_or_else(|| failure::missing(named))?;
    let found = account
        .read(|state| state.posts.contains_key(&number) || state.videos.contains_key(&number));
    if found { Ok(()) } else { Err(failure::missing(named)) }
}

/// Adds reactions, comments and shares to a JSON representation.
pub(super) fn summarize(
    account: &Account<Facebook>,
    named: &str,
    view: &mut Value,
) -> Result<(), Reply> {
    let mut counts = json!({"likes": null, "comments": null, "shares": null});
    let places = [("/likes", "likes"), ("/comments", "comments"), ("/shares", "shares")];
    metrics::fill_metrics(account, MetricSubject::Post(named), &mut counts, &places)?;
    if !counts["likes"].is_null() {
        view["reactions"] = json!({"data": [], "summary": {"total_count": counts["likes"]}});
    }
    if !counts["comments"].is_null() {
        view["comments"] = json!({"data": [], "summary": {"total_count": counts["comments"]}});
    }
    if !counts["shares"].is_null() {
        view["shares"] = json!({"count": counts["shares"]});
    }
    Ok(())
}
