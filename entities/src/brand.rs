//! Table `brands`.

use sea_orm::entity::prelude::*;

use crate::{BrandId, Millis, WorkspaceId};

/// A brand, which groups accounts and posts in a workspace.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "brands")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: BrandId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The display name.
    pub name: String,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
