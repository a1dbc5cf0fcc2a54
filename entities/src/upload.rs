//! Table `uploads`: announced files, each with an upload address of its own.

use sea_orm::entity::prelude::*;

use crate::{Millis, UploadId, UserId, WorkspaceId};

/// A file that was announced.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "uploads")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: UploadId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The user who announced it.
    pub created_by: UserId,
    /// The SHA-256 hash of the token in the address.
    pub token_hash: String,
    /// Under what the file will be served.
    pub public_name: String,
    /// The display name.
    pub filename: String,
    /// The announced type.
    pub mime: String,
    /// The announced size.
    pub bytes: i64,
    /// The number of times that sending was started.
    pub tries: i32,
    /// The time at which the upload was complete. After that the address is no longer valid.
    pub spent_at: Option<Millis>,
    /// The time by which sending must start.
    pub expires_at: Millis,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
