//! Table `media_assets`.

use sea_orm::entity::prelude::*;

use crate::{AssetId, DropSessionId, Millis, UserId, WorkspaceId};

/// Is the file there?
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum AssetStatus {
    /// Being copied.
    Copying,
    /// Stored whole.
    Ready,
    /// Could not be copied.
    Failed,
}

/// A file in our storage, and the work of copying it there. Several rows may have the same bytes, and then the same
/// `path`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "media_assets")]
pub struct Model {
    /// Its id as work.
    #[sea_orm(primary_key)]
    pub id: AssetId,
    /// Its public id.
    pub uid: Uuid,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The address it was copied from.
    pub source_url: Option<String>,
    /// The `ETag` that the address gave it; null if it gave none that stands for exactly these bytes.
    pub source_etag: Option<String>,
    /// Name for people.
    pub filename: String,
    /// Key in the store, once it is there.
    pub path: Option<String>,
    /// Sniffed type.
    pub mime: Option<String>,
    /// Size.
    pub bytes: Option<i64>,
    /// Pixels.
    pub width: Option<i32>,
    /// Pixels.
    pub height: Option<i32>,
    /// Is it there?
    pub status: AssetStatus,
    /// The reason it is not: `{code, message, remedy, limit?, actual?}`.
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
    /// Under what it is served, which nobody can guess. Null on rows of an older version: `path` is what nobody can
    /// guess.
    pub public_name: Option<String>,
    /// SHA-256 of the bytes, in hex: files with the same share what is stored. Null on rows of an older version.
    pub digest: Option<String>,
    /// The user whose request brought it.
    pub created_by: Option<UserId>,
    /// The drop session through which it came.
    pub drop_session_id: Option<DropSessionId>,
    /// The time at which to look whether anybody still needs it.
    pub review_at: Option<Millis>,
    /// Id of the request that brought it, for logs.
    pub request_id: Option<String>,
    /// A model made it.
    pub ai_generated: bool,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
