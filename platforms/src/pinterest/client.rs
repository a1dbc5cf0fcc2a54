//! Calls to Pinterest's API.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, NaiveDateTime, Utc};
use fanfare_outbound::{Multipart, Request};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use super::{SPEC, error::parse_error};
use crate::{
    Error, ErrorKind, MediaStream, Result, Session,
    oauth::ACCESS_TOKEN,
    recent_posts::{self, Entry},
    response,
};

/// The deadline for sending a video.
const UPLOAD_DEADLINE: Duration = Duration::from_secs(10 * 60);

/// The owner of a token.
#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub id: Option<String>,
    pub username: String,
    pub business_name: Option<String>,
    pub account_type: Option<String>,
    pub profile_image: Option<String>,
}

/// A registered video upload. Its address is valid for this upload only.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Registered {
    pub media_id: String,
    pub upload_url: String,
    pub upload_parameters: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Media {
    status: String,
}

/// The processing status of a video.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Processing {
    Done,
    Going,
    Failed,
}

#[derive(Debug, Deserialize)]
pub(super) struct CreatedPin {
    pub id: String,
    pub description: Option<String>,
}

/// The files of a pin.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PinMedia {
    /// `image`, `video`, `multiple_images` or another kind.
    pub media_type: Option<String>,
}

/// A pin in lists.
#[derive(Debug, Deserialize)]
pub(super) struct Pin {
    pub id: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub link: Option<String>,
    pub board_id: Option<String>,
    #[serde(default)]
    pub media: PinMedia,
    created_at: String,
}

impl Entry for Pin {
    /// Parses a time, which Pinterest writes with or without an offset.
    fn created_at(&self) -> Option<DateTime<Utc>> {
        let text = self.created_at.as_str();
        let with = DateTime::parse_from_rfc3339(text).map(|at| at.to_utc());
        let plain = || NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f");
        with.or_else(|_| plain().map(|at| at.and_utc())).ok()
    }
}

/// A board.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Board {
    id: String,
    name: String,
    privacy: Option<String>,
}

/// One page of a list.
#[derive(Debug, Deserialize)]
pub(super) struct PinterestPage<T> {
    pub items: Vec<T>,
    pub bookmark: Option<String>,
}

/// Returns the account that the token belongs to.
pub(super) async fn user(session: &Session) -> Result<User> {
    get(session, "/v5/user_account", &[]).await
}

/// Reads one page of the account's boards.
pub(super) async fn boards(
    session: &Session,
    bookmark: Option<&str>,
) -> Result<PinterestPage<Board>> {
    let mut query = vec![("page_size", "250")];
    query.extend(bookmark.map(|bookmark| ("bookmark", bookmark)));
    get(session, "/v5/boards", &query).await
}

/// Reads a page of the latest pins of a board, of 250 at most
/// (<https://developers.pinterest.com/docs/api/v5/boards-list_pins>).
pub(super) async fn pins(
    session: &Session,
    board: &str,
    next: Option<String>,
) -> Result<recent_posts::ListPage<Pin>> {
    let mut query = vec![("page_size", "250")];
    query.extend(next.as_deref().map(|bookmark| ("bookmark", bookmark)));
    // The board is a caller's text.
    let board: String = form_urlencoded::byte_serialize(board.as_bytes()).collect();
    let page: PinterestPage<Pin> =
        get(session, &format!("/v5/boards/{board}/pins"), &query).await?;
    Ok(recent_posts::ListPage::with_next(page.items, page.bookmark))
}

/// Registers a video upload.
pub(super) async fn register(session: &Session) -> Result<Registered> {
    let request = session.http.post(session.url(SPEC.base_url, "/v5/media")?);
    let request = authorized(session, request)?.json(&json!({"media_type": "video"}));
    response::send(session, request, parse_error).await
}

/// Uploads a video with the form fields that Pinterest gave, the file last.
pub(super) async fn upload(
    session: &Session,
    to: &Registered,
    video: (u64, MediaStream),
) -> Result<()> {
    let url = Url::parse(&to.upload_url)
        .map_err(|_| Error::transient("Pinterest gave an address to upload to that is none."))?;
    let fields = to.upload_parameters.iter();
    let form = fields.fold(Multipart::new(), |form, (name, value)| form.text(name, value));
    let form = form.stream("file", "video", "application/octet-stream", video);
    // The form fields authorize the upload; the token is not sent.
    let reply = session.http.post(url).multipart(form).deadline(UPLOAD_DEADLINE).send().await?;
    if reply.is_success() {
        return Ok(());
    }
    let kind = if reply.status >= 500 { ErrorKind::Transient } else { ErrorKind::MediaRejected };
    let message = format!("Pinterest did not take the video ({}).", reply.status);
    Err(Error::new(kind, message).with_reply(reply.status, None, None))
}

/// Reads the processing status of a video.
pub(super) async fn processing(session: &Session, media_id: &str) -> Result<Processing> {
    let media: Media = get(session, &format!("/v5/media/{media_id}"), &[]).await?;
    Ok(match media.status.as_str() {
        "succeeded" => Processing::Done,
        "failed" => Processing::Failed,
        _ => Processing::Going,
    })
}

/// Creates a pin and returns its id.
pub(super) async fn create(session: &Session, pin: &Value) -> Result<CreatedPin> {
    let request = session.http.post(session.url(SPEC.base_url, "/v5/pins")?);
    let request = authorized(session, request)?.json(pin).deadline(SPEC.commit_deadline);
    let made: CreatedPin = response::send(session, request, parse_error).await?;
    if made.id.is_empty() {
        return Err(Error::new(ErrorKind::Ambiguous, "Pinterest answered without an id."));
    }
    Ok(made)
}

/// Returns the account with its counts.
pub(super) async fn user_counts(session: &Session) -> Result<Value> {
    get(session, "/v5/user_account", &[]).await
}

/// Returns a report on the account or a pin for a range of days.
pub(super) async fn analytics(
    session: &Session,
    path: &str,
    (from, to): &(String, String),
    types: &str,
) -> Result<Value> {
    let query = [("start_date", from.as_str()), ("end_date", to), ("metric_types", types)];
    get(session, path, &query).await
}

async fn get<T: DeserializeOwned>(
    session: &Session,
    path: &str,
    query: &[(&str, &str)],
) -> Result<T> {
    let request = session.http.get(session.url(SPEC.base_url, path)?).query(query);
    response::send(session, authorized(session, request)?, parse_error).await
}

fn authorized(session: &Session, request: Request) -> Result<Request> {
    Ok(request.bearer(session.secrets.require(ACCESS_TOKEN)?))
}
