//! Calls to YouTube's API.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use fanfare_outbound::Reply;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use url::Url;

use super::{API, SPEC, error::parse_error};
use crate::{
    Error, ErrorKind, Result, Session,
    google::{self, authorized},
    response,
};

/// The host of the reports API.
const ANALYTICS: &str = "https://youtubeanalytics.googleapis.com";

/// The deadline for a chunk that is not the last, and for a thumbnail.
const CHUNK_DEADLINE: Duration = Duration::from_secs(60);

/// One page of a list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct YoutubePage<T> {
    #[serde(default = "Vec::new")]
    pub items: Vec<T>,
    pub next_page_token: Option<String>,
}

/// A channel.
#[derive(Debug, Deserialize)]
pub(super) struct Channel {
    pub id: String,
    pub snippet: Snippet,
}

/// The name of a channel.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Snippet {
    pub title: String,
    pub custom_url: Option<String>,
    #[serde(default)]
    pub thumbnails: BTreeMap<String, Thumbnail>,
}

/// A picture of a channel in one of its sizes.
#[derive(Debug, Deserialize)]
pub(super) struct Thumbnail {
    pub url: String,
}

/// A playlist, as the tool returns it.
#[derive(Debug, Serialize)]
pub(super) struct Playlist {
    id: String,
    title: String,
    item_count: u64,
    privacy_status: String,
}

impl From<&Value> for Playlist {
    fn from(item: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            id: text(&item["id"]),
            title: text(&item["snippet"]["title"]),
            item_count: item["contentDetails"]["itemCount"].as_u64().unwrap_or(0),
            privacy_status: text(&item["status"]["privacyStatus"]),
        }
    }
}

#[derive(Debug, Deserialize)]
struct CreatedItem {
    id: String,
}

/// A video.
#[derive(Debug, Deserialize)]
pub(super) struct Video {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub status: Status,
}

/// The status of a video.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Status {
    pub upload_status: String,
    /// `public`, `unlisted` or `private`.
    pub privacy_status: String,
    failure_reason: String,
    rejection_reason: String,
}

impl Status {
    /// Returns the reason if YouTube rejected the video.
    pub fn refusal(&self) -> Option<&str> {
        match self.upload_status.as_str() {
            "failed" => Some(&self.failure_reason),
            "rejected" => Some(&self.rejection_reason),
            "deleted" => Some("deleted"),
            _ => None,
        }
    }
}

/// The progress of an upload.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UploadProgress {
    /// Complete, with this video id.
    Whole(String),
    /// The number of bytes that have arrived.
    Part(u64),
}

/// Returns the channel of the token.
pub(super) async fn channel(session: &Session) -> Result<Channel> {
    let query = [("part", "snippet,statistics"), ("mine", "true")];
    let page: YoutubePage<Channel> = get(session, "/youtube/v3/channels", &query).await?;
    page.items.into_iter().next().ok_or_else(|| {
        Error::target_gone("The Google account has no channel.")
            .with_remedy("Create a channel on YouTube, then connect the account again.")
    })
}

/// Reads one page of the channel's playlists.
pub(super) async fn playlists(session: &Session, page: Option<&str>) -> Result<YoutubePage<Value>> {
    let mut query =
        vec![("part", "snippet,contentDetails,status"), ("mine", "true"), ("maxResults", "50")];
    query.extend(page.map(|page| ("pageToken", page)));
    get(session, "/youtube/v3/playlists", &query).await
}

/// Starts an upload and returns its address, which needs no further authorization.
pub(super) async fn begin(
    session: &Session,
    body: &Value,
    notify: bool,
    (mime, size): (&str, u64),
) -> Result<String> {
    let query = [
        ("uploadType", "resumable"),
        ("part", "snippet,status,paidProductPlacementDetails"),
        ("notifySubscribers", if notify { "true" } else { "false" }),
    ];
    let request = session.http.post(session.url(API, "/upload/youtube/v3/videos")?).query(&query);
    let request = request
        .json(body)
        .header("x-upload-content-type", mime)
        .header("x-upload-content-length", &size.to_string());
    let reply = authorized(session, request)?.send().await?;
    if !reply.is_success() {
        return Err(parse_error(session, &reply));
    }
    let address = reply.header("location").filter(|it| is_google_host(session, it));
    address
        .map(str::to_owned)
        .ok_or_else(|| Error::transient("YouTube began an upload without saying where it goes."))
}

/// Returns true if the token may be sent to this address: only to Google's own hosts.
fn is_google_host(session: &Session, address: &str) -> bool {
    let Ok(url) = Url::parse(address) else { return false };
    match &session.base {
        Some(base) => url.origin() == base.origin(),
        None => {
            url.scheme() == "https"
                && url.host_str().is_some_and(|host| host.ends_with(".googleapis.com"))
        }
    }
}

/// Sends a chunk: from its first byte to its end, of a file of this size.
pub(super) async fn put(
    session: &Session,
    address: &str,
    (mime, bytes): (&str, Bytes),
    (first, end, size): (u64, u64, u64),
) -> Result<UploadProgress> {
    let deadline = if end == size { SPEC.commit_deadline } else { CHUNK_DEADLINE };
    let range = format!("bytes {first}-{}/{size}", end.saturating_sub(1));
    send_range(session, address, (mime, bytes), &range, deadline).await
}

/// Asks how many bytes have arrived.
pub(super) async fn probe(session: &Session, address: &str, size: u64) -> Result<UploadProgress> {
    let nothing = ("application/octet-stream", Bytes::new());
    let range = format!("bytes */{size}");
    send_range(session, address, nothing, &range, SPEC.commit_deadline).await
}

async fn send_range(
    session: &Session,
    address: &str,
    (mime, bytes): (&str, Bytes),
    range: &str,
    deadline: Duration,
) -> Result<UploadProgress> {
    let url = Url::parse(address)
        .map_err(|_| Error::transient("YouTube gave an address to upload to that is none."))?;
    let request = session.http.put(url).body(mime, bytes).header("content-range", range);
    let reply = authorized(session, request)?.deadline(deadline).send().await?;
    match reply.status {
        308 => Ok(UploadProgress::Part(received_bytes(&reply))),
        200..=299 => {
            let made: CreatedItem = reply.json()?;
            if made.id.is_empty() {
                return Err(Error::new(ErrorKind::Ambiguous, "YouTube answered without an id."));
            }
            Ok(UploadProgress::Whole(made.id))
        }
        _ => Err(parse_error(session, &reply)),
    }
}

/// Returns how many bytes have arrived, from `Range: bytes=0-N`; 0 without that header.
fn received_bytes(reply: &Reply) -> u64 {
    let last = reply.header("range").and_then(|range| range.rsplit_once('-'));
    last.and_then(|(_, last)| last.trim().parse::<u64>().ok()).map_or(0, |last| last + 1)
}

/// Sets the thumbnail of a video.
pub(super) async fn set_thumbnail(
    session: &Session,
    id: &str,
    (mime, bytes): (&str, Bytes),
) -> Result<()> {
    let url = session.url(API, "/upload/youtube/v3/thumbnails/set")?;
    let request = session.http.post(url).query(&[("videoId", id)]).body(mime, bytes);
    let request = authorized(session, request.deadline(CHUNK_DEADLINE))?;
    response::send::<Value>(session, request, parse_error).await.map(|_| ())
}

/// Adds a video to a playlist; returns the id of the playlist item.
pub(super) async fn add_to_playlist(session: &Session, playlist: &str, id: &str) -> Result<String> {
    let body = json!({"snippet": {
        "playlistId": playlist,
        "resourceId": {"kind": "youtube#video", "videoId": id},
    }});
    let url = session.url(API, "/youtube/v3/playlistItems")?;
    let request = session.http.post(url).query(&[("part", "snippet")]).json(&body);
    let made: CreatedItem =
        response::send(session, authorized(session, request)?, parse_error).await?;
    Ok(made.id)
}

/// Returns the status of a video; `None` if YouTube does not return it (yet).
pub(super) async fn status(session: &Session, id: &str) -> Result<Option<Status>> {
    let query = [("part", "status,processingDetails"), ("id", id)];
    let page: YoutubePage<Video> = get(session, "/youtube/v3/videos", &query).await?;
    Ok(page.items.into_iter().next().map(|video| video.status))
}

/// Returns videos with their status, 50 at most; those that YouTube does not list are left out.
pub(super) async fn statuses(session: &Session, ids: &str) -> Result<Vec<Video>> {
    let query = [("part", "status"), ("id", ids)];
    let page: YoutubePage<Video> = get(session, "/youtube/v3/videos", &query).await?;
    Ok(page.items)
}

/// Returns the channel with its statistics.
pub(super) async fn statistics(session: &Session) -> Result<Value> {
    let query = [("part", "statistics"), ("mine", "true")];
    let page: YoutubePage<Value> = get(session, "/youtube/v3/channels", &query).await?;
    Ok(page.items.into_iter().next().unwrap_or_default())
}

/// Returns videos with their statistics, 50 at most; deleted ones are left out. The call has a quota of its own, of 10,000
/// a day (<https://developers.google.com/youtube/v3/docs/videos/batchGetStats>).
pub(super) async fn video_statistics(session: &Session, ids: &str) -> Result<Vec<Value>> {
    let query = [("part", "id,statistics"), ("id", ids)];
    let page: YoutubePage<Value> = get(session, "/youtube/v3/videos:batchGetStats", &query).await?;
    Ok(page.items)
}

/// Returns a daily report of the channel.
pub(super) async fn report(
    session: &Session,
    (from, to): &(String, String),
    metrics: &str,
) -> Result<Value> {
    let query = [
        ("ids", "channel==MINE"),
        ("startDate", from),
        ("endDate", to),
        ("metrics", metrics),
        ("dimensions", "day"),
    ];
    google::get(session, session.url(ANALYTICS, "/v2/reports")?, &query, parse_error).await
}

async fn get<T: DeserializeOwned>(
    session: &Session,
    path: &str,
    query: &[(&str, &str)],
) -> Result<T> {
    google::get(session, session.url(API, path)?, query, parse_error).await
}
