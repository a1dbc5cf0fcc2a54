//! Table `ai_jobs`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{AiJobId, Millis, UserId, WorkspaceId};

/// The status of an AI video job.
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
    /// The provider is generating the video.
    Processing,
    /// The video is stored.
    Completed,
    /// The job failed; there is no result.
    Failed,
    /// The job was cancelled before a provider was asked.
    Cancelled,
}

/// A job that generates a video with an AI model.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "ai_jobs")]
pub struct Model {
    /// The id, which the job queue uses too.
    #[sea_orm(primary_key)]
    pub id: AiJobId,
    /// The public id.
    pub uid: Uuid,
    /// The workspace.
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
    /// The time of the request to the provider. It is written before the call, so that a submission is never repeated.
    pub sending_at: Option<Millis>,
    /// The id at the provider.
    pub remote_id: Option<String>,
    /// The time at which the provider accepted the request.
    pub submitted_at: Option<Millis>,
    /// The address of the video at the provider.
    pub result_url: Option<String>,
    /// The time at which the result was known.
    pub result_at: Option<Millis>,
    /// The progress in percent, as the provider reports it.
    pub progress: Option<i32>,
    /// The asset of the stored video.
    pub asset_uid: Option<Uuid>,
    /// The reason that there is no video: `{code, message}`.
    pub error: Option<Json>,
    /// The id of the request that created it, for logs.
    pub request_id: Option<String>,
    /// The time at which the row is due or, while a worker holds it, the end of the lease. Null if there is nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Increased by every claim and finish. A worker with an older number has lost the row.
    pub fencing_token: i64,
    /// The number of failed attempts of the current step.
    pub attempts: i32,
    /// The number of consecutive leases that expired without a result.
    pub lease_expirations: i32,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
    /// The time of the end.
    pub completed_at: Option<Millis>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
