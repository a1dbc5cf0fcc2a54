//! Table `brand_locks`.

use sea_orm::entity::prelude::*;

use crate::{BrandId, UserId, WorkspaceId};

/// A brand that a restricted membership may see. A membership without rows sees all brands.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "brand_locks")]
pub struct Model {
    /// The workspace.
    #[sea_orm(primary_key, auto_increment = false)]
    pub workspace_id: WorkspaceId,
    /// The person.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    /// The brand.
    #[sea_orm(primary_key, auto_increment = false)]
    pub brand_id: BrandId,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
