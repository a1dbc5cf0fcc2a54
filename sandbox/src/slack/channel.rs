//! The channel: reading its data, joining it, reading its messages.

use serde_json::{Value, json};

use super::state::{Change, Message};
use super::{Cx, access, representations};
use crate::network::Identity;
use crate::reply::{HandlerResult, Reply};

/// Most messages of a page.
const LIMIT_MAX: usize = 999;

fn view(identity: &Identity, is_member: bool) -> Value {
    json!({
        "id": identity.remote_id,
        "name": identity.username,
        "is_channel": true,
        "is_private": false,
        "is_archived": false,
        "is_member": is_member,
        "created": identity.created_ms / 1_000,
        "num_members": 2,
    })
}

/// `conversations.list`
pub(super) fn list(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let channel = view(&account.identity, account.read(|state| state.joined));
    Ok(access::success(json!({"channels": [channel], "response_metadata": {"next_cursor": ""}})))
}

/// `conversations.info`
pub(super) fn info(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    access::in_channel(&account, access::arguments(cx)?.filled("channel"))?;
    let channel = view(&account.identity, account.read(|state| state.joined));
    Ok(access::success(json!({ "channel": channel })))
}

/// `conversations.join`
pub(super) fn join(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    access::in_channel(&account, access::arguments(cx)?.filled("channel"))?;
    let was_in = account.read(|state| state.joined);
    cx.sim.apply(&account, Change::Joined);
    let mut channel = view(&account.identity, true);
    // How many are in it is said where it is asked for alone.
    if let Some(channel) = channel.as_object_mut() {
        channel.remove("num_members");
    }
    let mut answer = json!({ "channel": channel });
    if was_in {
        answer["warning"] = json!("already_in_channel");
    }
    Ok(access::success(answer))
}

/// `conversations.history`: newest first; thread replies only if they were broadcast to the channel.
pub(super) fn history(cx: &Cx) -> HandlerResult {
    read(cx, |message, _| message.thread.is_none() || message.is_broadcast, true)
}

/// `conversations.replies`: a thread from its start.
pub(super) fn replies(cx: &Cx) -> HandlerResult {
    read(cx, |message, thread| message.ts == thread || message.thread == Some(thread), false)
}

fn read(cx: &Cx, wanted: fn(&Message, u64) -> bool, is_newest_first: bool) -> HandlerResult {
    let account = access::account(cx)?;
    let arguments = access::arguments(cx)?;
    access::in_channel(&account, arguments.filled("channel"))?;
    if !account.read(|state| state.joined) {
        return Err(access::failure("not_in_channel"));
    }
    let thread = arguments.filled("ts").and_then(|ts| representations::micros(&ts));
    if !is_newest_first && thread.is_none() {
        return Err(access::failure("thread_not_found"));
    }
    let oldest =
        arguments.filled("oldest").and_then(|ts| representations::micros(&ts)).unwrap_or(0);
    let latest =
        arguments.filled("latest").and_then(|ts| representations::micros(&ts)).unwrap_or(u64::MAX);
    let limit =
        arguments.integer("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(100);
    let limit = limit.clamp(1, LIMIT_MAX);
    let with_metadata = arguments.flag("include_all_metadata");
    let mut messages: Vec<Value> = account.read(|state| {
        let within = state.messages.range(oldest..latest).map(|(_, message)| message);
        let meant = within.filter(|message| wanted(message, thread.unwrap_or(0)));
        meant
            .map(|message| {
                representations::message(state, message, &account.identity, with_metadata)
            })
            .collect()
    });
    if is_newest_first {
        messages.reverse();
    }
    if let Some(cursor) = arguments.filled("cursor") {
        let last = messages.iter().position(|message| message["ts"] == cursor.as_str());
        messages.drain(..=last.ok_or_else(|| access::failure("invalid_cursor"))?);
    }
    let has_more = messages.len() > limit;
    messages.truncate(limit);
    let mut page = json!({"messages": messages, "has_more": has_more});
    if let Some(last) = messages.last().filter(|_| has_more) {
        page["response_metadata"] = json!({"next_cursor": last["ts"]});
    }
    Ok(access::success(page))
}

/// Returns the error for an exhausted limit.
pub(super) fn too_many(seconds: u64) -> Reply {
    Reply::json(429, &json!({"ok": false, "error": "ratelimited"})).with("retry-after", seconds)
}
