//! Metrics of the page and of its posts. A page with few likes has none, and videos return theirs without names.
//!
//! The names: <https://developers.facebook.com/docs/graph-api/reference/insights>.

use serde_json::{Value, json};

use super::state::Kind;
use super::{Cx, Facebook, first, representations};
use crate::graph::insights::{self, InsightsRequest, MetricNames, lifetime, total};
use crate::graph::{access, failure, fields};
use crate::metrics::{self, MetricSubject, MetricValue};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

const OF_PAGE: [MetricNames; 7] = [
    ("page_total_media_view_unique", "reach"),
    ("page_media_view", "views"),
    ("page_post_engagements", "engagements"),
    ("page_views_total", "profile_views"),
    ("page_daily_follows", "follows"),
    ("page_daily_follows_unique", "follows"),
    ("page_daily_unfollows_unique", "unfollows"),
];

const OF_POST: [MetricNames; 3] = [
    ("post_total_media_view_unique", "reach"),
    ("post_media_view", "views"),
    ("post_clicks", "clicks"),
];

/// The counts of a post: the field, whether it is a list with a summary, and our name.
pub(super) const POST_COUNTS: [Count; 3] =
    [("reactions", true, "likes"), ("comments", true, "comments"), ("shares", false, "shares")];

/// The same of a video or a photo.
pub(super) const MEDIA_COUNTS: [Count; 2] =
    [("likes", true, "likes"), ("comments", true, "comments")];

type Count = (&'static str, bool, &'static str);

/// `GET /{page}/insights`, and those of a post or photo; a video has no such edge.
pub(super) fn read(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let named = first(cx);
    if named != account.identity.remote_id {
        has_insights(&account, &named)?;
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
pub(super) fn of_video(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let named = first(cx);
    let number = representations::number(&named);
    let kind = account.read(|state| Some(state.videos.get(&number?)?.kind));
    let name = match kind {
        Some(Kind::Reel) => "blue_reels_play_count",
        Some(_) => "total_video_views",
        None => return Err(failure::missing(&named)),
    };
    let counted = |name: &str| account.metric(MetricSubject::Post(&named), name);
    let plays = counted("plays").or_else(|| counted("views"));
    let data: Vec<Value> = match plays {
        Some(MetricValue::Number(plays)) => vec![insights::named(&named, lifetime(name, plays))],
        _ => Vec::new(),
    };
    Ok(Reply::ok(&json!({ "data": data })))
}

/// Checks that a node exists and has the edge `insights`.
fn has_insights(account: &Account<Facebook>, named: &str) -> Result<(), Reply> {
    let missing = || failure::missing(named);
    let number = representations::number(named).ok_or_else(missing)?;
    account.read(|state| {
        if state.posts.contains_key(&number) || state.photos.contains_key(&number) {
            return Ok(());
        }
        Err(match state.videos.contains_key(&number) {
            true => fields::nonexisting("insights", "Video"),
            false => missing(),
        })
    })
}

/// Adds what is counted to the JSON representation of a node.
pub(super) fn summarize(
    account: &Account<Facebook>,
    named: &str,
    counted: &[Count],
    view: &mut Value,
) -> Result<(), Reply> {
    for (field, is_list, ours) in counted {
        let mut count = json!({"count": null});
        metrics::fill_metrics(
            account,
            MetricSubject::Post(named),
            &mut count,
            &[("/count", ours)],
        )?;
        let count = count["count"].take();
        if count.is_null() {
            continue;
        }
        view[*field] = match is_list {
            true => json!({"data": [], "summary": {"total_count": count}}),
            false => json!({ "count": count }),
        };
    }
    Ok(())
}
