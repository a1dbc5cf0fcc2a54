//! Apps, consent and tokens. Each instance keeps its own list of apps, and its tokens do not expire.

use serde_json::json;

use super::Cx;
use crate::consent_page;
use crate::params::Params;
use crate::random::{self, BASE64URL};
use crate::reply::{HandlerResult, Reply};

/// The scopes that a client may request.
const SCOPES: [&str; 6] =
    ["read:accounts", "read:statuses", "write:statuses", "write:media", "profile", "read"];

fn refused(error: &str, why: &str) -> Reply {
    Reply::json(400, &json!({"error": error, "error_description": why}))
}

fn invalid(why: &str) -> Reply {
    refused("invalid_request", why)
}

/// `POST /api/v1/apps`
pub(super) fn register(cx: &Cx) -> HandlerResult {
    let params = Params::read(&cx.call).map_err(|_| invalid("The body cannot be read."))?;
    let required = |name: &str| {
        let missing = || {
            Reply::json(422, &json!({"error": format!("Validation failed: {name} can't be blank")}))
        };
        params.filled(name).ok_or_else(missing)
    };
    let (name, redirect) = (required("client_name")?, required("redirect_uris")?);
    if !cx.sim.env.may_redirect(&redirect) {
        let error = "Validation failed: Redirect URI is not one that this simulator was told of.";
        return Err(Reply::json(422, &json!({ "error": error })));
    }
    let scopes = params.filled("scopes").unwrap_or_else(|| "read".into());
    if scopes.split(' ').any(|scope| !SCOPES.contains(&scope)) {
        return Err(Reply::json(
            422,
            &json!({"error": "Validation failed: Scopes doesn't match configured on the server."}),
        ));
    }
    Ok(Reply::ok(&json!({
        "id": random::number(6).to_string(),
        "name": name,
        "website": params.filled("website"),
        "scopes": scopes.split(' ').collect::<Vec<_>>(),
        "redirect_uri": redirect,
        "redirect_uris": [redirect],
        "client_id": random::text(BASE64URL, 43),
        "client_secret": random::text(BASE64URL, 43),
    })))
}

/// `GET /oauth/authorize`
pub(super) fn authorize(cx: &Cx) -> HandlerResult {
    consent_page::authorize(cx, invalid)
}

/// `POST /oauth/token`
pub(super) fn token(cx: &Cx) -> HandlerResult {
    let params = Params::read(&cx.call).map_err(|_| invalid("The body cannot be read."))?;
    if params.text("grant_type").as_deref() != Some("authorization_code") {
        let why = "The authorization grant type is not supported by the authorization server.";
        return Err(refused("unsupported_grant_type", why));
    }
    let why = "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.";
    let account = consent_page::redeem(cx, &params).ok_or_else(|| refused("invalid_grant", why))?;
    cx.sim.expire(&account, false);
    Ok(Reply::ok(&json!({
        "access_token": account.identity.private("access_token"),
        "token_type": "Bearer",
        "scope": "read:accounts read:statuses write:statuses write:media",
        "created_at": cx.now_ms() / 1_000,
    })))
}
