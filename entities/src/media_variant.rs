//! Table `media_variants`.

use sea_orm::entity::prelude::*;

use crate::{AssetId, Millis, VariantId, WorkspaceId, media_analysis::WorkStatus};

/// A file made from another to fit a network, and the work of making it. There is one for each file and profile.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "media_variants")]
pub struct Model {
    /// Its id as work.
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
    /// Its progress.
    pub status: WorkStatus,
    /// Key in the store, once it is there.
    pub path: Option<String>,
    /// Type.
    pub mime: Option<String>,
    /// Size.
    pub bytes: Option<i64>,
    /// Pixels.
    pub width: Option<i32>,
    /// Pixels.
    pub height: Option<i32>,
    /// The reason it cannot be made: `{code, message, remedy}`.
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
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
