//! The bot, the chat, and the authorization of requests.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Cx, Telegram, bad, done, failure};
use crate::network::Identity;
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// Returns the bot whose token is in the path.
pub(super) fn bot(cx: &Cx) -> Result<Arc<Account<Telegram>>, Reply> {
    let token = cx.call.segment(0).trim_start_matches("bot").to_owned();
    let well_formed = token
        .split_once(':')
        .is_some_and(|(id, rest)| id.parse::<u64>().is_ok() && !rest.is_empty());
    if !well_formed {
        return Err(failure(404, "Not Found"));
    }
    let account =
        cx.account.clone().filter(|account| account.identity.private("bot_token") == token);
    let account = account.filter(|account| !account.read(|state| state.revoked));
    account.ok_or_else(|| failure(401, "Unauthorized"))
}

/// Returns the parameters of the request.
pub(super) fn params(cx: &Cx) -> Result<Params, Reply> {
    Params::read(&cx.call).map_err(|_| bad("can't parse the request body"))
}

/// Returns the bot, if the request names its own chat.
pub(super) fn target(cx: &Cx, params: &Params) -> Result<Arc<Account<Telegram>>, Reply> {
    let bot = bot(cx)?;
    let chat = params.filled("chat_id").ok_or_else(|| bad("chat_id is empty"))?;
    let identity = &bot.identity;
    let named =
        chat.strip_prefix('@').is_some_and(|name| name.eq_ignore_ascii_case(&identity.username));
    if let Some(id) = supergroup(&bot) {
        return match chat {
            chat if named || chat == id.to_string() => Ok(bot),
            chat if chat == identity.remote_id => Err(upgraded(id)),
            _ => Err(bad("chat not found")),
        };
    }
    if named || chat == identity.remote_id {
        return Ok(bot);
    }
    let other = cx.sim.find(&chat.trim_start_matches('@').to_ascii_lowercase());
    match other.filter(|_| chat.starts_with('@') || chat.starts_with("-100")) {
        Some(_) => Err(failure(403, "Forbidden: bot is not a member of the channel chat")),
        None => Err(bad("chat not found")),
    }
}

/// Returns the id of the supergroup that the chat has become, if it has (`ids.object` is `supergroup`): the digits of
/// before and one more, so that it is found under both.
fn supergroup(account: &Account<Telegram>) -> Option<i64> {
    let is_one = account.behaviour().ids.object.as_deref() == Some("supergroup");
    is_one.then(|| format!("{}7", account.identity.remote_id).parse().ok())?
}

/// Returns the refusal of a call to the group that became a supergroup
/// (<https://core.telegram.org/bots/api#responseparameters>).
fn upgraded(id: i64) -> Reply {
    let body = json!({
        "ok": false, "error_code": 400,
        "description": "Bad Request: group chat was upgraded to a supergroup chat",
        "parameters": {"migrate_to_chat_id": id},
    });
    Reply::json(400, &body)
}

/// Returns the chat of an account as messages contain it by now.
pub(super) fn chat_of(account: &Account<Telegram>) -> Value {
    let mut shown = chat(&account.identity);
    if let Some(id) = supergroup(account) {
        shown["id"] = json!(id);
        shown["type"] = json!("supergroup");
    }
    shown
}

fn bot_user(identity: &Identity) -> Value {
    json!({
        "id": identity.private("bot_id").parse::<i64>().unwrap_or_default(),
        "is_bot": true,
        "first_name": identity.private("title"),
        "username": format!("{}_bot", identity.username),
    })
}

/// Returns the chat as messages contain it.
pub(super) fn chat(identity: &Identity) -> Value {
    json!({
        "id": identity.remote_id.parse::<i64>().unwrap_or_default(),
        "title": identity.private("title"),
        "username": identity.username,
        "type": "channel",
    })
}

/// `getMe`
pub(super) fn get_me(cx: &Cx) -> HandlerResult {
    let mut user = bot_user(&bot(cx)?.identity);
    for (name, can) in [
        ("can_join_groups", true),
        ("can_read_all_group_messages", false),
        ("supports_inline_queries", false),
        ("supports_join_request_queries", false),
        ("can_connect_to_business", false),
        ("can_manage_bots", false),
        ("has_main_web_app", false),
        ("has_topics_enabled", false),
        ("allows_users_to_create_topics", false),
    ] {
        user[name] = json!(can);
    }
    done(user)
}

/// `getChat`
pub(super) fn get_chat(cx: &Cx) -> HandlerResult {
    let account = target(cx, &params(cx)?)?;
    let mut chat = chat_of(&account);
    chat["active_usernames"] = json!([account.identity.username]);
    chat["accent_color_id"] = json!(0);
    chat["max_reaction_count"] = json!(11);
    chat["accepted_gift_types"] = json!({
        "unlimited_gifts": false, "limited_gifts": false, "unique_gifts": false, "premium_subscription": false,
        "gifts_from_channels": false,
    });
    done(chat)
}

/// `getChatMember`
pub(super) fn get_chat_member(cx: &Cx) -> HandlerResult {
    let params = params(cx)?;
    let account = target(cx, &params)?;
    let user = bot_user(&account.identity);
    if params.integer("user_id") != user["id"].as_i64() {
        return Err(bad("invalid user_id specified"));
    }
    done(json!({
        "user": user,
        "status": "administrator",
        "can_be_edited": false,
        "is_anonymous": false,
        "can_manage_chat": true,
        "can_change_info": false,
        "can_post_messages": true,
        "can_edit_messages": true,
        "can_delete_messages": true,
        "can_invite_users": false,
        "can_restrict_members": false,
        "can_promote_members": false,
        "can_manage_video_chats": false,
        "can_post_stories": false,
        "can_edit_stories": false,
        "can_delete_stories": false,
    }))
}
