//! Numbers. Nobody looks at a simulated network, so what is counted is what other simulated accounts did.

use serde_json::{Value, json};

use super::state::Published;
use super::{Cx, access, below_version, failure};
use crate::reply::{Answer, Reply};

const OF_MEDIA: [&str; 6] = ["views", "likes", "replies", "reposts", "quotes", "shares"];
const OF_USER: [&str; 7] =
    ["views", "likes", "replies", "reposts", "quotes", "clicks", "followers_count"];

/// `GET /{post}/insights`
pub(super) fn of_media(cx: &Cx) -> Answer {
    let account = access::account(cx)?;
    let segments = cx.call.segments();
    let id = below_version(&segments).first().copied().unwrap_or_default();
    let found =
        id.parse().ok().filter(|id| account.look(|state| state.made.posts.contains_key(id)));
    let id: u64 = found.ok_or_else(|| failure::missing(id))?;
    let value = |name: &str| match name {
        "replies" => count(cx, |post| post.content.reply_to == Some(id)),
        "quotes" => count(cx, |post| post.content.quote == Some(id)),
        _ => 0,
    };
    let shown = |name: &str| {
        json!({"name": name, "period": "lifetime", "title": name, "id": format!("{id}/insights/{name}/lifetime"),
        "values": [{"value": value(name)}]})
    };
    answer(cx, &OF_MEDIA, shown)
}

/// `GET /{user}/threads_insights`
pub(super) fn of_user(cx: &Cx) -> Answer {
    let account = access::user(cx)?;
    let user = &account.identity.remote_id;
    let mine: Vec<u64> = account.look(|state| state.made.posts.keys().copied().collect());
    let value = |name: &str| match name {
        "replies" => count(cx, |post| {
            post.content.reply_to.is_some_and(|to| mine.binary_search(&to).is_ok())
        }),
        "quotes" => {
            count(cx, |post| post.content.quote.is_some_and(|to| mine.binary_search(&to).is_ok()))
        }
        _ => 0,
    };
    let shown = |name: &str| {
        let mut shown = json!({"name": name, "period": "day", "title": name, "id": format!("{user}/insights/{name}/day")});
        if name == "views" {
            shown["values"] = json!([]);
        } else {
            shown["total_value"] = json!({"value": value(name)});
        }
        shown
    };
    answer(cx, &OF_USER, shown)
}

fn count(cx: &Cx, fits: impl Fn(&Published) -> bool) -> usize {
    cx.sim
        .all()
        .iter()
        .map(|account| {
            account.look(|state| state.made.posts.values().filter(|post| fits(post)).count())
        })
        .sum()
}

fn answer(cx: &Cx, known: &[&str], shown: impl Fn(&str) -> Value) -> Answer {
    let metrics = cx.call.query_value("metric").unwrap_or_default();
    let mut data = Vec::new();
    for name in metrics.split(',').map(str::trim) {
        if !known.contains(&name) {
            let message = format!(
                "(#100) metric[0] must be one of the following values: {}",
                known.join(", ")
            );
            return Err(failure::graph(400, 100, 0, &message));
        }
        data.push(shown(name));
    }
    Ok(Reply::ok(&json!({"data": data})))
}
