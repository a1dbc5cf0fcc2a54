//! Parts that Meta's networks share: one way to word errors, usage headers, times, pages and their tokens.

mod error;
pub mod inbox;
pub mod insights;
mod pages;

use chrono::{DateTime, Utc};
use fanfare_outbound::{Reply, Request};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

use crate::{
    Error, Kind, Result, Session,
    oauth::{ACCESS_TOKEN, Endpoint, Oauth, TokenCall, Trade},
    recent_posts,
};

pub use error::{Words, quota, read, slow_down, used};
pub use pages::{IgUser, Page, granted, of_token, pages};

/// Host of the API that Facebook and Instagram share.
pub const HOST: &str = "https://graph.facebook.com";

/// The version of that API. Versions live about two years, <https://developers.facebook.com/docs/graph-api/changelog>.
pub const VERSION: &str = "v25.0";

/// A person lets the app act for pages. The token of a code lives for an hour or two, the one it is traded for 60 days,
/// and the page tokens that come from that do not end
/// (<https://developers.facebook.com/docs/facebook-login/guides/access-tokens/get-long-lived>). A single page cannot be
/// given back: the only call for that takes the app's access from all of the person's pages.
pub const LOGIN: Oauth = Oauth {
    authorize: Endpoint::at("https://www.facebook.com", "/v25.0/dialog/oauth"),
    separator: ",",
    token: Endpoint::at(HOST, "/v25.0/oauth/access_token"),
    token_call: TokenCall::Query,
    long_lived: Some(Trade {
        endpoint: Endpoint::at(HOST, "/v25.0/oauth/access_token"),
        grant_type: "fb_exchange_token",
        token_name: "fb_exchange_token",
        with_client_id: true,
        with_client_secret: true,
    }),
    ..Oauth::USUAL
};

/// Something that was made.
#[derive(Debug, Deserialize)]
pub struct Made {
    #[serde(default)]
    id: String,
}

impl Made {
    /// Its id. An answer without one says nothing of what was done.
    pub fn id(self, label: &str) -> Result<String> {
        if self.id.is_empty() {
            return Err(Error::new(Kind::Ambiguous, format!("{label} answered without an id.")));
        }
        Ok(self.id)
    }
}

/// The entries of a list.
#[derive(Debug, Deserialize)]
pub struct List<T> {
    /// One page of them.
    pub data: Vec<T>,
    #[serde(default = "Paging::default")]
    paging: Paging,
}

/// The link to the next page. The last one has cursors too, but no address of the next.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Paging {
    cursors: Cursors,
    next: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cursors {
    after: String,
}

impl<T> List<T> {
    /// The same with what names the next page. The address of it is not used: the token would go wherever it leads
    /// (<https://developers.facebook.com/docs/graph-api/results>).
    pub fn page(self) -> recent_posts::Page<T> {
        let Paging { cursors, next } = self.paging;
        recent_posts::Page::naming(self.data, next.map(|_| cursors.after))
    }
}

/// The query of a page of a list; `after` names it, nothing the first.
pub fn list_query<'a>(
    fields: &'a str,
    limit: &'a str,
    after: Option<&'a str>,
) -> Vec<(&'a str, &'a str)> {
    let after = after.map(|after| ("after", after));
    [("fields", fields), ("limit", limit)].into_iter().chain(after).collect()
}

/// A page of a list, of up to 100 entries: more are not given.
pub async fn list<T: DeserializeOwned>(
    session: &Session,
    path: &str,
    fields: &str,
    after: Option<&str>,
    parse: fn(&Reply) -> Error,
) -> Result<recent_posts::Page<T>> {
    let query = list_query(fields, "100", after);
    Ok(get::<List<T>>(session, path, &query, parse).await?.page())
}

/// Address of `path` (which starts with a slash) in the shared API.
pub fn url(session: &Session, path: &str) -> Result<url::Url> {
    session.url(HOST, &format!("/{VERSION}{path}"))
}

/// A question to the shared API.
pub async fn get<T: DeserializeOwned>(
    session: &Session,
    path: &str,
    query: &[(&str, &str)],
    parse: fn(&Reply) -> Error,
) -> Result<T> {
    send(session, session.http.get(url(session, path)?).query(query), parse).await
}

/// Sends a request in the account's name. The token goes in a header, where it stays out of logs of addresses.
pub async fn send<T: DeserializeOwned>(
    session: &Session,
    request: Request,
    parse: fn(&Reply) -> Error,
) -> Result<T> {
    let reply = request.bearer(session.secrets.need(ACCESS_TOKEN)?).send().await?;
    if let Some(used) = used(&reply) {
        session.usage.note(used);
    }
    if reply.is_success() { Ok(reply.json()?) } else { Err(redacted(session, parse(&reply))) }
}

/// An error without the account's secrets, in case Meta repeats one.
pub fn redacted(session: &Session, mut error: Error) -> Error {
    if let Some(words) = error.reply.as_mut().and_then(|reply| reply.message.as_mut()) {
        *words = session.secrets.redact(words);
    }
    error
}

/// Meta writes `2030-01-31T09:00:00+0000`, which is not quite RFC 3339.
pub fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DateTime<Utc>, D::Error> {
    let text = String::deserialize(deserializer)?;
    DateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M:%S%z")
        .or_else(|_| DateTime::parse_from_rfc3339(&text))
        .map(|time| time.to_utc())
        .map_err(serde::de::Error::custom)
}
