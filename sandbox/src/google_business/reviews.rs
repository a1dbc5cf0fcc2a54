//! Reviews of a location, and the owner's answers to them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::state::{Change, State};
use super::{Cx, access, failure};
use crate::env::rfc3339;
use crate::mailbox::{Item, ItemKind, NewItem};
use crate::network::Identity;
use crate::reply::{HandlerResult, Reply};

/// Longest answer in bytes.
const REPLY_MAX: usize = 4_096;

/// The owner's answer to a review.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Answered {
    pub text: String,
    pub at_ms: i64,
    /// When Google has reviewed it.
    pub ready_ms: i64,
    pub rejected: bool,
}

/// Google's review decisions on replies and videos.
#[derive(Default, Clone, Serialize, Deserialize)]
pub(crate) struct Decisions {
    pub rejects: bool,
    /// The time for which videos are reviewed.
    pub video_ms: i64,
}

/// Returns the id of a new review, and its location, the first one.
pub(super) fn new_id(
    unique: u64,
    identity: &Identity,
    new: &NewItem,
) -> Result<(String, Option<String>), String> {
    if new.kind != ItemKind::Review {
        return Err("a location has reviews alone".into());
    }
    if !new.rating.is_none_or(|rating| (1..=5).contains(&rating)) {
        return Err("a rating is 1 to 5".into());
    }
    let which = super::locations::LOCATIONS
        .iter()
        .map(|(which, ..)| *which)
        .find(|which| identity.private(which) == new.remote_id)
        .unwrap_or(super::locations::LOCATIONS[0].0);
    Ok((format!("review{unique}"), Some(super::locations::location(identity, which))))
}

fn view(cx: &Cx, state: &State, item: &Item) -> Value {
    let stars = ["ONE", "TWO", "THREE", "FOUR", "FIVE"];
    let rating = item.rating.and_then(|rating| stars.get(usize::from(rating).checked_sub(1)?));
    let parent = item.post.as_deref().unwrap_or_default();
    let updated_ms = state.edited.get(&item.id).copied().unwrap_or(item.at_ms);
    let mut view = json!({
        "name": format!("{parent}/reviews/{}", item.id), "reviewId": item.id,
        "reviewer": {"displayName": item.author.username, "isAnonymous": false},
        "starRating": rating.unwrap_or(&"STAR_RATING_UNSPECIFIED"),
        "createTime": rfc3339(item.at_ms), "updateTime": rfc3339(updated_ms),
    });
    if !item.text.is_empty() {
        view["comment"] = json!(item.text);
    }
    if let Some(reply) = state.replies.get(&item.id) {
        let state = match (cx.now_ms() >= reply.ready_ms, reply.rejected) {
            (false, _) => "PENDING",
            (true, true) => "REJECTED",
            (true, false) => "APPROVED",
        };
        view["reviewReply"] = json!({
            "comment": reply.text, "updateTime": rfc3339(reply.at_ms), "reviewReplyState": state,
        });
        if state == "REJECTED" {
            view["reviewReply"]["policyViolation"] = json!("OFF_TOPIC");
        }
    }
    view
}

fn of<'a>(state: &'a State, parent: &str) -> Vec<&'a Item> {
    let mut all = state.mail.visible(ItemKind::Review);
    all.retain(|item| item.post.as_deref() == Some(parent));
    all.sort_by_key(|item| {
        std::cmp::Reverse(state.edited.get(&item.id).copied().unwrap_or(item.at_ms))
    });
    all
}

/// `GET /v4/{location}/reviews`, last changed first.
pub(super) fn list(cx: &Cx) -> HandlerResult {
    let (account, parent) = access::location(cx)?;
    let query = |name: &str| cx.call.query_value(name);
    let size: usize =
        query("pageSize").and_then(|size| size.parse().ok()).unwrap_or(50).clamp(1, 50);
    let start: usize = query("pageToken").and_then(|at| at.parse().ok()).unwrap_or(0);
    account.read(|state| {
        let all = of(state, &parent);
        let shown: Vec<_> =
            all.iter().skip(start).take(size).map(|item| view(cx, state, item)).collect();
        let ratings: Vec<f64> = all.iter().filter_map(|item| item.rating).map(f64::from).collect();
        let mut body = json!({"totalReviewCount": all.len()});
        if !shown.is_empty() {
            body["reviews"] = json!(shown);
        }
        if !ratings.is_empty() {
            let sum: f64 = ratings.iter().sum();
            let count = u32::try_from(ratings.len()).unwrap_or(u32::MAX);
            body["averageRating"] = json!(sum / f64::from(count));
        }
        if start + size < all.len() {
            body["nextPageToken"] = json!((start + size).to_string());
        }
        Ok(Reply::ok(&body))
    })
}

/// `GET /v4/{location}/reviews/{id}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let (account, parent) = access::location(cx)?;
    let id = cx.call.segment(6).to_owned();
    account.read(|state| {
        let item = state.mail.get(&id).filter(|item| item.post.as_ref() == Some(&parent));
        let item = item.ok_or_else(failure::missing)?;
        Ok(Reply::ok(&view(cx, state, item)))
    })
}

/// `PUT /v4/{location}/reviews/{id}/reply`, replaces an earlier reply.
pub(super) fn reply(cx: &Cx) -> HandlerResult {
    let (account, parent) = access::location(cx)?;
    access::edit(cx, &account, &parent)?;
    let id = cx.call.segment(6).to_owned();
    let body = cx.call.json().map_err(|_| failure::invalid("", "The body is no JSON."))?;
    let text = body["comment"].as_str().unwrap_or_default().to_owned();
    if text.is_empty() || text.len() > REPLY_MAX {
        return Err(failure::invalid("comment", "The comment has 1 to 4096 bytes."));
    }
    let at_ms = cx.now_ms();
    let ready_ms = at_ms + cx.sim.env.processing_ms();
    cx.sim.change(&account, |state| {
        let item = state.mail.get(&id).filter(|item| item.post.as_ref() == Some(&parent));
        item.ok_or_else(failure::missing)?;
        let rejected = state.decisions.rejects;
        let answered = Answered { text: text.clone(), at_ms, ready_ms, rejected };
        Ok((Change::Answered { id: id.clone(), answered: Some(answered) }, ()))
    })?;
    Ok(Reply::ok(
        &json!({"comment": text, "updateTime": rfc3339(at_ms), "reviewReplyState": "PENDING"}),
    ))
}

/// `DELETE /v4/{location}/reviews/{id}/reply`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let (account, parent) = access::location(cx)?;
    access::edit(cx, &account, &parent)?;
    let id = cx.call.segment(6).to_owned();
    cx.sim.change(&account, |state| {
        if !state.replies.contains_key(&id) {
            return Err(failure::missing());
        }
        Ok((Change::Answered { id: id.clone(), answered: None }, ()))
    })?;
    Ok(Reply::ok(&json!({})))
}
