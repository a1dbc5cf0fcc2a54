//! Billing: plans, calls of Stripe, and subscriptions in the state that Stripe last reported.
//!
//! A subscription belongs to a user and covers every workspace that the user owns, except those whose plan an operator
//! set. Each event of Stripe is a row (`events.rs`). The worker that applies it reads the object again, so the order of
//! events does not matter.

mod calls;
pub mod change;
pub mod events;
mod plans;
mod setup;
pub mod subscriptions;
mod view;

use fanfare_payments::{Failure, FailureKind, Stripe};
use secrecy::SecretString;

use crate::{
    Settings,
    error::{Code, Error, Result},
};

pub(crate) use calls::{call, prune as forget_calls, read};
pub use plans::{Pack, Plan, Plans};
pub use setup::{lookup, setup};
pub use view::{OneSubscription, Subscription};

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
    match failure.kind {
        FailureKind::Unavailable => {
            tracing::warn!(%failure, "Stripe did not answer");
            let message = "The payment provider does not answer right now.";
            Error::new(Code::Unavailable, message).with_retry_after(5)
        }
        FailureKind::NotFound | FailureKind::Declined | FailureKind::Refused => {
            Error::internal(failure)
        }
    }
}
