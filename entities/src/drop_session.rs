//! Table `drop_sessions`: pages on which people without a log-in leave files.

use sea_orm::entity::prelude::*;

use crate::{DropSessionId, Millis, UserId, WorkspaceId};

/// A drop page.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "drop_sessions")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DropSessionId,
    /// The workspace that gets the files.
    pub workspace_id: WorkspaceId,
    /// The user who created it.
    pub created_by: UserId,
    /// SHA-256 of the token in its address.
    pub token_hash: String,
    /// A hint for the visitor about the files that are wanted.
    pub filename: Option<String>,
    /// Most files.
    pub max_files: i32,
    /// Files so far.
    pub files: i32,
    /// The time at which it closes.
    pub expires_at: Millis,
    /// The time at which it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
