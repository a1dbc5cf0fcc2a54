//! The app view: posts with their counts, profiles, an author's feed.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::state::Record;
use super::syntax::AtUri;
use super::{Cx, POST, invalid, param};
use crate::env::rfc3339;
use crate::metrics::{self, MetricSubject};
use crate::network::Identity;
use crate::reply::{HandlerResult, Reply};

/// The fields of a post with its metrics.
const COUNTS: [(&str, &str); 5] = [
    ("/likeCount", "likes"),
    ("/replyCount", "comments"),
    ("/repostCount", "reposts"),
    ("/quoteCount", "quotes"),
    ("/bookmarkCount", "saves"),
];
const URIS: usize = 25;
const FEED: usize = 100;

/// The number of times a post was liked, reposted, answered and quoted.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    likes: u64,
    reposts: u64,
    replies: u64,
    quotes: u64,
}

/// `app.bsky.feed.getPosts`
pub(super) fn get_posts(cx: &Cx) -> HandlerResult {
    let uris: Vec<_> = cx
        .call
        .query_pairs()
        .filter(|(name, _)| name == "uris" || name == "uris[]")
        .map(|(_, uri)| uri)
        .collect();
    if uris.is_empty() {
        return Err(invalid("Params must have the property \"uris\""));
    }
    if uris.len() > URIS {
        return Err(invalid("uris must not have more than 25 elements"));
    }
    let mut found = Vec::new();
    for uri in &uris {
        let at = AtUri::parse(uri).ok_or_else(|| invalid("uris must be valid at-uris"))?;
        let Some(account) = cx.sim.find(&at.repo.to_ascii_lowercase()) else {
            continue;
        };
        let record = account.read(|state| state.record(at.collection, at.rkey).cloned());
        if let Some(record) = record.filter(|_| at.collection == POST) {
            found.push((address(&account.identity, at.rkey), account, record));
        }
    }
    let counts = count(cx, found.iter().map(|(uri, ..)| uri.clone()));
    let mut posts = Vec::new();
    for (uri, account, record) in &found {
        let mut post = view(uri, &account.identity, record, counts[uri]);
        // If no metric was set, the actions of other simulated accounts are counted.
        for (place, name) in COUNTS {
            if account.metric(MetricSubject::Post(uri), name).is_some()
                || post.pointer(place) == Some(&json!(0))
            {
                metrics::fill_metrics(
                    account,
                    MetricSubject::Post(uri),
                    &mut post,
                    &[(place, name)],
                )?;
            }
        }
        // A count that is not known is left out: it is a number or nothing.
        if let Some(fields) = post.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        posts.push(post);
    }
    Ok(Reply::ok(&json!({"posts": posts})))
}

/// `app.bsky.feed.getAuthorFeed`
pub(super) fn author_feed(cx: &Cx) -> HandlerResult {
    let actor = param(&cx.call, "actor")?;
    let account =
        cx.sim.find(&actor.to_ascii_lowercase()).ok_or_else(|| invalid("Profile not found"))?;
    let limit = cx
        .call
        .query_value("limit")
        .and_then(|limit| limit.parse().ok())
        .unwrap_or(50)
        .clamp(1, FEED);
    let cursor = cx.call.query_value("cursor");
    let posts: Vec<_> = account.read(|state| {
        let before = |rkey: &String| cursor.as_ref().is_none_or(|cursor| rkey < cursor);
        let posts = state.collection(POST).rev().filter(|(rkey, _)| before(rkey)).take(limit);
        posts.map(|(rkey, record)| (rkey.clone(), record.clone())).collect()
    });
    let counts = count(cx, posts.iter().map(|(rkey, _)| address(&account.identity, rkey)));
    let feed: Vec<_> = posts
        .iter()
        .map(|(rkey, record)| {
            let uri = address(&account.identity, rkey);
            json!({"post": view(&uri, &account.identity, record, counts[&uri])})
        })
        .collect();
    let mut reply = json!({"feed": feed});
    if let Some((rkey, _)) = posts.last().filter(|_| posts.len() == limit) {
        reply["cursor"] = json!(rkey);
    }
    Ok(Reply::ok(&reply))
}

/// `app.bsky.actor.getProfile`
pub(super) fn get_profile(cx: &Cx) -> HandlerResult {
    let actor = param(&cx.call, "actor")?;
    let account =
        cx.sim.find(&actor.to_ascii_lowercase()).ok_or_else(|| invalid("Profile not found"))?;
    let posts = account.read(|state| state.collection(POST).count());
    let did = &account.identity.remote_id;
    let follows = |subject: &str| {
        let accounts = cx.sim.all();
        let follow = |value: &Value| value["subject"] == subject;
        accounts
            .iter()
            .map(|a| {
                a.read(|state| {
                    state
                        .collection("app.bsky.graph.follow")
                        .filter(|(_, r)| follow(&r.value))
                        .count()
                })
            })
            .sum::<usize>()
    };
    let mut profile = author(&account.identity);
    profile["postsCount"] = json!(posts);
    profile["followersCount"] = json!(follows(did));
    profile["followsCount"] =
        json!(account.read(|state| state.collection("app.bsky.graph.follow").count()));
    profile["indexedAt"] = json!(rfc3339(account.identity.created_ms));
    Ok(Reply::ok(&profile))
}

fn address(identity: &Identity, rkey: &str) -> String {
    format!("at://{}/{POST}/{rkey}", identity.remote_id)
}

fn author(identity: &Identity) -> Value {
    json!({"did": identity.remote_id, "handle": identity.username, "displayName": "", "labels": [],
        "createdAt": rfc3339(identity.created_ms)})
}

fn view(uri: &str, identity: &Identity, record: &Record, counts: Counts) -> Value {
    json!({
        "uri": uri,
        "cid": record.cid,
        "author": author(identity),
        "record": record.value,
        "likeCount": counts.likes,
        "repostCount": counts.reposts,
        "replyCount": counts.replies,
        "quoteCount": counts.quotes,
        "indexedAt": rfc3339(record.at_ms),
        "labels": [],
    })
}

/// Counts the records in all repositories that refer to these posts, in one pass.
fn count(cx: &Cx, uris: impl Iterator<Item = String>) -> HashMap<String, Counts> {
    let mut counts: HashMap<String, Counts> = uris.map(|uri| (uri, Counts::default())).collect();
    let mut add = |target: &Value, add: fn(&mut Counts)| {
        if let Some(counts) = target.as_str().and_then(|uri| counts.get_mut(uri)) {
            add(counts);
        }
    };
    for account in cx.sim.all() {
        account.read(|state| {
            for (_, like) in state.collection("app.bsky.feed.like") {
                add(&like.value["subject"]["uri"], |c| c.likes += 1);
            }
            for (_, repost) in state.collection("app.bsky.feed.repost") {
                add(&repost.value["subject"]["uri"], |c| c.reposts += 1);
            }
            for (_, post) in state.collection(POST) {
                add(&post.value["reply"]["parent"]["uri"], |c| c.replies += 1);
                let record = &post.value["embed"]["record"];
                let quoted = if record["uri"].is_string() {
                    &record["uri"]
                } else {
                    &record["record"]["uri"]
                };
                add(quoted, |c| c.quotes += 1);
            }
        });
    }
    counts
}
