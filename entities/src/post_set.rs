//! Table `post_sets`.

use sea_orm::entity::prelude::*;

use crate::{Millis, PostSetId, UserId, WorkspaceId};

/// One message for several accounts. Each target is a post with this set's id, which holds all that is published.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "post_sets")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: PostSetId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The user who created it.
    pub created_by: UserId,
    /// The shared content and that for each network, as given: `{shared, per_platform}`.
    pub content: Json,
    /// The group of its posts when they were made.
    pub group_key: String,
    /// The time that its targets have in common. Null in drafts without one.
    pub scheduled_at: Option<Millis>,
    /// The time zone in which that time was given.
    pub timezone: Option<String>,
    /// The number of times that all its targets were published or failed.
    pub settlement: i32,
    /// The time at which that was last so. Null while a target is open.
    pub settled_at: Option<Millis>,
    /// Increased by each change that a caller makes to it or to a target.
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
