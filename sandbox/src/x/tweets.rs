//! Creating, listing and deleting posts.

use chrono::DateTime;
use serde_json::{Map, Value, json};

use super::failure::{self, forbidden, wrong};
use super::limits::{self, limited};
use super::state::{Change, State, Tweet};
use super::{Cx, X, access, id, representations, schema, text};
use crate::env::rfc3339;
use crate::metrics::{self, MetricSubject};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

const TEXT: usize = 280;
/// The time for which the same text is refused, in milliseconds.
const DUPLICATE_WINDOW_MS: i64 = 60_000;
const WHO_MAY_REPLY: [&str; 4] = ["following", "mentionedUsers", "subscribers", "verified"];

/// `POST /2/tweets`
pub(super) fn create(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    limited(cx, &account, limits::CREATE, || {
        let body = cx.call.json().ok().and_then(|body| body.as_object().cloned());
        let body = body.ok_or_else(|| wrong("The request body is not a JSON object."))?;
        let (id, now_ms) = (id(cx), cx.now_ms());
        let tweet = Tweet {
            id,
            at_ms: now_ms,
            text: body.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
            media: Vec::new(),
            reply_to: None,
            before: Vec::new(),
            extra: extra(&body)?,
        };
        limits::day(cx, &account)?;
        let text = cx.sim.change(&account, |state| {
            let tweet = complete(state, tweet, &body)?;
            let text = tweet.text.clone();
            Ok((Change::Tweet(tweet), text))
        })?;
        let data =
            json!({"id": id.to_string(), "text": text, "edit_history_tweet_ids": [id.to_string()]});
        Ok(Reply::json(201, &json!({ "data": data })))
    })
}

/// Returns the fields of a body besides text, files and the post it replies to.
fn extra(body: &Map<String, Value>) -> Result<Map<String, Value>, Reply> {
    schema::new_post(body)?;
    let mut extra = Map::new();
    if let Some(who) = body.get("reply_settings") {
        if !who.as_str().is_some_and(|who| WHO_MAY_REPLY.contains(&who)) {
            return Err(wrong("$.reply_settings: does not have a value in the enumeration"));
        }
        extra.insert("reply_settings".into(), who.clone());
    }
    for name in ["made_with_ai", "paid_partnership"] {
        match body.get(name) {
            Some(Value::Bool(on)) => drop(extra.insert(name.into(), json!(on))),
            Some(_) => return Err(wrong(&format!("$.{name}: boolean expected"))),
            None => {}
        }
    }
    if let Some(poll) = body.get("poll") {
        extra.insert("poll".into(), polled(poll)?);
    }
    Ok(extra)
}

fn polled(poll: &Value) -> Result<Value, Reply> {
    let options = poll["options"].as_array().cloned().unwrap_or_default();
    let is_option = |option: &Value| {
        option.as_str().is_some_and(|text| (1..=25).contains(&text.chars().count()))
    };
    if !(2..=4).contains(&options.len()) || !options.iter().all(is_option) {
        return Err(wrong("$.poll.options: must have 2 to 4 options of 1 to 25 characters"));
    }
    if !poll["duration_minutes"].as_u64().is_some_and(|time| (5..=10_080).contains(&time)) {
        return Err(wrong("$.poll.duration_minutes: must be from 5 to 10080"));
    }
    Ok(poll.clone())
}

/// Checks everything that depends on the account's state.
fn complete(state: &State, mut tweet: Tweet, body: &Map<String, Value>) -> Result<Tweet, Reply> {
    tweet.media = media(state, body, tweet.at_ms)?;
    let has_poll = tweet.extra.contains_key("poll");
    if has_poll && !tweet.media.is_empty() {
        return Err(wrong("The `poll` and `media` fields are mutually exclusive."));
    }
    if tweet.text.trim().is_empty() && tweet.media.is_empty() {
        return Err(wrong("Your Tweet text is missing and no media was given."));
    }
    if text::length(&tweet.text) > TEXT {
        return Err(forbidden(
            "Your Tweet text is too long. You are not permitted to perform this action.",
        ));
    }
    if text::cashtags(&tweet.text) > 1 {
        return Err(forbidden(
            "You are not permitted to create an exclusive Tweet with more than one cashtag.",
        ));
    }
    if let Some(reply) = body.get("reply") {
        tweet.reply_to = Some(replied(state, reply)?);
    }
    if is_duplicate(state, &tweet) {
        return Err(forbidden("You are not allowed to create a Tweet with duplicate content."));
    }
    Ok(tweet)
}

/// Returns the files, which must be the account's own, ready, and of compatible kinds.
fn media(state: &State, body: &Map<String, Value>, now_ms: i64) -> Result<Vec<u64>, Reply> {
    let Some(given) = body.get("media") else { return Ok(Vec::new()) };
    let ids = given["media_ids"].as_array().cloned().unwrap_or_default();
    if !(1..=4).contains(&ids.len()) {
        return Err(wrong("$.media.media_ids: must have 1 to 4 items"));
    }
    let bad = || wrong("Your media IDs are invalid.");
    let ids: Option<Vec<u64>> =
        ids.iter().map(|id| id.as_str().and_then(|id| id.parse().ok())).collect();
    let ids = ids.ok_or_else(bad)?;
    for id in &ids {
        let upload = state.media.get(id).ok_or_else(bad)?;
        let ready = upload.ready_ms.is_some_and(|ready_ms| now_ms >= ready_ms);
        if !ready || upload.flaw.is_some() {
            return Err(bad());
        }
        if ids.len() > 1 && upload.category != "tweet_image" {
            return Err(wrong("Only one media of this kind may be attached to a Tweet."));
        }
    }
    Ok(ids)
}

/// Returns the post to reply to. An account may reply only to itself.
fn replied(state: &State, reply: &Value) -> Result<u64, Reply> {
    let named = reply["in_reply_to_tweet_id"].as_str().unwrap_or_default();
    let id: u64 = named.parse().map_err(|_| wrong("$.reply.in_reply_to_tweet_id: is invalid"))?;
    let known = state.posts.contains_key(&id).then_some(id);
    known.ok_or_else(|| {
        forbidden("Reply to this conversation is not allowed because you have not been mentioned or otherwise engaged by the author of the post you are replying to.")
    })
}

fn is_duplicate(state: &State, tweet: &Tweet) -> bool {
    let recent =
        state.posts.values().rev().take_while(|one| tweet.at_ms < one.at_ms + DUPLICATE_WINDOW_MS);
    let mut alike = recent.filter(|one| one.media.is_empty() && tweet.media.is_empty());
    alike.any(|one| one.text == tweet.text)
}

/// `GET /2/users/{id}/tweets`: newest first; the token of the next page is the last id of this one.
pub(super) fn list(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let named = cx.call.segment(2).to_owned();
    limited(cx, &account, limits::TIMELINE, || {
        let owner = cx.sim.account(&named).ok_or_else(|| failure::missing(&named))?;
        let most = cx.call.query_value("max_results").map_or(Ok(10), |most| most.parse::<usize>());
        let most = most.ok().filter(|most| (5..=100).contains(most));
        let most = most.ok_or_else(|| {
            wrong("The `max_results` query parameter value is not between 5 and 100.")
        })?;
        schema::post_fields(&cx.call)?;
        let since =
            cx.call.query_value("start_time").map(|time| DateTime::parse_from_rfc3339(&time));
        let since = since.transpose().map_err(|_| wrong("Invalid 'start_time'."))?;
        let since = since.map_or(i64::MIN, |time| time.timestamp_millis());
        let token = cx.call.query_value("pagination_token").map(|token| token.parse::<u64>());
        let before = token.transpose().map_err(|_| wrong("Invalid 'pagination_token'."))?;
        let (views, more): (Vec<Value>, bool) = owner.read(|state| {
            let all = state.posts.range(..before.unwrap_or(u64::MAX)).rev();
            let replaced = state.replaced();
            let mut rest = all.filter(|(id, one)| one.at_ms >= since && !replaced.contains(id));
            let shown = rest.by_ref().take(most).map(|(_, one)| view(cx, &owner, state, one));
            (shown.collect(), rest.next().is_some())
        });
        let Some(last) = views.last() else {
            return Ok(Reply::ok(&json!({"meta": {"result_count": 0}})));
        };
        let mut meta = json!({"result_count": views.len()});
        if more {
            meta["next_token"] = last["id"].clone();
        }
        Ok(Reply::ok(&json!({"data": views, "meta": meta})))
    })
}

/// `GET /2/tweets/{id}`
pub(super) fn one(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let named = cx.call.segment(2);
    schema::post_fields(&cx.call)?;
    let found = account.read(|state| {
        let tweet = state.posts.get(&named.parse().ok()?)?;
        Some(view(cx, &account, state, tweet))
    });
    let found = found.ok_or_else(|| failure::missing(named))?;
    Ok(Reply::ok(&json!({ "data": found })))
}

/// `GET /2/tweets?ids=…`: existing ones, with their metrics.
pub(super) fn get_many(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    schema::post_fields(&cx.call)?;
    let ids = cx.call.query_value("ids").unwrap_or_default();
    let mut found = Vec::new();
    for id in ids.split(',') {
        let tweet = account.read(|state| {
            let tweet = state.posts.get(&id.parse().ok()?)?;
            Some(view(cx, &account, state, tweet))
        });
        if let Some(mut tweet) = tweet {
            metrics::fill_metrics(&account, MetricSubject::Post(id), &mut tweet, &COUNTS)?;
            found.push(tweet);
        }
    }
    if found.is_empty() {
        return Ok(Reply::ok(
            &json!({"errors": [{"title": "Not Found Error", "resource_type": "tweet"}]}),
        ));
    }
    Ok(Reply::ok(&json!({ "data": found })))
}

/// The fields of a post with its metrics.
const COUNTS: [(&str, &str); 7] = [
    ("/public_metrics/like_count", "likes"),
    ("/public_metrics/reply_count", "comments"),
    ("/public_metrics/retweet_count", "reposts"),
    ("/public_metrics/repost_count", "reposts"),
    ("/public_metrics/quote_count", "quotes"),
    ("/public_metrics/bookmark_count", "saves"),
    ("/public_metrics/impression_count", "impressions"),
];

/// Returns a post with the requested fields. Its text contains shortened addresses, including those of its files.
fn view(cx: &Cx, owner: &Account<X>, state: &State, tweet: &Tweet) -> Value {
    let asked = schema::post_fields(&cx.call).unwrap_or_default();
    let wants = |name: &str| asked.iter().any(|field| field == name);
    let mut text = tweet.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut urls = Vec::new();
    for (number, link) in text::links(&tweet.text).into_iter().enumerate() {
        let short = format!("https://t.co/{}{number}", tweet.id % 1_000_000_000);
        let escaped = link.replace('&', "&amp;");
        text = text.replacen(&escaped, &short, 1);
        urls.push(json!({"url": short, "expanded_url": link, "display_url": link}));
    }
    if !tweet.media.is_empty() {
        let short = format!("https://t.co/m{}", tweet.id % 1_000_000_000);
        let page = representations::permalink(&cx.sim.base(), &owner.identity, tweet.id);
        text = format!("{text} {short}").trim().to_owned();
        let entry = json!({"url": short, "expanded_url": format!("{page}/photo/1"), "display_url": "pic.x.com/1"});
        urls.push(entry);
    }
    let mut view = json!({
        "id": tweet.id.to_string(),
        "text": text,
        "edit_history_tweet_ids": state.versions(tweet).iter().map(u64::to_string).collect::<Vec<_>>(),
    });
    let mut put = |name: &str, value: Value| {
        if wants(name) && !value.is_null() {
            view[name] = value;
        }
    };
    put("created_at", json!(rfc3339(tweet.at_ms)));
    let keys: Vec<_> = tweet.media.iter().map(|id| media_key(state, *id)).collect();
    let attachments = if keys.is_empty() { Value::Null } else { json!({ "media_keys": keys }) };
    put("attachments", attachments);
    put("author_id", json!(owner.identity.remote_id));
    put("entities", if urls.is_empty() { Value::Null } else { json!({ "urls": urls }) });
    put("in_reply_to_user_id", json!(tweet.reply_to.map(|_| &owner.identity.remote_id)));
    let replies = state.posts.values().filter(|one| one.reply_to == Some(tweet.id)).count();
    put(
        "public_metrics",
        json!({
            "retweet_count": 0, "repost_count": 0, "reply_count": replies, "like_count": 0, "quote_count": 0,
            "bookmark_count": 0, "impression_count": 1,
        }),
    );
    view
}

/// Returns the key of a file: the number of its kind, and its id
/// (<https://docs.x.com/x-api/fundamentals/data-dictionary#media>).
fn media_key(state: &State, id: u64) -> String {
    let kind = match state.media.get(&id).map(|upload| upload.category.as_str()) {
        Some("tweet_video") => 7,
        Some("tweet_gif") => 16,
        _ => 3,
    };
    format!("{kind}_{id}")
}

/// `DELETE /2/tweets/{id}`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let named = cx.call.segment(2).to_owned();
    cx.sim.change(&account, |state| {
        let id = named.parse().ok().filter(|id| state.posts.contains_key(id));
        Ok((Change::Deleted { id: id.ok_or_else(|| failure::missing(&named))? }, ()))
    })?;
    Ok(Reply::ok(&json!({"data": {"deleted": true}})))
}
