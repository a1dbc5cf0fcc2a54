//! Calls to the X API.

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, Utc};
use fanfare_outbound::{Multipart, Request};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{LABEL, SPEC, error::parse_error};
use crate::{
    Error, ErrorKind, Media, Result, Session,
    oauth::ACCESS_TOKEN,
    recent_posts::{Entry, ListPage},
    response,
};

/// The deadline of calls that send a file or a chunk of one.
const UPLOAD_DEADLINE: Duration = Duration::from_secs(120);

/// The envelope of X's responses. A success may also contain errors.
#[derive(Debug, Deserialize)]
struct Envelope<T> {
    data: Option<T>,
    #[serde(default)]
    meta: Meta,
}

/// The metadata of a list, with the cursor of the next page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Meta {
    next_token: Option<String>,
    result_count: Option<u64>,
}

/// The account that a token belongs to.
#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub id: String,
    pub username: String,
    pub name: Option<String>,
    pub verified_type: Option<String>,
    pub subscription_type: Option<String>,
    pub profile_image_url: Option<String>,
}

/// An uploaded file, which X may still be processing.
#[derive(Debug, Deserialize)]
pub(super) struct Upload {
    pub id: String,
    pub processing_info: Option<Processing>,
}

/// The processing status of a file.
#[derive(Debug, Deserialize)]
pub(super) struct Processing {
    pub state: String,
    pub check_after_secs: Option<u64>,
    error: Option<ProcessingError>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ProcessingError {
    message: Option<String>,
    name: Option<String>,
}

impl Processing {
    /// Returns the reason of the failure.
    pub fn reason(&self) -> &str {
        let error = self.error.as_ref();
        let said = error.and_then(|error| error.message.as_deref().or(error.name.as_deref()));
        said.unwrap_or("no reason given")
    }
}

/// A post to create. X refuses unknown fields.
#[derive(Debug, Default, Serialize)]
pub(super) struct NewTweet<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    pub text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media: Option<TweetMedia<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll: Option<TweetPoll<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<TweetReply<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_settings: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub made_with_ai: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paid_partnership: bool,
}

/// The files of a post.
#[derive(Debug, Serialize)]
pub(super) struct TweetMedia<'a> {
    pub media_ids: Vec<&'a str>,
}

/// The poll of a post.
#[derive(Debug, Serialize)]
pub(super) struct TweetPoll<'a> {
    pub options: &'a [String],
    pub duration_minutes: u32,
}

/// The post that a post replies to.
#[derive(Debug, Serialize)]
pub(super) struct TweetReply<'a> {
    pub in_reply_to_tweet_id: &'a str,
}

/// A created post.
#[derive(Debug, Deserialize)]
pub(super) struct CreatedTweet {
    pub id: String,
    #[serde(default)]
    pub text: String,
}

/// A post in lists.
#[derive(Debug, Deserialize)]
pub(super) struct Tweet {
    pub id: String,
    /// The ids of all its versions, oldest first: an edit makes a new one
    /// (<https://docs.x.com/x-api/fundamentals/edit-posts>).
    #[serde(default)]
    edit_history_tweet_ids: Vec<String>,
    #[serde(default)]
    text: String,
    #[serde(alias = "note_post")]
    note_tweet: Option<NoteTweet>,
    #[serde(default)]
    attachments: Attachments,
    pub created_at: DateTime<Utc>,
}

/// The files of a post, each as its kind and its id: `3_1880028106020515840`.
#[derive(Debug, Default, Deserialize)]
struct Attachments {
    #[serde(default)]
    media_keys: Vec<String>,
}

/// The whole text of a long post, of which `text` is the beginning.
#[derive(Debug, Deserialize)]
struct NoteTweet {
    text: String,
}

impl Tweet {
    /// Returns the id under which it was made.
    pub fn first_id(&self) -> &str {
        self.edit_history_tweet_ids.first().unwrap_or(&self.id)
    }

    /// Returns the text, whole if X gives it.
    pub fn whole_text(&self) -> &str {
        self.note_tweet.as_ref().map_or(&self.text, |note| &note.text)
    }
}

impl Tweet {
    /// Returns the ids of its files.
    pub fn files(&self) -> Vec<String> {
        let id = |key: &String| key.rsplit('_').next().unwrap_or_default().to_owned();
        self.attachments.media_keys.iter().map(id).collect()
    }
}

impl Entry for Tweet {
    fn created_at(&self) -> Option<DateTime<Utc>> {
        Some(self.created_at)
    }
}

/// Returns the account that the token belongs to.
pub(super) async fn me(session: &Session) -> Result<User> {
    let fields = "username,name,verified,verified_type,profile_image_url,subscription_type";
    let request = get(session, "/2/users/me")?.query(&[("user.fields", fields)]);
    data(session, request).await
}

/// Uploads an image in one call. X refuses other fields here, the type of the image among them.
pub(super) async fn upload_image(session: &Session, media: &Media, bytes: Bytes) -> Result<Upload> {
    let form = Multipart::new().text("media_category", "tweet_image").file(
        "media",
        &media.filename,
        &media.mime,
        bytes,
    );
    let request = post(session, "/2/media/upload")?.multipart(form).deadline(UPLOAD_DEADLINE);
    data(session, request).await
}

/// Starts the upload of a video or a GIF.
pub(super) async fn initialize(session: &Session, media: &Media, total: u64) -> Result<Upload> {
    let category = if media.is_video() { "tweet_video" } else { "tweet_gif" };
    let body = json!({"media_type": media.mime, "total_bytes": total, "media_category": category});
    data(session, post(session, "/2/media/upload/initialize")?.json(&body)).await
}

/// Sends one chunk. The same chunk can be sent again.
pub(super) async fn append(session: &Session, id: &str, segment: u64, piece: Bytes) -> Result<()> {
    let form = Multipart::new().text("segment_index", &segment.to_string()).file(
        "media",
        "piece",
        "application/octet-stream",
        piece,
    );
    let request = post(session, &format!("/2/media/upload/{id}/append"))?.multipart(form);
    let reply = signed(session, request)?.deadline(UPLOAD_DEADLINE).send().await?;
    if reply.is_success() { Ok(()) } else { Err(parse_error(session, &reply)) }
}

/// Completes the upload.
pub(super) async fn finalize(session: &Session, id: &str) -> Result<Upload> {
    data(session, post(session, &format!("/2/media/upload/{id}/finalize"))?).await
}

/// Reads the processing status of a file.
pub(super) async fn status(session: &Session, id: &str) -> Result<Upload> {
    let query = [("command", "STATUS"), ("media_id", id)];
    data(session, get(session, "/2/media/upload")?.query(&query)).await
}

/// Sets the alt text of a file.
pub(super) async fn describe(session: &Session, id: &str, text: &str) -> Result<()> {
    let body = json!({"id": id, "metadata": {"alt_text": {"text": text}}});
    let reply = signed(session, post(session, "/2/media/metadata")?.json(&body))?.send().await?;
    if reply.is_success() { Ok(()) } else { Err(parse_error(session, &reply)) }
}

/// Publishes a post.
pub(super) async fn tweet(session: &Session, tweet: &NewTweet<'_>) -> Result<CreatedTweet> {
    let request = post(session, "/2/tweets")?.json(tweet).deadline(SPEC.commit_deadline);
    let made: CreatedTweet = data(session, request).await?;
    if made.id.is_empty() {
        return Err(Error::new(ErrorKind::Ambiguous, format!("{LABEL} answered without an id.")));
    }
    Ok(made)
}

/// The words of X's API for the fields of a post: it knows them as tweets, and in newer descriptions as posts.
const VOCABULARIES: [&str; 2] = ["tweet", "post"];

/// Reads a page of the account's posts and replies since then, newest first, of 100 at most
/// (<https://docs.x.com/x-api/users/get-posts>). X charges for every post that is read.
pub(super) async fn tweets(
    session: &Session,
    since: DateTime<Utc>,
    next: Option<String>,
) -> Result<ListPage<Tweet>> {
    let path = format!("/2/users/{}/tweets", session.account.remote_id);
    let mut query = vec![
        ("max_results", "100".to_owned()),
        ("exclude", "retweets".to_owned()),
        ("start_time", since.to_rfc3339_opts(SecondsFormat::Secs, true)),
    ];
    query.extend(next.map(|token| ("pagination_token", token)));
    let found: Envelope<Vec<Tweet>> =
        with_fields(session, &path, &query, |word| format!("created_at,attachments,note_{word}"))
            .await?;
    // A page without posts has no data but a count of 0; without a count, nothing was read.
    let posts = match (found.data, found.meta.result_count) {
        (Some(posts), _) => posts,
        (None, Some(0)) => Vec::new(),
        (None, _) => {
            let message = format!("{LABEL} did not say which posts the account has.");
            return Err(Error::new(ErrorKind::Ambiguous, message));
        }
    };
    Ok(ListPage::with_next(posts, found.meta.next_token))
}

/// Returns posts with their public counts, 100 at most; deleted ones are left out.
pub(super) async fn counts(session: &Session, ids: &[&str]) -> Result<Vec<Value>> {
    let query = [("ids", ids.join(","))];
    let fields = |_: &str| "public_metrics".to_owned();
    let found: Value = with_fields(session, "/2/tweets", &query, fields).await?;
    Ok(found["data"].as_array().cloned().unwrap_or_default())
}

/// Reads posts with some of their fields, in the vocabulary that X takes: a refusal that names the parameter of the
/// first is about that alone.
async fn with_fields<T: DeserializeOwned>(
    session: &Session,
    path: &str,
    query: &[(&str, String)],
    fields: impl Fn(&str) -> String,
) -> Result<T> {
    let ask = async |word: &str| {
        let name = format!("{word}.fields");
        let wanted = fields(word);
        let mut pairs: Vec<(&str, &str)> =
            query.iter().map(|(name, value)| (*name, value.as_str())).collect();
        pairs.push((&name, &wanted));
        let request = signed(session, get(session, path)?.query(&pairs))?;
        response::send(session, request, parse_error).await
    };
    match ask(VOCABULARIES[0]).await {
        Err(error) if is_about(&error, "tweet.fields") => ask(VOCABULARIES[1]).await,
        told => told,
    }
}

/// Returns true for the refusal of a parameter.
fn is_about(error: &Error, name: &str) -> bool {
    error.reply.as_ref().is_some_and(|reply| {
        reply.status == 400 && reply.message.as_deref().is_some_and(|said| said.contains(name))
    })
}

fn get(session: &Session, path: &str) -> Result<Request> {
    Ok(session.http.get(session.url(SPEC.base_url, path)?))
}

fn post(session: &Session, path: &str) -> Result<Request> {
    Ok(session.http.post(session.url(SPEC.base_url, path)?))
}

fn signed(session: &Session, request: Request) -> Result<Request> {
    Ok(request.bearer(session.secrets.require(ACCESS_TOKEN)?))
}

/// Sends a request whose response must contain data. A success without data may contain the reason.
async fn data<T: DeserializeOwned>(session: &Session, request: Request) -> Result<T> {
    let reply = signed(session, request)?.send().await?;
    if !reply.is_success() {
        return Err(parse_error(session, &reply));
    }
    let wrapped: Envelope<T> = reply.json()?;
    wrapped.data.ok_or_else(|| {
        let told = parse_error(session, &reply);
        Error { kind: ErrorKind::Ambiguous, ..told }
    })
}
