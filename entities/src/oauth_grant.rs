//! Table `oauth_grants`.

use sea_orm::entity::prelude::*;

use crate::{GrantId, Millis, UserId, WorkspaceId};

/// A person's grant to an OAuth client for one workspace. Its tokens end with it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_grants")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: GrantId,
    /// The client.
    pub client_id: String,
    /// The client's name at that time.
    pub client_name: String,
    /// The user for whom the client acts.
    pub user_id: UserId,
    /// The workspace that it reaches.
    pub workspace_id: WorkspaceId,
    /// The granted scopes, separated by spaces.
    pub scopes: String,
    /// The path below which its tokens are valid. Empty for all paths.
    pub resource: String,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last use, to the minute.
    pub last_used_at: Option<Millis>,
    /// The time at which it was revoked.
    pub ended_at: Option<Millis>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
