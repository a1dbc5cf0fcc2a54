//! The input types of posts. The API refuses fields that are not listed here.

use fanfare_core::input::{absent_or_null, never_null, number_or_text};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::duplicates::Guard;

/// A post to be created.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPost {
    /// The connected account to post on; a number, also accepted as text.
    #[serde(deserialize_with = "number_or_text")]
    #[schemars(schema_with = "fanfare_core::input::id_schema")]
    pub account_id: i64,
    /// Text of the post.
    #[serde(default)]
    #[schemars(length(max = 1_000_000), extend("x-lines" = true))]
    pub caption: Option<String>,
    /// One media address: of this service, or any public http(s) address, which is copied before the post is saved.
    #[serde(default)]
    #[schemars(length(max = 2_048))]
    pub media_url: Option<String>,
    /// Several media addresses. With `media_url` too they make one list, that one first, duplicates dropped.
    #[serde(default)]
    #[schemars(inner(length(max = 2_048)))]
    pub media_urls: Option<Vec<String>>,
    /// RFC 3339 with an offset (or a local time with `timezone`). Left out: publish now. Null is refused.
    #[serde(default, deserialize_with = "never_null")]
    #[schemars(with = "String", length(max = 100))]
    pub scheduled_at: Option<String>,
    /// IANA zone of a local `scheduled_at`.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub timezone: Option<String>,
    /// One of the platform's post types.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub post_type: Option<String>,
    /// Platform settings; `GET /api/v1/accounts/{id}/schema` describes them.
    #[serde(default)]
    pub settings: Option<Map<String, Value>>,
    /// Platform metadata, for example the segments of a thread.
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
    /// `draft` makes a draft; `scheduled` (the default) a post that goes out.
    #[serde(default)]
    pub status: Option<NewStatus>,
    /// Group key, for deleting posts together.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub group: Option<String>,
    /// `refuse` makes no post that repeats one of the account within seven days; `warn` (the default) makes it with a warning.
    #[serde(default)]
    pub duplicates: Option<Guard>,
    /// The workspace, for a key without one. The account must be in it.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
    /// The suggestion that the post is made from; it becomes `scheduled`.
    #[serde(default)]
    pub suggestion_id: Option<Uuid>,
    /// Validate only: nothing is written, spent or copied.
    #[serde(default)]
    pub dry_run: Option<bool>,
}

/// The initial statuses of a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NewStatus {
    /// Kept, not scheduled.
    Draft,
    /// Goes out at its time.
    Scheduled,
}

/// Several posts at once. Each item is read on its own, so that one bad item fails alone.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPostBatch {
    /// 1 to 25 items, each like the body of `POST /posts`.
    #[schemars(with = "Vec<NewPost>", length(min = 1, max = 25), extend("x-read-singly" = true))]
    pub posts: Vec<Value>,
    /// Validate only, for all items.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Changes to a scheduled, draft, paused or failed post, which stays in its status. A field that is left out stays as it is.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostChanges {
    /// New text; null empties it.
    #[serde(default, deserialize_with = "absent_or_null")]
    #[schemars(length(max = 1_000_000), extend("x-lines" = true))]
    pub caption: Option<Option<String>>,
    /// New media; null removes it all.
    #[serde(default, deserialize_with = "absent_or_null")]
    #[schemars(length(max = 2_048))]
    pub media_url: Option<Option<String>>,
    /// New media; null removes it all.
    #[serde(default, deserialize_with = "absent_or_null")]
    #[schemars(inner(length(max = 2_048)))]
    pub media_urls: Option<Option<Vec<String>>>,
    /// New time; null only in a draft.
    #[serde(default, deserialize_with = "absent_or_null")]
    #[schemars(length(max = 100))]
    pub scheduled_at: Option<Option<String>>,
    /// IANA zone of a local `scheduled_at`.
    #[serde(default, deserialize_with = "absent_or_null")]
    #[schemars(length(max = 100))]
    pub timezone: Option<Option<String>>,
    /// New post type; null is the platform's default.
    #[serde(default, deserialize_with = "absent_or_null")]
    #[schemars(length(max = 50))]
    pub post_type: Option<Option<String>>,
    /// New settings, in place of all old ones.
    #[serde(default, deserialize_with = "absent_or_null")]
    pub settings: Option<Option<Map<String, Value>>>,
    /// New metadata, in place of all old.
    #[serde(default, deserialize_with = "absent_or_null")]
    pub metadata: Option<Option<Map<String, Value>>>,
    /// New group key; null takes it out of its group.
    #[serde(default, deserialize_with = "absent_or_null")]
    #[schemars(length(max = 200))]
    pub group: Option<Option<String>>,
    /// `refuse` makes no change by which the post repeats another of the account within seven days.
    #[serde(default)]
    pub duplicates: Option<Guard>,
    /// Cannot be changed; listed here so that the error can say so.
    #[serde(default)]
    #[schemars(schema_with = "fanfare_core::input::optional_id_schema", extend("readOnly" = true))]
    pub account_id: Option<Value>,
}

impl PostChanges {
    /// Returns true if it changes what is published, as opposed to when.
    #[must_use]
    pub const fn touches_content(&self) -> bool {
        self.caption.is_some()
            || self.media_url.is_some()
            || self.media_urls.is_some()
            || self.post_type.is_some()
            || self.settings.is_some()
            || self.metadata.is_some()
            || self.group.is_some()
    }

    /// Returns true if it changes when the post goes out.
    #[must_use]
    pub const fn touches_time(&self) -> bool {
        self.scheduled_at.is_some() || self.timezone.is_some()
    }
}

/// A change of status.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusChange {
    /// The requested status.
    pub status: RequestedStatus,
    /// Needed for a draft, and for a paused post whose time has passed.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub scheduled_at: Option<String>,
    /// IANA zone of a local `scheduled_at`.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub timezone: Option<String>,
    /// Send the post although an earlier attempt may have published it.
    #[serde(default)]
    pub acknowledge_duplicate_risk: Option<bool>,
}

/// The statuses that a caller can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestedStatus {
    /// Held back.
    Paused,
    /// Goes out at its time.
    Scheduled,
    /// Not scheduled.
    Draft,
}

/// Sends a failed post again.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryPost {
    /// Send it although an earlier attempt may have published it.
    #[serde(default)]
    pub acknowledge_duplicate_risk: Option<bool>,
}

/// External release and group metadata.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetRelease {
    /// The caller's own id of the release; null removes it.
    #[serde(default, deserialize_with = "absent_or_null")]
    #[schemars(length(max = 200))]
    pub release_id: Option<Option<String>>,
    /// Group key; null takes the post out of its group.
    #[serde(default, deserialize_with = "absent_or_null")]
    #[schemars(length(max = 200))]
    pub group: Option<Option<String>>,
}
