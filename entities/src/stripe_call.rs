//! Table `stripe_calls`.

use sea_orm::entity::prelude::*;

use crate::{Millis, SecretId};

/// A call of Stripe that changes something, written down before it is made. Its id is the idempotency key.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "stripe_calls")]
pub struct Model {
    /// The idempotency key at Stripe.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The purpose of the call; there is one call for each.
    pub dedup_key: String,
    /// The call, sealed.
    pub request_id: SecretId,
    /// Stripe's answer, sealed, once there is one.
    pub reply_id: Option<SecretId>,
    /// The time at which it was written down.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
