//! Table `secrets`.

use sea_orm::entity::prelude::*;

use crate::{Millis, SecretId};

/// An encrypted secret; see `domain::vault`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "secrets")]
pub struct Model {
    /// Its id, part of what is authenticated.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: SecretId,
    /// Table that refers to it, part of what is authenticated.
    pub owner_table: String,
    /// First 8 hex digits of the master key's SHA-256.
    pub key_id: String,
    /// Nonce and data key, encrypted with the master key.
    pub wrapped_key: Vec<u8>,
    /// Nonce and secret, encrypted with the data key.
    pub sealed: Vec<u8>,
    /// The time at which it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
