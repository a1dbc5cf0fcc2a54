//! Table `oauth_tokens`.

use sea_orm::entity::prelude::*;

use crate::{GrantId, Millis};

/// The use of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum TokenKind {
    /// An access token for the API.
    Access,
    /// A refresh token, which can be exchanged once for a new pair of tokens.
    Refresh,
}

/// A token of a grant. The token itself is not stored.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_tokens")]
pub struct Model {
    /// The SHA-256 hash of the token, in lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// The first characters of the token, to tell tokens apart.
    pub prefix: String,
    /// The use.
    pub kind: TokenKind,
    /// The grant it belongs to.
    pub grant_id: GrantId,
    /// The refresh token from which it came; none if it came from a code.
    pub parent_hash: Option<String>,
    /// The scopes, separated by spaces.
    pub scopes: String,
    /// The path below which it is valid. Empty for all paths.
    pub resource: String,
    /// The time of creation.
    pub created_at: Millis,
    /// The time at which it ends.
    pub expires_at: Millis,
    /// The time at which a refresh token was spent.
    pub used_at: Option<Millis>,
    /// The time at which the reply to that was written.
    pub answered_at: Option<Millis>,
    /// The time at which the key was revoked.
    pub revoked_at: Option<Millis>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
