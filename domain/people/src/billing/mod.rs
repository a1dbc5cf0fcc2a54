//! Billing: plans, calls of Stripe, and subscriptions in the state that Stripe last reported.
//!
//! A subscription belongs to a user and covers every workspace that the user owns, except those whose plan an operator
//! set. Each event of Stripe is a row (`events.rs`). The worker that applies it reads the object again, so the order of
//! events does not matter.

mod calls;
pub mod change;
pub mod events;
pub(crate) mod give_back;
mod plans;
pub mod reconcile;
mod setup;
mod sold;
pub mod subscriptions;
mod view;
mod workspace_posts;

use fanfare_core::error::{Code, Error, Result};
use fanfare_payments::{Failure, FailureKind, Stripe};
use secrecy::SecretString;

use crate::Settings;

pub use calls::{call, list, prune as forget_calls, read};
pub use plans::{Pack, Plan, Plans};
pub use setup::{lookup, missing_prices, setup};
pub use sold::SoldPlan;
pub(crate) use sold::plan_of;
pub use view::{AnySubscription, GrantedPlan, OneSubscription, ShownSubscription, Subscription};
pub use workspace_posts::WorkspacePosts;
pub(crate) use workspace_posts::resume_all as resume_posts;

/// The Stripe account that users pay to.
#[derive(Debug, Clone)]
pub struct Billing {
    /// The account.
    pub stripe: Stripe,
    /// The secrets that sign Stripe's webhooks.
    pub webhook_secrets: Vec<SecretString>,
    /// True for the simulated account, which takes no money.
    pub is_simulated: bool,
}

impl Settings {
    /// Returns the Stripe account that users pay to.
    ///
    /// # Errors
    /// [`Code::BillingNotConfigured`] if there is none.
    pub fn require_billing(&self) -> Result<&Billing> {
        self.billing.as_ref().ok_or_else(|| {
            let message = "This service sells nothing: its operator has set no payment provider.";
            Error::new(Code::BillingNotConfigured, message)
        })
    }
}

/// Returns the error for callers when a call of Stripe fails.
pub(crate) fn stripe_error(failure: &Failure) -> Error {
    tracing::warn!(%failure, kind = ?failure.kind, "a call of Stripe failed");
    match failure.kind {
        FailureKind::Unavailable => {
            let message = "The payment provider does not answer right now.";
            Error::new(Code::Unavailable, message).with_retry_after(5)
        }
        FailureKind::Limited => {
            let message = "The payment provider takes no more calls right now.";
            Error::new(Code::Unavailable, message).with_retry_after(5)
        }
        FailureKind::Key => {
            misconfigured("The payment provider does not accept the key of this service.")
        }
        FailureKind::NotFound => {
            let message = "The payment provider no longer has what this concerns.";
            Error::new(Code::PaymentObjectGone, message)
        }
        FailureKind::Declined => {
            Error::new(Code::PaymentDeclined, "The payment provider declined the payment.")
        }
        FailureKind::Refused => {
            let message = format!("The payment provider refuses this: {}", failure.message);
            Error::new(Code::PaymentRefused, message)
        }
    }
}

/// Returns the error for something that only the operator can mend.
pub(crate) fn misconfigured(message: impl Into<String>) -> Error {
    Error::new(Code::BillingMisconfigured, message)
}
