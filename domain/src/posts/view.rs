//! A post as replies, events and pages show it.

use fanfare_entities::{Millis, post, post::PostStatus};
use fanfare_media::Facts;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::clock::show;

/// A file of a post, as the row keeps it: what was known of it when the post was last changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PostMedia {
    /// Where it is served.
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
    /// What an analysis found; absent until it is done.
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

/// The files of a row.
#[must_use]
pub fn media_of(row: &post::Model) -> Vec<PostMedia> {
    serde_json::from_value(row.media.clone()).unwrap_or_default()
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
    let media = media_of(row);
    json!({
        "id": row.id,
        "account_id": row.account_id,
        "platform": row.platform,
        "workspace_id": row.workspace_id,
        "workspace_client_id": row.brand_id,
        "caption": row.caption,
        "media_urls": media.iter().map(|file| &file.url).collect::<Vec<_>>(),
        "media": media.iter().map(media_view).collect::<Vec<_>>(),
        "post_type": row.post_type,
        "settings": row.settings,
        "metadata": row.metadata,
        "status": status_name(row.status),
        "scheduled_at": row.scheduled_at.map(show),
        "timezone": row.timezone,
        "group": row.group_key,
        "release_id": row.release_id,
        "attempts": row.attempt,
        "next_attempt_at": row.next_attempt_at.map(show),
        "published_at": row.public_at.filter(|_| row.status == PostStatus::Published).map(show),
        "platform_post_id": row.platform_post_id,
        "platform_post_url": row.platform_post_url,
        "error": row.error,
        "created_at": show(row.created_at),
        "updated_at": show(row.updated_at),
    })
}

fn media_view(file: &PostMedia) -> Value {
    json!({
        "url": file.url,
        "asset_id": file.asset_id,
        "mime": Some(&file.mime).filter(|mime| !mime.is_empty()),
        "width": file.width,
        "height": file.height,
        "duration_ms": file.facts.as_ref().and_then(|facts| facts.duration_ms),
        "placeholder": file.facts.as_ref().and_then(|facts| facts.placeholder.as_deref()),
        "analysis": file.analysis(),
    })
}

/// A time of the ledger that may not have come yet.
pub fn maybe(time: Option<Millis>) -> Option<String> {
    time.map(show)
}
