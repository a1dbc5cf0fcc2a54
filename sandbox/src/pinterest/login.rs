//! Consent, codes and tokens.

use serde_json::json;

use super::state::{Change, Code, Token};
use super::{Cx, access, failure};
use crate::consent_page::{self, Consent};
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};

/// The time for which a code is valid, in milliseconds.
const CODE_MS: i64 = 5 * 60_000;

/// `GET /oauth/`
pub(super) fn authorize(cx: &Cx) -> HandlerResult {
    let asked = consent_page::read_request(cx, "client_id")
        .map_err(|what| failure::invalid(&format!("{what} is not valid")))?;
    let given = match asked {
        Consent::Pending(page) => return Ok(page),
        Consent::Denied(mut back) => {
            back.query_pairs_mut().append_pair("error", "access_denied");
            return Ok(consent_page::redirect_to(&back));
        }
        Consent::Granted(given) => given,
    };
    let known = |scope: &str| access::SCOPES.split(',').any(|one| one == scope);
    if let Some(unknown) = given.scope.split(',').find(|scope| !known(scope)) {
        return Err(failure::invalid(&format!("{unknown} is no scope")));
    }
    let code = access::new_token("code", &given.account.identity.remote_id);
    let expires_ms = cx.now_ms() + CODE_MS;
    let consent = Code { redirect_uri: given.redirect_uri, scope: given.scope, expires_ms };
    cx.sim.apply(&given.account, Change::Code { code: code.clone(), consent });
    let mut back = given.redirect_url;
    back.query_pairs_mut().append_pair("code", &code);
    Ok(consent_page::redirect_to(&back))
}

/// `POST /v5/oauth/token`: tokens for a code, or for a refresh token. The app authenticates with HTTP Basic.
pub(super) fn token(cx: &Cx) -> HandlerResult {
    if cx.call.basic().is_none_or(|(id, secret)| id.is_empty() || secret.is_empty()) {
        return Err(failure::unauthenticated());
    }
    let params = Params::read(&cx.call).map_err(|_| failure::invalid("the body cannot be read"))?;
    let required = |name: &str| {
        params.filled(name).ok_or_else(|| failure::invalid(&format!("{name} is missing")))
    };
    match required("grant_type")?.as_str() {
        "authorization_code" => exchange(cx, &required("code")?, &required("redirect_uri")?),
        "refresh_token" => refresh(cx, &required("refresh_token")?),
        _ => Err(failure::invalid("grant_type is not known")),
    }
}

fn exchange(cx: &Cx, code: &str, redirect_uri: &str) -> HandlerResult {
    let refused = || failure::error(400, 283, "Invalid authorization code, or it has expired.");
    let account = access::owner(&cx.sim, code).ok_or_else(refused)?;
    let now_ms = cx.now_ms();
    issue_tokens(cx, &account, code, |state| {
        let consent = state.codes.get(code).filter(|code| code.expires_ms > now_ms);
        let consent = consent.filter(|code| code.redirect_uri == redirect_uri);
        consent.map(|consent| consent.scope.clone()).ok_or_else(refused)
    })
}

/// Refreshes the tokens. A refresh token can be used once; a new one comes with the access token.
fn refresh(cx: &Cx, refresh_token: &str) -> HandlerResult {
    let refused = || failure::error(400, 283, "Invalid refresh token, or it has expired.");
    let account = access::owner(&cx.sim, refresh_token).ok_or_else(refused)?;
    let now_ms = cx.now_ms();
    issue_tokens(cx, &account, refresh_token, |state| {
        let known = access::find_token(&account.identity, state, refresh_token);
        let known = known.filter(|known| known.refresh && known.expires_ms > now_ms);
        let known = known.filter(|_| !state.used.contains(refresh_token));
        known.map(|known| known.scope).ok_or_else(refused)
    })
}

/// Issues tokens for the scope that `check` returns.
fn issue_tokens(
    cx: &Cx,
    account: &crate::sim::Account<super::Pinterest>,
    spent: &str,
    check: impl FnOnce(&super::state::State) -> Result<String, Reply>,
) -> HandlerResult {
    let user = &account.identity.remote_id;
    let (token, refresh) = (access::new_token("pina", user), access::new_token("pinr", user));
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
        "access_token": token,
        "refresh_token": refresh,
        "response_type": "authorization_code",
        "token_type": "bearer",
        "expires_in": access::ACCESS_MS / 1_000,
        "refresh_token_expires_in": access::REFRESH_MS / 1_000,
        "scope": scope.replace(',', " "),
    })))
}
