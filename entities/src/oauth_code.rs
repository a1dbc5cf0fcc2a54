//! Table `oauth_codes`.

use sea_orm::entity::prelude::*;

use crate::{GrantId, Millis, UserId, WorkspaceId};

/// A code that a client redeems once for tokens.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_codes")]
pub struct Model {
    /// The SHA-256 hash of the code.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// The client that may redeem it.
    pub client_id: String,
    /// The client's name.
    pub client_name: String,
    /// The address to which it was sent.
    pub redirect_uri: String,
    /// The user who authorized the client.
    pub user_id: UserId,
    /// The workspace that the client reaches.
    pub workspace_id: WorkspaceId,
    /// The granted scopes, separated by spaces.
    pub scopes: String,
    /// The path below which the tokens will be valid. Empty for all paths.
    pub resource: String,
    /// The SHA-256 hash of the client's PKCE verifier, in base64.
    pub challenge: String,
    /// The resulting grant.
    pub grant_id: Option<GrantId>,
    /// The time of creation.
    pub created_at: Millis,
    /// The time at which it ends.
    pub expires_at: Millis,
    /// The time at which it was redeemed.
    pub used_at: Option<Millis>,
    /// The time at which the reply to that was written.
    pub answered_at: Option<Millis>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
