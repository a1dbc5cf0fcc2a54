//! Table `drop_sessions`: pages on which people without a log-in leave files.

use sea_orm::entity::prelude::*;

use crate::{DropSessionId, Millis, UserId, WorkspaceId};

/// A page on which people without an account can upload files.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "drop_sessions")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DropSessionId,
    /// The workspace that gets the files.
    pub workspace_id: WorkspaceId,
    /// The user who created it.
    pub created_by: UserId,
    /// The SHA-256 hash of the token in the address.
    pub token_hash: String,
    /// A hint for the visitor about the files that are wanted.
    pub filename: Option<String>,
    /// The largest number of files.
    pub max_files: i32,
    /// The number of uploaded files.
    pub files: i32,
    /// The time at which it closes.
    pub expires_at: Millis,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
