//! Table `oauth_tokens`.

use sea_orm::entity::prelude::*;

use crate::{GrantId, Millis};

/// The use of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum TokenKind {
    /// It opens the API.
    Access,
    /// It is good once for a new pair.
    Refresh,
}

/// A token of a grant; the token itself is not stored.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_tokens")]
pub struct Model {
    /// SHA-256 of the token, lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// Its first characters, to tell tokens apart.
    pub prefix: String,
    /// Its use.
    pub kind: TokenKind,
    /// The grant it belongs to.
    pub grant_id: GrantId,
    /// The refresh token from which it came; none if it came from a code.
    pub parent_hash: Option<String>,
    /// Its scopes, separated by spaces.
    pub scopes: String,
    /// The path below which it is good; empty for all.
    pub resource: String,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it ends.
    pub expires_at: Millis,
    /// The time at which a refresh token was spent.
    pub used_at: Option<Millis>,
    /// The time at which the reply to that was written.
    pub answered_at: Option<Millis>,
    /// Refused since.
    pub revoked_at: Option<Millis>,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
