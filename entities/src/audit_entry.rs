//! Table `audit_entries`.

use sea_orm::entity::prelude::*;

use crate::{Millis, WorkspaceId};

/// An act of an operator, or of somebody in a workspace.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_entries")]
pub struct Model {
    /// The id, in order of creation.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The idempotency id. An action with the same id is carried out only once.
    pub action_id: Uuid,
    /// The name of the operator; for an act in a workspace the kind and the id of its author, such as `key:…`.
    pub operator: String,
    /// The action.
    pub action: String,
    /// The target of the action.
    pub target: String,
    /// The workspace whose change it is, if it is one's.
    pub workspace_id: Option<WorkspaceId>,
    /// The reason that was given.
    pub reason: String,
    /// The result, in one sentence.
    pub outcome: String,
    /// The rows that were changed.
    pub details: Json,
    /// The id of the request, for logs.
    pub request_id: String,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
