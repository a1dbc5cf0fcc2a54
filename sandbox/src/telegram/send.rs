//! Texts and polls, and code shared by all kinds of messages.

use std::sync::Arc;

use serde_json::{Value, json};

use super::entities::{self, Formatted};
use super::state::{Change, Message, Rest};
use super::{Cx, Telegram, bad, chat, done, keyboard, representations, too_many};
use crate::params::Params;
use crate::rate_limit::Limit;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

const TEXT: usize = 4_096;
const CAPTION: usize = 1_024;
/// The messages a bot may send to one group or channel.
const PACE: Limit = Limit { name: "messages", units: 20, span_ms: 60_000 };

/// `sendMessage`
pub(super) fn message(cx: &Cx) -> HandlerResult {
    let params = chat::params(cx)?;
    let account = chat::target(cx, &params)?;
    let text = formatted(&params, "text", "entities")?;
    match entities::units(&text.text) {
        0 => return Err(bad("message text is empty")),
        n if n > TEXT => return Err(bad("message is too long")),
        _ => {}
    }
    let mut rest = rest(&params)?;
    if let Some(preview) = params.json("link_preview_options") {
        rest.link_preview =
            Some(preview.map_err(|_| bad("can't parse link preview options JSON object"))?);
    } else if params.flag("disable_web_page_preview") {
        rest.link_preview = Some(json!({"is_disabled": true}));
    }
    one(cx, &account, &params, text, rest)
}

/// `sendPoll`
pub(super) fn poll(cx: &Cx) -> HandlerResult {
    let params = chat::params(cx)?;
    let account = chat::target(cx, &params)?;
    let poll = super::poll::poll(&params, cx.now_ms() / 1_000)?;
    let rest = Rest { poll: Some(poll), ..rest(&params)? };
    one(cx, &account, &params, Formatted::default(), rest)
}

/// `deleteMessage`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let params = chat::params(cx)?;
    let account = chat::target(cx, &params)?;
    let id =
        params.integer("message_id").ok_or_else(|| bad("message identifier is not specified"))?;
    cx.sim.change(&account, |state| {
        state.messages.get(&id).ok_or_else(|| bad("message to delete not found"))?;
        Ok((Change::Deleted { id }, ()))
    })?;
    done(Value::Bool(true))
}

/// Returns a parameter as formatted text, with `parse_mode` or explicit entities.
pub(super) fn formatted(params: &Params, name: &str, entities: &str) -> Result<Formatted, Reply> {
    let text = params.text(name).unwrap_or_default();
    let mode = params.filled("parse_mode").unwrap_or_default();
    let mut formatted = parse(&text, &mode)?;
    if mode.is_empty()
        && let Some(list) = params.json(entities)
    {
        let list = list.ok().and_then(|list| serde_json::from_value(list).ok());
        formatted.entities =
            list.ok_or_else(|| bad("can't parse entities: expected an Array of MessageEntity"))?;
    }
    Ok(formatted)
}

/// Parses a text in a mode.
pub(super) fn parse(text: &str, mode: &str) -> Result<Formatted, Reply> {
    entities::parse(text, mode).map_err(|flaw| match flaw.as_str() {
        "unsupported parse_mode" => bad(&flaw),
        _ => bad(&format!("can't parse entities: {flaw}")),
    })
}

/// Returns the caption of media.
pub(super) fn caption(params: &Params) -> Result<Formatted, Reply> {
    let caption = formatted(params, "caption", "caption_entities")?;
    check_caption(caption)
}

/// Returns a caption, unless it is too long.
pub(super) fn check_caption(caption: Formatted) -> Result<Formatted, Reply> {
    if entities::units(&caption.text) > CAPTION {
        return Err(bad("message caption is too long"));
    }
    Ok(caption)
}

/// Reads the parameters of every kind of message.
pub(super) fn rest(params: &Params) -> Result<Rest, Reply> {
    let reply = params
        .json("reply_parameters")
        .transpose()
        .map_err(|_| bad("can't parse reply parameters JSON object"))?;
    let reply_to = reply
        .as_ref()
        .and_then(|reply| reply["message_id"].as_i64())
        .or_else(|| params.integer("reply_to_message_id"));
    Ok(Rest {
        reply_to,
        keyboard: keyboard::keyboard(params)?,
        silent: params.flag("disable_notification"),
        spoiler: params.flag("has_spoiler"),
        ..Rest::default()
    })
}

/// Sends one message and returns it.
pub(super) fn one(
    cx: &Cx,
    account: &Arc<Account<Telegram>>,
    params: &Params,
    text: Formatted,
    rest: Rest,
) -> HandlerResult {
    let mut sent = all(cx, account, params, vec![(text, rest)])?;
    done(sent.pop().unwrap_or_default())
}

/// Sends messages in one change and returns them in the Bot API's format.
pub(super) fn all(
    cx: &Cx,
    account: &Arc<Account<Telegram>>,
    params: &Params,
    parts: Vec<(Formatted, Rest)>,
) -> Result<Vec<Value>, Reply> {
    let now_ms = cx.now_ms();
    if cx.sim.env.rate_limits() {
        let paced =
            account.take_units(PACE, u32::try_from(parts.len()).unwrap_or(u32::MAX), now_ms);
        if !paced.allowed {
            return Err(too_many(
                u64::try_from((paced.reset_ms - now_ms + 999) / 1_000).unwrap_or(1).max(1),
            ));
        }
    }
    let reply = params.json("reply_parameters").and_then(Result::ok).unwrap_or_default();
    let lenient =
        params.flag("allow_sending_without_reply") || reply["allow_sending_without_reply"] == true;
    cx.sim.change(account, |state| {
        let mut messages = Vec::with_capacity(parts.len());
        for ((text, mut rest), id) in parts.into_iter().zip(state.last_id + 1..) {
            if rest.reply_to.is_some_and(|to| !state.messages.contains_key(&to)) {
                if !lenient {
                    return Err(bad("message to be replied not found"));
                }
                rest.reply_to = None;
            }
            let rest = (rest != Rest::default()).then(|| Box::new(rest));
            messages.push(Message {
                id,
                at_ms: now_ms,
                text: text.text,
                entities: text.entities,
                rest,
            });
        }
        let chat = chat::chat_of(account);
        let shown = messages.iter().map(|message| {
            let mut shown = representations::message(message, &account.identity);
            (shown["chat"], shown["sender_chat"]) = (chat.clone(), chat.clone());
            shown
        });
        let shown = shown.collect();
        Ok((Change::Sent(messages), shown))
    })
}
