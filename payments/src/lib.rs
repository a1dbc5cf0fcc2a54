//! Stripe: its calls as data, its objects as far as they are read, and the signature of its webhooks.
//!
//! It has no database, no retry and no plans. A caller that changes something writes the [`Request`] down first and sends
//! it under an idempotency key that follows from that row, so that sending it again changes nothing twice.

mod client;
mod objects;
mod request;
mod signature;

pub use client::{Failure, FailureKind, Stripe, VERSION};
pub use objects::{
    Charge, CheckoutSession, Dispute, Event, Invoice, InvoicePayment, Item, List, Phase, PhaseItem,
    Price, Recurring, Schedule, Subscription,
};
pub use request::{Checkout, Method, PackCheckout, Request};
pub use signature::{BadSignature, verify};
