//! Table `stripe_calls`.

use sea_orm::entity::prelude::*;

use crate::{Millis, SecretId};

/// A call to Stripe that changes something. It is recorded before it is made, and its id is the idempotency key.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "stripe_calls")]
pub struct Model {
    /// The idempotency key at Stripe.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The purpose of the call; there is one call for each.
    pub dedup_key: String,
    /// The encrypted call.
    pub request_id: SecretId,
    /// The encrypted response of Stripe, once it exists.
    pub reply_id: Option<SecretId>,
    /// The time at which it was recorded.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
