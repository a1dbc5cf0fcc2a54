//! Metrics of the user and of its posts. If no metric was set, replies and quotes of other simulated accounts are
//! counted.

use super::state::Published;
use super::{Cx, access, below_version, failure};
use crate::graph::insights::{Asked, Known, lifetime, total};
use crate::numbers::{Of, Told};
use crate::reply::Answer;

const OF_MEDIA: [Known; 6] = [
    ("views", "views"),
    ("likes", "likes"),
    ("replies", "comments"),
    ("reposts", "reposts"),
    ("quotes", "quotes"),
    ("shares", "shares"),
];

const OF_USER: [Known; 7] = [
    ("views", "views"),
    ("likes", "likes"),
    ("replies", "comments"),
    ("reposts", "reposts"),
    ("quotes", "quotes"),
    ("clicks", "clicks"),
    ("followers_count", "followers"),
];

/// `GET /{post}/insights`
pub(super) fn of_media(cx: &Cx) -> Answer {
    let account = access::account(cx)?;
    let segments = cx.call.segments();
    let named = below_version(&segments).first().copied().unwrap_or_default();
    let found =
        named.parse().ok().filter(|id| account.look(|state| state.made.posts.contains_key(id)));
    let id: u64 = found.ok_or_else(|| failure::missing(named))?;
    let made = |name: &str| match name {
        "comments" => count(cx, |post| post.content.reply_to == Some(id)),
        "quotes" => count(cx, |post| post.content.quote == Some(id)),
        _ => None,
    };
    let told = |name: &str| account.counted(Of::Post(named), name).or_else(|| made(name));
    Asked::read(&cx.call, &OF_MEDIA)?.answer(told, lifetime)
}

/// `GET /{user}/threads_insights`
pub(super) fn of_user(cx: &Cx) -> Answer {
    let account = access::user(cx)?;
    let asked = Asked::read(&cx.call, &OF_USER)?;
    if cx.call.query_value("metric").as_deref() == Some("views") {
        return asked.series(&account);
    }
    let days = asked.days();
    let told = |name: &str| match (name, days.as_slice()) {
        ("followers", _) => account.counted(Of::Now, name),
        (_, [(date, _)]) => account.counted(Of::Day(date), name),
        _ => None,
    };
    asked.answer(told, total)
}

fn count(cx: &Cx, fits: impl Fn(&Published) -> bool) -> Option<Told> {
    let of = |account: &std::sync::Arc<crate::sim::Account<super::Threads>>| {
        account.look(|state| state.made.posts.values().filter(|post| fits(post)).count())
    };
    let count: usize = cx.sim.all().iter().map(of).sum();
    i64::try_from(count).ok().filter(|count| *count > 0).map(Told::Number)
}
