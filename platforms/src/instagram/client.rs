//! Calls to the Instagram API.

use std::time::Duration;

use chrono::{DateTime, Utc};
use fanfare_outbound::Request;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{LABEL, SPEC, container::Params, error::parse_error, settings::Addon};
use crate::{
    Error, Result, Session,
    graph::{self, CreatedObject, List, quota::Quota},
    recent_posts::{Entry, ListPage},
};

/// The deadline of calls during which Instagram fetches an image.
const FETCH_DEADLINE: Duration = Duration::from_secs(60);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    status_code: String,
    status: Option<String>,
}

/// The status of a container.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ContainerStatus {
    InProgress,
    Finished,
    Published,
    /// It failed, with Instagram's reason.
    Dead(String),
}

/// A post in lists.
#[derive(Debug, Deserialize)]
pub(super) struct Post {
    pub id: String,
    #[serde(default)]
    pub caption: String,
    #[serde(default)]
    pub media_type: String,
    pub media_product_type: Option<String>,
    children: Option<List<Child>>,
    #[serde(deserialize_with = "graph::time")]
    pub timestamp: DateTime<Utc>,
}

/// An item of a carousel.
#[derive(Debug, Deserialize)]
struct Child {
    #[serde(default)]
    media_type: String,
}

impl Post {
    /// Returns the kinds of the items of a carousel, in order.
    pub fn items(&self) -> Vec<&str> {
        let items = self.children.iter().flat_map(|children| &children.data);
        items.map(|child| child.media_type.as_str()).collect()
    }
}

impl Entry for Post {
    fn created_at(&self) -> Option<DateTime<Utc>> {
        Some(self.timestamp)
    }
}

/// A comment in lists.
#[derive(Debug, Deserialize)]
pub(super) struct Comment {
    pub id: String,
    #[serde(default)]
    pub text: String,
    #[serde(deserialize_with = "graph::time")]
    pub timestamp: DateTime<Utc>,
}

impl Entry for Comment {
    fn created_at(&self) -> Option<DateTime<Utc>> {
        Some(self.timestamp)
    }
}

#[derive(Debug, Deserialize)]
struct Permalink {
    permalink: String,
}

/// Returns how many posts the account may publish in 24 hours, and how many it has. Instagram's own pages disagree about
/// the number.
pub(super) async fn quota(session: &Session) -> Result<Quota> {
    let query = [("fields", "quota_usage,config")];
    let path = format!("{}/content_publishing_limit", account(session));
    let answer: List<Quota> = get(session, &path, &query).await?;
    Ok(answer.data.into_iter().next().unwrap_or_default())
}

/// Creates a container; nothing becomes public.
pub(super) async fn create_container(session: &Session, params: &Params) -> Result<String> {
    let request = post(session, &format!("{}/media", account(session)))?;
    send::<CreatedObject>(session, request.form(params).deadline(FETCH_DEADLINE)).await?.id(LABEL)
}

/// Reads the status of a container.
pub(super) async fn status(session: &Session, container: &str) -> Result<ContainerStatus> {
    let query = [("fields", "status_code,status")];
    let answer: Status = get(session, &format!("/{container}"), &query).await?;
    let reason = || answer.status.clone().unwrap_or_else(|| answer.status_code.clone());
    Ok(match answer.status_code.as_str() {
        "FINISHED" => ContainerStatus::Finished,
        "PUBLISHED" => ContainerStatus::Published,
        "ERROR" => ContainerStatus::Dead(reason()),
        "EXPIRED" => ContainerStatus::Dead("EXPIRED".to_owned()),
        _ => ContainerStatus::InProgress,
    })
}

/// Publishes a container.
pub(super) async fn publish(session: &Session, container: &str) -> Result<String> {
    let request = post(session, &format!("{}/media_publish", account(session)))?;
    let request = request.form(&[("creation_id", container)]).deadline(SPEC.commit_deadline);
    send::<CreatedObject>(session, request).await?.id(LABEL)
}

/// Comments on a post.
pub(super) async fn comment(session: &Session, media: &str, message: &str) -> Result<String> {
    let request = post(session, &format!("/{media}/comments"))?.form(&[("message", message)]);
    send::<CreatedObject>(session, request.deadline(SPEC.commit_deadline)).await?.id(LABEL)
}

/// Reads a page of the account's latest posts, without stories.
pub(super) async fn posts(session: &Session, next: Option<String>) -> Result<ListPage<Post>> {
    let path = format!("{}/media", account(session));
    let fields =
        "id,caption,permalink,timestamp,media_type,media_product_type,children{media_type}";
    graph::list(session, &path, fields, next.as_deref(), parse_error).await
}

/// Reads a page of the account's stories of the last 24 hours.
pub(super) async fn stories(session: &Session, next: Option<String>) -> Result<ListPage<Post>> {
    let path = format!("{}/stories", account(session));
    let fields = "id,timestamp,media_type,media_product_type";
    graph::list(session, &path, fields, next.as_deref(), parse_error).await
}

/// Reads a page of the latest comments on a post, of 50 at most
/// (<https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-media/comments>).
pub(super) async fn comments(
    session: &Session,
    media: &str,
    next: Option<String>,
) -> Result<ListPage<Comment>> {
    let query = graph::list_query("id,text,timestamp", "50", next.as_deref());
    Ok(get::<List<Comment>>(session, &format!("/{media}/comments"), &query).await?.into_page())
}

/// Returns true unless Instagram says that a post lacks its poll or prompt: the edge is then null
/// (<https://developers.facebook.com/docs/instagram-platform/content-publishing/caption-add-ons>).
pub(super) async fn has_addon(session: &Session, media: &str, addon: Addon) -> Result<bool> {
    let path = format!("/{media}/{}", addon.edge());
    get::<Value>(session, &path, &[]).await.map(|found| !found.is_null())
}

/// Returns the public address of a post.
pub(super) async fn permalink(session: &Session, media: &str) -> Result<String> {
    let query = [("fields", "permalink")];
    Ok(get::<Permalink>(session, &format!("/{media}"), &query).await?.permalink)
}

/// Returns the path of the account.
pub(super) fn account(session: &Session) -> String {
    format!("/{}", session.account.remote_id)
}

fn post(session: &Session, path: &str) -> Result<Request> {
    Ok(session.http.post(graph::url(session, path)?))
}

async fn get<T: DeserializeOwned>(
    session: &Session,
    path: &str,
    query: &[(&str, &str)],
) -> Result<T> {
    graph::get(session, path, query, parse_error).await
}

async fn send<T: DeserializeOwned>(session: &Session, request: Request) -> Result<T> {
    graph::send(session, request, parse_error).await
}

/// Returns the error of an account that has no posts left in these 24 hours.
pub(super) fn quota_exhausted() -> Error {
    Error::new(
        crate::ErrorKind::QuotaExhausted,
        "The account has used up what Instagram lets it post in 24 hours.",
    )
    .with_retry_after(Some(Duration::from_secs(3_600)))
}
