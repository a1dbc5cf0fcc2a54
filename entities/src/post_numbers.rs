//! Table `post_numbers`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, PostId, WorkspaceId};

/// The numbers of a public post, made here or elsewhere.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "post_numbers")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The post; null: it was made elsewhere.
    pub post_id: Option<PostId>,
    /// The network's id.
    pub remote_id: String,
    /// Its public address.
    pub url: Option<String>,
    /// One of the network's post types.
    pub post_type: String,
    /// `image`, `carousel`, `video`, `text`, `link`, `document`, `thread` or `article`.
    pub format: String,
    /// Its text.
    pub caption: String,
    /// The time at which it became public.
    pub published_at: Millis,
    /// `live`, `deleted` or `expired`.
    pub status: String,
    /// The time at which its numbers were last read.
    pub fetched_at: Option<Millis>,
    /// The time at which they are read next; null: never.
    pub next_at: Option<Millis>,
    /// The time at which the network first did not find it.
    pub missing_at: Option<Millis>,
    /// The known numbers by name.
    pub numbers: Json,
    /// The reasons the others are not known, by name.
    pub unmeasured: Json,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
