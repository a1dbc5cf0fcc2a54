//! Table `operators`.

use sea_orm::entity::prelude::*;

use crate::{Millis, OperatorId};

/// An operator of the service, who is not one of its users.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "operators")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: OperatorId,
    /// The e-mail address in lower case. Unique.
    pub email: String,
    /// The argon2id hash, as a PHC string.
    pub password_hash: String,
    /// The time of creation.
    pub created_at: Millis,
    /// The time at which the password was last set.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
