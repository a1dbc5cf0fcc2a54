//! Table `invitations`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId, WorkspaceId, membership::Role};

/// An invitation into a workspace. The row is deleted when the invitation is accepted or withdrawn.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "invitations")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The address of the invited person.
    pub email: String,
    /// The role that the person gets.
    pub role: Role,
    /// The admin who sent it.
    pub invited_by: UserId,
    /// SHA-256 of the token in the e-mail's link.
    pub token_hash: String,
    /// The time at which it was sent.
    pub created_at: Millis,
    /// The time at which it ends.
    pub expires_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
