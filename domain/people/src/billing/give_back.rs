//! Gives money back: for what was bought twice, or cannot be delivered.
//!
//! Each call has a purpose of its own and is made once, so all of this may be repeated.

use fanfare_core::{
    Domain,
    error::{Error, Result},
};
use fanfare_payments::{Charge, InvoicePayment, List, Request, Subscription};
use serde_json::Value;

use super::{call, list, read};

/// Ends a subscription at once, and refunds its first invoice. Returns true if that was not done before.
///
/// # Errors
/// [`fanfare_core::Code::Unavailable`] if Stripe does not answer; then it has to be repeated.
pub(crate) async fn subscription(
    cx: &Domain,
    purpose: &str,
    id: &str,
    invoice: Option<&str>,
) -> Result<bool> {
    let path = format!("subscriptions/{id}");
    let theirs: Subscription = read(cx, &path).await?;
    let is_live = theirs.status != "canceled";
    if is_live {
        let _: Value = call(cx, &format!("{purpose}:end"), &Request::delete(path)).await?;
    }
    let Some(invoice) = invoice else { return Ok(is_live) };
    let asked = Request::get("invoice_payments").with("invoice", invoice).with("status", "paid");
    let paid: List<InvoicePayment> = list(cx, &asked).await?;
    let intent = paid.data.into_iter().find_map(|payment| payment.payment.payment_intent);
    let intent = intent.ok_or_else(|| Error::internal("a paid invoice has no payment"))?;
    Ok(payment(cx, purpose, &intent).await? || is_live)
}

/// Refunds what is left of a payment. Returns true if something was.
///
/// # Errors
/// [`fanfare_core::Code::Unavailable`] if Stripe does not answer; then it has to be repeated.
pub(crate) async fn payment(cx: &Domain, purpose: &str, intent: &str) -> Result<bool> {
    let charges: List<Charge> =
        list(cx, &Request::get("charges").with("payment_intent", intent)).await?;
    // An operator may have refunded it by hand, and Stripe refuses to do so again.
    if charges.data.iter().all(|charge| charge.amount_refunded >= charge.amount) {
        return Ok(false);
    }
    let refund = Request::post("refunds").with("payment_intent", intent);
    let _: Value = call(cx, &format!("{purpose}:refund"), &refund).await?;
    Ok(true)
}
