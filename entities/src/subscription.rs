//! Table `subscriptions`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{Millis, WorkspaceId};

/// Plans, from the smallest.
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
    JsonSchema,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(32))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum PlanTier {
    /// One key.
    Starter,
    /// With the performance loop and the inbox.
    Pro,
    /// Larger files.
    PowerUser,
    /// Everything.
    Agency,
}

/// The plan that a workspace has paid for.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "subscriptions")]
pub struct Model {
    /// The workspace.
    #[sea_orm(primary_key, auto_increment = false)]
    pub workspace_id: WorkspaceId,
    /// The plan.
    pub plan_tier: PlanTier,
    /// May the API be used?
    pub api_addon: bool,
    /// Is it paid?
    pub active: bool,
    /// Was it given by an operator? Otherwise it follows the owner's subscription.
    pub granted: bool,
    /// The time at which it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
