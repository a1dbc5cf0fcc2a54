//! The calls of the Threads API, as Threads names them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use fanfare_outbound::Request;
use serde::{Deserialize, de::DeserializeOwned};

use super::{SPEC, container::Params, error::parse_error};
use crate::{
    Result, Session, graph,
    recent_posts::{Entry, Page},
};

/// The account that a token belongs to.
#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub id: String,
    pub username: String,
    pub name: Option<String>,
    pub threads_profile_picture_url: Option<String>,
}

/// The progress of a container.
#[derive(Debug, Deserialize)]
struct Status {
    status: String,
    error_message: Option<String>,
}

/// The same, in our words.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ContainerStatus {
    InProgress,
    Finished,
    Published,
    /// Nothing will come of it; the reason as Threads names it.
    Dead(String),
}

/// A post as lists show it.
#[derive(Debug, Deserialize)]
pub(super) struct Post {
    pub id: String,
    #[serde(default)]
    pub text: String,
    #[serde(deserialize_with = "graph::time")]
    pub timestamp: DateTime<Utc>,
}

impl Entry for Post {
    fn made(&self) -> Option<DateTime<Utc>> {
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

/// Makes a container; nothing becomes public.
pub(super) async fn create_container(session: &Session, params: &Params) -> Result<String> {
    let request = session.http.post(account_url(session, "threads")?).form(params);
    send::<graph::Made>(session, request).await?.id("Threads")
}

/// Asks how far a container is.
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

/// Makes a container public.
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
    send::<graph::Made>(session, request).await?.id("Threads")
}

/// A page of the account's latest posts.
pub(super) async fn posts(session: &Session, next: Option<String>) -> Result<Page<Post>> {
    let path = format!("/v1.0/{}/threads", session.account.remote_id);
    list(session, &path, next).await
}

/// A page of the latest replies to a post.
pub(super) async fn replies(
    session: &Session,
    post: &str,
    next: Option<String>,
) -> Result<Page<Post>> {
    list(session, &format!("/v1.0/{post}/replies"), next).await
}

/// Address of a post for people.
pub(super) async fn permalink(session: &Session, post: &str) -> Result<String> {
    let answer: Permalink =
        get(session, &format!("/v1.0/{post}"), &[("fields", "permalink")]).await?;
    Ok(answer.permalink)
}

/// Up to 100 are given at a time (<https://developers.facebook.com/docs/threads/threads-media>).
async fn list(session: &Session, path: &str, next: Option<String>) -> Result<Page<Post>> {
    let query = graph::list_query("id,text,permalink,timestamp", "100", next.as_deref());
    let answer: graph::List<Post> = get(session, path, &query).await?;
    Ok(answer.page())
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
