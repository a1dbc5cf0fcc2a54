//! Sending, reading, editing and deleting messages.

use super::form_errors::FormErrors;
use super::state::{Change, Message};
use super::{
    Cx, Discord, below_api, failure, is_forum, payload, representations, too_many, webhook,
    with_bucket,
};
use crate::rate_limit::{Limit, LimitDecision};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The rate limit of a webhook.
const BUCKET: Limit = Limit { name: "execute", units: 5, span_ms: 2_000 };
/// The rate limit of a channel.
const CHANNEL: Limit = Limit { name: "channel", units: 30, span_ms: 60_000 };

/// `POST /webhooks/{id}/{token}`
pub(super) fn execute(cx: &Cx) -> HandlerResult {
    let account = webhook::caller(cx)?;
    let now_ms = cx.now_ms();
    let bucket = account.take_units(BUCKET, 1, now_ms);
    if cx.sim.env.rate_limits() {
        let channel = account.take_units(CHANNEL, 1, now_ms);
        if let Some(full) = [bucket, channel].iter().find(|paced| !paced.allowed) {
            return Err(too_many(u64::try_from(full.reset_ms - now_ms).unwrap_or(0), now_ms));
        }
    }
    let query = |name: &str| cx.call.query_value(name);
    let thread = query("thread_id").map(|id| thread(&account, &id)).transpose()?;
    let is_forum = is_forum(&account.identity);
    let message = payload::read(&cx.call)?.message(cx, is_forum, thread)?;
    let wait = matches!(query("wait").as_deref(), Some("true" | "True" | "1"));
    let reply = if wait {
        Reply::ok(&representations::message(&message, &account.identity, &cx.sim.base()))
    } else {
        Reply::empty(204)
    };
    cx.sim.apply(&account, Change::Sent(message));
    Ok(with_bucket(reply, shown_limit(bucket), BUCKET.units, now_ms))
}

/// Returns a thread of the channel, which a message of this webhook has opened.
fn thread(account: &Account<Discord>, id: &str) -> Result<u64, Reply> {
    let unknown = || failure(404, 10003, "Unknown Channel");
    let id: u64 = id.parse().map_err(|_| unknown())?;
    let opens = |message: &Message| message.thread.as_ref().is_some_and(|thread| thread.id == id);
    let is_there = account.read(|state| state.messages.values().any(opens));
    if is_there { Ok(id) } else { Err(unknown()) }
}

/// Returns the limit as shown. If limits are off, an exhausted one is shown but has no effect.
fn shown_limit(paced: LimitDecision) -> LimitDecision {
    LimitDecision { remaining: if paced.allowed { paced.remaining } else { 0 }, ..paced }
}

fn message_id(cx: &Cx) -> Result<u64, Reply> {
    let segments = cx.call.segments();
    let id = below_api(&segments).and_then(|path| path.get(4)).copied().unwrap_or_default();
    id.parse().map_err(|_| unknown())
}

fn unknown() -> Reply {
    failure(404, 10008, "Unknown Message")
}

/// `GET /webhooks/{id}/{token}/messages/{message}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let account = webhook::caller(cx)?;
    let id = message_id(cx)?;
    if let Some(named) = cx.call.query_value("thread_id") {
        thread(&account, &named)?;
    }
    let base = cx.sim.base();
    let found = account.read(|state| {
        Some(representations::message(state.messages.get(&id)?, &account.identity, &base))
    });
    Ok(Reply::ok(&found.ok_or_else(unknown)?))
}

/// `PATCH /webhooks/{id}/{token}/messages/{message}`: the text only.
pub(super) fn edit(cx: &Cx) -> HandlerResult {
    let account = webhook::caller(cx)?;
    let id = message_id(cx)?;
    let payload = payload::read(&cx.call)?;
    let mut flaws = FormErrors::default();
    let content = payload.content(&mut flaws);
    flaws.refuse()?;
    let at_ms = cx.now_ms();
    cx.sim.change(&account, |state| {
        let message = state.messages.get(&id).ok_or_else(unknown)?;
        if content.is_empty() && message.attachments.is_empty() && message.rest.is_none() {
            return Err(failure(400, 50006, "Cannot send an empty message"));
        }
        Ok((Change::Edited { id, at_ms, content }, ()))
    })?;
    get(cx)
}

/// `DELETE /webhooks/{id}/{token}/messages/{message}`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let account = webhook::caller(cx)?;
    let id = message_id(cx)?;
    cx.sim.change(&account, |state| {
        state.messages.get(&id).ok_or_else(unknown)?;
        Ok((Change::Deleted { id }, ()))
    })?;
    Ok(Reply::empty(204))
}
