//! Consent, codes and tokens.

use serde_json::json;

use super::state::{Change, Code, State, Token};
use super::{Cx, Tiktok, access, failure};
use crate::consent_page::{self, Consent};
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The time for which a code is valid, in milliseconds.
const CODE_MS: i64 = 5 * 60_000;

/// `GET /v2/auth/authorize/`
pub(super) fn authorize(cx: &Cx) -> HandlerResult {
    let asked = consent_page::read_request(cx, "client_key")
        .map_err(|what| failure::oauth("invalid_request", &format!("{what} is not valid")))?;
    let given = match asked {
        Consent::Pending(page) => return Ok(page),
        Consent::Denied(mut back) => {
            back.query_pairs_mut()
                .append_pair("error", "access_denied")
                .append_pair("error_description", "User denied the request");
            return Ok(consent_page::redirect_to(&back));
        }
        Consent::Granted(given) => given,
    };
    let known = |scope: &str| access::SCOPES.split(',').any(|one| one == scope);
    if let Some(unknown) = given.scope.split(',').find(|scope| !known(scope)) {
        return Err(failure::oauth("invalid_scope", &format!("{unknown} is no scope")));
    }
    let code = access::new_token("code", &given.account.identity.remote_id);
    let expires_ms = cx.now_ms() + CODE_MS;
    let scopes = given.scope.clone();
    let consent = Code { redirect_uri: given.redirect_uri, scope: given.scope, expires_ms };
    cx.sim.apply(&given.account, Change::Code { code: code.clone(), consent });
    let mut back = given.redirect_url;
    back.query_pairs_mut().append_pair("code", &code).append_pair("scopes", &scopes);
    Ok(consent_page::redirect_to(&back))
}

fn params(cx: &Cx) -> Result<Params, Reply> {
    let params = Params::read(&cx.call)
        .map_err(|_| failure::oauth("invalid_request", "The body cannot be read"))?;
    for name in ["client_key", "client_secret"] {
        if params.filled(name).is_none() {
            return Err(failure::oauth("invalid_client", &format!("{name} is missing")));
        }
    }
    Ok(params)
}

/// `POST /v2/oauth/token/`: tokens for a code, or for a refresh token.
pub(super) fn token(cx: &Cx) -> HandlerResult {
    let params = params(cx)?;
    let required = |name: &str| {
        let missing = || failure::oauth("invalid_request", &format!("{name} is missing"));
        params.filled(name).ok_or_else(missing)
    };
    let now_ms = cx.now_ms();
    match required("grant_type")?.as_str() {
        "authorization_code" => {
            let (code, redirect_uri) = (required("code")?, required("redirect_uri")?);
            let refused =
                || failure::oauth("invalid_grant", "Authorization code is invalid or expired.");
            let account = access::owner(&cx.sim, &code).ok_or_else(refused)?;
            issue_tokens(cx, &account, &code, |state| {
                let consent = state.codes.get(&code).filter(|code| code.expires_ms > now_ms);
                let consent = consent.filter(|code| code.redirect_uri == redirect_uri);
                consent.map(|consent| consent.scope.clone()).ok_or_else(refused)
            })
        }
        "refresh_token" => {
            let token = required("refresh_token")?;
            let refused =
                || failure::oauth("invalid_grant", "Refresh token is invalid or expired.");
            let account = access::owner(&cx.sim, &token).ok_or_else(refused)?;
            issue_tokens(cx, &account, &token, |state| {
                let known = access::find_token(&account.identity, state, &token);
                let known = known.filter(|known| known.refresh && known.expires_ms > now_ms);
                known.map(|known| known.scope).ok_or_else(refused)
            })
        }
        _ => Err(failure::oauth("unsupported_grant_type", "The grant_type is not known")),
    }
}

/// Issues tokens for the scope that `check` returns. A refresh token is replaced each time it is used.
fn issue_tokens(
    cx: &Cx,
    account: &Account<Tiktok>,
    spent: &str,
    check: impl FnOnce(&State) -> Result<String, Reply>,
) -> HandlerResult {
    let open_id = &account.identity.remote_id;
    let (token, refresh) = (access::new_token("act", open_id), access::new_token("rft", open_id));
    let now_ms = cx.now_ms();
    let scope = cx.sim.change(account, |state| {
        let scope = check(state)?;
        let life = |ms, refresh| Token { expires_ms: now_ms + ms, scope: scope.clone(), refresh };
        let tokens = vec![
            (token.clone(), life(access::ACCESS_MS, false)),
            (refresh.clone(), life(access::REFRESH_MS, true)),
        ];
        Ok((Change::Tokens { spent: spent.to_owned(), tokens }, scope))
    })?;
    Ok(Reply::ok(&json!({
        "open_id": open_id,
        "scope": scope,
        "access_token": token,
        "expires_in": access::ACCESS_MS / 1_000,
        "refresh_token": refresh,
        "refresh_expires_in": access::REFRESH_MS / 1_000,
        "token_type": "Bearer",
    })))
}

/// `POST /v2/oauth/revoke/`: accepts an access token, and revokes the whole authorization.
pub(super) fn revoke(cx: &Cx) -> HandlerResult {
    let token = params(cx)?.filled("token").unwrap_or_default();
    let refused = || failure::oauth("invalid_request", "The access token is not valid.");
    let account = access::owner(&cx.sim, &token).ok_or_else(refused)?;
    let known = account.read(|state| access::find_token(&account.identity, state, &token));
    if known.is_none_or(|known| known.refresh) {
        return Err(refused());
    }
    cx.sim.apply(&account, Change::Revoked);
    Ok(Reply::ok(&json!({})))
}
