//! The daily look at what was paid, in case an event was lost or could not be applied.

use fanfare_core::{Domain, error::Result};
use fanfare_entities::Millis;
use fanfare_payments::{CheckoutSession, List, Request};

use super::{events, list};

/// The age up to which checkouts are looked at, in ms: the money of the slowest bank debit comes after 14 business days.
const MAX_AGE: Millis = 30 * 24 * 3_600_000;

/// The most checkouts in a list, which is Stripe's limit.
const PAGE: &str = "100";

/// The outcome of a look at what was paid.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Reconciled {
    /// The checkouts whose money is here.
    pub paid: usize,
    /// Those whose goods were neither delivered nor given back.
    pub unsettled: usize,
}

/// Applies every checkout of the last 30 days again that was paid. Each one ends as what was bought, or as a refund;
/// one that does neither is logged and counted for the operator.
///
/// # Errors
/// [`fanfare_core::Code::Unavailable`] if Stripe does not answer.
pub async fn checkouts(cx: &Domain) -> Result<Reconciled> {
    let mut found = Reconciled::default();
    let Some(billing) = &crate::settings(cx).billing else { return Ok(found) };
    let since = billing.stripe.time().unwrap_or(cx.clock.now() / 1_000) - MAX_AGE / 1_000;
    let mut after: Option<String> = None;
    loop {
        let mut asked = Request::get("checkout/sessions")
            .with("status", "complete")
            .with("created[gte]", since.to_string())
            .with("limit", PAGE);
        if let Some(after) = after.take() {
            asked = asked.with("starting_after", after);
        }
        let page: List<CheckoutSession> = list(cx, &asked).await?;
        for session in page.data.iter().filter(|session| session.is_paid()) {
            found.paid += 1;
            if let Err(error) = events::apply_checkout(cx, session).await {
                found.unsettled += 1;
                tracing::error!(checkout = session.id, %error, "a payment is neither delivered nor given back");
            }
        }
        match page.data.last().filter(|_| page.has_more) {
            Some(last) => after = Some(last.id.clone()),
            None => break,
        }
    }
    fanfare_metrics::record::unsettled_payments(found.unsettled);
    Ok(found)
}
