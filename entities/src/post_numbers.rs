//! Table `post_numbers`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, PostId, WorkspaceId};

/// The metrics of a public post, published with this service or elsewhere.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "post_numbers")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The post. Null if it was published elsewhere.
    pub post_id: Option<PostId>,
    /// The network's id.
    pub remote_id: String,
    /// The public address.
    pub url: Option<String>,
    /// A post type of the platform.
    pub post_type: String,
    /// `image`, `carousel`, `video`, `text`, `link`, `document`, `thread` or `article`.
    pub format: String,
    /// The text.
    pub caption: String,
    /// The time at which it became public.
    pub published_at: Millis,
    /// `live`, `deleted` or `expired`.
    pub status: String,
    /// The time at which its numbers were last read.
    pub fetched_at: Option<Millis>,
    /// The time of the next reading. Null if there is none.
    pub next_at: Option<Millis>,
    /// The time at which it was first missing on the platform.
    pub missing_at: Option<Millis>,
    /// The known metrics by name.
    pub numbers: Json,
    /// The reasons the others are not known, by name.
    pub unmeasured: Json,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
