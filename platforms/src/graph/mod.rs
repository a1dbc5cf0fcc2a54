//! Code shared by Meta's networks: errors, usage headers, times, pages and their tokens.

mod error;
pub mod inbox;
pub mod insights;
mod lost_change;
mod pages;
pub mod quota;

use chrono::{DateTime, Utc};
use fanfare_outbound::{Reply, Request};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    EndsBasis, Error, ErrorKind, PlatformId, Result, Session, SupportedApi,
    oauth::{ACCESS_TOKEN, Endpoint, Oauth, TokenCall, TokenExchange},
    overrides::overrides,
    recent_posts,
    remains::FileKind,
};

pub use error::{
    ErrorDetails, FETCH_PAUSE, FETCHED_AGAIN_MAX, call_usage, classify_error, is_fetch_failure,
    naming_file, quota_exhausted, rate_limited,
};
pub use pages::{FacebookPage, IgUser, page_of_token, pages, require_permissions};

/// Host of the API that Facebook and Instagram share.
pub const HOST: &str = "https://graph.facebook.com";

/// The version of that API. It ends two years after the next one came out, as v25.0 does
/// (<https://developers.facebook.com/docs/graph-api/changelog>; v27.0: 2026-11-04).
pub const SUPPORTED: SupportedApi = SupportedApi {
    version: VERSION,
    released: Some("2026-07-29"),
    ends: Some("2028-11-04"),
    ends_basis: EndsBasis::Computed,
    newest_known: "v27.0",
    checked_at: "2026-11-26",
};
const VERSION: &str = "v26.0";

/// The user authorizes the app for pages. The token for a code is valid for an hour or two, the long-lived one it is
/// exchanged for 60 days, and the page tokens from that do not expire
/// (<https://developers.facebook.com/docs/facebook-login/guides/access-tokens/get-long-lived>). Access to a single page
/// cannot be revoked: the only call for that removes the app's access to all of the user's pages.
pub const OAUTH: Oauth = Oauth {
    authorize: Endpoint::at("https://www.facebook.com", "/{graph_version}/dialog/oauth"),
    separator: ",",
    token: Endpoint::at(HOST, "/{graph_version}/oauth/access_token"),
    token_call: TokenCall::Query,
    long_lived: Some(TokenExchange {
        endpoint: Endpoint::at(HOST, "/{graph_version}/oauth/access_token"),
        grant_type: "fb_exchange_token",
        token_name: "fb_exchange_token",
        with_client_id: true,
        with_client_secret: true,
    }),
    ..Oauth::DEFAULTS
};

/// An object that was created.
#[derive(Debug, Deserialize)]
pub struct CreatedObject {
    #[serde(default)]
    id: String,
}

impl CreatedObject {
    /// Returns its id. A response without one does not tell what was done.
    pub fn id(self, label: &str) -> Result<String> {
        if self.id.is_empty() {
            return Err(Error::new(
                ErrorKind::Ambiguous,
                format!("{label} answered without an id."),
            ));
        }
        Ok(self.id)
    }
}

/// The entries of a list.
#[derive(Debug, Deserialize)]
pub struct List<T> {
    /// Reads one page of them.
    pub data: Vec<T>,
    #[serde(default = "Paging::default")]
    paging: Paging,
}

/// The cursors of a list. The last page has cursors too, but no `next`.
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
    /// Returns the entries with the cursor of the next page. The `next` address is not used, because the token would be
    /// sent to wherever it leads (<https://developers.facebook.com/docs/graph-api/results>).
    pub fn into_page(self) -> recent_posts::ListPage<T> {
        let Paging { cursors, next } = self.paging;
        recent_posts::ListPage::with_next(self.data, next.map(|_| cursors.after))
    }
}

impl List<Value> {
    /// Returns the entries, each read alone, with the cursor of the next page, and those of an unknown form.
    pub fn into_known_page<T: DeserializeOwned>(self) -> (recent_posts::ListPage<T>, Vec<Value>) {
        let recent_posts::ListPage { items, next } = self.into_page();
        let (known, unread) = known(items);
        (recent_posts::ListPage { items: known, next }, unread)
    }
}

/// Reads each of these entries alone; those of an unknown form come last.
pub fn known<T: DeserializeOwned>(entries: Vec<Value>) -> (Vec<T>, Vec<Value>) {
    let (mut known, mut unread) = (Vec::with_capacity(entries.len()), Vec::new());
    for entry in entries {
        match T::deserialize(&entry) {
            Ok(one) => known.push(one),
            Err(_) => unread.push(entry),
        }
    }
    (known, unread)
}

/// Returns the ids of entries that could not be read; an empty one where there is none.
pub fn ids_of(entries: &[Value]) -> Vec<String> {
    entries.iter().map(|one| one["id"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Returns the query for a page of a list; `after` is its cursor, `None` for the first.
pub fn list_query<'a>(
    fields: &'a str,
    limit: &'a str,
    after: Option<&'a str>,
) -> Vec<(&'a str, &'a str)> {
    let after = after.map(|after| ("after", after));
    [("fields", fields), ("limit", limit)].into_iter().chain(after).collect()
}

/// Reads a page of a list, of up to 100 entries, the API's maximum.
pub async fn list<T: DeserializeOwned>(
    session: &Session,
    path: &str,
    fields: &str,
    after: Option<&str>,
    parse: fn(&Reply) -> Error,
) -> Result<recent_posts::ListPage<T>> {
    let query = list_query(fields, "100", after);
    Ok(get::<List<T>>(session, path, &query, parse).await?.into_page())
}

/// Returns the version that requests name.
pub fn version() -> &'static str {
    overrides().version(PlatformId::Facebook).unwrap_or(VERSION)
}

/// Returns the address of `path` (which starts with a slash) in the shared API.
pub fn url(session: &Session, path: &str) -> Result<url::Url> {
    session.url(HOST, &format!("/{}{path}", version()))
}

/// Sends a GET request to the shared API.
pub async fn get<T: DeserializeOwned>(
    session: &Session,
    path: &str,
    query: &[(&str, &str)],
    parse: fn(&Reply) -> Error,
) -> Result<T> {
    send(session, session.http.get(url(session, path)?).query(query), parse).await
}

/// Sends an authorized request. The token goes in a header, to keep it out of URL logs.
pub async fn send<T: DeserializeOwned>(
    session: &Session,
    request: Request,
    parse: fn(&Reply) -> Error,
) -> Result<T> {
    let reply = request.bearer(session.secrets.require(ACCESS_TOKEN)?).send().await?;
    if let Some(used) = call_usage(&reply) {
        session.usage.record(used);
    }
    if reply.is_success() { Ok(reply.json()?) } else { Err(redacted(session, parse(&reply))) }
}

/// Removes the account's secrets from an error, in case Meta repeats one.
pub fn redacted(session: &Session, mut error: Error) -> Error {
    if let Some(words) = error.reply.as_mut().and_then(|reply| reply.message.as_mut()) {
        *words = session.secrets.redact(words);
    }
    error
}

/// Deserializes Meta's time format, `2030-01-31T09:00:00+0000`, which is not quite RFC 3339.
pub fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DateTime<Utc>, D::Error> {
    let text = String::deserialize(deserializer)?;
    DateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M:%S%z")
        .or_else(|_| DateTime::parse_from_rfc3339(&text))
        .map(|time| time.to_utc())
        .map_err(serde::de::Error::custom)
}
/// Returns the kind of a file by the `media_type` of Instagram and Threads.
pub fn file_kind(media_type: &str) -> FileKind {
    match media_type {
        "IMAGE" => FileKind::Image,
        "VIDEO" => FileKind::Video,
        _ => FileKind::Unknown,
    }
}
