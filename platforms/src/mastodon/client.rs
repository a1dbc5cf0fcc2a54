//! Calls to Mastodon's API.

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use fanfare_outbound::{Multipart, Reply, Request};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use url::Url;

use super::{SPEC, error::parse_error, settings::Poll};
use crate::{
    Result, Session,
    recent_posts::{Entry, ListPage},
    response, text,
};

const UPLOAD_DEADLINE: Duration = Duration::from_secs(300);
/// The largest response: lists of statuses come with all their texts.
const REPLY_MAX: usize = 16 * 1024 * 1024;

/// A status to create.
#[derive(Debug, Serialize)]
pub struct NewStatus<'a> {
    pub status: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub media_ids: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll: Option<&'a Poll>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spoiler_text: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sensitive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quoted_status_id: Option<&'a str>,
}

/// An existing status.
#[derive(Debug, Deserialize)]
pub struct Status {
    pub id: String,
    pub url: Option<String>,
    /// Its audience; empty if the server does not say.
    #[serde(default)]
    pub visibility: String,
    pub created_at: DateTime<Utc>,
    /// The text as HTML.
    #[serde(default)]
    pub content: String,
    #[serde(default)]
    pub media_attachments: Vec<MediaAttachment>,
}

impl Entry for Status {
    fn created_at(&self) -> Option<DateTime<Utc>> {
        Some(self.created_at)
    }
}

/// An uploaded file.
#[derive(Debug, Deserialize)]
pub struct MediaAttachment {
    pub id: String,
}

/// The owner of the token.
#[derive(Debug, Deserialize)]
pub struct User {
    pub id: String,
    pub username: String,
    #[serde(default)]
    pub display_name: String,
    pub url: Option<String>,
    /// The address of the picture; the first frame if it is animated.
    pub avatar_static: Option<String>,
}

/// An app that is registered with an instance.
#[derive(Deserialize)]
pub struct Registered {
    pub client_id: String,
    pub client_secret: String,
}

#[derive(Deserialize)]
struct SourceText {
    text: String,
}

/// A client of one instance, for one user.
pub struct Instance<'a> {
    session: &'a Session,
    address: String,
}

impl<'a> Instance<'a> {
    /// Creates a client for an account that is connected or being connected.
    pub fn of(session: &'a Session) -> Result<Self> {
        let known = session.account.meta_str("instance_url").map(str::to_owned);
        let address = match known {
            Some(known) => known,
            None => crate::instance::normalized_url(
                "instance_url",
                session.secrets.expose("instance_url"),
            )?
            .into(),
        };
        Ok(Self { session, address })
    }

    fn url(&self, path: &str) -> Result<Url> {
        self.session.url(&self.address, path)
    }

    fn get(&self, path: &str) -> Result<Request> {
        Ok(self
            .session
            .http
            .get(self.url(path)?)
            .bearer(self.session.secrets.require("access_token")?))
    }

    fn post(&self, path: &str) -> Result<Request> {
        Ok(self
            .session
            .http
            .post(self.url(path)?)
            .bearer(self.session.secrets.require("access_token")?))
    }

    /// `POST /apps`: needs no token.
    pub async fn register(&self, redirect_uri: &str, scopes: &str) -> Result<Registered> {
        let form =
            [("client_name", "Fanfare"), ("redirect_uris", redirect_uri), ("scopes", scopes)];
        self.send(self.session.http.post(self.url("/api/v1/apps")?).form(&form)).await
    }

    /// `GET /accounts/verify_credentials`
    pub async fn me(&self) -> Result<User> {
        self.send(self.get("/api/v1/accounts/verify_credentials")?).await
    }

    /// `GET /instance`: version 2, or 1 on older instances.
    pub async fn instance(&self) -> Result<Value> {
        let reply = self.get("/api/v2/instance")?.max_reply(REPLY_MAX).send().await?;
        if reply.status == 404 {
            return self.send(self.get("/api/v1/instance")?).await;
        }
        self.read(&reply)
    }

    /// `POST /media`; returns the id, and whether it can be attached already.
    pub async fn upload(
        &self,
        filename: &str,
        mime: &str,
        bytes: Bytes,
        alt: Option<&str>,
    ) -> Result<(String, bool)> {
        let form = Multipart::new().file("file", filename, mime, bytes);
        let form = alt.into_iter().fold(form, |form, alt| form.text("description", alt));
        let request = self.post("/api/v2/media")?.multipart(form).deadline(UPLOAD_DEADLINE);
        let reply = request.max_reply(REPLY_MAX).send().await?;
        let medium: MediaAttachment = self.read(&reply)?;
        Ok((medium.id, reply.status == 200))
    }

    /// `GET /media/{id}`: returns true once it is processed.
    pub async fn is_ready(&self, id: &str) -> Result<bool> {
        let reply = self.get(&format!("/api/v1/media/{id}"))?.max_reply(REPLY_MAX).send().await?;
        self.read::<MediaAttachment>(&reply).map(|_| reply.status == 200)
    }

    /// `POST /statuses` with an idempotency key: repeated with it, the same status is returned.
    pub async fn create(&self, key: &str, status: &NewStatus<'_>) -> Result<Status> {
        let request =
            self.post("/api/v1/statuses")?.header("idempotency-key", key).json(&json!(status));
        self.send(request.deadline(SPEC.commit_deadline)).await
    }

    /// `GET /accounts/{id}/statuses`: a page of the account's latest, of 40 at most; the last id is the cursor of the
    /// next (<https://docs.joinmastodon.org/methods/accounts/#statuses>).
    pub async fn latest(&self, account: &str, next: Option<String>) -> Result<ListPage<Status>> {
        let mut query = vec![("limit", "40"), ("exclude_reblogs", "true")];
        query.extend(next.as_deref().map(|id| ("max_id", id)));
        let request = self.get(&format!("/api/v1/accounts/{account}/statuses"))?.query(&query);
        let statuses: Vec<Status> = self.send(request).await?;
        let last = statuses.last().map(|status| status.id.clone());
        Ok(ListPage::with_next(statuses, last))
    }

    /// `GET /statuses/{id}/source`: the text as it was written. Not all servers that speak this API have it; then the text
    /// is that of what they show.
    pub async fn source(&self, status: &Status) -> Result<String> {
        let request = self.get(&format!("/api/v1/statuses/{}/source", status.id))?;
        match self.send::<SourceText>(request).await {
            Ok(source) => Ok(source.text),
            Err(error) if error.reply.as_ref().is_some_and(|reply| reply.status == 404) => {
                Ok(text::of_html(&status.content))
            }
            Err(error) => Err(error),
        }
    }

    /// `GET /statuses/{id}`, whole.
    pub async fn status(&self, id: &str) -> Result<Value> {
        self.send(self.get(&format!("/api/v1/statuses/{id}"))?).await
    }

    async fn send<T: DeserializeOwned>(&self, request: Request) -> Result<T> {
        response::send(self.session, request.max_reply(REPLY_MAX), parse_error).await
    }

    fn read<T: DeserializeOwned>(&self, reply: &Reply) -> Result<T> {
        if reply.is_success() { Ok(reply.json()?) } else { Err(parse_error(self.session, reply)) }
    }
}
