//! Access: tokens, rate limits, and error responses.

use std::sync::Arc;

use serde_json::json;

use super::state::Change;
use super::{Cx, Mastodon, representations};
use crate::call::Call;
use crate::env::rfc3339;
use crate::params::Params;
use crate::rate_limit::Limit;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The limit on all calls of an account.
pub(super) const CALLS: Limit = Limit { name: "calls", units: 300, span_ms: 300_000 };

/// Returns an error in Mastodon's format.
pub(super) fn failure(status: u16, error: &str) -> Reply {
    Reply::json(status, &json!({ "error": error }))
}

/// Returns the error of an invalid value.
pub(super) fn invalid(why: &str) -> Reply {
    failure(422, &format!("Validation failed: {why}"))
}

/// Adds the state of a limit to a reply; its reset is a time, not a number.
pub(super) fn with_limit(reply: Reply, units: u32, remaining: u32, reset_ms: i64) -> Reply {
    reply
        .with("x-ratelimit-limit", units)
        .with("x-ratelimit-remaining", remaining)
        .with("x-ratelimit-reset", rfc3339(reset_ms))
}

/// Returns the token in a form, as `revoke` accepts it.
pub(super) fn token_in_form(call: &Call) -> Option<String> {
    if call.path != "oauth/revoke" {
        return None;
    }
    Params::read(call).ok()?.filled("token")
}

/// Returns the account of the request's token.
pub(super) fn account(cx: &Cx) -> Result<Arc<Account<Mastodon>>, Reply> {
    let account = cx.account.clone().ok_or_else(|| failure(401, "The access token is invalid"))?;
    if account.read(|state| state.revoked) {
        return Err(failure(401, "The access token was revoked"));
    }
    Ok(account)
}

/// Counts a call, runs it, and adds the state of the limit to the response.
pub(super) fn limited(
    cx: &Cx,
    limit: Limit,
    work: impl FnOnce(&Account<Mastodon>) -> HandlerResult,
) -> HandlerResult {
    let account = account(cx)?;
    let paced = account.take_units(limit, 1, cx.now_ms());
    let show = |reply: Reply| with_limit(reply, limit.units, paced.remaining, paced.reset_ms);
    if !paced.allowed && cx.sim.env.rate_limits() {
        return Err(show(failure(429, "Too many requests")));
    }
    work(&account).map(show).map_err(show)
}

/// `GET /accounts/verify_credentials`
pub(super) fn verify_credentials(cx: &Cx) -> HandlerResult {
    limited(cx, CALLS, |account| {
        let mut shown = representations::account(&account.identity, &cx.sim.base());
        let picture = cx.sim.picture(&account.identity.remote_id);
        (shown["avatar"], shown["avatar_static"]) = (json!(picture), json!(picture));
        shown["source"] = json!({"privacy": "public", "sensitive": false, "language": "en", "note": "", "fields": []});
        shown["role"] =
            json!({"id": "-99", "name": "", "permissions": "0", "color": "", "highlighted": false});
        Ok(Reply::ok(&shown))
    })
}

/// `POST /oauth/revoke`: always succeeds for a valid client.
pub(super) fn revoke(cx: &Cx) -> HandlerResult {
    if let Some(account) = &cx.account {
        cx.sim.apply(account, Change::Revoked(true));
    }
    Ok(Reply::ok(&json!({})))
}
