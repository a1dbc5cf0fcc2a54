//! Table `media_assets`.

use sea_orm::entity::prelude::*;

use crate::{AssetId, DropSessionId, Millis, UserId, WorkspaceId};

/// The status of a stored file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum AssetStatus {
    /// The file is being copied.
    Copying,
    /// The file is stored.
    Ready,
    /// The file could not be copied.
    Failed,
}

/// A file in our storage, and the work of copying it there. Several rows may have the same bytes, and then the same
/// `path`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "media_assets")]
pub struct Model {
    /// The id, which the job queue uses too.
    #[sea_orm(primary_key)]
    pub id: AssetId,
    /// The public id.
    pub uid: Uuid,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The address it was copied from.
    pub source_url: Option<String>,
    /// The `ETag` that the address gave it; null if it gave none that stands for exactly these bytes.
    pub source_etag: Option<String>,
    /// The display name.
    pub filename: String,
    /// The path in the store, once the file is stored.
    pub path: Option<String>,
    /// Sniffed type.
    pub mime: Option<String>,
    /// Size.
    pub bytes: Option<i64>,
    /// The width in pixels.
    pub width: Option<i32>,
    /// The height in pixels.
    pub height: Option<i32>,
    /// The status.
    pub status: AssetStatus,
    /// The reason that the file is not stored: `{code, message, remedy, limit?, actual?}`.
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
    /// Under what it is served, which nobody can guess. Null on rows of an older version: `path` is what nobody can
    /// guess.
    pub public_name: Option<String>,
    /// The SHA-256 hash of the bytes, in hex. Files with the same hash share a stored file. Null in rows of an older
    /// version.
    pub digest: Option<String>,
    /// The user whose request brought it.
    pub created_by: Option<UserId>,
    /// The drop session through which it came.
    pub drop_session_id: Option<DropSessionId>,
    /// The time at which to check whether it is still needed.
    pub review_at: Option<Millis>,
    /// Id of the request that brought it, for logs.
    pub request_id: Option<String>,
    /// An AI model generated it.
    pub ai_generated: bool,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
