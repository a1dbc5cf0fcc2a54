//! A post as replies, events and pages show it.

use fanfare_entities::{AccountId, BrandId, Millis, PostId, WorkspaceId, post, post::PostStatus};
use fanfare_media::Facts;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{Unreadable, clock::show};

/// A file of a post, as the row keeps it: what was known of it when the post was last changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PostMedia {
    /// Its public address.
    pub url: String,
    /// The stored file; absent for an address that was not copied (a draft's).
    pub asset_id: Option<Uuid>,
    /// Its key in the store.
    pub path: Option<String>,
    /// Name for networks that show one.
    pub filename: String,
    /// Sniffed type; empty if not known.
    pub mime: String,
    /// Size in bytes.
    pub bytes: Option<i64>,
    /// Pixels.
    pub width: Option<i32>,
    /// Pixels.
    pub height: Option<i32>,
    /// The result of the analysis; absent until it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Facts>,
    /// Why the file cannot be used: `{code, message, remedy}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaw: Option<Value>,
}

impl PostMedia {
    /// A stored file of which nothing is known yet but its type.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        self.asset_id.is_some() && self.facts.is_none() && self.flaw.is_none()
    }

    const fn analysis(&self) -> &'static str {
        match (&self.facts, &self.flaw) {
            (_, Some(_)) => "failed",
            (Some(_), None) => "ready",
            (None, None) => "pending",
        }
    }
}

/// Returns the files of a row.
///
/// # Errors
/// The column does not hold a list of files.
pub fn media_of(row: &post::Model) -> Result<Vec<PostMedia>, Unreadable> {
    Vec::deserialize(&row.media).map_err(|_| Unreadable("media"))
}

/// A status as replies show it.
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

/// The post record.
#[must_use]
pub fn view(row: &post::Model) -> Value {
    json!(Shown::of(row))
}

/// The payload of a post's events, as JSON text: written once, and never built in memory.
pub(super) fn payload(row: &post::Model) -> String {
    #[derive(Serialize)]
    struct Payload<'a> {
        post: Shown<'a>,
    }
    // What has been read from JSON and a row can always be written.
    serde_json::to_string(&Payload { post: Shown::of(row) }).unwrap_or_default()
}

#[derive(Serialize)]
struct Shown<'a> {
    id: PostId,
    account_id: AccountId,
    platform: &'a str,
    workspace_id: WorkspaceId,
    workspace_client_id: Option<BrandId>,
    caption: &'a str,
    media_urls: Vec<String>,
    media: Vec<ShownMedia>,
    post_type: &'a str,
    settings: &'a Value,
    metadata: &'a Value,
    status: &'static str,
    scheduled_at: Option<String>,
    timezone: Option<&'a str>,
    group: Option<&'a str>,
    release_id: Option<&'a str>,
    attempts: i32,
    next_attempt_at: Option<String>,
    published_at: Option<String>,
    platform_post_id: Option<&'a str>,
    platform_post_url: Option<&'a str>,
    error: Option<&'a Value>,
    created_at: String,
    updated_at: String,
}

#[derive(Serialize)]
struct ShownMedia {
    url: String,
    asset_id: Option<Uuid>,
    mime: Option<String>,
    width: Option<i32>,
    height: Option<i32>,
    duration_ms: Option<u64>,
    placeholder: Option<String>,
    analysis: &'static str,
}

impl<'a> Shown<'a> {
    fn of(row: &'a post::Model) -> Self {
        // A record that is only shown does without what cannot be read; nothing is published from it.
        let media = media_of(row).unwrap_or_default();
        let public_at = row.public_at.filter(|_| row.status == PostStatus::Published);
        Self {
            id: row.id,
            account_id: row.account_id,
            platform: &row.platform,
            workspace_id: row.workspace_id,
            workspace_client_id: row.brand_id,
            caption: &row.caption,
            media_urls: media.iter().map(|file| file.url.clone()).collect(),
            media: media.into_iter().map(ShownMedia::of).collect(),
            post_type: &row.post_type,
            settings: &row.settings,
            metadata: &row.metadata,
            status: status_name(row.status),
            scheduled_at: maybe(row.scheduled_at),
            timezone: row.timezone.as_deref(),
            group: row.group_key.as_deref(),
            release_id: row.release_id.as_deref(),
            attempts: row.attempt,
            next_attempt_at: maybe(row.next_attempt_at),
            published_at: maybe(public_at),
            platform_post_id: row.platform_post_id.as_deref(),
            platform_post_url: row.platform_post_url.as_deref(),
            error: row.error.as_ref(),
            created_at: show(row.created_at),
            updated_at: show(row.updated_at),
        }
    }
}

impl ShownMedia {
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

/// A time of the ledger that may not have come yet.
pub fn maybe(time: Option<Millis>) -> Option<String> {
    time.map(show)
}
