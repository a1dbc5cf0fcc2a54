//! Table `idempotency_keys`.

use sea_orm::entity::prelude::*;

use crate::{Millis, SecretId};

/// A write request that may be sent again.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "idempotency_keys")]
pub struct Model {
    /// The person who sent it, in the workspace that it is about.
    #[sea_orm(primary_key, auto_increment = false)]
    pub owner_id: Uuid,
    /// As sent; an item of a batch has `:<index>` behind it.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    /// The request that runs it now.
    pub holder: Uuid,
    /// The process in which that request runs; null: an older version's.
    pub process_id: Option<Uuid>,
    /// SHA-256 over method, path and body.
    pub fingerprint: String,
    /// The same key may take it over from then on, if it is not answered.
    pub lease_until: Millis,
    /// HTTP status of the answer.
    pub status: Option<i32>,
    /// The answer.
    pub body: Option<String>,
    /// The answer, encrypted, where it holds a secret.
    pub secret_id: Option<SecretId>,
    /// The time at which it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
