//! Responses of token endpoints: tokens or an error, in the formats of all networks.

use chrono::{DateTime, TimeDelta, Utc};
use fanfare_outbound::{Reply, Request};
use serde::Deserialize;
use serde_json::Value;

use super::tokens::{ACCESS_TOKEN, EXPIRES_AT, REFRESH_EXPIRES_AT, REFRESH_TOKEN, SCOPE};
use crate::{Error, ErrorKind, Result, Secrets, Session};

/// Error codes, of RFC 6749 and of networks, for tokens or codes that are permanently invalid.
const DEAD_TOKEN_CODES: &[&str] = &[
    "invalid_grant",
    "invalid_token",
    "invalid_refresh_token",
    "token_revoked",
    "token_expired",
    "invalid_auth",
    "account_inactive",
    "bad_refresh_token",
    "access_token_invalid",
    "refresh_token_invalid",
    "invalid_code",
    "code_already_used",
];

/// Error codes for an app that is not registered correctly: the account is fine.
const APP_ERROR_CODES: &[&str] = &[
    "invalid_client",
    "invalid_client_id",
    "bad_client_secret",
    "unauthorized_client",
    "invalid_client_key",
    "redirect_uri_mismatch",
    "bad_redirect_uri",
];

/// Meta's error codes for a permanently invalid token.
const META_DEAD_TOKEN_CODES: &[u64] = &[102, 104, 190, 452];
/// Meta's error subcodes for an invalid authorization code.
const META_DEAD_CODE_SUBCODES: &[u64] = &[36_007, 36_008, 36_009];
const META_RATE_LIMIT_CODES: &[u64] = &[4, 17, 32, 613];

/// A successful token response. Has no `Debug`, because it contains secrets.
#[derive(Deserialize)]
pub(super) struct TokenResponse {
    #[serde(default)]
    access_token: String,
    #[serde(default)]
    refresh_token: String,
    expires_in: Option<Number>,
    #[serde(alias = "refresh_token_expires_in")]
    refresh_expires_in: Option<Number>,
    #[serde(alias = "permissions")]
    scope: Option<List>,
}

/// A number, which some networks send as a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Plain(i64),
    Text(String),
}

impl Number {
    fn seconds(&self) -> Option<TimeDelta> {
        let seconds = match self {
            Self::Plain(seconds) => Some(*seconds),
            Self::Text(text) => text.parse().ok(),
        };
        TimeDelta::try_seconds(seconds?)
    }
}

/// Names in one text or in a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum List {
    Text(String),
    Names(Vec<String>),
}

impl TokenResponse {
    /// Merges these tokens into the known secrets. What the response leaves out is kept, except the expiry of the old
    /// token.
    pub(super) fn merge_into(&self, known: &Secrets, now: DateTime<Utc>) -> Secrets {
        let end = |life: &Option<Number>| {
            let life = life.as_ref().and_then(Number::seconds);
            life.and_then(|life| now.checked_add_signed(life)).map(|end| end.to_rfc3339())
        };
        let mut secrets = known.clone().with(ACCESS_TOKEN, self.access_token.as_str());
        secrets = secrets.with(EXPIRES_AT, end(&self.expires_in).unwrap_or_default());
        if !self.refresh_token.is_empty() {
            secrets = secrets.with(REFRESH_TOKEN, self.refresh_token.as_str());
        }
        if let Some(end) = end(&self.refresh_expires_in) {
            secrets = secrets.with(REFRESH_EXPIRES_AT, end);
        }
        match &self.scope {
            Some(List::Text(names)) => secrets.with(SCOPE, names.as_str()),
            Some(List::Names(names)) => secrets.with(SCOPE, names.join(" ")),
            None => secrets,
        }
    }
}

/// Sends a token request.
pub(super) async fn read(request: Request, session: &Session) -> Result<TokenResponse> {
    let reply = request.send().await?;
    if !reply.is_success() {
        return Err(token_error(&reply, session));
    }
    let body: Value = reply.json().map_err(|_| no_token())?;
    // Some networks respond to errors with 200 too.
    if body.get("ok") == Some(&Value::Bool(false)) || body.get("error").is_some_and(is_error) {
        return Err(token_error(&reply, session));
    }
    // Instagram wraps its tokens in a list of one.
    let inner = body.pointer("/data/0").filter(|inner| inner.is_object()).cloned();
    let answer: TokenResponse =
        serde_json::from_value(inner.unwrap_or(body)).map_err(|_| no_token())?;
    if answer.access_token.is_empty() {
        return Err(no_token());
    }
    Ok(answer)
}

fn is_error(error: &Value) -> bool {
    !matches!(error, Value::Null) && error.as_str() != Some("") && error.as_str() != Some("ok")
}

/// Whatever the network did, its answer is not one of its token endpoint's.
fn no_token() -> Error {
    Error::new(ErrorKind::Ambiguous, "The network answered without a token.")
}

/// Returns the error for a response without tokens. The user has to connect again only if it says that the tokens are
/// permanently invalid.
pub(super) fn token_error(reply: &Reply, session: &Session) -> Error {
    let body: Value = reply.json().unwrap_or_default();
    let error = body.get("error");
    let word = error.and_then(|error| error.as_str().or_else(|| error.get("type")?.as_str()));
    let code = error.and_then(|error| error.get("code")).and_then(Value::as_u64);
    let said = [
        body.get("error_description"),
        body.get("error_message"),
        error.and_then(|error| error.get("message")),
        body.get("message"),
    ];
    let said = said.into_iter().flatten().find_map(Value::as_str);
    let said = said.map(|said| session.secrets.redact(said));
    let named = code.map(|code| code.to_string());
    let named = named.as_deref().or(word);
    let is = |list: &[&str]| word.is_some_and(|word| list.contains(&word));
    let is_code = |list: &[u64]| code.is_some_and(|code| list.contains(&code));
    let reason = error.and_then(|error| error.get("error_subcode")).and_then(Value::as_u64);
    // Threads reports an invalid code in a third way, and X reports an invalid code or token as a bad request.
    let is_used = (body.get("error_type").is_some() && reply.status == 400)
        || reason.is_some_and(|reason| META_DEAD_CODE_SUBCODES.contains(&reason))
        || (word == Some("invalid_request")
            && said.as_deref().is_some_and(|said| said.ends_with(" was invalid.")));
    // Pinterest has no error code for it, only a message.
    let is_told = word.is_none()
        && matches!(reply.status, 400 | 401)
        && said.as_deref().is_some_and(says_token_is_dead);
    let error = if is(APP_ERROR_CODES) {
        Error::misconfigured("The network does not accept the app's id, secret or address.")
            .with_remedy(
                "Compare the app's settings at the network with the variables of this service.",
            )
    } else if reply.status == 429 || is_code(META_RATE_LIMIT_CODES) || word == Some("slow_down") {
        Error::new(ErrorKind::RateLimited, "The network asks to slow down.")
            .with_retry_after(reply.retry_after())
    } else if is(DEAD_TOKEN_CODES) || is_code(META_DEAD_TOKEN_CODES) || is_used || is_told {
        Error::reconnect("The network no longer accepts the account's access.")
    } else if reply.status >= 500 {
        Error::new(ErrorKind::Server, "The network has a problem of its own.")
    } else {
        Error::transient("The network gave no token.")
    };
    error.with_reply(reply.status, named, said.as_deref())
}

/// Returns true if a message says that a code or a refresh token is invalid.
fn says_token_is_dead(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    let is_one = |words: &[&str]| words.iter().any(|word| said.contains(word));
    is_one(&["refresh token", "refresh_token", "authorization code"])
        && is_one(&["invalid", "expired", "revoked"])
}
