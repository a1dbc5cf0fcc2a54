//! A client of Stripe: its requests as data, the parts of its objects that are used, and the signature of its webhooks.
//!
//! It has no database, retries or plans. A caller that changes something first stores the [`Request`], and sends it
//! with an idempotency key derived from that row, so that sending it again has no second effect.

mod client;
mod objects;
mod request;
mod signature;

pub use client::{Failure, FailureKind, Stripe, VERSION};
pub use objects::{
    Charge, CheckoutSession, Dispute, Event, EventKind, Invoice, InvoicePayment, List, Phase,
    PhaseItem, Preview, Price, Recurring, Refund, Schedule, Subscription, SubscriptionItem,
};
pub use request::{Checkout, Method, PackCheckout, Request};
pub use signature::{SignatureError, verify};
