//! Consent, codes and tokens.

use serde_json::json;

use super::state::{Change, Code, Token};
use super::{Cx, access, failure};
use crate::consent_page::{self, Consent};
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};

/// The time for which a code is valid, in milliseconds.
const CODE_MS: i64 = 30 * 60_000;

/// `GET /oauth/v2/authorization`
pub(super) fn authorize(cx: &Cx) -> HandlerResult {
    let asked = consent_page::read_request(cx, "client_id")
        .map_err(|what| failure::malformed(&format!("The passed in {what} is invalid")))?;
    let given = match asked {
        Consent::Pending(page) => return Ok(page),
        Consent::Denied(mut back) => {
            back.query_pairs_mut()
                .append_pair("error", "user_cancelled_authorize")
                .append_pair("error_description", "The user cancelled the authorization");
            return Ok(consent_page::redirect_to(&back));
        }
        Consent::Granted(given) => given,
    };
    let mut back = given.redirect_url;
    let unknown = given.scope.split(' ').find(|one| !access::SCOPES.contains(one));
    if let Some(scope) = unknown {
        back.query_pairs_mut().append_pair("error", "unauthorized_scope_error").append_pair(
            "error_description",
            &format!("Scope {scope:?} is not authorized for your application"),
        );
        return Ok(consent_page::redirect_to(&back));
    }
    let code = access::new_token(given.account.identity.private("sub"));
    let expires_ms = cx.now_ms() + CODE_MS;
    let consent = Code { redirect_uri: given.redirect_uri, scope: given.scope, expires_ms };
    cx.sim.apply(&given.account, Change::Code { code: code.clone(), consent });
    back.query_pairs_mut().append_pair("code", &code);
    Ok(consent_page::redirect_to(&back))
}

/// `POST /oauth/v2/accessToken`: tokens for a code, or for a refresh token.
pub(super) fn token(cx: &Cx) -> HandlerResult {
    let params = Params::read(&cx.call)
        .map_err(|_| failure::oauth(400, "invalid_request", "The body cannot be read"))?;
    let required = |name: &str| {
        params.filled(name).ok_or_else(|| {
            let description = format!("A required parameter \"{name}\" is missing");
            failure::oauth(400, "invalid_request", &description)
        })
    };
    let grant = required("grant_type")?;
    required("client_id")?;
    required("client_secret")?;
    match grant.as_str() {
        "authorization_code" => exchange(cx, &required("code")?, &required("redirect_uri")?),
        "refresh_token" => refresh(cx, &required("refresh_token")?),
        _ => Err(failure::oauth(400, "unsupported_grant_type", "Unknown grant_type")),
    }
}

fn exchange(cx: &Cx, code: &str, redirect_uri: &str) -> HandlerResult {
    let refused = || {
        let description = "Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code. Or authorization code expired.";
        failure::oauth(400, "invalid_request", description)
    };
    let account = access::owner(&cx.sim, code).ok_or_else(refused)?;
    let now_ms = cx.now_ms();
    let sub = account.identity.private("sub").to_owned();
    let (token, refresh_token) = (access::new_token(&sub), access::new_token(&sub));
    let scope = cx.sim.change(&account, |state| {
        let consent = state.codes.get(code).filter(|code| code.expires_ms > now_ms);
        let consent =
            consent.filter(|code| code.redirect_uri == redirect_uri).ok_or_else(refused)?;
        let scope = consent.scope.clone();
        let life = |expires_ms, refresh| Token { expires_ms, scope: scope.clone(), refresh };
        let tokens = vec![
            (token.clone(), life(now_ms + access::ACCESS_MS, false)),
            (refresh_token.clone(), life(now_ms + access::REFRESH_MS, true)),
        ];
        Ok((Change::Tokens { code: Some(code.to_owned()), tokens }, scope))
    })?;
    Ok(Reply::ok(&json!({
        "access_token": token,
        "expires_in": access::ACCESS_MS / 1_000,
        "refresh_token": refresh_token,
        "refresh_token_expires_in": access::REFRESH_MS / 1_000,
        // LinkedIn separates scopes by commas here, and by spaces in requests.
        "scope": scope.replace(' ', ","),
        "token_type": "Bearer",
    })))
}

/// Refreshes the access token. The refresh token and its expiry stay the same.
fn refresh(cx: &Cx, refresh_token: &str) -> HandlerResult {
    let dead = |why: &str| failure::oauth(400, "invalid_grant", why);
    let account = access::owner(&cx.sim, refresh_token)
        .ok_or_else(|| dead("The provided authorization grant or refresh token is invalid"))?;
    let now_ms = cx.now_ms();
    let token = access::new_token(account.identity.private("sub"));
    let left = cx.sim.change(&account, |state| {
        let known = access::find_token(&account.identity, state, refresh_token)
            .filter(|known| known.refresh && !state.revoked.contains(refresh_token))
            .ok_or_else(|| dead("The provided authorization grant or refresh token is revoked"))?;
        if known.expires_ms <= now_ms {
            return Err(dead("The provided authorization grant or refresh token is expired"));
        }
        let life =
            Token { expires_ms: now_ms + access::ACCESS_MS, scope: known.scope, refresh: false };
        let tokens = vec![(token.clone(), life)];
        Ok((Change::Tokens { code: None, tokens }, (known.expires_ms - now_ms) / 1_000))
    })?;
    Ok(Reply::ok(&json!({
        "access_token": token,
        "expires_in": access::ACCESS_MS / 1_000,
        "refresh_token": refresh_token,
        "refresh_token_expires_in": left,
    })))
}

/// `POST /oauth/v2/revoke`
pub(super) fn revoke(cx: &Cx) -> HandlerResult {
    let token = Params::read(&cx.call).ok().and_then(|params| params.filled("token"));
    let token =
        token.ok_or_else(|| failure::oauth(400, "invalid_request", "A token is missing"))?;
    if let Some(account) = access::owner(&cx.sim, &token) {
        // Revoking a refresh token revokes all its access tokens.
        let of_it = account.read(|state| {
            let refresh =
                access::find_token(&account.identity, state, &token).is_some_and(|it| it.refresh);
            let mut all: Vec<_> = state.tokens.keys().cloned().collect();
            all.push(account.identity.private("access_token").to_owned());
            if refresh { all } else { Vec::new() }
        });
        for token in of_it.into_iter().chain([token]) {
            cx.sim.apply(&account, Change::Revoked { token });
        }
    }
    Ok(Reply::empty(200))
}
