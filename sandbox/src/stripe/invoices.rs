//! Invoices and their payments.

use serde_json::{Value, json};

use super::{
    customers,
    objects::{Objects, text},
};

/// Days after which a failed payment is retried; after the last attempt the subscription ends.
pub(super) const RETRIES: [i64; 3] = [3, 8, 15];
const DAY: i64 = 86_400;

/// The content of a new invoice.
pub(super) struct InvoiceDraft<'a> {
    pub customer: &'a str,
    pub subscription: &'a str,
    pub reason: &'static str,
    pub period: (i64, i64),
    /// Subscription item, price and amount.
    pub lines: Vec<(Value, Value, i64)>,
}

/// Creates an open invoice; returns its id.
pub(super) fn create(books: &mut Objects, bill: &InvoiceDraft<'_>) -> String {
    let id = books.add("in", "invoice", body(books, bill));
    books.set(bill.subscription, json!({ "latest_invoice": id }));
    id
}

/// Returns an invoice that is not stored.
pub(super) fn shown(books: &Objects, bill: &InvoiceDraft<'_>) -> Value {
    let mut shown = super::objects::shown(&body(books, bill));
    shown["object"] = "invoice".into();
    shown["id"] = format!("upcoming_in_{}", crate::random::text(crate::random::BASE62, 24)).into();
    shown["status"] = "draft".into();
    shown
}

fn body(books: &Objects, bill: &InvoiceDraft<'_>) -> Value {
    let total: i64 = bill.lines.iter().map(|(_, _, amount)| amount).sum();
    let period = json!({"start": bill.period.0, "end": bill.period.1});
    let line = |(item, price, amount): &(Value, Value, i64)| {
        json!({
            "object": "line_item", "amount": amount, "currency": "usd", "quantity": 1, "period": period,
            "parent": {"type": "subscription_item_details", "subscription_item_details":
                {"subscription": bill.subscription, "subscription_item": item, "proration": bill.reason == "subscription_update"}},
            "pricing": {"type": "price_details", "unit_amount_decimal": amount.to_string(),
                "price_details": {"price": price["id"], "product": price["product"]}},
        })
    };
    let lines: Vec<_> = bill.lines.iter().map(line).collect();
    let metadata = books.get("subscription", bill.subscription).map(|it| it["metadata"].clone());
    let now = books.now;
    json!({
            "customer": bill.customer, "status": "open", "billing_reason": bill.reason, "currency": "usd",
            "amount_due": total, "amount_paid": 0, "amount_remaining": total, "total": total, "subtotal": total,
            "attempt_count": 0, "attempted": false, "next_payment_attempt": null, "auto_advance": true,
            "period_start": bill.period.0, "period_end": bill.period.1,
            "lines": {"object": "list", "data": lines, "has_more": false},
            "parent": {"type": "subscription_details",
                "subscription_details": {"subscription": bill.subscription, "metadata": metadata}},
            "status_transitions": {"finalized_at": now, "paid_at": null, "voided_at": null},
            "collection_method": "charge_automatically", "metadata": {}, "_first_try": now,
    })
}

/// Creates a payment intent; a paid one has a charge.
pub(super) fn create_payment_intent(
    books: &mut Objects,
    customer: &str,
    amount: i64,
    metadata: Value,
    status: &str,
) -> String {
    let id = books.add(
        "pi",
        "payment_intent",
        json!({
            "customer": customer, "amount": amount, "currency": "usd", "status": "processing",
            "amount_received": 0, "latest_charge": null, "metadata": metadata,
        }),
    );
    match status {
        "succeeded" => succeed(books, &id),
        other => books.set(&id, json!({ "status": other })),
    }
    id
}

/// Marks a payment intent as paid.
pub(super) fn succeed(books: &mut Objects, id: &str) {
    let Some(intent) = books.get("payment_intent", id).cloned() else { return };
    let charge = books.add(
        "ch",
        "charge",
        json!({
            "amount": intent["amount"], "amount_refunded": 0, "refunded": false, "paid": true, "disputed": false,
            "currency": "usd", "customer": intent["customer"], "payment_intent": id, "status": "succeeded",
            "metadata": intent["metadata"],
        }),
    );
    books.set(
        id,
        json!({"status": "succeeded", "amount_received": intent["amount"], "latest_charge": charge}),
    );
    books.emit("payment_intent.succeeded", id);
}

/// Tries to pay an open invoice with the customer's card; returns true if it succeeded.
pub(super) fn pay(books: &mut Objects, id: &str) -> bool {
    let Some(invoice) = books.get("invoice", id).cloned() else { return false };
    let customer = text(&invoice, "customer").to_owned();
    if customers::declines(books, &customer) {
        fail(books, id);
        return false;
    }
    let amount = invoice["amount_remaining"].as_i64().unwrap_or(0);
    if amount > 0 {
        let intent = create_payment_intent(books, &customer, amount, json!({}), "succeeded");
        record(books, id, &intent, amount, "paid");
    }
    settle(books, id);
    true
}

/// Records which payment intent pays an invoice.
pub(super) fn record(books: &mut Objects, invoice: &str, intent: &str, amount: i64, status: &str) {
    let paid = if status == "paid" { Some(amount) } else { None };
    books.add(
        "inpay",
        "invoice_payment",
        json!({
            "invoice": invoice, "status": status, "amount_paid": paid, "amount_requested": amount,
            "currency": "usd", "is_default": true,
            "payment": {"type": "payment_intent", "payment_intent": intent},
        }),
    );
}

/// Marks an invoice as paid.
pub(super) fn settle(books: &mut Objects, id: &str) {
    let (now, due) =
        (books.now, books.any(id).map_or(0, |it| it["amount_due"].as_i64().unwrap_or(0)));
    let tries = tries(books, id) + 1;
    books.set(
        id,
        json!({
            "status": "paid", "amount_paid": due, "amount_remaining": 0, "attempted": true, "attempt_count": tries,
            "next_payment_attempt": null, "auto_advance": false,
            "status_transitions": {"finalized_at": now, "paid_at": now, "voided_at": null},
        }),
    );
    books.emit("invoice.paid", id);
    books.emit("invoice.payment_succeeded", id);
}

fn tries(books: &Objects, id: &str) -> i64 {
    books.any(id).map_or(0, |invoice| invoice["attempt_count"].as_i64().unwrap_or(0))
}

/// Records that a payment failed, and when the next attempt is.
pub(super) fn fail(books: &mut Objects, id: &str) {
    let tries = tries(books, id) + 1;
    let first = books.any(id).map_or(0, |invoice| invoice["_first_try"].as_i64().unwrap_or(0));
    let next = usize::try_from(tries - 1).ok().and_then(|place| RETRIES.get(place));
    let next = next.map(|days| first + days * DAY);
    books.set(id, json!({"attempted": true, "attempt_count": tries, "next_payment_attempt": next}));
    books.emit("invoice.payment_failed", id);
}

/// Voids an invoice.
pub(super) fn void(books: &mut Objects, id: &str) {
    let now = books.now;
    books.set(
        id,
        json!({
            "status": "void", "amount_remaining": 0, "next_payment_attempt": null, "auto_advance": false,
            "status_transitions": {"finalized_at": now, "paid_at": null, "voided_at": now},
        }),
    );
    books.emit("invoice.voided", id);
}
