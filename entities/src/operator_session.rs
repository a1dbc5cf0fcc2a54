//! Table `operator_sessions`.

use sea_orm::entity::prelude::*;

use crate::{Millis, OperatorId};

/// An operator's log-in.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "operator_sessions")]
pub struct Model {
    /// SHA-256 of the token in the cookie.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// The operator.
    pub operator_id: OperatorId,
    /// The time at which it began.
    pub created_at: Millis,
    /// The time at which it ends.
    pub expires_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
