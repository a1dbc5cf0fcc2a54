//! Table `uploads`: files that were announced and have an address of their own to be sent to.

use sea_orm::entity::prelude::*;

use crate::{Millis, UploadId, UserId, WorkspaceId};

/// A file that was announced.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "uploads")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: UploadId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The user who announced it.
    pub created_by: UserId,
    /// SHA-256 of the token in its address.
    pub token_hash: String,
    /// Under what the file will be served.
    pub public_name: String,
    /// Name for people.
    pub filename: String,
    /// Type that was announced.
    pub mime: String,
    /// Size that was announced.
    pub bytes: i64,
    /// The number of times sending it was started.
    pub tries: i32,
    /// The time at which it had been sent whole: the address is good for nothing more.
    pub spent_at: Option<Millis>,
    /// Sending must have begun before.
    pub expires_at: Millis,
    /// The time at which it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
