//! Table `subscriptions`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

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
    Deserialize,
    JsonSchema,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(32))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum PlanTier {
    /// The smallest plan, with one API key.
    Starter,
    /// The plan with performance insights and the inbox.
    Pro,
    /// The plan with larger files.
    PowerUser,
    /// The plan with all features.
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
    /// True if the API may be used.
    pub api_addon: bool,
    /// True if it is paid.
    pub active: bool,
    /// True if an operator granted it. Otherwise it follows the owner's subscription.
    pub granted: bool,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
