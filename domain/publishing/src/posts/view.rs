//! Posts as replies, events and pages show them.

mod failure;
mod failures;
mod reader;
mod trouble;

use std::collections::HashMap;

use fanfare_core::{
    Act, Reply, UnreadableColumn, clock::Time, error::Result, json_size::json_size,
    page::EmptyBecause,
};
use fanfare_entities::{
    AccountId, BrandId, PostId, PostSetId, WorkspaceId, post, post::PostStatus,
};
use fanfare_media::Facts;
use fanfare_platforms::{Warning, WarningCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    waiting::{Waiting, waiting_of},
    workspace::WorkspaceOfPost,
};

pub(super) use failure::cause_of_question;
#[cfg(test)]
pub(super) use failure::tests::failed as failed_row;
pub(super) use failure::{FailedPost, shown as error_shown};
pub use failure::{PostError, PostErrorCode};
pub use failures::{POST_ERRORS, POST_FAILURES, PostFailure, is_of_requests_too, post_failure};
pub use reader::Reader;
pub use trouble::{Trouble, outcome_words, status_words, trouble};

/// A file of a post, as the row stores it: what was known about it when the post was last changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PostMedia {
    /// The public address.
    pub url: String,
    /// The stored file; absent for an address that was not copied (a draft's).
    pub asset_id: Option<Uuid>,
    /// The key in the store.
    pub path: Option<String>,
    /// The name, for networks that show one.
    pub filename: String,
    /// The media type, detected from the bytes; empty if not known.
    pub mime: String,
    /// Size in bytes.
    pub bytes: Option<i64>,
    /// Pixels.
    pub width: Option<i32>,
    /// Pixels.
    pub height: Option<i32>,
    /// A model made it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ai_generated: bool,
    /// The result of the analysis; absent until it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Facts>,
    /// The reason why the file cannot be used: `{code, message, remedy}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaw: Option<Value>,
}

impl PostMedia {
    /// Returns true for a stored file whose analysis is not done yet.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        self.asset_id.is_some() && self.facts.is_none() && self.flaw.is_none()
    }

    const fn analysis(&self) -> Analysis {
        match (&self.facts, &self.flaw) {
            (_, Some(_)) => Analysis::Failed,
            (Some(_), None) => Analysis::Ready,
            (None, None) => Analysis::Pending,
        }
    }
}

/// Returns the files of a row.
///
/// # Errors
/// The column does not hold a list of files.
pub fn media_of(row: &post::Model) -> Result<Vec<PostMedia>, UnreadableColumn> {
    Vec::deserialize(&row.media).map_err(|_| UnreadableColumn("media"))
}

/// Returns a status as replies show it.
#[must_use]
pub const fn status_name(status: PostStatus) -> &'static str {
    match status {
        PostStatus::Draft => "draft",
        PostStatus::Scheduled => "scheduled",
        PostStatus::Paused => "paused",
        PostStatus::Publishing => "publishing",
        PostStatus::Processing => "processing",
        PostStatus::Published => "published",
        PostStatus::Failed => "failed",
    }
}

/// A post.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Post {
    /// The id.
    id: PostId,
    #[serde(flatten)]
    planned: PlannedPost,
    /// What it waits for; left out where it waits for nothing, in events and in replies to changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default)]
    waiting: Option<Waiting>,
}

/// A post as it would be created: with `dry_run` it has no id.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlannedPost {
    /// The account it goes out on.
    account_id: AccountId,
    /// Platform of the account.
    platform: String,
    /// Workspace of the account.
    workspace_id: WorkspaceId,
    /// Brand of the account when the post was made.
    workspace_client_id: Option<BrandId>,
    /// The text.
    caption: String,
    /// Addresses of its files, in their order.
    media_urls: Vec<String>,
    /// The facts that are known of these files.
    media: Vec<FileOfPost>,
    /// One of the platform's post types.
    post_type: String,
    /// The type that was asked for, where the platform has none of that name; else null.
    requested_post_type: Option<String>,
    /// Platform settings, as sent.
    #[schemars(with = "Map<String, Value>")]
    settings: Value,
    /// Platform metadata, as sent.
    #[schemars(with = "Map<String, Value>")]
    metadata: Value,
    /// The state of the post.
    status: PostStatus,
    /// The time at which it goes out, or was to go out.
    scheduled_at: Option<Time>,
    /// The zone that its time was sent in.
    timezone: Option<String>,
    /// The caller's key of its group.
    group: Option<String>,
    /// The post set that it is a target of; null if it is of none.
    post_set_id: Option<PostSetId>,
    /// The version, for `If-Match`.
    version: i64,
    /// The caller's own id of the release.
    release_id: Option<String>,
    /// The number of attempts to publish it.
    attempts: i32,
    /// The time at which it is tried, or asked about, next.
    next_attempt_at: Option<Time>,
    /// The time at which it became public.
    published_at: Option<Time>,
    /// The time at which it was first missing on the platform. The platform took it away, or somebody deleted it there.
    removed_at: Option<Time>,
    /// The platform's id of it.
    platform_post_id: Option<String>,
    /// The address at which people see it.
    platform_post_url: Option<String>,
    /// The further public parts of it, in their order: the segments of a thread after the first, an album's further
    /// messages, a first comment.
    #[schemars(with = "Vec<PostPart>")]
    parts: Value,
    /// The things that the post lacks on the platform, such as the picture of a link preview that could not be fetched.
    #[schemars(with = "Vec<Warning>")]
    warnings: Value,
    /// The reason why the last attempt failed.
    #[schemars(with = "Option<FailedPost>")]
    error: Option<Value>,
    /// The time at which it was created.
    created_at: Time,
    /// The time at which it was last changed.
    updated_at: Time,
}

/// A further public part of a post.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PostPart {
    /// Its name, such as `segment_2` or `first_comment`.
    name: String,
    /// The platform's id of it; null if the platform did not tell it.
    platform_post_id: Option<String>,
    /// The address at which people see it; null if it has none of its own.
    platform_post_url: Option<String>,
}

impl PostPart {
    /// Creates a part.
    #[must_use]
    pub fn of(name: String, id: String, url: Option<String>) -> Self {
        let id = Some(id).filter(|id| !id.is_empty());
        Self { name, platform_post_id: id, platform_post_url: url }
    }
}

/// A file of a post.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PostMedia")]
struct FileOfPost {
    /// The address it is served at.
    url: String,
    /// The stored file; null for an address that was not copied.
    asset_id: Option<Uuid>,
    /// Media type, detected from the bytes.
    mime: Option<String>,
    /// Pixels.
    width: Option<i32>,
    /// Pixels.
    height: Option<i32>,
    /// Length of a video.
    duration_ms: Option<u64>,
    /// A blurred placeholder, as a BlurHash.
    placeholder: Option<String>,
    /// The state of the file's analysis.
    analysis: Analysis,
}

/// The state of the analysis of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Analysis {
    Pending,
    Ready,
    Failed,
}

impl Post {
    /// Creates the view of a row for a reader.
    #[must_use]
    pub fn of(row: post::Model, reader: &Reader) -> Self {
        Self { id: row.id, planned: PlannedPost::of(row, reader), waiting: None }
    }

    /// Creates the views of rows, with what each of them waits for.
    fn all(
        rows: Vec<post::Model>,
        mut waiting: HashMap<PostId, Waiting>,
        reader: &Reader,
    ) -> Vec<Self> {
        let view = |row: post::Model| {
            let waiting = waiting.remove(&row.id);
            Self { waiting, ..Self::of(row, reader) }
        };
        rows.into_iter().map(view).collect()
    }
}

impl PlannedPost {
    /// Creates the view of a row that may have no id.
    pub(super) fn of(row: post::Model, reader: &Reader) -> Self {
        // A media column that cannot be read is left out, since nothing is published from this view.
        let media = media_of(&row).unwrap_or_default();
        let (error, next_look) = (failure::shown(&row, reader), failure::next_look(&row));
        let public_at = row.public_at.filter(|_| row.status == PostStatus::Published);
        Self {
            account_id: row.account_id,
            platform: row.platform,
            workspace_id: row.workspace_id,
            workspace_client_id: row.brand_id,
            caption: row.caption,
            media_urls: media.iter().map(|file| file.url.clone()).collect(),
            media: media.into_iter().map(FileOfPost::of).collect(),
            post_type: row.post_type,
            requested_post_type: row.requested_post_type,
            settings: object_or_empty(row.settings),
            metadata: object_or_empty(row.metadata),
            status: row.status,
            scheduled_at: row.scheduled_at.map(Time),
            timezone: row.timezone,
            group: row.group_key,
            post_set_id: row.post_set_id,
            version: row.version,
            release_id: row.release_id,
            attempts: row.attempt,
            next_attempt_at: next_look.map(Time),
            published_at: public_at.map(Time),
            removed_at: row.removed_at.filter(|_| public_at.is_some()).map(Time),
            platform_post_id: row.platform_post_id,
            platform_post_url: row.platform_post_url,
            parts: row.parts.unwrap_or_else(|| json!([])),
            warnings: row.warnings.map_or_else(|| json!([]), coded),
            error,
            created_at: Time(row.created_at),
            updated_at: Time(row.updated_at),
        }
    }
}

/// Returns stored warnings with a code: those from before all of them had one were about values without effect.
fn coded(mut warnings: Value) -> Value {
    for warning in warnings.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        warning.entry("code").or_insert_with(|| json!(WarningCode::NoEffect));
    }
    warnings
}

fn object_or_empty(value: Value) -> Value {
    if value.is_object() { value } else { Map::new().into() }
}

impl FileOfPost {
    fn of(file: PostMedia) -> Self {
        let analysis = file.analysis();
        let (duration_ms, placeholder) =
            file.facts.map_or((None, None), |facts| (facts.duration_ms, facts.placeholder));
        Self {
            url: file.url,
            asset_id: file.asset_id,
            mime: Some(file.mime).filter(|mime| !mime.is_empty()),
            width: file.width,
            height: file.height,
            duration_ms,
            placeholder,
            analysis,
        }
    }
}

/// One post; also the payload of its events.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OnePost {
    post: Post,
}

/// A post that was changed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ChangedPost {
    post: Post,
    /// Other posts of the account that it repeats since the change (`duplicate_content`), and what its network may do about
    /// that (`network_refuses_equal_text`).
    warnings: Vec<Warning>,
}

/// The outcome of a request that created a post.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Created {
    /// The post was created.
    Created,
}

/// The outcome of a request that only checked a post.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Checked {
    /// The post would be created; nothing was.
    Checked,
}

/// A post that was created.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CreatedPost {
    outcome: Created,
    post: Post,
    /// Effects that the post does not get although it was accepted, and a label that it should have
    /// (`ai_label_missing`).
    warnings: Vec<Warning>,
    workspace: WorkspaceOfPost,
}

/// A page of posts.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PostPage {
    posts: Vec<Post>,
    /// The cursor of the next page; null on the last one, and on pages by offset.
    next_cursor: Option<String>,
    /// On pages by offset: the number of all posts that fit; at most 10,200 are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    /// On pages by offset: the most posts of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    /// On pages by offset: the number of posts before this page.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    /// Why the list is empty; null if it is not.
    empty_because: Option<EmptyBecause>,
}

/// Returns the payload of a post's events, as JSON text.
pub(super) fn payload(row: &post::Model, base_url: &str) -> String {
    // Values that come from JSON and a row can always be serialized.
    serde_json::to_string(&OnePost { post: Post::of(row.clone(), &Reader::anybody(base_url)) })
        .unwrap_or_default()
}

/// Returns approximately how many bytes a post takes in a reply.
pub(super) fn size(row: &post::Model) -> usize {
    json_size(&(&row.caption, &row.settings, &row.metadata, &row.media, &row.error))
}

/// Returns the reply with one post.
pub(super) async fn post_reply(act: &Act, row: post::Model) -> Result<Reply<OnePost>> {
    let reader = Reader::of(act);
    Reply::large(size(&row), move || OnePost { post: Post::of(row, &reader) }).await
}

/// Returns the reply with a post that was changed.
pub(super) async fn changed_reply(
    act: &Act,
    row: post::Model,
    warnings: Vec<Warning>,
) -> Result<Reply<ChangedPost>> {
    let (bytes, reader) = (size(&row), Reader::of(act));
    let changed = move || ChangedPost { post: Post::of(row, &reader), warnings };
    Reply::large(bytes, changed).await
}

/// Returns the reply with one post as it is now, and what it waits for.
pub(super) async fn present_reply(act: &Act, row: post::Model) -> Result<Reply<OnePost>> {
    let (bytes, reader) = (size(&row), Reader::of(act));
    let waiting = waiting_of(&act.cx, std::slice::from_ref(&row)).await?.remove(&row.id);
    let post = move || OnePost { post: Post { waiting, ..Post::of(row, &reader) } };
    Reply::large(bytes, post).await
}

/// Returns the reply with a post that was created.
pub(super) async fn created_reply(
    act: &Act,
    row: post::Model,
    warnings: Vec<Warning>,
    workspace: WorkspaceOfPost,
) -> Result<Reply<CreatedPost>> {
    let (bytes, reader) = (size(&row), Reader::of(act));
    let made = move || CreatedPost {
        outcome: Created::Created,
        post: Post::of(row, &reader),
        warnings,
        workspace,
    };
    let reply = Reply::large(bytes, made).await?;
    Ok(reply.with_status(201))
}

/// Returns the reply with a page of posts.
pub(super) async fn page_reply(
    act: &Act,
    rows: Vec<post::Model>,
    next_cursor: Option<String>,
    empty_because: Option<EmptyBecause>,
) -> Result<Reply<PostPage>> {
    let bytes = rows.iter().map(size).sum();
    let reader = Reader::of(act);
    let waiting = waiting_of(&act.cx, &rows).await?;
    let posts = move || Post::all(rows, waiting, &reader);
    let page = move || PostPage {
        posts: posts(),
        next_cursor,
        total: None,
        limit: None,
        offset: None,
        empty_because,
    };
    Reply::large(bytes, page).await
}

/// Returns the reply with a page of posts by offset, with total, limit and offset.
pub(super) async fn offset_page_reply(
    act: &Act,
    rows: Vec<post::Model>,
    (total, limit, offset): (u64, u64, u64),
    empty_because: Option<EmptyBecause>,
) -> Result<Reply<PostPage>> {
    let (bytes, reader) = (rows.iter().map(size).sum(), Reader::of(act));
    let waiting = waiting_of(&act.cx, &rows).await?;
    let page = move || PostPage {
        posts: Post::all(rows, waiting, &reader),
        next_cursor: None,
        total: Some(total),
        limit: Some(limit),
        offset: Some(offset),
        empty_because,
    };
    Reply::large(bytes, page).await
}
