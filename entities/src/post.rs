//! Table `posts`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{AccountId, BrandId, Millis, PostId, UserId, WorkspaceId};

/// The status of a post.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Serialize, JsonSchema,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum PostStatus {
    /// Not scheduled.
    Draft,
    /// Waits for its time or for the next try.
    Scheduled,
    /// Held back by a person.
    Paused,
    /// Its time has come; a worker has it.
    Publishing,
    /// The platform took it (or a part) and is still working.
    Processing,
    /// Public, with the platform's id.
    Published,
    /// Final; `error` says why.
    Failed,
}

/// A post, and the work of publishing it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "posts")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key)]
    pub id: PostId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The target account.
    pub account_id: AccountId,
    /// Brand of the account when the post was made.
    pub brand_id: Option<BrandId>,
    /// Platform identifier.
    pub platform: String,
    /// The user who created it.
    pub created_by: UserId,
    /// The request that last changed it, for the logs.
    pub request_id: String,
    /// Text.
    pub caption: String,
    /// One of the platform's post types.
    pub post_type: String,
    /// The type that was asked for, where the network has none of that name.
    pub requested_post_type: Option<String>,
    /// Platform settings, as given.
    pub settings: Json,
    /// Platform metadata, as given.
    pub metadata: Json,
    /// List of `{url, asset}`: the address in use and, for a stored file, its id.
    pub media: Json,
    /// Its status.
    pub status: PostStatus,
    /// The time at which it is to go out; null only in a draft.
    pub scheduled_at: Option<Millis>,
    /// Zone the time was given in.
    pub timezone: Option<String>,
    /// Group it belongs to.
    pub group_key: Option<String>,
    /// The caller's own id of the release.
    pub release_id: Option<String>,
    /// Key of this content: idempotency keys, record keys and slugs are made from it.
    pub content_key: Uuid,
    /// The time at which there is something to do; the end of the lease while a worker holds the row; null: nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Raised by every claim, finish and edit: a holder of an older number has lost the row.
    pub fencing_token: i64,
    /// Failed tries of the work so far.
    pub attempts: i32,
    /// Leases in a row that ended without a result.
    pub lease_expirations: i32,
    /// Later posts of the account may go out before it: it waits for its own sake (its media, the outcome of a lost
    /// call).
    pub out_of_line: bool,
    /// The connector's state between two steps.
    pub state: Option<Json>,
    /// A part is public already (a thread segment).
    pub partly_public: bool,
    /// Number of the running or last attempt.
    pub attempt: i32,
    /// `true` while an attempt is open that has taken a step; null: the next step begins another.
    pub steps: Option<Json>,
    /// A commit call was about to start; null: certainly none is under way.
    pub sending_at: Option<Millis>,
    /// Deadline of that call.
    pub sending_until: Option<Millis>,
    /// The time at which a lost answer was first asked about.
    pub reconciling_at: Option<Millis>,
    /// Fencing token of the claim that emitted `post.publishing`; null: not emitted since it was last scheduled.
    pub announced_fence: Option<i64>,
    /// The time at which it became public.
    pub public_at: Option<Millis>,
    /// The platform's id.
    pub platform_post_id: Option<String>,
    /// Its public address.
    pub platform_post_url: Option<String>,
    /// Its shortcomings there, as a list of warnings; null if there are none.
    pub warnings: Option<Json>,
    /// Returns the code of its failure or of its wait.
    pub error: Option<Json>,
    /// The time at which it is tried again after a transient failure.
    pub next_attempt_at: Option<Millis>,
    /// A commit had no answer and nothing could decide it: sending again may publish twice.
    pub duplicate_risk: bool,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
