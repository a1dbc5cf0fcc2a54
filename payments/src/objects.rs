//! Stripe's objects, with the fields that are used.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A list.
#[derive(Debug, Clone, Deserialize)]
pub struct List<T> {
    /// The objects, newest first.
    pub data: Vec<T>,
    /// True if there are more.
    #[serde(default)]
    pub has_more: bool,
}

/// A price.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Price {
    /// The id.
    pub id: String,
    /// Our name of the product, while this is its current price.
    pub lookup_key: Option<String>,
    /// The product; its id is our name of it, also for older prices.
    pub product: String,
    /// In the currency's smallest unit.
    pub unit_amount: Option<i64>,
    /// The currency.
    pub currency: String,
    /// The interval of payments; `None` for a single payment.
    pub recurring: Option<Recurring>,
}

/// The interval at which a price is paid.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Recurring {
    /// `month`.
    pub interval: String,
}

/// A checkout.
#[derive(Debug, Clone, Deserialize)]
pub struct CheckoutSession {
    /// The id.
    pub id: String,
    /// The address of the checkout page, while it is open.
    pub url: Option<String>,
    /// `open`, `complete` or `expired`.
    pub status: String,
    /// `unpaid`, `paid` or `no_payment_required`.
    pub payment_status: String,
    /// Our id of the purchase.
    pub client_reference_id: Option<String>,
    /// The customer, once there is one.
    pub customer: Option<String>,
    /// The subscription, once it is complete.
    pub subscription: Option<String>,
    /// The first invoice of the subscription.
    pub invoice: Option<String>,
    /// The time at which it ends by itself, in Unix seconds.
    pub expires_at: i64,
    /// `subscription` or `payment`.
    pub mode: String,
    /// The payment of a pack, once it is complete.
    #[serde(default)]
    pub payment_intent: Option<String>,
    /// The metadata that we set.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
}

impl CheckoutSession {
    /// Returns true once the money is there.
    #[must_use]
    pub fn is_paid(&self) -> bool {
        self.status == "complete" && self.payment_status != "unpaid"
    }
}

/// A subscription.
#[derive(Debug, Clone, Deserialize)]
pub struct Subscription {
    /// The id.
    pub id: String,
    /// `incomplete`, `active`, `past_due`, `canceled` and others.
    pub status: String,
    /// The customer.
    pub customer: String,
    /// The items, which have the periods.
    pub items: List<SubscriptionItem>,
    /// True if it ends with the period.
    pub cancel_at_period_end: bool,
    /// The time at which it is set to end, in Unix seconds: the end of the period, or a date that was set at Stripe.
    #[serde(default)]
    pub cancel_at: Option<i64>,
    /// The pause, if there is one.
    pub pause_collection: Option<PauseCollection>,
    /// The schedule, if there is one.
    pub schedule: Option<String>,
    /// The time at which it ended, in Unix seconds.
    pub ended_at: Option<i64>,
}

/// The pause of a subscription.
#[derive(Debug, Clone, Deserialize)]
pub struct PauseCollection {
    /// The time at which it ends, in Unix seconds.
    pub resumes_at: Option<i64>,
}

/// An item of a subscription.
#[derive(Debug, Clone, Deserialize)]
pub struct SubscriptionItem {
    /// The id.
    pub id: String,
    /// The price.
    pub price: Price,
    /// In Unix seconds.
    pub current_period_start: i64,
    /// In Unix seconds.
    pub current_period_end: i64,
}

/// An invoice.
#[derive(Debug, Clone, Deserialize)]
pub struct Invoice {
    /// The id.
    pub id: String,
    /// The object it belongs to.
    pub parent: Option<InvoiceParent>,
    /// The lines.
    pub lines: List<InvoiceLine>,
}

/// An invoice that a change would make.
#[derive(Debug, Clone, Deserialize)]
pub struct Preview {
    /// The amount that would be due, in the currency's smallest unit.
    pub amount_due: i64,
}

/// A line of an invoice.
#[derive(Debug, Clone, Deserialize)]
pub struct InvoiceLine {
    /// The period that is paid for.
    pub period: LinePeriod,
    /// The price.
    #[serde(default)]
    pub pricing: Option<Pricing>,
}

impl InvoiceLine {
    /// Returns the id of the product, which is our name of it.
    #[must_use]
    pub fn product(&self) -> Option<&str> {
        let details = self.pricing.as_ref()?.price_details.as_ref()?;
        Some(&details.product)
    }
}

/// The period of an invoice line.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct LinePeriod {
    /// In Unix seconds.
    pub start: i64,
    /// In Unix seconds.
    pub end: i64,
}

/// The price of a line of an invoice.
#[derive(Debug, Clone, Deserialize)]
pub struct Pricing {
    /// The details of a price.
    pub price_details: Option<PriceDetails>,
}

/// The details of a price.
#[derive(Debug, Clone, Deserialize)]
pub struct PriceDetails {
    /// The product.
    pub product: String,
}

/// A payment that went through.
#[derive(Debug, Clone, Deserialize)]
pub struct Charge {
    /// The id.
    pub id: String,
    /// The payment.
    pub payment_intent: Option<String>,
    /// The amount, in the currency's smallest unit.
    pub amount: i64,
    /// The amount that was paid back.
    pub amount_refunded: i64,
}

impl Charge {
    /// Returns how many of the `credits` bought with it are not paid for any more: all while a dispute holds the money,
    /// the share of its refunds otherwise.
    #[must_use]
    pub fn credits_taken_back(
        &self,
        credits: i64,
        disputes: &[Dispute],
        refunds: &[Refund],
    ) -> i64 {
        let refunded: i64 =
            refunds.iter().filter(|refund| refund.counts()).map(|refund| refund.amount).sum();
        if disputes.iter().any(Dispute::holds_money) || refunded >= self.amount {
            return credits;
        }
        let share = i128::from(credits) * i128::from(refunded.max(0));
        i64::try_from(share / i128::from(self.amount.max(1))).unwrap_or(credits)
    }
}

/// A payment that the customer's bank disputes.
#[derive(Debug, Clone, Deserialize)]
pub struct Dispute {
    /// The payment.
    pub charge: String,
    /// `needs_response`, `under_review`, `won`, `lost` and others.
    pub status: String,
}

impl Dispute {
    /// Returns true while the bank has the money: not before a formal dispute (Stripe's `warning_…`), and not after one
    /// that was won or prevented. Source: Stripe's reference of the Dispute object.
    #[must_use]
    pub fn holds_money(&self) -> bool {
        matches!(self.status.as_str(), "needs_response" | "under_review" | "lost")
    }
}

/// A refund of a payment.
#[derive(Debug, Clone, Deserialize)]
pub struct Refund {
    /// The payment.
    pub charge: Option<String>,
    /// The amount, in the currency's smallest unit.
    pub amount: i64,
    /// `pending`, `requires_action`, `succeeded`, `failed` or `canceled`; absent while Stripe has not decided.
    pub status: Option<String>,
}

impl Refund {
    /// Returns true unless the money came back to us. Source: Stripe's reference of the Refund object.
    #[must_use]
    pub fn counts(&self) -> bool {
        !matches!(self.status.as_deref(), Some("failed" | "canceled"))
    }
}

/// The parent of an invoice.
#[derive(Debug, Clone, Deserialize)]
pub struct InvoiceParent {
    /// A subscription.
    pub subscription_details: Option<SubscriptionDetails>,
}

/// The subscription that an invoice is of.
#[derive(Debug, Clone, Deserialize)]
pub struct SubscriptionDetails {
    /// The id.
    pub subscription: String,
}

impl Invoice {
    /// Returns the subscription that it is of.
    #[must_use]
    pub fn subscription(&self) -> Option<&str> {
        let details = self.parent.as_ref()?.subscription_details.as_ref()?;
        Some(&details.subscription)
    }
}

/// The payment of an invoice.
#[derive(Debug, Clone, Deserialize)]
pub struct InvoicePayment {
    /// `paid`, `open` or `canceled`.
    pub status: String,
    /// The payment.
    pub payment: PaymentReference,
}

/// The means of a payment.
#[derive(Debug, Clone, Deserialize)]
pub struct PaymentReference {
    /// A payment intent.
    pub payment_intent: Option<String>,
}

/// A subscription schedule.
#[derive(Debug, Clone, Deserialize)]
pub struct Schedule {
    /// The id.
    pub id: String,
    /// The subscription, while it manages one.
    pub subscription: Option<String>,
    /// The subscription that it has released.
    pub released_subscription: Option<String>,
    /// The phases, with their times.
    #[serde(default)]
    pub phases: Vec<Phase>,
}

/// A phase of a schedule.
#[derive(Debug, Clone, Deserialize)]
pub struct Phase {
    /// In Unix seconds.
    pub start_date: i64,
    /// In Unix seconds.
    pub end_date: i64,
    /// The items that are paid during it.
    pub items: Vec<PhaseItem>,
}

/// An item of a phase.
#[derive(Debug, Clone, Deserialize)]
pub struct PhaseItem {
    /// Id of its price.
    pub price: String,
}

/// The type of a webhook event, whatever else it holds.
#[derive(Debug, Clone, Deserialize)]
pub struct EventKind {
    /// The type of the event, such as `invoice.paid`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// A webhook event about an object that has an id; not all have one. Only the id is used; the object is fetched again.
#[derive(Debug, Clone, Deserialize)]
pub struct Event {
    /// The id.
    pub id: String,
    /// The object.
    pub data: EventData,
}

/// The object that an event is about.
#[derive(Debug, Clone, Deserialize)]
pub struct EventData {
    /// The object as it was.
    pub object: EventObject,
}

/// The object that an event is about.
#[derive(Debug, Clone, Deserialize)]
pub struct EventObject {
    /// The id.
    pub id: String,
}

#[cfg(test)]
mod tests {
    use super::{Charge, Dispute, Refund};

    #[test]
    fn what_is_taken_back_follows_from_the_refunds_and_disputes_that_count() {
        let charge = Charge {
            id: "ch_1".to_owned(),
            payment_intent: Some("pi_1".to_owned()),
            amount: 1_000,
            amount_refunded: 0,
        };
        let dispute =
            |status: &str| Dispute { charge: "ch_1".to_owned(), status: status.to_owned() };
        let refund = |(amount, status): (i64, &str)| Refund {
            charge: Some("ch_1".to_owned()),
            amount,
            status: Some(status.to_owned()),
        };
        type Case = (&'static [&'static str], &'static [(i64, &'static str)], i64);
        let cases: [Case; 16] = [
            (&[], &[], 0),
            (&[], &[(1, "succeeded")], 0),
            (&[], &[(333, "succeeded")], 166),
            (&[], &[(333, "pending")], 166),
            (&[], &[(333, "requires_action")], 166),
            (&[], &[(333, "failed")], 0),
            (&[], &[(333, "canceled")], 0),
            (&[], &[(500, "succeeded"), (500, "failed")], 250),
            (&[], &[(500, "succeeded"), (500, "succeeded")], 500),
            (&["needs_response"], &[], 500),
            (&["under_review"], &[], 500),
            (&["lost"], &[], 500),
            (&["won"], &[], 0),
            (&["prevented"], &[(333, "succeeded")], 166),
            (&["warning_needs_response", "warning_under_review", "warning_closed"], &[], 0),
            (&["won", "lost"], &[], 500),
        ];
        for (disputes, refunds, back) in cases {
            let disputes: Vec<_> = disputes.iter().map(|status| dispute(status)).collect();
            let refunds: Vec<_> = refunds.iter().copied().map(refund).collect();
            let found = charge.credits_taken_back(500, &disputes, &refunds);
            assert_eq!(found, back, "{disputes:?} {refunds:?}");
        }
    }
}
