//! Table `ai_jobs`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{AiJobId, Millis, UserId, WorkspaceId};

/// The status of a film.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    EnumIter,
    DeriveActiveEnum,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum AiJobStatus {
    /// No provider has been asked yet.
    Queued,
    /// The provider is making it.
    Processing,
    /// It is stored.
    Completed,
    /// The job failed; there is no result.
    Failed,
    /// The job was cancelled before a provider was asked.
    Cancelled,
}

/// A film that a model makes, and the work of getting it.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "ai_jobs")]
pub struct Model {
    /// Its id as work.
    #[sea_orm(primary_key)]
    pub id: AiJobId,
    /// Its public id.
    pub uid: Uuid,
    /// The workspace it is for.
    pub workspace_id: WorkspaceId,
    /// The person who pays.
    pub payer_id: UserId,
    /// The person who asked for it.
    pub created_by: UserId,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The prompt.
    pub prompt: String,
    /// The request with all defaults.
    pub params: Json,
    /// The price, in credits.
    pub credits: i64,
    /// The status.
    pub status: AiJobStatus,
    /// The time at which the provider was asked, written before the call: a submission is never repeated.
    pub sending_at: Option<Millis>,
    /// The provider's id of it.
    pub remote_id: Option<String>,
    /// The time at which the provider took it.
    pub submitted_at: Option<Millis>,
    /// The address of the film at the provider.
    pub result_url: Option<String>,
    /// The time at which that was known.
    pub result_at: Option<Millis>,
    /// Percent, as the provider says.
    pub progress: Option<i32>,
    /// The stored film.
    pub asset_uid: Option<Uuid>,
    /// The reason there is none: `{code, message}`.
    pub error: Option<Json>,
    /// Id of the request that asked for it, for logs.
    pub request_id: Option<String>,
    /// The time at which there is something to do; the end of the lease while a worker holds the row; null: nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Raised by every claim and finish: a holder of an older number has lost the row.
    pub fencing_token: i64,
    /// Failed tries of the present step.
    pub attempts: i32,
    /// Leases in a row that ended without a result.
    pub lease_expirations: i32,
    /// The time at which it was asked for.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
    /// The time at which it ended.
    pub completed_at: Option<Millis>,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
