//! Table `oauth_clients`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// The way a client came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum ClientKind {
    /// A person made it as an app.
    App,
    /// It registered itself.
    Registered,
    /// Its id is the address of a document that describes it.
    Document,
}

/// A program that asks persons to let it in. All are public: none has a secret.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_clients")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub client_id: String,
    /// The way it came to be known.
    pub kind: ClientKind,
    /// The owner of the app.
    pub owner_id: Option<UserId>,
    /// Its name, which nobody has checked.
    pub name: String,
    /// The addresses that persons are sent back to, one a line.
    pub redirect_uris: String,
    /// The scopes it asks for unless it names others, separated by spaces.
    pub scopes: String,
    /// The reason its document cannot be used.
    pub failure: Option<String>,
    /// The time at which its document is to be fetched again.
    pub fresh_until: Option<Millis>,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
