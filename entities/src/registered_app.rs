//! Table `registered_apps`.

use sea_orm::entity::prelude::*;

use crate::{Millis, SecretId};

/// An app that was registered with one server of a federated platform.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "registered_apps")]
pub struct Model {
    /// The platform identifier.
    #[sea_orm(primary_key, auto_increment = false)]
    pub platform: String,
    /// The server, as the person named it.
    #[sea_orm(primary_key, auto_increment = false)]
    pub server: String,
    /// The redirect URI.
    #[sea_orm(primary_key, auto_increment = false)]
    pub redirect_uri: String,
    /// The encrypted client id and secret.
    pub secret_id: SecretId,
    /// The time at which it was registered.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
