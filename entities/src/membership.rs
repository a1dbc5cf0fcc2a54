//! Table `memberships`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{Millis, UserId, WorkspaceId};

/// Roles, ascending; each includes the ones before it.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    EnumIter,
    DeriveActiveEnum,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May only read.
    Viewer,
    /// May edit content.
    Editor,
    /// May create and schedule posts and connect accounts.
    Publisher,
    /// May do everything in the workspace.
    Admin,
}

/// A user's membership in a workspace.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "memberships")]
pub struct Model {
    /// The workspace.
    #[sea_orm(primary_key, auto_increment = false)]
    pub workspace_id: WorkspaceId,
    /// The person.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    /// The user's role.
    pub role: Role,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
