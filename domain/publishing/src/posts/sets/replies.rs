//! The replies to changes of sets: what was made, changed or left alone.

use fanfare_core::{clock::Time, error::Violation};
use fanfare_entities::{AccountId, BrandId, PostId, PostSetId, post, post::PostStatus};
use fanfare_platforms::{NextAction, Warning};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{check::is_shared, levels::Origins, rows::TargetRow, view::PostSet};
use crate::posts::{
    forecast::Forecast,
    media_of,
    view::{Checked, Created, PostMedia},
    workspace::WorkspaceOfPost,
};

/// A set that was created, or got further targets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CreatedPostSet {
    /// Says that it was written.
    pub outcome: Created,
    /// The set.
    pub post_set: PostSet,
    /// With `valid_only`: the targets that were left out.
    pub refused: Vec<RefusedTarget>,
    /// Effects that posts do not get although they were accepted.
    pub warnings: Vec<Warning>,
    /// The workspace.
    pub workspace: WorkspaceOfPost,
}

/// A target that was refused, as the same post alone would be.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RefusedTarget {
    /// The index in the request, from 0.
    pub index: usize,
    /// The account; null if it is not known.
    pub account_id: Option<AccountId>,
    /// The HTTP status that the post alone would get.
    pub status: u16,
    /// The code of the first fault.
    pub code: &'static str,
    /// A sentence for people.
    pub error: String,
    /// The faults.
    pub validation_errors: Vec<Violation>,
}

/// A set that was only checked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedPostSet {
    /// Says that it was only checked.
    pub outcome: Checked,
    /// Always true.
    pub dry_run: bool,
    /// True if no target is refused.
    pub valid: bool,
    /// The targets that would be made.
    pub targets: Vec<CheckedTarget>,
    /// The others.
    pub refused: Vec<RefusedTarget>,
    /// Warnings about the set as a whole.
    pub warnings: Vec<Warning>,
    /// The workspace.
    pub workspace: WorkspaceOfPost,
}

/// A target that was only checked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedTarget {
    /// The index in the request, from 0.
    pub index: usize,
    /// Always true.
    pub valid: bool,
    /// The post as it would be made, without the content that it shares.
    pub post: PlannedTarget,
    /// The level that each part of its content comes from.
    pub from: Origins,
    /// Effects that the post would not get.
    pub warnings: Vec<Warning>,
    /// The forecast for its time.
    pub forecast: Forecast,
}

/// A post as it would be made as a target. Content of the set is left out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlannedTarget {
    account_id: AccountId,
    platform: String,
    username: String,
    workspace_client_id: Option<BrandId>,
    status: PostStatus,
    post_type: String,
    scheduled_at: Option<Time>,
    timezone: Option<String>,
    group: Option<String>,
    /// Its own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    caption: Option<String>,
    /// Addresses of its own files.
    #[serde(skip_serializing_if = "Option::is_none")]
    media_urls: Option<Vec<String>>,
    /// Its own settings.
    settings: Map<String, Value>,
    /// Its own metadata.
    metadata: Map<String, Value>,
}

impl PlannedTarget {
    /// Creates the view of a row that would be written.
    pub(super) fn of(row: post::Model, username: String, from: &Origins) -> Self {
        let own = |part: &str| !is_shared(from, part);
        let own_keys = |value: Value, part: &str| match value {
            Value::Object(fields) => {
                fields.into_iter().filter(|(key, _)| own(&format!("{part}.{key}"))).collect()
            }
            _ => Map::new(),
        };
        let media: Vec<PostMedia> = media_of(&row).unwrap_or_default();
        Self {
            account_id: row.account_id,
            platform: row.platform,
            username,
            workspace_client_id: row.brand_id,
            status: row.status,
            post_type: row.post_type,
            scheduled_at: row.scheduled_at.map(Time),
            timezone: row.timezone,
            group: row.group_key.filter(|group| !group.is_empty()),
            caption: own("caption").then_some(row.caption),
            media_urls: own("media").then(|| media.into_iter().map(|file| file.url).collect()),
            settings: own_keys(row.settings, "settings"),
            metadata: own_keys(row.metadata, "metadata"),
        }
    }
}

/// A set of which some targets were left alone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangedPostSet {
    /// True if it was only checked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub dry_run: bool,
    /// The set.
    pub post_set: PostSet,
    /// The targets that were left alone.
    pub unchanged: Vec<UnchangedTarget>,
}

/// A target that was left alone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnchangedTarget {
    /// The post.
    pub post_id: PostId,
    /// Its status.
    pub status: PostStatus,
    /// Why it was left alone.
    pub reason: UnchangedReason,
}

/// Why a target was left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnchangedReason {
    /// It is going out.
    Begun,
    /// It is public.
    Published,
    /// It failed; it can be changed by itself.
    Failed,
    /// A part of it is public.
    PartlyPublic,
}

impl UnchangedTarget {
    /// Returns why a target is not changed with its set; `None` if it is.
    #[must_use]
    pub fn of(row: &TargetRow) -> Option<Self> {
        let post = &row.post;
        let reason = match post.status {
            _ if row.is_open() => return None,
            PostStatus::Published => UnchangedReason::Published,
            _ if post.partly_public => UnchangedReason::PartlyPublic,
            PostStatus::Failed => UnchangedReason::Failed,
            _ => UnchangedReason::Begun,
        };
        Some(Self { post_id: post.id, status: post.status, reason })
    }
}

/// The deleted and the kept targets of a set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedPostSet {
    /// The set.
    pub id: PostSetId,
    /// The posts that were deleted.
    pub deleted: Vec<PostId>,
    /// The posts that are going out or are public, and were left alone. With none the set is gone.
    pub kept: Vec<KeptTarget>,
}

/// A target that was not deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct KeptTarget {
    /// The post.
    pub id: PostId,
    /// Its status.
    pub status: PostStatus,
}

/// The failed targets of a set that were sent again.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RetriedPostSet {
    /// The set.
    pub post_set: PostSet,
    /// The posts that are sent again.
    pub retried: Vec<PostId>,
    /// The others.
    pub skipped: Vec<SkippedTarget>,
}

/// A target that was not sent again.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SkippedTarget {
    /// The post.
    pub post_id: PostId,
    /// Why, as the code of the error that a retry of the post alone would get.
    pub code: &'static str,
    /// Calls that help.
    pub next: Vec<NextAction>,
}
