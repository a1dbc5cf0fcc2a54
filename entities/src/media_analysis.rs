//! Table `media_analyses`.

use sea_orm::entity::prelude::*;

use crate::{AnalysisId, AssetId, Millis, WorkspaceId};

/// The status of a job for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum WorkStatus {
    /// Not done yet.
    Pending,
    /// The account is connected.
    Ready,
    /// It cannot be done. The row has the reason.
    Failed,
}

/// The analysis of a stored file: its result, and the work row.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "media_analyses")]
pub struct Model {
    /// The id, which the job queue uses too.
    #[sea_orm(primary_key)]
    pub id: AnalysisId,
    /// The file.
    pub asset_id: AssetId,
    /// The file's public id.
    pub uid: Uuid,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The file's key in the store.
    pub path: String,
    /// The type it was stored as.
    pub mime: String,
    /// The status.
    pub status: WorkStatus,
    /// The facts that were found.
    pub facts: Option<Json>,
    /// The path in the store of the poster of a video.
    pub poster_path: Option<String>,
    /// The flaw of the file: `{code, message, remedy}`.
    pub error: Option<Json>,
    /// The time at which the row is due or, while a worker holds it, the end of the lease. Null if there is nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Increased by every claim, finish and edit. A worker with an older number has lost the row.
    pub fencing_token: i64,
    /// The number of failed attempts.
    pub attempts: i32,
    /// The number of consecutive leases that expired without a result.
    pub lease_expirations: i32,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
    /// Id of the request that brought the file, for logs.
    pub request_id: Option<String>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
