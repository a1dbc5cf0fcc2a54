//! Reads the headers `Authorization` and `Idempotency-Key`.

use fanfare_core::{
    Code, Domain, Error, RefusalDetails, Result,
    access::{Caller, Scope},
};
use fanfare_people::{keys, oauth_provider};
use salvo::http::{
    HeaderMap, HeaderValue,
    header::{AUTHORIZATION, IF_MATCH},
};

use crate::BelongsTo;

/// Authenticates a request to this path: by an API key, or by an access token of an OAuth client.
///
/// # Errors
/// [`Code::MissingApiKey`] without the header, [`Code::InvalidApiKey`], [`Code::ApiKeyExpired`] or
/// [`Code::ApiKeyRevoked`] if it is not accepted.
pub async fn caller(cx: &Domain, headers: &HeaderMap, path: &str) -> Result<Caller> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let Some(first) = sent.next() else {
        let message = "Send `Authorization: Bearer <key>`.";
        return Err(Error::new(Code::MissingApiKey, message));
    };
    let key = bearer(first).filter(|_| sent.next().is_none()).ok_or_else(|| {
        Error::new(Code::InvalidApiKey, "The Authorization header is not `Bearer <key>`.")
    })?;
    if key.starts_with("fat_") {
        return oauth_provider::authenticate(cx, key, path).await;
    }
    keys::authenticate(cx, key).await
}

fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// Fails for an access token if only API keys are accepted.
///
/// # Errors
/// [`Code::ApiKeyRequired`].
pub fn require_key(caller: &Caller, tokens: bool) -> Result<()> {
    if tokens || caller.token.is_none() {
        return Ok(());
    }
    let message = "A tool that you let in cannot do this; use an API key or the dashboard.";
    Err(Error::new(Code::ApiKeyRequired, message))
}

/// Fails for a credential that is bound to one workspace if the route's rows belong to the person.
///
/// # Errors
/// [`Code::InsufficientScope`].
pub fn require_reach(caller: &Caller, belongs_to: BelongsTo) -> Result<()> {
    if belongs_to != BelongsTo::Person || caller.key_workspace.is_none() {
        return Ok(());
    }
    let message = "This belongs to the person and to no workspace; the key or token is bound to one workspace. Use a \
                   key without a workspace, or the dashboard.";
    if caller.token.is_some() {
        let remedy = "Ask the person to do it in the dashboard.";
        return Err(oauth_provider::for_tools(Code::InsufficientScope, message, remedy));
    }
    Err(Error::new(Code::InsufficientScope, message))
}

/// Fails unless the key has the scope `needed`.
///
/// # Errors
/// [`Code::InsufficientScope`] with `required_scope`.
pub fn require_scope(caller: &Caller, needed: Option<Scope>) -> Result<()> {
    let Some(needed) = needed.filter(|needed| !caller.scopes.contains(needed)) else {
        return Ok(());
    };
    Err(if caller.token.is_some() { token_lacks_scope(needed) } else { insufficient_scope(needed) })
}

/// Returns the error for an access token without this scope: its tool asks for the scope, and makes no key.
#[must_use]
pub fn token_lacks_scope(needed: Scope) -> Error {
    let name = needed.as_str();
    let details = RefusalDetails {
        required_scope: Some(name),
        remedy: Some(format!("Start the authorization again with the scope {name}.")),
        ..RefusalDetails::default()
    };
    Error::new(Code::InsufficientScope, format!("The access token lacks the scope {name}."))
        .with_details(details)
        .with_remedies(|_| Vec::new())
}

/// Returns the error for a key without this scope.
#[must_use]
pub fn insufficient_scope(needed: Scope) -> Error {
    let message = format!("The key lacks the scope {}.", needed.as_str());
    let required_scope = Some(needed.as_str());
    Error::new(Code::InsufficientScope, message)
        .with_details(RefusalDetails { required_scope, ..RefusalDetails::default() })
}

/// Returns the `Idempotency-Key`, if there is one.
///
/// # Errors
/// [`Code::InvalidIdempotencyKey`].
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>> {
    let mut sent = headers.get_all("idempotency-key").iter();
    let Some(first) = sent.next() else { return Ok(None) };
    let text = first.to_str().ok().filter(|text| {
        (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
    });
    match (text, sent.next()) {
        (Some(text), None) => Ok(Some(text.to_owned())),
        _ => Err(Error::new(
            Code::InvalidIdempotencyKey,
            "Idempotency-Key must be one value of 1 to 255 visible ASCII characters.",
        )),
    }
}

/// Returns the version that `If-Match` names; `None` without it, and for `*`.
///
/// # Errors
/// [`Code::InvalidField`] for anything else.
pub fn if_match(headers: &HeaderMap) -> Result<Option<i64>> {
    let mut sent = headers.get_all(IF_MATCH).iter();
    let Some(first) = sent.next() else { return Ok(None) };
    let text = first.to_str().unwrap_or_default().trim();
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    match (text, quoted.parse::<i64>(), sent.next()) {
        ("*", _, None) => Ok(None),
        (_, Ok(version), None) if version > 0 => Ok(Some(version)),
        _ => Err(Error::field(
            Code::InvalidField,
            "If-Match",
            "If-Match must be one version, such as \"3\", or *.",
            "Send the ETag of the reply that showed it.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("idempotency-key", HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    #[test]
    fn an_idempotency_key_is_one_value_of_visible_ascii() {
        assert_eq!(idempotency_key(&headers(&[])).unwrap(), None);
        assert_eq!(idempotency_key(&headers(&[b"a-1"])).unwrap().as_deref(), Some("a-1"));
        assert!(idempotency_key(&headers(&[&[b'x'; 255]])).is_ok());
        let long = [b'x'; 256];
        let bad: [&[&[u8]]; 5] = [&[b""], &[b"a b"], &[b"\xff"], &[&long], &[b"a", b"a"]];
        for values in bad {
            let code = idempotency_key(&headers(values)).unwrap_err().code();
            assert_eq!(code, Code::InvalidIdempotencyKey, "{values:?}");
        }
    }

    #[test]
    fn a_bearer_key_is_named_so_in_any_case() {
        let key = |text: &'static str| bearer(&HeaderValue::from_static(text)).map(str::to_owned);
        assert_eq!(key("bearer  fan_1 ").as_deref(), Some("fan_1"));
        assert_eq!(key("Basic fan_1"), None);
        assert_eq!(key("fan_1"), None);
    }
}
