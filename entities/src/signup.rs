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
    /// The person was led on to the checkout.
    CheckoutOpened,
    /// The payment is on its way.
    PaymentProcessing,
    /// It is paid, and the letter with the link to set a password is out.
    Paid,
    /// The person can log in.
    Ready,
    /// The first key was shown.
    Completed,
    /// The payment failed.
    Failed,
    /// The payment did not come in time.
    Expired,
    /// The person went back.
    Cancelled,
}

/// Somebody who signs up.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "signups")]
pub struct Model {
    /// Its id, which Stripe knows too.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: SignupId,
    /// SHA-256 of the session's id, which is its only credential.
    pub token_hash: String,
    /// Address of the person.
    pub email: String,
    /// Name of the person.
    pub name: String,
    /// The plan that is bought.
    pub plan_tier: PlanTier,
    /// Is the API add-on bought?
    pub api_addon: bool,
    /// The source that led the person here.
    pub source: String,
    /// The status.
    pub status: SignupStatus,
    /// Stripe's checkout.
    pub checkout_id: Option<String>,
    /// The address of the checkout.
    pub checkout_url: Option<String>,
    /// The person, from the payment on.
    pub user_id: Option<UserId>,
    /// The person had a live subscription, so this one is cancelled and refunded.
    pub is_duplicate: bool,
    /// The query with which an app asks to be let in, if an app began it.
    pub authorize_query: Option<String>,
    /// The time at which Stripe was last asked about it.
    pub asked_at: Millis,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
    /// The time at which it ends by itself.
    pub expires_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
