//! Metrics of the user and of its posts. If no metric was set, replies and quotes of other simulated accounts are
//! counted.

use super::state::Published;
use super::{Cx, access, below_version, failure};
use crate::graph::insights::{InsightsRequest, MetricNames, lifetime, total};
use crate::metrics::{MetricSubject, MetricValue};
use crate::reply::HandlerResult;

const OF_MEDIA: [MetricNames; 6] = [
    ("views", "views"),
    ("likes", "likes"),
    ("replies", "comments"),
    ("reposts", "reposts"),
    ("quotes", "quotes"),
    ("shares", "shares"),
];

const OF_USER: [MetricNames; 7] = [
    ("views", "views"),
    ("likes", "likes"),
    ("replies", "comments"),
    ("reposts", "reposts"),
    ("quotes", "quotes"),
    ("clicks", "clicks"),
    ("followers_count", "followers"),
];

/// `GET /{post}/insights`
pub(super) fn of_media(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let segments = cx.call.segments();
    let named = below_version(&segments).first().copied().unwrap_or_default();
    let found =
        named.parse().ok().filter(|id| account.read(|state| state.made.posts.contains_key(id)));
    let id: u64 = found.ok_or_else(|| failure::missing(named))?;
    let made = |name: &str| match name {
        "comments" => count(cx, |post| post.content.reply_to == Some(id)),
        "quotes" => count(cx, |post| post.content.quote == Some(id)),
        _ => None,
    };
    let told = |name: &str| account.metric(MetricSubject::Post(named), name).or_else(|| made(name));
    InsightsRequest::read(&cx.call, &OF_MEDIA)?.answer(told, lifetime)
}

/// `GET /{user}/threads_insights`
pub(super) fn of_user(cx: &Cx) -> HandlerResult {
    let account = access::user(cx)?;
    let asked = InsightsRequest::read(&cx.call, &OF_USER)?;
    if cx.call.query_value("metric").as_deref() == Some("views") {
        return asked.series(&account);
    }
    let days = asked.days();
    let told = |name: &str| match (name, days.as_slice()) {
        ("followers", _) => account.metric(MetricSubject::Now, name),
        (_, [(date, _)]) => account.metric(MetricSubject::Day(date), name),
        _ => None,
    };
    asked.answer(told, total)
}

fn count(cx: &Cx, fits: impl Fn(&Published) -> bool) -> Option<MetricValue> {
    let of = |account: &std::sync::Arc<crate::sim::Account<super::Threads>>| {
        account.read(|state| state.made.posts.values().filter(|post| fits(post)).count())
    };
    let count: usize = cx.sim.all().iter().map(of).sum();
    i64::try_from(count).ok().filter(|count| *count > 0).map(MetricValue::Number)
}
