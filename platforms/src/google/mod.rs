//! Parts that Google's networks share: permission, calls in the account's name, one way to word errors.

mod error;

use std::time::Duration;

use fanfare_outbound::{Reply, Request};
use serde::de::DeserializeOwned;
use url::Url;

use crate::{
    Error, Result, Session, Source,
    oauth::{ACCESS_TOKEN, Endpoint, Oauth, Renewal},
    response,
};

pub use error::{UNTOLD_WAIT, Words, read};

const TOKENS: &str = "https://oauth2.googleapis.com";

/// A person lets the app act for a Google account. Tokens of an hour, and a refresh token that stays until nobody uses it
/// for half a year; it is given again to somebody who has granted before only when consent is asked for.
pub const LOGIN: Oauth = Oauth {
    authorize: Endpoint::at("https://accounts.google.com", "/o/oauth2/v2/auth"),
    authorize_extra: &[
        ("access_type", "offline"),
        ("prompt", "consent"),
        ("include_granted_scopes", "true"),
    ],
    pkce: true,
    token: Endpoint::at(TOKENS, "/token"),
    renewal: Renewal::RefreshToken { idle: Duration::from_secs(180 * 86_400) },
    revoke: Some(Endpoint::at(TOKENS, "/revoke")),
    ..Oauth::USUAL
};

/// The source of the facts about permission.
pub const LOGIN_SOURCE: Source = Source::documented(
    "tokens",
    "https://developers.google.com/identity/protocols/oauth2/web-server",
);

/// Longest list of pages that is followed; more is cut off.
pub const PAGES_MAX: usize = 10;

/// A request in the account's name.
pub fn authorized(session: &Session, request: Request) -> Result<Request> {
    Ok(request.bearer(session.secrets.need(ACCESS_TOKEN)?))
}

/// A question in the account's name.
pub async fn get<T: DeserializeOwned>(
    session: &Session,
    url: Url,
    query: &[(&str, &str)],
    parse: fn(&Session, &Reply) -> Error,
) -> Result<T> {
    let request = authorized(session, session.http.get(url).query(query))?;
    response::send(session, request, parse).await
}
