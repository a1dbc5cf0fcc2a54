//! Table `posts`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{AccountId, BrandId, Millis, PostId, PostSetId, UserId, WorkspaceId};

/// The status of a post.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Serialize, JsonSchema,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum PostStatus {
    /// Not scheduled.
    Draft,
    /// It waits for its time or for the next attempt.
    Scheduled,
    /// A person paused it.
    Paused,
    /// It is due, and a worker is publishing it.
    Publishing,
    /// The platform accepted the post (or a part of it) and is still processing it.
    Processing,
    /// The post is public and has an id on the platform.
    Published,
    /// Publishing failed permanently. `error` has the reason.
    Failed,
}

/// A post, and the state of the job that publishes it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "posts")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key)]
    pub id: PostId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The target account.
    pub account_id: AccountId,
    /// The brand of the account when the post was created.
    pub brand_id: Option<BrandId>,
    /// The platform identifier.
    pub platform: String,
    /// The user who created it.
    pub created_by: UserId,
    /// The request that last changed it, for the logs.
    pub request_id: String,
    /// Text.
    pub caption: String,
    /// A post type of the platform.
    pub post_type: String,
    /// The type that was asked for, where the network has none of that name.
    pub requested_post_type: Option<String>,
    /// Platform settings, as given.
    pub settings: Json,
    /// Platform metadata, as given.
    pub metadata: Json,
    /// List of `{url, asset}`: the address in use and, for a stored file, its id.
    pub media: Json,
    /// The status.
    pub status: PostStatus,
    /// The time at which the post is to be published. Null only in a draft.
    pub scheduled_at: Option<Millis>,
    /// The time zone in which the time was given.
    pub timezone: Option<String>,
    /// The group that it belongs to.
    pub group_key: Option<String>,
    /// The release id of the caller.
    pub release_id: Option<String>,
    /// The key of this content, from which idempotency keys, record keys and slugs are derived.
    pub content_key: Uuid,
    /// The time at which the row is due or, while a worker holds it, the end of the lease. Null if there is nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Increased by every claim, finish and edit. A worker with an older number has lost the row.
    pub fencing_token: i64,
    /// The number of failed attempts.
    pub attempts: i32,
    /// The number of consecutive leases that expired without a result.
    pub lease_expirations: i32,
    /// Later posts of the account may go out before it: it waits for its own sake (its media, the outcome of a lost
    /// call).
    pub out_of_line: bool,
    /// True while it is set aside behind an earlier post of its account, which makes it due when it leaves the line.
    pub behind: bool,
    /// The connector's state between two steps.
    pub state: Option<Json>,
    /// True if a part of it is already public (a thread segment).
    pub partly_public: bool,
    /// The number of the current or last attempt.
    pub attempt: i32,
    /// The JSON value `true` while an attempt is open that has taken a step. Null if the next step begins a new
    /// attempt.
    pub steps: Option<Json>,
    /// The time at which a commit call was about to start. Null if certainly none is in progress.
    pub sending_at: Option<Millis>,
    /// The deadline of that call.
    pub sending_until: Option<Millis>,
    /// The time of the first attempt to determine the outcome of a lost answer.
    pub reconciling_at: Option<Millis>,
    /// The time at which a complete list first did not show the result of the call. Null if none was read.
    pub absent_at: Option<Millis>,
    /// The fencing token of the claim that emitted `post.publishing`. Null if it was not emitted since it was last
    /// scheduled.
    pub announced_fence: Option<i64>,
    /// The time at which it became public.
    pub public_at: Option<Millis>,
    /// The time at which it was first missing on the platform, once it was missing twice. Null while it is there, as far as
    /// is known.
    pub removed_at: Option<Millis>,
    /// The platform's id.
    pub platform_post_id: Option<String>,
    /// The public address.
    pub platform_post_url: Option<String>,
    /// The further public parts: a list of `{name, platform_post_id, platform_post_url}`. Null if there are none.
    pub parts: Option<Json>,
    /// A list of warnings about the conversion. Null if there are none.
    pub warnings: Option<Json>,
    /// The code of the error or of the reason that it waits.
    pub error: Option<Json>,
    /// The time at which it is tried again after a transient failure.
    pub next_attempt_at: Option<Millis>,
    /// A commit had no answer and its outcome could not be determined. Sending it again may publish the post twice.
    pub duplicate_risk: bool,
    /// The set that it is a target of. It never changes.
    pub post_set_id: Option<PostSetId>,
    /// Increased by each change that a caller makes, never by publishing.
    pub version: i64,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
