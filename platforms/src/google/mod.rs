//! Code shared by Google's networks: OAuth, authorized calls, errors.

mod error;

use std::time::Duration;

use fanfare_outbound::{Reply, Request};
use serde::de::DeserializeOwned;
use url::Url;

use crate::{
    Error, Result, Session, SpecSource,
    oauth::{ACCESS_TOKEN, Endpoint, Oauth, TokenRenewal},
    response,
};

pub use error::{DEFAULT_WAIT, ErrorDetails, classify_error};

const TOKENS: &str = "https://oauth2.googleapis.com";

/// The user authorizes the app for a Google account. Access tokens are valid for an hour, a refresh token until it is
/// unused for half a year. A user who has authorized before gets a new refresh token only with `prompt=consent`.
pub const OAUTH: Oauth = Oauth {
    authorize: Endpoint::at("https://accounts.google.com", "/o/oauth2/v2/auth"),
    authorize_extra: &[
        ("access_type", "offline"),
        ("prompt", "consent"),
        ("include_granted_scopes", "true"),
    ],
    pkce: true,
    token: Endpoint::at(TOKENS, "/token"),
    renewal: TokenRenewal::RefreshToken { idle: Duration::from_secs(180 * 86_400) },
    revoke: Some(Endpoint::at(TOKENS, "/revoke")),
    ..Oauth::DEFAULTS
};

/// The source of the facts about OAuth.
pub const OAUTH_SOURCE: SpecSource = SpecSource::documented(
    "tokens",
    "https://developers.google.com/identity/protocols/oauth2/web-server",
);

/// The most pages of a list that are read.
pub const PAGES_MAX: usize = 10;

/// Authorizes a request with the account's token.
pub fn authorized(session: &Session, request: Request) -> Result<Request> {
    Ok(request.bearer(session.secrets.require(ACCESS_TOKEN)?))
}

/// Sends an authorized GET request.
pub async fn get<T: DeserializeOwned>(
    session: &Session,
    url: Url,
    query: &[(&str, &str)],
    parse: fn(&Session, &Reply) -> Error,
) -> Result<T> {
    let request = authorized(session, session.http.get(url).query(query))?;
    response::send(session, request, parse).await
}
