//! Consent, codes, rotating tokens, and revocation.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::state::{self, Change};
use super::{Cx, access, failure};
use crate::consent_page::{self, Consent};
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};

/// The time for which a code is valid, in milliseconds.
const CODE_MS: i64 = 30_000;

fn refused(status: u16, error: &str, description: &str) -> Reply {
    Reply::json(status, &json!({"error": error, "error_description": description}))
}

/// `GET /i/oauth2/authorize`: lets the user choose an account, then redirects to the client with a code.
pub(super) fn authorize(cx: &Cx) -> HandlerResult {
    let query = |name: &str| cx.call.query_value(name).filter(|value| !value.is_empty());
    let wrong = |what: &str| failure::wrong(&format!("Value passed for {what} was invalid."));
    query("state").ok_or_else(|| wrong("state"))?;
    let challenge = query("code_challenge").ok_or_else(|| wrong("code_challenge"))?;
    if query("code_challenge_method").as_deref() != Some("S256") {
        return Err(wrong("code_challenge_method"));
    }
    let given = match consent_page::read_request(cx, "client_id").map_err(|what| wrong(&what))? {
        Consent::Pending(page) => return Ok(page),
        Consent::Denied(mut back) => {
            back.query_pairs_mut().append_pair("error", "access_denied");
            return Ok(consent_page::redirect_to(&back));
        }
        Consent::Granted(given) => given,
    };
    let code = access::new_token(&given.account.identity.remote_id);
    let waiting = state::Consent {
        redirect_uri: given.redirect_uri,
        challenge,
        scope: given.scope,
        expires_ms: cx.now_ms() + CODE_MS,
    };
    cx.sim.apply(&given.account, Change::Code { code: code.clone(), consent: waiting });
    let mut back = given.redirect_url;
    back.query_pairs_mut().append_pair("code", &code);
    Ok(consent_page::redirect_to(&back))
}

/// `POST /2/oauth2/token`: exchanges a code or a refresh token for tokens.
pub(super) fn token(cx: &Cx) -> HandlerResult {
    let params = params(cx)?;
    let required = |name: &str| {
        let description = format!("Missing required parameter [{name}].");
        params.filled(name).ok_or_else(|| refused(400, "invalid_request", &description))
    };
    match required("grant_type")?.as_str() {
        "authorization_code" => exchange(
            cx,
            &required("code")?,
            &required("redirect_uri")?,
            &required("code_verifier")?,
        ),
        "refresh_token" => refresh(cx, &required("refresh_token")?),
        _ => Err(refused(400, "unsupported_grant_type", "The grant type is not supported.")),
    }
}

/// Returns the form of a confidential client, which authenticates with HTTP Basic.
fn params(cx: &Cx) -> Result<Params, Reply> {
    let is_known = cx.call.basic().is_some_and(|(id, secret)| !id.is_empty() && !secret.is_empty());
    if !is_known {
        return Err(refused(401, "unauthorized_client", "Missing valid authorization header"));
    }
    Params::read(&cx.call).map_err(|_| refused(400, "invalid_request", "The body cannot be read."))
}

fn exchange(cx: &Cx, code: &str, redirect_uri: &str, verifier: &str) -> HandlerResult {
    let bad = |why: &str| refused(400, "invalid_request", why);
    let used = || bad("Value passed for the authorization code was invalid.");
    let account = access::owner(&cx.sim, code).ok_or_else(used)?;
    let now_ms = cx.now_ms();
    let (fresh, next) = pair(&account.identity.remote_id);
    let scope = cx.sim.change(&account, |state| {
        let consent = state.codes.get(code).filter(|consent| now_ms < consent.expires_ms);
        let consent = consent.ok_or_else(used)?;
        if consent.redirect_uri != redirect_uri {
            return Err(bad("Value passed for the redirect uri did not match the uri of the authorization code."));
        }
        if URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())) != consent.challenge {
            return Err(bad("Value passed for the code verifier did not match the code challenge."));
        }
        let scope = consent.scope.clone();
        // Without offline.access there is no refresh token.
        let refresh = scope.contains("offline.access").then(|| next.clone());
        let (used, access) = (code.to_owned(), fresh.clone());
        let expires_ms = now_ms + access::LIFE_MS;
        Ok((Change::Issued { used, access, refresh, expires_ms }, scope))
    })?;
    let next = scope.contains("offline.access").then_some(next);
    Ok(issued(&fresh, next, &scope))
}

fn refresh(cx: &Cx, token: &str) -> HandlerResult {
    let dead = || refused(400, "invalid_request", "Value passed for the token was invalid.");
    let account = access::owner(&cx.sim, token).ok_or_else(dead)?;
    let identity = &account.identity;
    let is_first = token == identity.private(access::REFRESH);
    let now_ms = cx.now_ms();
    let (fresh, next) = pair(&identity.remote_id);
    let known = cx.sim.change(&account, |state| {
        if state.spent.contains(token) {
            return Ok((Change::Stolen, false));
        }
        if state.revoked || !(is_first || state.refresh.contains(token)) {
            return Err(dead());
        }
        let (used, access) = (token.to_owned(), fresh.clone());
        let expires_ms = now_ms + access::LIFE_MS;
        Ok((Change::Issued { used, access, refresh: Some(next.clone()), expires_ms }, true))
    })?;
    if known { Ok(issued(&fresh, Some(next), "")) } else { Err(dead()) }
}

fn pair(user_id: &str) -> (String, String) {
    (access::new_token(user_id), access::new_token(user_id))
}

fn issued(access: &str, refresh: Option<String>, scope: &str) -> Reply {
    let mut tokens = json!({
        "token_type": "bearer",
        "expires_in": access::LIFE_MS / 1_000,
        "access_token": access,
    });
    if !scope.is_empty() {
        tokens["scope"] = json!(scope);
    }
    if let Some(refresh) = refresh {
        tokens["refresh_token"] = json!(refresh);
    }
    Reply::ok(&tokens)
}

/// `POST /2/oauth2/revoke`
pub(super) fn revoke(cx: &Cx) -> HandlerResult {
    let params = params(cx)?;
    let token = params.filled("token");
    let token = token
        .ok_or_else(|| refused(400, "invalid_request", "Missing required parameter [token]."))?;
    if let Some(account) = access::owner(&cx.sim, &token) {
        cx.sim.apply(&account, Change::Revoked);
    }
    Ok(Reply::ok(&json!({"revoked": true})))
}
