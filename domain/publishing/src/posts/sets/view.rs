//! Post sets as replies and events show them.

use std::collections::BTreeMap;

use fanfare_core::{
    Act,
    clock::Time,
    error::{Error, Result},
    page::EmptyBecause,
};
use fanfare_entities::{
    AccountId, BrandId, PostId, PostSetId, WorkspaceId, post::PostStatus, post_set,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    levels::{Level, Origins, SetContent},
    rows::{TargetRow, content_of},
    status::SetStatus,
};
use crate::posts::view::{FailedPost, Reader, error_shown, status_name};

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

/// A set without its content.
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
