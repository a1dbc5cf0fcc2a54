//! The money of persons: plans, calls of Stripe, and subscriptions as Stripe last said they are.
//!
//! A subscription belongs to a person and covers every workspace the person owns, save those whose plan an operator gave. What
//! Stripe tells is a row (`events.rs`) that a worker applies after it has read the object anew, so that the order of events does not
//! matter.

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

pub(crate) use calls::{call, forget as forget_calls, read};
pub use plans::{Pack, Plan, Plans};
pub use setup::{lookup, setup};
pub use view::{OneSubscription, Subscription};

/// The Stripe account that persons pay to.
#[derive(Debug, Clone)]
pub struct Billing {
    /// The account.
    pub stripe: Stripe,
    /// The secrets that sign its webhooks.
    pub webhook_secrets: Vec<SecretString>,
    /// It is the simulated one, which takes no money.
    pub is_simulated: bool,
}

impl Settings {
    /// Returns the account that persons pay to.
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

/// The error that a caller gets when a call fails.
pub(crate) fn refusal(failure: &Failure) -> Error {
    match failure.kind {
        FailureKind::Unavailable => {
            tracing::warn!(%failure, "Stripe did not answer");
            let message = "The payment provider does not answer right now.";
            Error::new(Code::Unavailable, message).retry_after(5)
        }
        FailureKind::NotFound | FailureKind::Declined | FailureKind::Refused => {
            Error::internal(failure)
        }
    }
}
