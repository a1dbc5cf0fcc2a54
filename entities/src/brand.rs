//! Table `brands`.

use sea_orm::entity::prelude::*;

use crate::{BrandId, Millis, WorkspaceId};

/// A sub-grouping of accounts and posts in a workspace.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "brands")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: BrandId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Name for people.
    pub name: String,
    /// The time at which it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
