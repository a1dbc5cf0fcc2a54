//! Table `audit_entries`.

use sea_orm::entity::prelude::*;

use crate::Millis;

/// Something an operator did.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_entries")]
pub struct Model {
    /// In order.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Id of the order: carried out once, however often it is sent.
    pub action_id: Uuid,
    /// The operator.
    pub operator: String,
    /// The action.
    pub action: String,
    /// On what.
    pub target: String,
    /// The reason that was given.
    pub reason: String,
    /// The result, as a sentence.
    pub outcome: String,
    /// The rows that were changed.
    pub details: Json,
    /// The request, for the logs.
    pub request_id: String,
    /// The time of the action.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
