//! Consent and tokens of a bot. The simulated app rotates its tokens: they are valid for twelve hours, and are
//! refreshed with a token that can be used once (<https://docs.slack.dev/authentication/using-token-rotation>).

use serde_json::json;

use super::state::{Change, Token};
use super::{Cx, Slack, access};
use crate::consent_page;
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

fn refused(why: &str) -> Reply {
    access::detailed("invalid_arguments", why)
}

/// `GET /oauth/v2/authorize`
pub(super) fn authorize(cx: &Cx) -> HandlerResult {
    consent_page::authorize(cx, refused)
}

/// `oauth.v2.access`: tokens for a code, or for a refresh token.
pub(super) fn token(cx: &Cx) -> HandlerResult {
    let params = Params::read(&cx.call).map_err(|_| access::failure("invalid_form_data"))?;
    if params.filled("grant_type").as_deref() == Some("refresh_token") {
        return refresh(cx, &params);
    }
    let account =
        consent_page::redeem(cx, &params).ok_or_else(|| access::failure("invalid_code"))?;
    let (tokens, reply) = issue(cx, &account);
    cx.sim.apply(&account, Change::Tokens { spent: None, tokens });
    Ok(reply)
}

fn refresh(cx: &Cx, params: &Params) -> HandlerResult {
    for (name, error) in
        [("client_id", "invalid_client_id"), ("client_secret", "bad_client_secret")]
    {
        params.filled(name).ok_or_else(|| access::failure(error))?;
    }
    let spent = params.filled("refresh_token").unwrap_or_default();
    let refused = || access::failure("invalid_refresh_token");
    let account = access::owner(&cx.sim, &spent)
        .filter(|_| spent.starts_with(access::REFRESH))
        .ok_or_else(refused)?;
    let (tokens, reply) = issue(cx, &account);
    cx.sim.change(&account, |state| {
        if !state.tokens.contains_key(&spent) {
            return Err(refused());
        }
        Ok((Change::Tokens { spent: Some(spent.clone()), tokens }, ()))
    })?;
    Ok(reply)
}

/// Returns fresh tokens of a bot, and the response with them.
fn issue(cx: &Cx, account: &Account<Slack>) -> (Vec<(String, Token)>, Reply) {
    let identity = &account.identity;
    let token = access::new_token(access::ROTATING, &identity.remote_id);
    let next = access::new_token(access::REFRESH, &identity.remote_id);
    let reply = access::success(json!({
        "access_token": token,
        "expires_in": access::LIFE_MS / 1_000,
        "refresh_token": next,
        "token_type": "bot",
        "scope": "chat:write,chat:write.public,channels:read,groups:read,channels:join,channels:history,groups:history,files:write,users:read",
        "bot_user_id": identity.private("bot_user_id"),
        "app_id": "A0FANFARE01",
        "team": {"id": identity.private("team_id"), "name": format!("The {} team", identity.username)},
        "enterprise": null,
        "is_enterprise_install": false,
    }));
    let life = |expires_ms| Token { expires_ms };
    let ends = cx.now_ms() + access::LIFE_MS;
    (vec![(token, life(Some(ends))), (next, life(None))], reply)
}
