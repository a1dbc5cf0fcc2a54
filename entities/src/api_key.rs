//! Table `api_keys`.

use sea_orm::entity::prelude::*;

use crate::{KeyId, Millis, UserId, WorkspaceId};

/// A bearer key; the key itself is not stored.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "api_keys")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: KeyId,
    /// The user it acts as.
    pub user_id: UserId,
    /// The only workspace it reaches, if it is scoped.
    pub workspace_id: Option<WorkspaceId>,
    /// Name for people.
    pub name: String,
    /// `fan_` and 8 characters, to tell keys apart.
    pub prefix: String,
    /// SHA-256 of the key, lower-case hex, unique.
    pub hash: String,
    /// Scopes, separated by spaces.
    pub scopes: String,
    /// The time at which it was made.
    pub created_at: Millis,
    /// Last use, to the minute.
    pub last_used_at: Option<Millis>,
    /// Refused since.
    pub revoked_at: Option<Millis>,
    /// Refused from then on.
    pub expires_at: Option<Millis>,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
