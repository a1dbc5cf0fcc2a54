//! Calls to TikTok's API. Every response is `{"data", "error"}`.

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use fanfare_outbound::Request;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use url::Url;

use super::{API, PROFILE, SPEC, error};
use crate::{
    Error, ErrorKind, Result, Session,
    oauth::{self, ACCESS_TOKEN},
    recent_posts::{Entry, ListPage},
};

/// The deadline for a chunk that is not the last.
const CHUNK_DEADLINE: Duration = Duration::from_secs(60);

#[derive(Debug, Deserialize)]
struct Envelope<T> {
    data: Option<T>,
    #[serde(default)]
    error: error::ErrorDetails,
}

/// The owner of a token.
#[derive(Debug, Deserialize)]
struct Info {
    user: User,
}

/// A creator.
#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub open_id: String,
    pub display_name: Option<String>,
    pub username: Option<String>,
    pub avatar_url: Option<String>,
}

/// A creator's current permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Creator {
    pub creator_username: String,
    pub privacy_level_options: Vec<String>,
    pub comment_disabled: bool,
    pub duet_disabled: bool,
    pub stitch_disabled: bool,
    pub max_video_post_duration_sec: u64,
}

/// An initialized post.
#[derive(Debug, Deserialize)]
pub(super) struct InitializedPost {
    pub publish_id: String,
    /// The upload address of a video. It is valid for this upload only, for an hour.
    #[serde(default)]
    pub upload_url: String,
}

/// The status of a post.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    pub status: String,
    pub fail_reason: String,
    /// TikTok spells it so.
    publicaly_available_post_id: Vec<Value>,
    pub uploaded_bytes: u64,
}

impl Status {
    /// Returns the id of the public post, once TikTok gives it.
    pub fn post_id(&self) -> Option<String> {
        let first = self.publicaly_available_post_id.first()?;
        first.as_str().map(str::to_owned).or_else(|| first.as_u64().map(|id| id.to_string()))
    }
}

#[derive(Debug, Deserialize)]
struct Videos {
    videos: Vec<ListedPost>,
    #[serde(default)]
    has_more: bool,
    /// In milliseconds: older posts are on the next page.
    #[serde(default)]
    cursor: i64,
}

/// A post in lists.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListedPost {
    pub id: String,
    pub title: String,
    pub video_description: String,
    pub share_url: String,
    /// In seconds.
    create_time: i64,
}

impl Entry for ListedPost {
    fn created_at(&self) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp(self.create_time, 0)
    }
}

/// Returns the account that the token belongs to. Each field belongs to a permission
/// (<https://developers.tiktok.com/doc/tiktok-api-v2-get-user-info>).
pub(super) async fn user(session: &Session) -> Result<User> {
    let granted = oauth::granted_permissions(&session.secrets);
    // A field of a permission that was declined fails the whole call.
    let fields = if granted.is_empty() || granted.contains(&PROFILE) {
        "open_id,union_id,display_name,username,avatar_url"
    } else {
        "open_id,union_id,display_name,avatar_url"
    };
    let query = [("fields", fields)];
    let request = session.http.get(session.url(API, "/v2/user/info/")?).query(&query);
    send(session, request).await.map(|info: Info| info.user)
}

/// Returns the creator's current permissions, as TikTok returns them.
pub(super) async fn creator_info(session: &Session) -> Result<Value> {
    post(session, "/v2/post/publish/creator_info/query/", &json!({})).await
}

/// Returns the creator's current permissions.
pub(super) async fn creator(session: &Session) -> Result<Creator> {
    serde_json::from_value(creator_info(session).await?)
        .map_err(|_| Error::transient("TikTok's answer about the creator cannot be read."))
}

/// Initializes the upload of a video in chunks.
pub(super) async fn init_video(session: &Session, body: &Value) -> Result<InitializedPost> {
    post(session, "/v2/post/publish/video/init/", body).await
}

/// Starts a slideshow: TikTok fetches the images and publishes it by itself.
pub(super) async fn init_photos(session: &Session, body: &Value) -> Result<InitializedPost> {
    let url = session.url(API, "/v2/post/publish/content/init/")?;
    let request = session.http.post(url).json(body).deadline(SPEC.commit_deadline);
    let begun: InitializedPost = send(session, request).await?;
    if begun.publish_id.is_empty() {
        return Err(Error::new(ErrorKind::Ambiguous, "TikTok answered without an id."));
    }
    Ok(begun)
}

/// Sends a chunk of a video.
pub(super) async fn put(
    session: &Session,
    address: &str,
    (mime, bytes): (&str, Bytes),
    (first, last, size): (u64, u64, u64),
) -> Result<()> {
    let url = Url::parse(address)
        .map_err(|_| Error::transient("TikTok gave an address to upload to that is none."))?;
    let is_last = last + 1 == size;
    let deadline = if is_last { SPEC.commit_deadline } else { CHUNK_DEADLINE };
    let range = format!("bytes {first}-{last}/{size}");
    let request = session.http.put(url).body(mime, bytes).header("content-range", &range);
    let reply = request.deadline(deadline).send().await?;
    match reply.status {
        201 if is_last => Ok(()),
        206 if !is_last => Ok(()),
        200..=299 => Err(Error::new(ErrorKind::Ambiguous, "TikTok took a chunk for another one.")),
        _ => Err(error::parse_upload(session, &reply)),
    }
}

/// Reads the status of a post.
pub(super) async fn status(session: &Session, publish_id: &str) -> Result<Status> {
    post(session, "/v2/post/publish/status/fetch/", &json!({"publish_id": publish_id})).await
}

/// Reads a page of the creator's latest public posts, of 20 at most
/// (<https://developers.tiktok.com/doc/tiktok-api-v2-video-list>).
pub(super) async fn videos(
    session: &Session,
    next: Option<String>,
) -> Result<ListPage<ListedPost>> {
    let path = "/v2/video/list/?fields=id,title,video_description,share_url,create_time";
    let mut body = json!({"max_count": 20});
    if let Some(cursor) = next.and_then(|next| next.parse::<i64>().ok()) {
        body["cursor"] = json!(cursor);
    }
    let found: Videos = post(session, path, &body).await?;
    Ok(ListPage::with_next(found.videos, found.has_more.then(|| found.cursor.to_string())))
}

/// Returns public videos with their counts, 20 at most.
pub(super) async fn counts(session: &Session, ids: &[&str]) -> Result<Vec<Value>> {
    let fields = "id,like_count,comment_count,share_count,view_count";
    let path = format!("/v2/video/query/?fields={fields}");
    let body = json!({"filters": {"video_ids": ids}});
    let found: Value = post(session, &path, &body).await?;
    Ok(found["videos"].as_array().cloned().unwrap_or_default())
}

async fn post<T: DeserializeOwned>(session: &Session, path: &str, body: &Value) -> Result<T> {
    let request = session.http.post(session.url(API, path)?).json(body);
    send(session, request).await
}

async fn send<T: DeserializeOwned>(session: &Session, request: Request) -> Result<T> {
    let reply = request.bearer(session.secrets.require(ACCESS_TOKEN)?).send().await?;
    if !reply.is_success() {
        return Err(error::parse_error(session, &reply));
    }
    let answer: Envelope<T> = reply.json()?;
    if !answer.error.is_ok() {
        return Err(error::parse_error(session, &reply));
    }
    answer.data.ok_or_else(|| Error::new(ErrorKind::Ambiguous, "TikTok answered without data."))
}
