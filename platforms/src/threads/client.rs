//! Calls to the Threads API.

use std::time::Duration;

use chrono::{DateTime, Utc};
use fanfare_outbound::Request;
use serde::{Deserialize, de::DeserializeOwned};

use super::{SPEC, container::Params, error::parse_error};
use crate::{
    Result, Session, graph,
    recent_posts::{Entry, ListPage},
};

/// The fields of a post in a list.
const LISTED: &str = "id,text,permalink,timestamp,media_type,children{media_type}";

/// The account that a token belongs to.
#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub id: String,
    pub username: String,
    pub name: Option<String>,
    pub threads_profile_picture_url: Option<String>,
}

/// The response with the status of a container.
#[derive(Debug, Deserialize)]
struct Status {
    status: String,
    error_message: Option<String>,
}

/// The status of a container.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ContainerStatus {
    InProgress,
    Finished,
    Published,
    /// It failed, with Threads' reason.
    Dead(String),
}

/// A post in lists.
#[derive(Debug, Deserialize)]
pub(super) struct Post {
    pub id: String,
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub media_type: String,
    children: Option<graph::List<Child>>,
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

#[derive(Debug, Deserialize)]
struct Permalink {
    permalink: String,
}

/// Returns the account that the token belongs to.
pub(super) async fn me(session: &Session) -> Result<User> {
    get(session, "/v1.0/me", &[("fields", "id,username,name,threads_profile_picture_url")]).await
}

/// Returns how many posts the account may publish in 24 hours
/// (<https://developers.facebook.com/docs/threads/troubleshooting#retrieve-publishing-quota-limit>).
pub(super) async fn quota(session: &Session) -> Result<graph::quota::Quota> {
    let path = format!("/v1.0/{}/threads_publishing_limit", session.account.remote_id);
    let answer: graph::List<graph::quota::Quota> =
        get(session, &path, &[("fields", "quota_usage,config")]).await?;
    Ok(answer.data.into_iter().next().unwrap_or_default())
}

/// Creates a container; nothing becomes public.
pub(super) async fn create_container(session: &Session, params: &Params) -> Result<String> {
    let request = session.http.post(account_url(session, "threads")?).form(params);
    send::<graph::CreatedObject>(session, request).await?.id("Threads")
}

/// Reads the status of a container.
pub(super) async fn status(session: &Session, container: &str) -> Result<ContainerStatus> {
    let path = format!("/v1.0/{container}");
    let answer: Status = get(session, &path, &[("fields", "status,error_message")]).await?;
    Ok(match answer.status.as_str() {
        "FINISHED" => ContainerStatus::Finished,
        "PUBLISHED" => ContainerStatus::Published,
        "EXPIRED" => ContainerStatus::Dead("EXPIRED".to_owned()),
        "ERROR" => {
            ContainerStatus::Dead(answer.error_message.unwrap_or_else(|| "UNKNOWN".to_owned()))
        }
        _ => ContainerStatus::InProgress,
    })
}

/// Publishes a container.
pub(super) async fn publish(
    session: &Session,
    container: &str,
    deadline: Duration,
) -> Result<String> {
    let request = session
        .http
        .post(account_url(session, "threads_publish")?)
        .form(&[("creation_id", container)])
        .deadline(deadline);
    send::<graph::CreatedObject>(session, request).await?.id("Threads")
}

/// Reads a page of the account's latest posts.
pub(super) async fn posts(session: &Session, next: Option<String>) -> Result<ListPage<Post>> {
    let path = format!("/v1.0/{}/threads", session.account.remote_id);
    list(session, &path, next).await
}

/// Reads a page of the latest replies to a post.
pub(super) async fn replies(
    session: &Session,
    post: &str,
    next: Option<String>,
) -> Result<ListPage<Post>> {
    list(session, &format!("/v1.0/{post}/replies"), next).await
}

/// Returns the public address of a post.
pub(super) async fn permalink(session: &Session, post: &str) -> Result<String> {
    let answer: Permalink =
        get(session, &format!("/v1.0/{post}"), &[("fields", "permalink")]).await?;
    Ok(answer.permalink)
}

/// Reads a page of a list, of up to 100 entries (<https://developers.facebook.com/docs/threads/threads-media>).
async fn list(session: &Session, path: &str, next: Option<String>) -> Result<ListPage<Post>> {
    let query = graph::list_query(LISTED, "100", next.as_deref());
    let answer: graph::List<Post> = get(session, path, &query).await?;
    Ok(answer.into_page())
}

fn account_url(session: &Session, edge: &str) -> Result<url::Url> {
    session.url(SPEC.base_url, &format!("/v1.0/{}/{edge}", session.account.remote_id))
}

async fn get<T: DeserializeOwned>(
    session: &Session,
    path: &str,
    query: &[(&str, &str)],
) -> Result<T> {
    let request = session.http.get(session.url(SPEC.base_url, path)?).query(query);
    send(session, request).await
}

async fn send<T: DeserializeOwned>(session: &Session, request: Request) -> Result<T> {
    graph::send(session, request, parse_error).await
}
