//! Table `signups`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{Millis, SignupId, UserId, subscription::PlanTier};

/// The status of a signup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, JsonSchema)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(32))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum SignupStatus {
    /// The person has a link.
    Created,
    /// The person was sent to the checkout.
    CheckoutOpened,
    /// The payment is being processed.
    PaymentProcessing,
    /// It is paid, and the e-mail with the link to set a password was sent.
    Paid,
    /// The person can log in.
    Ready,
    /// The first key was shown.
    Completed,
    /// The payment failed.
    Failed,
    /// The payment did not come in time.
    Expired,
    /// The person cancelled the checkout.
    Cancelled,
}

/// A signup.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "signups")]
pub struct Model {
    /// The id, which Stripe knows too.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: SignupId,
    /// The SHA-256 hash of the session id, which is its only credential.
    pub token_hash: String,
    /// The e-mail address of the person.
    pub email: String,
    /// The name of the person.
    pub name: String,
    /// The plan that is bought.
    pub plan_tier: PlanTier,
    /// True if the API add-on is included.
    pub api_addon: bool,
    /// The source from which the person came.
    pub source: String,
    /// The status.
    pub status: SignupStatus,
    /// The id of the Stripe checkout.
    pub checkout_id: Option<String>,
    /// The address of the checkout.
    pub checkout_url: Option<String>,
    /// The person, from the payment on.
    pub user_id: Option<UserId>,
    /// The person had a live subscription, so this one is cancelled and refunded.
    pub is_duplicate: bool,
    /// The authorization query, if an app started the signup.
    pub authorize_query: Option<String>,
    /// The time at which Stripe was last asked about it.
    pub asked_at: Millis,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
    /// The time at which it expires.
    pub expires_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
