//! Table `idempotency_keys`.

use sea_orm::entity::prelude::*;

use crate::{Millis, SecretId};

/// An idempotency key of a write request that may be sent again.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "idempotency_keys")]
pub struct Model {
    /// An id of the sender in the workspace.
    #[sea_orm(primary_key, auto_increment = false)]
    pub owner_id: Uuid,
    /// The key as sent. For an item of a batch, `:<index>` is appended.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    /// The request that is processing it.
    pub holder: Uuid,
    /// The process that runs the request. Null for a process of an older version.
    pub process_id: Option<Uuid>,
    /// The SHA-256 hash of method, path and body.
    pub fingerprint: String,
    /// The time from which a request with the same key may take over, if there is no response yet.
    pub lease_until: Millis,
    /// The HTTP status of the response.
    pub status: Option<i32>,
    /// The response.
    pub body: Option<String>,
    /// The encrypted response, if it contains a secret.
    pub secret_id: Option<SecretId>,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
