//! Consent, codes and tokens.

use serde_json::{Value, json};

use super::state::{Change, Code, Token};
use super::{Cx, access, failure};
use crate::consent_page::{self, Consent};
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::{HandlerResult, Reply};

/// The time for which a code is valid, in milliseconds.
const CODE_MS: i64 = 3_600_000;
/// The age from which a token can be refreshed, in milliseconds.
const REFRESHABLE_MS: i64 = 86_400_000;

/// `GET /oauth/authorize`: lets the user choose an account, then redirects to the client with a code.
pub(super) fn authorize(cx: &Cx) -> HandlerResult {
    let asked = consent_page::read_request(cx, "client_id")
        .map_err(|what| failure::invalid(&format!("Missing or invalid parameter: {what}")))?;
    let given = match asked {
        Consent::Pending(page) => return Ok(page),
        Consent::Denied(mut back) => {
            back.query_pairs_mut()
                .append_pair("error", "access_denied")
                .append_pair("error_reason", "user_denied");
            return Ok(consent_page::redirect_to(&back));
        }
        Consent::Granted(given) => given,
    };
    let code = format!("{}.{}", given.account.identity.remote_id, random::text(BASE62, 60));
    let consent = Code { redirect_uri: given.redirect_uri, expires_ms: cx.now_ms() + CODE_MS };
    cx.sim.apply(&given.account, Change::Code { code: code.clone(), consent });
    let mut back = given.redirect_url;
    back.query_pairs_mut().append_pair("code", &code);
    // Threads' redirects end like this; clients have to remove it.
    back.set_fragment(Some("_"));
    Ok(consent_page::redirect_to(&back))
}

/// `POST /oauth/access_token`: exchanges a code for a token of one hour.
pub(super) fn exchange_code(cx: &Cx) -> HandlerResult {
    let refused = |message: &str| {
        Reply::json(
            400,
            &json!({"error_type": "OAuthException", "code": 400, "error_message": message}),
        )
    };
    let params = Params::read(&cx.call).map_err(|_| refused("Invalid body"))?;
    let required = |name: &str| {
        params.filled(name).ok_or_else(|| refused(&format!("Missing required field {name}")))
    };
    for name in ["client_id", "client_secret"] {
        required(name)?;
    }
    if required("grant_type")? != "authorization_code" {
        return Err(refused("Invalid grant_type"));
    }
    let (code, redirect_uri) =
        (required("code")?.trim_end_matches("#_").to_owned(), required("redirect_uri")?);
    let used = || refused("Matching code was not found or was already used");
    let account = code.split('.').next().and_then(|id| cx.sim.account(id)).ok_or_else(used)?;
    let now_ms = cx.now_ms();
    let token = access::new_token(&account.identity.remote_id);
    cx.sim.change(&account, |state| {
        let consent = state.codes.get(&code).filter(|consent| consent.expires_ms > now_ms).ok_or_else(used)?;
        if consent.redirect_uri != redirect_uri {
            return Err(refused("Error validating verification code. Please make sure your redirect_uri is identical"));
        }
        let life = Token { issued_ms: now_ms, expires_ms: now_ms + access::SHORT_MS, long: false };
        Ok((Change::Exchanged { code, token: token.clone(), life }, ()))
    })?;
    let user_id: Value =
        account.identity.remote_id.parse::<u64>().map_or(Value::Null, |id| json!(id));
    Ok(Reply::ok(&json!({"access_token": token, "user_id": user_id})))
}

/// `GET /access_token`: exchanges a token of one hour for one of 60 days.
pub(super) fn exchange_token(cx: &Cx) -> HandlerResult {
    let query = |name: &str| cx.call.query_value(name).filter(|value| !value.is_empty());
    if query("grant_type").as_deref() != Some("th_exchange_token") {
        return Err(failure::graph(400, 100, 0, "Invalid grant_type"));
    }
    if query("client_secret").is_none() {
        return Err(failure::graph(400, 101, 0, "Missing client_secret"));
    }
    long(cx, |_, long| {
        if long {
            Err(failure::graph(
                400,
                452,
                0,
                "Session key invalid. This could be because the token is long-lived already.",
            ))
        } else {
            Ok(())
        }
    })
}

/// `GET /refresh_access_token`: exchanges a token of 60 days for a new one.
pub(super) fn refresh(cx: &Cx) -> HandlerResult {
    if cx.call.query_value("grant_type").as_deref() != Some("th_refresh_token") {
        return Err(failure::graph(400, 100, 0, "Invalid grant_type"));
    }
    let now_ms = cx.now_ms();
    long(cx, |issued_ms, long| {
        if !long {
            return Err(failure::graph(400, 100, 0, "Only long-lived tokens may be refreshed"));
        }
        if now_ms < issued_ms + REFRESHABLE_MS {
            return Err(failure::graph(
                400,
                100,
                0,
                "The access token must be at least 24 hours old to be refreshed",
            ));
        }
        Ok(())
    })
}

/// Issues a token of 60 days for a valid token that passes `check`, which gets its time of issue and whether it is
/// long-lived.
fn long(cx: &Cx, check: impl FnOnce(i64, bool) -> Result<(), Reply>) -> HandlerResult {
    let old = access::token(&cx.call);
    let old = old.ok_or_else(|| {
        failure::graph(400, 104, 0, "An access token is required to request this resource.")
    })?;
    let account = access::checked(cx, &old)?;
    let (issued_ms, _) =
        account.read(|state| access::life(&account, state, &old)).unwrap_or_default();
    check(issued_ms, account.read(|state| state.tokens.get(&old).is_none_or(|token| token.long)))?;
    let now_ms = cx.now_ms();
    let token = access::new_token(&account.identity.remote_id);
    let life = Token { issued_ms: now_ms, expires_ms: now_ms + access::LONG_MS, long: true };
    cx.sim.apply(&account, Change::Token { token: token.clone(), life });
    Ok(Reply::ok(
        &json!({"access_token": token, "token_type": "bearer", "expires_in": access::LONG_MS / 1_000}),
    ))
}
