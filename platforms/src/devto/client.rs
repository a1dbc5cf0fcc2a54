//! Calls to Forem's API.

use chrono::{DateTime, Utc};
use fanfare_outbound::{Reply, Request};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::SPEC;
use crate::{
    Error, Result, Session,
    recent_posts::{Entry, ListPage, page_number},
    response,
};

/// The largest response: an article comes back with all its text.
const REPLY_MAX: usize = 16 * 1024 * 1024;

/// An article to create.
#[derive(Debug, Serialize)]
pub struct NewArticle {
    pub title: String,
    pub body_markdown: String,
    pub published: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main_image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical_url: Option<String>,
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai_disclosure_level: Option<String>,
}

/// An existing article.
#[derive(Debug, Deserialize)]
pub struct Article {
    pub id: u64,
    pub url: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub body_markdown: String,
    #[serde(default)]
    pub published_at: Option<DateTime<Utc>>,
}

impl Entry for Article {
    /// Returns the publication time. Drafts have none, and come first.
    fn created_at(&self) -> Option<DateTime<Utc>> {
        self.published_at
    }
}

/// The owner of an API key.
#[derive(Debug, Deserialize)]
pub struct User {
    pub id: u64,
    pub username: String,
    pub name: Option<String>,
    pub profile_image: Option<String>,
}

/// `GET /users/me`
pub async fn me(session: &Session) -> Result<User> {
    let url = session.url(SPEC.base_url, "/api/users/me")?;
    send(session, session.http.get(url)).await
}

/// `POST /articles`
pub async fn create(session: &Session, article: &NewArticle) -> Result<Article> {
    let url = session.url(SPEC.base_url, "/api/articles")?;
    let request = session.http.post(url).json(&json!({ "article": article }));
    send(session, request.deadline(SPEC.commit_deadline)).await
}

/// `GET /articles/me/all`: a page of the account's latest articles. Up to 1,000 can be requested
/// (<https://developers.forem.com/api/v1>), but they contain their full texts, of which 100 fit in a response.
pub async fn latest(session: &Session, next: Option<String>) -> Result<ListPage<Article>> {
    let url = session.url(SPEC.base_url, "/api/articles/me/all")?;
    let page = page_number(next.as_deref(), 1);
    let query = [("per_page", "100".to_owned()), ("page", page.to_string())];
    let articles = send(session, session.http.get(url).query(&query)).await?;
    Ok(ListPage::until_empty(articles, page + 1))
}

/// `GET /articles/me/all`: a page of the account's articles with their counts.
pub async fn counts(session: &Session, page: usize) -> Result<Vec<Value>> {
    let url = session.url(SPEC.base_url, "/api/articles/me/all")?;
    let query = [("per_page", "100".to_owned()), ("page", page.to_string())];
    send(session, session.http.get(url).query(&query)).await
}

async fn send<T: serde::de::DeserializeOwned>(session: &Session, request: Request) -> Result<T> {
    session.secrets.require("api_key")?;
    let request = request
        .header("accept", "application/vnd.forem.api-v1+json")
        .header("api-key", session.secrets.expose("api_key"))
        .max_reply(REPLY_MAX);
    response::send(session, request, parse_error).await
}

#[derive(Default, Deserialize)]
struct Body {
    error: Option<String>,
}

/// Converts an error response: `{"error", "status"}`.
pub fn parse_error(session: &Session, reply: &Reply) -> Error {
    let body: Body = reply.json().unwrap_or_default();
    let said = session.secrets.redact(body.error.as_deref().unwrap_or_default());
    let error = match reply.status {
        401 => Error::reconnect("DEV no longer accepts the API key.").with_remedy(
            "Make a new API key on DEV under Settings, Extensions, and connect the account again.",
        ),
        422 if said.contains("Canonical url has already been taken") => {
            Error::rejected("Another article on DEV has this canonical_url.")
                .with_remedy("Change settings.canonical_url, or leave it out.")
        }
        422 if said.contains("last five minutes") => Error::duplicate("DEV")
            .with_remedy("Change the title, or publish the article five minutes later."),
        _ => {
            let error = response::error_by_status(
                "DEV",
                reply,
                said.trim_start_matches("Validation failed: "),
            );
            // Nothing is stored of an article that does not validate, or is not in the body.
            let is_invalid = reply.status == 422
                || (reply.status == 400 && said.starts_with("param is missing"));
            if is_invalid { error.nothing_done() } else { error }
        }
    };
    error.with_reply(reply.status, None, Some(said.as_str()).filter(|said| !said.is_empty()))
}
