//! Table `secrets`.

use sea_orm::entity::prelude::*;

use crate::{Millis, SecretId};

/// An encrypted secret; see `domain::vault`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "secrets")]
pub struct Model {
    /// The id, which is authenticated with the encrypted data.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: SecretId,
    /// The table that refers to it, which is authenticated with the encrypted data.
    pub owner_table: String,
    /// The first 8 hex digits of the SHA-256 hash of the master key.
    pub key_id: String,
    /// The nonce and the data key, encrypted with the master key.
    pub wrapped_key: Vec<u8>,
    /// The nonce and the secret, encrypted with the data key.
    pub sealed: Vec<u8>,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
