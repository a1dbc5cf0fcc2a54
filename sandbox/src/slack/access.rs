//! Tokens, and error responses, which have status 200.

use std::sync::Arc;

use serde_json::{Value, json};

use super::state::Change;
use super::{Cx, Slack};
use crate::call::Call;
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::{HandlerResult, Reply};
use crate::sim::{Account, Sim};

/// The lifetime of a rotating token, in milliseconds.
pub(super) const LIFE_MS: i64 = 12 * 3_600_000;
/// The prefixes of a rotating access token and of its refresh token.
pub(super) const ROTATING: &str = "xoxe.xoxb-1-";
pub(super) const REFRESH: &str = "xoxe-1-";

/// Returns an error.
pub(super) fn failure(error: &str) -> Reply {
    Reply::ok(&json!({"ok": false, "error": error}))
}

/// Returns an error with details.
pub(super) fn detailed(error: &str, why: &str) -> Reply {
    Reply::ok(
        &json!({"ok": false, "error": error, "response_metadata": {"messages": [format!("[ERROR] {why}")]}}),
    )
}

/// Returns a success with these fields.
pub(super) fn success(mut fields: Value) -> Reply {
    fields["ok"] = json!(true);
    Reply::ok(&fields)
}

/// Returns the token of a request, from the header or an argument.
pub(super) fn token(call: &Call) -> Option<String> {
    if let Some(token) = call.bearer() {
        return Some(token.to_owned());
    }
    Params::read(call).ok()?.filled("token")
}

/// Returns the account of a token: the bot's initial one, or a rotating one, which contains the channel.
pub(super) fn owner(sim: &Sim<Slack>, token: &str) -> Option<Arc<Account<Slack>>> {
    let rest = token.strip_prefix(ROTATING).or_else(|| token.strip_prefix(REFRESH));
    match rest {
        Some(rest) => sim.account(rest.split('-').next()?),
        None => sim.find(&format!("token:{token}")),
    }
}

/// Returns a new token of a channel's bot.
pub(super) fn new_token(start: &str, channel: &str) -> String {
    format!("{start}{channel}-{}", random::text(BASE62, 120))
}

/// Returns the account of the request's token.
pub(super) fn account(cx: &Cx) -> Result<Arc<Account<Slack>>, Reply> {
    let token = token(&cx.call).ok_or_else(|| failure("not_authed"))?;
    let account = cx.account.clone().ok_or_else(|| failure("invalid_auth"))?;
    let (revoked, expired, known) =
        account.read(|state| (state.revoked, state.expired, state.tokens.get(&token).cloned()));
    if revoked {
        return Err(failure("token_revoked"));
    }
    if token == account.identity.private("access_token") {
        // It does not expire, so it was revoked.
        return if expired { Err(failure("token_revoked")) } else { Ok(account) };
    }
    let known = known.filter(|known| token.starts_with(ROTATING) && known.expires_ms.is_some());
    let end = known.and_then(|known| known.expires_ms).ok_or_else(|| failure("invalid_auth"))?;
    if expired || end <= cx.now_ms() { Err(failure("token_expired")) } else { Ok(account) }
}

/// Returns the arguments of a method.
pub(super) fn arguments(cx: &Cx) -> Result<Params, Reply> {
    Params::read(&cx.call).map_err(|_| failure("invalid_json"))
}

/// Checks that the requested channel is the bot's own.
pub(super) fn in_channel(account: &Account<Slack>, channel: Option<String>) -> Result<(), Reply> {
    let identity = &account.identity;
    let name = format!("#{}", identity.username);
    let is_own = channel.is_some_and(|channel| channel == identity.remote_id || channel == name);
    if is_own { Ok(()) } else { Err(failure("channel_not_found")) }
}

/// `auth.test`
pub(super) fn test(cx: &Cx) -> HandlerResult {
    let account = account(cx)?;
    let identity = &account.identity;
    Ok(success(json!({
        "url": format!("{}/", cx.sim.base()),
        "team": format!("The {} team", identity.username),
        "user": "fanfare",
        "team_id": identity.private("team_id"),
        "user_id": identity.private("bot_user_id"),
        "bot_id": identity.private("bot_id"),
        "is_enterprise_install": false,
    })))
}

/// `auth.revoke`
pub(super) fn revoke(cx: &Cx) -> HandlerResult {
    cx.sim.apply(&*account(cx)?, Change::Revoked(true));
    Ok(success(json!({"revoked": true})))
}

/// Answers any other method.
pub(super) fn unknown_method(cx: &Cx) -> HandlerResult {
    let method = cx.call.segment(1).to_owned();
    Err(Reply::ok(&json!({"ok": false, "error": "unknown_method", "req_method": method})))
}
