//! Posting and deleting messages.

use serde_json::{Value, json};

use super::state::{Change, Message, State};
use super::{Cx, Slack, access, blocks, channel, representations};
use crate::params::Params;
use crate::rate_limit::Limit;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The limit: about one message per second in a channel.
const POSTS: Limit = Limit { name: "posts", units: 1, span_ms: 1_000 };
/// Longer texts are cut off.
const TEXT_MAX: usize = 40_000;
const MARKDOWN_MAX: usize = 12_000;

/// Counts one message.
pub(super) fn count_message(cx: &Cx, account: &Account<Slack>) -> Result<(), Reply> {
    if !cx.sim.env.rate_limits() || account.take_units(POSTS, 1, cx.now_ms()).allowed {
        return Ok(());
    }
    Err(channel::too_many(1))
}

/// Returns the thread to reply to, which must exist.
pub(super) fn thread(state: &State, arguments: &Params) -> Result<Option<u64>, Reply> {
    let Some(ts) = arguments.filled("thread_ts") else { return Ok(None) };
    let found = representations::micros(&ts).filter(|ts| state.messages.contains_key(ts));
    found.map(Some).ok_or_else(|| access::failure("thread_not_found"))
}

/// Returns a text as Slack stores it.
pub(super) fn plain(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// `chat.postMessage`
pub(super) fn post(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let arguments = access::arguments(cx)?;
    access::in_channel(&account, arguments.filled("channel"))?;
    count_message(cx, &account)?;
    let message = requested_message(&arguments)?;
    let (ts, at_ms) = (cx.unique_time(), cx.now_ms());
    let shown = cx.sim.change(&account, |state| {
        let message = Message { ts, thread: thread(state, &arguments)?, ..message };
        let shown = representations::message(state, &message, &account.identity, true);
        let message = Box::new(message);
        Ok((Change::Message { message, at_ms, titles: Vec::new() }, shown))
    })?;
    let id = &account.identity.remote_id;
    Ok(access::success(json!({"channel": id, "ts": shown["ts"], "message": shown})))
}

fn requested_message(arguments: &Params) -> Result<Message, Reply> {
    let blocks = blocks::read(arguments.json("blocks"))?;
    let (text, markdown) = (arguments.filled("text"), arguments.filled("markdown_text"));
    if markdown.is_some() && (text.is_some() || !blocks.is_empty()) {
        return Err(access::failure("markdown_text_conflict"));
    }
    if markdown.as_ref().is_some_and(|text| text.chars().count() > MARKDOWN_MAX) {
        return Err(access::failure("msg_too_long"));
    }
    if text.is_none() && markdown.is_none() && blocks.is_empty() {
        return Err(access::failure("no_text"));
    }
    let metadata = match arguments.json("metadata") {
        None => None,
        Some(Ok(metadata))
            if metadata["event_type"].is_string() && metadata["event_payload"].is_object() =>
        {
            Some(metadata)
        }
        Some(_) => return Err(access::failure("invalid_metadata_format")),
    };
    let flag = |name: &str| arguments.has(name).then(|| (name.to_owned(), arguments.flag(name)));
    let is_markdown = markdown.is_some();
    let text = markdown.unwrap_or_else(|| {
        plain(&text.unwrap_or_default().chars().take(TEXT_MAX).collect::<String>())
    });
    Ok(Message {
        text,
        is_markdown,
        blocks,
        metadata,
        is_broadcast: arguments.flag("reply_broadcast"),
        unfurls: ["unfurl_links", "unfurl_media"].into_iter().filter_map(flag).collect(),
        ..Message::default()
    })
}

/// `chat.delete`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let arguments = access::arguments(cx)?;
    access::in_channel(&account, arguments.filled("channel"))?;
    let ts = arguments.filled("ts").and_then(|ts| representations::micros(&ts));
    cx.sim.change(&account, |state| {
        let ts = ts.filter(|ts| state.messages.contains_key(ts));
        let ts = ts.ok_or_else(|| access::failure("message_not_found"))?;
        Ok((Change::Deleted { ts }, ()))
    })?;
    Ok(access::success(json!({"channel": account.identity.remote_id, "ts": arguments.text("ts")})))
}

/// `chat.getPermalink`
pub(super) fn permalink(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let arguments = access::arguments(cx)?;
    access::in_channel(&account, arguments.filled("channel"))?;
    let ts = arguments.filled("message_ts").and_then(|ts| representations::micros(&ts));
    let link: Option<Value> = account.read(|state| {
        let message = state.messages.get(&ts?)?;
        Some(json!(representations::permalink(message.ts, &account.identity, &cx.sim.base())))
    });
    let link = link.ok_or_else(|| access::failure("message_not_found"))?;
    Ok(access::success(json!({"channel": account.identity.remote_id, "permalink": link})))
}
