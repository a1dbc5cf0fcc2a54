//! Post sets as replies and events show them.

use std::collections::BTreeMap;

use fanfare_core::{
    Act,
    clock::Time,
    error::{Error, Result, Violation},
    page::EmptyBecause,
};
use fanfare_entities::{
    AccountId, BrandId, PostId, PostSetId, WorkspaceId, post, post::PostStatus, post_set,
};
use fanfare_platforms::Warning;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    levels::{Level, Origins, SetContent},
    rows::{TargetRow, content_of},
    status::SetStatus,
};
use crate::posts::{
    forecast::Forecast,
    view::{FailedPost, PostMedia, Reader, error_shown, status_name},
    workspace::WorkspaceOfPost,
};

/// The most characters of an excerpt.
const EXCERPT: usize = 280;

/// A post set: one message for several accounts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PostSet {
    #[serde(flatten)]
    head: SetHead,
    /// The shared text.
    caption: Option<String>,
    /// Addresses of the shared files.
    media_urls: Vec<String>,
    /// The shared type of post.
    post_type: Option<String>,
    /// Shared platform settings.
    settings: Map<String, Value>,
    /// Shared platform metadata.
    metadata: Map<String, Value>,
    /// Content for all targets on a platform, by its name.
    #[schemars(with = "BTreeMap<String, Map<String, Value>>")]
    per_platform: BTreeMap<String, Level>,
    /// Its targets, in order.
    targets: Vec<SetTarget>,
}

/// What a set is without its content.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SetHead {
    /// The id.
    id: PostSetId,
    /// The workspace of its accounts.
    workspace_id: WorkspaceId,
    /// The brand, if all targets have the same one.
    workspace_client_id: Option<BrandId>,
    /// The status, which follows from those of the targets. Unknown ones mean that something is open.
    status: SetStatus,
    /// The number of targets in each status of posts.
    counts: BTreeMap<&'static str, usize>,
    /// The group of its posts when they were made.
    group: String,
    /// The earliest time of its targets.
    scheduled_at: Option<Time>,
    /// The zone that its time was sent in.
    timezone: Option<String>,
    /// The number of times that its last open target ended.
    settlement: i32,
    /// The time at which it last did; null while one is open.
    settled_at: Option<Time>,
    /// The version, for `If-Match`.
    version: i64,
    /// The time at which it was created.
    created_at: Time,
    /// The time at which it was last changed.
    updated_at: Time,
}

/// A target of a set: a post on one account. `GET /api/v1/posts/{id}` shows all of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SetTarget {
    /// The post.
    post_id: PostId,
    /// The account.
    account_id: AccountId,
    /// Its platform.
    platform: String,
    /// Its name; null if it is gone.
    username: Option<String>,
    /// The status of the post.
    status: PostStatus,
    /// Its type.
    post_type: String,
    /// Its time.
    scheduled_at: Option<Time>,
    /// The content of its own; left out in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    overrides: Option<Level>,
    /// The level that each part of its content comes from: `caption`, `media`, `post_type`, and `settings.<key>` and
    /// `metadata.<key>` for each key that it has.
    from: Origins,
    /// The reason why it failed, or waits.
    #[schemars(with = "Option<FailedPost>")]
    error: Option<Value>,
    /// The address at which people see it.
    platform_post_url: Option<String>,
    /// The version of the post.
    version: i64,
}

/// A set as its events show it: without what it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PostSetState {
    #[serde(flatten)]
    head: SetHead,
    /// Its targets, in order.
    targets: Vec<SetTarget>,
}

/// A set in a list, without its content.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PostSetSummary {
    #[serde(flatten)]
    head: SetHead,
    /// The beginning of the shared text, at most 280 characters.
    excerpt: String,
    /// The number of targets.
    target_count: usize,
    /// Addresses of the shared files.
    media_urls: Vec<String>,
    /// The shared type of post.
    post_type: Option<String>,
}

/// A page of sets.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PostSetPage {
    /// The sets, newest first.
    pub post_sets: Vec<PostSetSummary>,
    /// The cursor of the next page; null on the last one.
    pub next_cursor: Option<String>,
    /// Why the list is empty; null if it is not.
    pub empty_because: Option<EmptyBecause>,
}

/// One set.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OnePostSet {
    /// The set.
    pub post_set: PostSet,
}

/// A set that was created, or got further targets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CreatedPostSet {
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
        let own = |part: &str| !super::check::is_shared(from, part);
        let own_keys = |value: Value, part: &str| match value {
            Value::Object(fields) => {
                fields.into_iter().filter(|(key, _)| own(&format!("{part}.{key}"))).collect()
            }
            _ => Map::new(),
        };
        let media: Vec<PostMedia> = crate::posts::media_of(&row).unwrap_or_default();
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
    pub next: Vec<fanfare_platforms::NextAction>,
}

impl SetHead {
    fn of(set: &post_set::Model, targets: &[TargetRow]) -> Self {
        let statuses: Vec<PostStatus> = targets.iter().map(|one| one.post.status).collect();
        let mut counts = BTreeMap::new();
        for status in &statuses {
            *counts.entry(status_name(*status)).or_insert(0) += 1;
        }
        Self {
            id: set.id,
            workspace_id: set.workspace_id,
            workspace_client_id: common_brand(targets),
            status: SetStatus::of(&statuses),
            counts,
            group: set.group_key.clone(),
            scheduled_at: targets.iter().filter_map(|one| one.post.scheduled_at).min().map(Time),
            timezone: set.timezone.clone(),
            settlement: set.settlement,
            settled_at: set.settled_at.map(Time),
            version: set.version,
            created_at: Time(set.created_at),
            updated_at: Time(set.updated_at),
        }
    }
}

/// Returns the brand that all targets have.
#[must_use]
pub fn common_brand(targets: &[TargetRow]) -> Option<BrandId> {
    let first = targets.first()?.post.brand_id;
    targets.iter().all(|one| one.post.brand_id == first).then_some(first).flatten()
}

impl PostSet {
    /// Creates the view of a set with these targets.
    ///
    /// # Errors
    /// A column cannot be read.
    pub fn of(set: &post_set::Model, targets: Vec<TargetRow>, reader: &Reader) -> Result<Self> {
        let content = content_of(set)?;
        let head = SetHead::of(set, &targets);
        let targets = targets.into_iter().map(|row| SetTarget::of(row, &content, reader, true));
        let targets = targets.collect::<Result<_>>()?;
        let shared = content.shared;
        Ok(Self {
            head,
            caption: shared.caption.flatten(),
            media_urls: shared.media_urls.flatten().unwrap_or_default(),
            post_type: shared.post_type.flatten(),
            settings: shared.settings.flatten().unwrap_or_default(),
            metadata: shared.metadata.flatten().unwrap_or_default(),
            per_platform: content.per_platform,
            targets,
        })
    }

    /// Returns the payload of a set's events.
    ///
    /// # Errors
    /// A column cannot be read.
    pub fn payload(set: &post_set::Model, targets: &[TargetRow], base_url: &str) -> Result<String> {
        let (content, reader) = (content_of(set)?, Reader::anybody(base_url));
        let shown: Vec<SetTarget> = targets
            .iter()
            .map(|row| SetTarget::of(row.clone(), &content, &reader, false))
            .collect::<Result<_>>()?;
        let state = PostSetState { head: SetHead::of(set, targets), targets: shown };
        let state = serde_json::to_value(state).map_err(Error::internal)?;
        Ok(serde_json::json!({"post_set": state}).to_string())
    }

    /// Returns the status.
    #[must_use]
    pub const fn status(&self) -> SetStatus {
        self.head.status
    }
}

impl SetTarget {
    fn of(row: TargetRow, content: &SetContent, reader: &Reader, whole: bool) -> Result<Self> {
        let own = row.own()?;
        let platform = crate::platforms::from_row(&row.post.platform)?;
        let effective = content.effective(&own, platform);
        let error = error_shown(&row.post, reader);
        let post = row.post;
        Ok(Self {
            post_id: post.id,
            account_id: post.account_id,
            platform: post.platform,
            username: row.username,
            status: post.status,
            post_type: post.post_type,
            scheduled_at: post.scheduled_at.map(Time),
            overrides: whole.then_some(own),
            from: effective.from,
            error,
            platform_post_url: post.platform_post_url,
            version: post.version,
        })
    }
}

impl PostSetSummary {
    /// Creates the view of a set with these targets.
    ///
    /// # Errors
    /// A column cannot be read.
    pub fn of(set: &post_set::Model, targets: &[TargetRow]) -> Result<Self> {
        let content = content_of(set)?;
        let text = content.shared.caption.flatten().unwrap_or_default();
        let excerpt = text.char_indices().nth(EXCERPT).map_or(&*text, |(end, _)| &text[..end]);
        Ok(Self {
            head: SetHead::of(set, targets),
            excerpt: excerpt.to_owned(),
            target_count: targets.len(),
            media_urls: content.shared.media_urls.flatten().unwrap_or_default(),
            post_type: content.shared.post_type.flatten(),
        })
    }
}

/// Returns the set as the caller sees it.
///
/// # Errors
/// A column cannot be read.
pub fn shown(act: &Act, set: &post_set::Model, targets: Vec<TargetRow>) -> Result<PostSet> {
    PostSet::of(set, targets, &Reader::of(act))
}
