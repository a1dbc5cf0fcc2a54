//! Calls to the Pages API.

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use fanfare_outbound::{Multipart, Request};
use secrecy::ExposeSecret;
use serde::{Deserialize, de::DeserializeOwned};

use super::{LABEL, SPEC, error::parse_error};
use crate::{
    Error, ErrorKind, Media, Result, Session,
    graph::{self, CreatedObject},
    oauth::ACCESS_TOKEN,
    recent_posts::{Entry, ListPage},
};

/// The host that receives videos: their bytes, or the address to fetch them from.
const UPLOADS: &str = "https://rupload.facebook.com";

/// The deadline of calls during which Facebook fetches a file.
const FETCH_DEADLINE: Duration = Duration::from_secs(120);

/// The largest cover image of a reel.
const COVER_BYTES_MAX: usize = 10_000_000;

/// Parameters of a call, in the order in which they are sent.
pub(super) type Params = Vec<(&'static str, String)>;

/// A post in responses and lists.
#[derive(Debug, Deserialize)]
pub(super) struct Post {
    pub id: String,
    #[serde(default, alias = "description")]
    pub message: String,
    #[serde(deserialize_with = "graph::time")]
    pub created_time: DateTime<Utc>,
    pub permalink_url: Option<String>,
    attachments: Option<graph::List<Attachment>>,
    /// The length of a video, in seconds.
    length: Option<f64>,
}

/// An attachment of a post: a file, an album of files, or a link.
#[derive(Debug, Deserialize)]
struct Attachment {
    #[serde(default)]
    media_type: String,
    target: Option<Target>,
    subattachments: Option<graph::List<Self>>,
}

#[derive(Debug, Deserialize)]
struct Target {
    id: Option<String>,
}

impl Post {
    /// Returns the ids of its files; `None` if they are not known.
    pub fn files(&self) -> Option<Vec<String>> {
        let attached = self.attachments.iter().flat_map(|list| &list.data);
        let files = attached.map(Attachment::files).collect::<Option<Vec<_>>>()?;
        Some(files.into_iter().flatten().collect())
    }

    /// Returns the length of a video in milliseconds, if it is known.
    pub fn video_ms(&self) -> Option<u64> {
        let length = Duration::try_from_secs_f64(self.length?).ok()?;
        u64::try_from(length.as_millis()).ok().filter(|length| *length > 0)
    }
}

impl Attachment {
    fn files(&self) -> Option<Vec<String>> {
        let below = self.subattachments.iter().flat_map(|list| &list.data);
        let id = |one: &Self| one.target.as_ref().and_then(|target| target.id.clone());
        match self.media_type.as_str() {
            "photo" | "video" => Some(vec![id(self)?]),
            // The list may leave the files of an album out.
            "album" if self.subattachments.is_none() => None,
            "album" => below.map(id).collect(),
            _ => Some(Vec::new()),
        }
    }
}

impl Entry for Post {
    fn created_at(&self) -> Option<DateTime<Utc>> {
        Some(self.created_time)
    }
}

/// The response of a call that publishes something: the post's id, under one of several names.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Published {
    pub id: Option<String>,
    pub post_id: Option<String>,
    pub permalink_url: Option<String>,
    pub success: Option<bool>,
}

/// A video upload that was started.
#[derive(Debug, Deserialize)]
struct StartedVideo {
    video_id: String,
}

/// The status of a video.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Video {
    pub status: Status,
    pub permalink_url: Option<String>,
    /// The id of the post in the feed that shows it, which comes some seconds later.
    post_id: Option<String>,
}

impl Video {
    /// Returns the name of that post, by which webhooks and lists call the video.
    pub fn post_name(&self, session: &Session) -> Option<String> {
        let id = self.post_id.as_deref().filter(|id| !id.is_empty())?;
        Some(post_name(session, id))
    }
}

/// Returns the full name of a post of the page: lists and webhooks put the page's id before the number.
pub(super) fn post_name(session: &Session, id: &str) -> String {
    if id.contains('_') { id.to_owned() } else { format!("{}_{id}", session.account.remote_id) }
}

/// The phases of a video.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    pub video_status: String,
    pub uploading_phase: Phase,
    pub processing_phase: Phase,
    pub publishing_phase: Phase,
}

/// One phase.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Phase {
    pub status: String,
    /// Of the phase of publishing: `published`, `draft` or `scheduled`.
    publish_status: String,
    error: Option<PhaseError>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PhaseError {
    message: String,
}

impl Status {
    /// Returns the reason if it failed.
    pub fn failure_reason(&self) -> Option<&str> {
        let phases = [&self.uploading_phase, &self.processing_phase, &self.publishing_phase];
        let said = phases.into_iter().find_map(|phase| phase.error.as_ref());
        let broken =
            self.video_status == "error" || phases.into_iter().any(|phase| phase.status == "error");
        broken.then(|| said.map_or("no reason given", |error| &error.message))
    }

    /// Returns true if all bytes have arrived.
    pub fn is_uploaded(&self) -> bool {
        matches!(self.video_status.as_str(), "upload_complete" | "ready")
            || self.uploading_phase.status == "complete"
    }

    /// Returns true if it is public or about to be.
    pub fn is_publishing(&self) -> bool {
        !matches!(self.publishing_phase.status.as_str(), "" | "not_started")
    }

    /// Returns true if it is public.
    pub fn is_published(&self) -> bool {
        let phase = &self.publishing_phase;
        let is_told = phase.status == "complete" || phase.publish_status == "published";
        // A video that is ready and of whose publishing nothing is said was published with its upload.
        let is_ready = self.video_status == "ready" && phase.status.is_empty();
        (is_told || is_ready) && !self.is_draft()
    }

    /// Returns true if it waits for somebody who publishes it on Facebook.
    pub fn is_draft(&self) -> bool {
        let phase = &self.publishing_phase;
        let is_processed =
            self.video_status == "ready" || self.processing_phase.status == "complete";
        phase.publish_status == "draft" && phase.status != "in_progress" && is_processed
    }
}

#[derive(Deserialize)]
struct PageCover {
    cover: Option<Cover>,
}

#[derive(Deserialize)]
struct Cover {
    #[serde(alias = "cover_id")]
    id: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LinkFields {
    permalink_url: Option<String>,
    link: Option<String>,
}

/// Uploads a photo; nothing becomes public.
pub(super) async fn photo(session: &Session, media: &Media, alt: Option<&str>) -> Result<String> {
    let mut params = vec![("url", media.url.clone()), ("published", "false".to_owned())];
    params.extend(alt.map(|alt| ("alt_text_custom", alt.to_owned())));
    let request = page_post(session, "photos")?.form(&params).deadline(FETCH_DEADLINE);
    send::<CreatedObject>(session, request).await?.id(LABEL)
}

/// Publishes a post with a text, a link or photos.
pub(super) async fn feed(session: &Session, params: &Params) -> Result<Published> {
    let request = page_post(session, "feed")?.query(&[("fields", "id,permalink_url")]);
    send(session, request.form(params).deadline(SPEC.commit_deadline)).await
}

/// Makes another publishing call: `videos`, `photo_stories`, or the end of a reel or video story.
pub(super) async fn publish(session: &Session, edge: &str, params: &Params) -> Result<Published> {
    let request = page_post(session, edge)?.form(params).deadline(SPEC.commit_deadline);
    let published: Published = send(session, request).await?;
    if published.success == Some(false) {
        return Err(Error::transient("Facebook did not publish it."));
    }
    Ok(published)
}

/// Sets the page's cover photo.
pub(super) async fn set_cover(session: &Session, params: &Params) -> Result<Published> {
    let path = format!("/{}", session.account.remote_id);
    let request = session.http.post(graph::url(session, &path)?).form(params);
    send(session, request.deadline(SPEC.commit_deadline)).await
}

/// Starts the upload of a video for `video_reels` or `video_stories`.
pub(super) async fn start_video(session: &Session, edge: &str) -> Result<String> {
    let request = page_post(session, edge)?.form(&[("upload_phase", "start")]);
    Ok(send::<StartedVideo>(session, request).await?.video_id)
}

/// Gives Facebook the address to fetch the video from. The upload address is built here, not taken from the response,
/// so that the token goes nowhere else.
pub(super) async fn upload_video(session: &Session, video: &str, media: &Media) -> Result<()> {
    let path = format!("/video-upload/{}/{video}", graph::version());
    let token = session.secrets.require(ACCESS_TOKEN)?.expose_secret();
    let request = session
        .http
        .post(session.url(UPLOADS, &path)?)
        .header("authorization", &format!("OAuth {token}"))
        .header("file_url", &media.url)
        .deadline(FETCH_DEADLINE);
    let reply = request.send().await?;
    if reply.is_success() { Ok(()) } else { Err(graph::redacted(session, parse_error(&reply))) }
}

/// Fetches the cover image of a reel.
pub(super) async fn read_cover(session: &Session, url: &str) -> Result<(String, Bytes)> {
    let unreadable = |why: &str| {
        Error::media_rejected(format!("The image at reel_cover_url cannot be read: {why}."))
            .with_remedy("Give the address of a JPEG or PNG image that anybody can open.")
    };
    let address = url::Url::parse(url).map_err(|_| unreadable("it is no address"))?;
    let request = session.http.get(address).redirects(3).max_reply(COVER_BYTES_MAX);
    let reply = request.send().await.map_err(|error| match error.kind {
        fanfare_outbound::ErrorKind::TooLarge => unreadable("it is too large"),
        _ => Error::from(error),
    })?;
    if !reply.is_success() {
        return Err(unreadable(&format!("its server answers {}", reply.status)));
    }
    let mime = reply.header("content-type").unwrap_or_default().to_owned();
    match mime.split(';').next().unwrap_or_default().trim() {
        mime @ ("image/jpeg" | "image/png") => Ok((mime.to_owned(), reply.body)),
        _ => Err(unreadable("it is neither JPEG nor PNG")),
    }
}

/// Sets the cover image of a reel.
pub(super) async fn set_thumbnail(
    session: &Session,
    video: &str,
    (mime, image): (String, Bytes),
) -> Result<()> {
    let form = Multipart::new().text("is_preferred", "true").file("source", "cover", &mime, image);
    let path = format!("/{video}/thumbnails");
    let request = session.http.post(graph::url(session, &path)?).multipart(form);
    send::<Published>(session, request).await.map(drop)
}

/// Reads the status of a video.
pub(super) async fn video(session: &Session, id: &str) -> Result<Video> {
    get(session, &format!("/{id}"), &[("fields", "status,permalink_url,post_id")]).await
}

/// Reads a page of the latest posts.
pub(super) async fn posts(session: &Session, next: Option<String>) -> Result<ListPage<Post>> {
    let path = format!("/{}/published_posts", session.account.remote_id);
    // <https://developers.facebook.com/docs/graph-api/reference/post/attachments>
    let fields = "id,message,created_time,permalink_url,attachments{media_type,target{id},subattachments{media_type,target{id}}}";
    graph::list(session, &path, fields, next.as_deref(), parse_error).await
}

/// Reads a page of the latest videos, including those that are still being processed.
pub(super) async fn videos(session: &Session, next: Option<String>) -> Result<ListPage<Post>> {
    let path = format!("/{}/videos", session.account.remote_id);
    let fields = "id,description,created_time,permalink_url,length";
    graph::list(session, &path, fields, next.as_deref(), parse_error).await
}

/// Returns the id of the page's cover photo.
pub(super) async fn cover(session: &Session) -> Result<Option<String>> {
    let path = format!("/{}", session.account.remote_id);
    let answer: PageCover = get(session, &path, &[("fields", "cover")]).await?;
    Ok(answer.cover.map(|cover| cover.id))
}

/// Returns the public address of a photo (`link`) or a video (`permalink_url`).
pub(super) async fn permalink(session: &Session, id: &str, field: &str) -> Result<Option<String>> {
    let answer: LinkFields = get(session, &format!("/{id}"), &[("fields", field)]).await?;
    Ok(answer.permalink_url.or(answer.link))
}

fn page_post(session: &Session, edge: &str) -> Result<Request> {
    let path = format!("/{}/{edge}", session.account.remote_id);
    Ok(session.http.post(graph::url(session, &path)?))
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

/// Returns the error of a call that made something public without returning its id.
pub(super) fn missing_id() -> Error {
    Error::new(ErrorKind::Ambiguous, "Facebook answered without an id.")
}
