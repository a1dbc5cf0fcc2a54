//! Table `media_variants`.

use sea_orm::entity::prelude::*;

use crate::{AssetId, Millis, VariantId, WorkspaceId, media_analysis::WorkStatus};

/// A file converted for a platform, and the state of the job that converts it. There is one for each file and profile.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "media_variants")]
pub struct Model {
    /// The id, which the job queue uses too.
    #[sea_orm(primary_key)]
    pub id: VariantId,
    /// The file it is made from.
    pub asset_id: AssetId,
    /// The file's public id.
    pub uid: Uuid,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The profile it is made for.
    pub profile: String,
    /// The status.
    pub status: WorkStatus,
    /// The path in the store, once the file is stored.
    pub path: Option<String>,
    /// Type.
    pub mime: Option<String>,
    /// Size.
    pub bytes: Option<i64>,
    /// The width in pixels.
    pub width: Option<i32>,
    /// The height in pixels.
    pub height: Option<i32>,
    /// The reason it cannot be made: `{code, message, remedy}`.
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
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
