//! Table `workspace_deletions`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{DeletionId, Millis, UserId, WorkspaceId};

/// The state of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, JsonSchema)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum DeletionState {
    /// It begins at `due_at`, and can be stopped until then.
    Waiting,
    /// It has begun, and nothing stops it.
    Deleting,
    /// Nothing of the workspace is left but what the receipt names.
    Done,
    /// A person stopped it in time.
    Stopped,
}

/// The deletion of a workspace, as work, and its receipt. It stays when the workspace is gone.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "workspace_deletions")]
pub struct Model {
    /// The id, which the job queue uses.
    #[sea_orm(primary_key)]
    pub id: DeletionId,
    /// The public id.
    pub uid: Uuid,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The person who asked for it. Null if it was the operator.
    pub requested_by: Option<UserId>,
    /// The state.
    pub state: DeletionState,
    /// The time at which it begins.
    pub ends_at: Millis,
    /// What was removed and kept so far, as counts.
    pub receipt: Json,
    /// The time at which a worker must look at it. Null if there is nothing to do.
    pub due_at: Option<Millis>,
    /// Increased by every claim, finish and change.
    pub fencing_token: i64,
    /// The number of times at which tokens could not be revoked.
    pub attempts: i32,
    /// The number of consecutive leases that expired without a result.
    pub lease_expirations: i32,
    /// The time of the request.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
    /// The time at which it was done or stopped.
    pub ended_at: Option<Millis>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
