//! Calls to Google's Business Profile APIs.

use chrono::{DateTime, NaiveDate, Utc};
use serde::Deserialize;
use serde_json::Value;

use super::{API, SPEC, analytics::date_query, error::parse_error};
use crate::{
    Error, ErrorKind, Result, Session,
    google::{self, authorized},
    recent_posts::{Entry, ListPage},
    response,
};

/// The hosts of the APIs for accounts and for locations.
const ACCOUNTS: &str = "https://mybusinessaccountmanagement.googleapis.com";
const LOCATIONS: &str = "https://mybusinessbusinessinformation.googleapis.com";
const PERFORMANCE: &str = "https://businessprofileperformance.googleapis.com";
/// The fields that are requested of each location.
const READ_MASK: &str = "name,title,storefrontAddress,metadata";
/// Most posts of a page (<https://developers.google.com/my-business/reference/rest/v4/accounts.locations.localPosts/list>).
const POSTS: &str = "100";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accounts {
    #[serde(default)]
    accounts: Vec<AccountName>,
    #[serde(default)]
    next_page_token: String,
}

#[derive(Debug, Deserialize)]
struct AccountName {
    name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Locations {
    #[serde(default)]
    locations: Vec<Location>,
    #[serde(default)]
    next_page_token: String,
}

/// A location of a business.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    /// `locations/{l}`
    name: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub storefront_address: Address,
    #[serde(default)]
    pub metadata: Metadata,
}

impl Location {
    /// Returns its number.
    pub fn id(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }
}

/// Its address.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Address {
    address_lines: Vec<String>,
    locality: String,
}

impl Address {
    /// Returns it in one line; empty for a business that visits its customers.
    pub fn line(&self) -> String {
        let parts = self.address_lines.iter().chain([&self.locality]);
        parts.filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

/// Google's metadata of a location.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    pub can_operate_local_post: Option<bool>,
    /// True if Google has verified that the business is there, and shows what it says of itself.
    pub has_voice_of_merchant: Option<bool>,
    pub place_id: Option<String>,
    pub maps_uri: Option<String>,
    pub new_review_uri: Option<String>,
}

/// A post.
#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
pub(super) struct LocalPost {
    /// `accounts/{a}/locations/{l}/localPosts/{id}`
    pub name: String,
    pub state: String,
    pub search_url: String,
    pub summary: String,
    pub topic_type: String,
    pub media: Vec<PostMedia>,
    event: Option<Title>,
    create_time: Option<DateTime<Utc>>,
}

/// A file of a post.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PostMedia {
    /// `PHOTO` or `VIDEO`.
    pub media_format: String,
}

#[derive(Debug, Deserialize)]
struct Title {
    #[serde(default)]
    title: String,
}

impl LocalPost {
    /// Returns the title of an event or offer.
    pub fn title(&self) -> &str {
        self.event.as_ref().map_or("", |event| event.title.as_str())
    }
}

impl Entry for LocalPost {
    fn created_at(&self) -> Option<DateTime<Utc>> {
        self.create_time
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LocalPosts {
    #[serde(default)]
    local_posts: Vec<LocalPost>,
    #[serde(default)]
    next_page_token: String,
}

/// Returns the accounts whose locations the user can manage, as `accounts/{a}`.
pub(super) async fn accounts(session: &Session) -> Result<Vec<String>> {
    let (mut found, mut next) = (Vec::new(), String::new());
    for _ in 0..google::PAGES_MAX {
        let url = session.url(ACCOUNTS, "/v1/accounts")?;
        let page: Accounts = google::get(session, url, &paged(&[], &next), parse_error).await?;
        found.extend(page.accounts.into_iter().map(|account| account.name));
        next = page.next_page_token;
        if next.is_empty() {
            break;
        }
    }
    Ok(found)
}

/// Reads the daily metrics of a location.
pub(super) async fn performance(
    session: &Session,
    metrics: &[&str],
    (first, last): (NaiveDate, NaiveDate),
) -> Result<Value> {
    let path =
        format!("/v1/locations/{}:fetchMultiDailyMetricsTimeSeries", session.account.remote_id);
    let range = date_query("startDate", first).into_iter().chain(date_query("endDate", last));
    let range: Vec<_> = range.collect();
    let mut query: Vec<(&str, &str)> =
        metrics.iter().map(|metric| ("dailyMetrics", *metric)).collect();
    query.extend(range.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    google::get(session, session.url(PERFORMANCE, &path)?, &query, parse_error).await
}

/// Returns the locations of an account.
pub(super) async fn locations(session: &Session, account: &str) -> Result<Vec<Location>> {
    let fixed = [("readMask", READ_MASK), ("pageSize", "100")];
    let (mut found, mut next) = (Vec::new(), String::new());
    for _ in 0..google::PAGES_MAX {
        let url = session.url(LOCATIONS, &format!("/v1/{account}/locations"))?;
        let page: Locations = google::get(session, url, &paged(&fixed, &next), parse_error).await?;
        found.extend(page.locations);
        next = page.next_page_token;
        if next.is_empty() {
            break;
        }
    }
    Ok(found)
}

fn paged<'a>(fixed: &[(&'a str, &'a str)], next: &'a str) -> Vec<(&'a str, &'a str)> {
    let token = Some(("pageToken", next)).filter(|_| !next.is_empty());
    fixed.iter().copied().chain(token).collect()
}

/// Creates a post on a location.
pub(super) async fn create(session: &Session, location: &str, post: &Value) -> Result<LocalPost> {
    let url = session.url(API, &format!("/v4/{location}/localPosts"))?;
    let request = session.http.post(url).json(post).deadline(SPEC.commit_deadline);
    let made: LocalPost =
        response::send(session, authorized(session, request)?, parse_error).await?;
    if made.name.is_empty() {
        return Err(Error::new(ErrorKind::Ambiguous, "Google answered without the post's name."));
    }
    Ok(made)
}

/// Reads a post.
pub(super) async fn post(session: &Session, name: &str) -> Result<LocalPost> {
    let url = session.url(API, &format!("/v4/{name}"))?;
    google::get(session, url, &[], parse_error).await
}

/// Reads a page of the latest posts of a location.
pub(super) async fn latest(
    session: &Session,
    location: &str,
    next: Option<String>,
) -> Result<ListPage<LocalPost>> {
    let url = session.url(API, &format!("/v4/{location}/localPosts"))?;
    let query = paged(&[("pageSize", POSTS)], next.as_deref().unwrap_or_default());
    let page: LocalPosts = google::get(session, url, &query, parse_error).await?;
    Ok(ListPage::with_next(page.local_posts, Some(page.next_page_token)))
}

/// Returns when a post was created.
pub(super) fn creation_time(post: &LocalPost) -> Option<DateTime<Utc>> {
    post.create_time
}
