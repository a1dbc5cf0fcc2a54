//! Table `api_keys`.

use sea_orm::entity::prelude::*;

use crate::{BrandId, KeyId, Millis, UserId, WorkspaceId};

/// An API key. The key itself is not stored.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "api_keys")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: KeyId,
    /// The user it acts as.
    pub user_id: UserId,
    /// The only workspace that it can access, if it is limited to one.
    pub workspace_id: Option<WorkspaceId>,
    /// The display name.
    pub name: String,
    /// `fan_` and the first 8 characters, to tell keys apart.
    pub prefix: String,
    /// The SHA-256 hash of the key in lower-case hex. Unique.
    pub hash: String,
    /// The scopes, separated by spaces.
    pub scopes: String,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last use, to the minute.
    pub last_used_at: Option<Millis>,
    /// The time at which the key was revoked.
    pub revoked_at: Option<Millis>,
    /// The time at which the key expires.
    pub expires_at: Option<Millis>,
    /// The only brand of its workspace that it can access, if it is limited to one.
    pub brand_id: Option<BrandId>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
