//! Table `media_analyses`.

use sea_orm::entity::prelude::*;

use crate::{AnalysisId, AssetId, Millis, WorkspaceId};

/// The progress of work on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum WorkStatus {
    /// Not done yet.
    Pending,
    /// Done.
    Ready,
    /// It cannot be done; the row says why.
    Failed,
}

/// The analysis of a stored file: its result, and the work row.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "media_analyses")]
pub struct Model {
    /// Its id as work.
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
    /// Its progress.
    pub status: WorkStatus,
    /// The facts that were found.
    pub facts: Option<Json>,
    /// Key in the store of a frame of a film.
    pub poster_path: Option<String>,
    /// The flaw of the file: `{code, message, remedy}`.
    pub error: Option<Json>,
    /// The time at which there is something to do; the end of the lease while a worker holds the row; null: nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Raised by every claim, finish and edit: a holder of an older number has lost the row.
    pub fencing_token: i64,
    /// Failed tries of the work so far.
    pub attempts: i32,
    /// Leases in a row that ended without a result.
    pub lease_expirations: i32,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
    /// Id of the request that brought the file, for logs.
    pub request_id: Option<String>,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
