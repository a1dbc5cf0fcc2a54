//! Table `oauth_clients`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// The way in which a client was registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum ClientKind {
    /// A person registered it as an app.
    App,
    /// The client registered itself.
    Registered,
    /// The client id is the address of a document that describes the client.
    Document,
}

/// An OAuth client. All clients are public and have no secret.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_clients")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub client_id: String,
    /// The way in which it was registered.
    pub kind: ClientKind,
    /// The owner of the app.
    pub owner_id: Option<UserId>,
    /// The name, which is not verified.
    pub name: String,
    /// The redirect URIs, one per line.
    pub redirect_uris: String,
    /// The scopes it asks for unless it names others, separated by spaces.
    pub scopes: String,
    /// The reason its document cannot be used.
    pub failure: Option<String>,
    /// The time at which its document is to be fetched again.
    pub fresh_until: Option<Millis>,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
