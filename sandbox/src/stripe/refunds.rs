//! Refunds and disputes of charges.

use serde_json::json;

use super::{
    error::{StripeError, StripeResult},
    form::Form,
    objects::{Objects, text},
};

/// `POST /v1/refunds`.
pub(super) fn create(books: &mut Objects, form: &Form) -> StripeResult<String> {
    form.require_known(&["charge", "payment_intent", "amount", "reason", "metadata.*"])?;
    let charge = match (form.text("charge"), form.text("payment_intent")) {
        (Some(charge), _) => charge.to_owned(),
        (None, Some(intent)) => {
            let intent = books.find("payment_intent", intent, "payment_intent")?;
            let unpaid = || {
                StripeError::invalid(
                    "This PaymentIntent does not have a successful charge to refund.",
                )
            };
            intent["latest_charge"].as_str().ok_or_else(unpaid)?.to_owned()
        }
        (None, None) => {
            let message = "One of the following params should be provided for this request: payment_intent or charge.";
            return Err(StripeError::invalid(message));
        }
    };
    let found = books.find("charge", &charge, "charge")?.clone();
    let number = |name: &str| found[name].as_i64().unwrap_or(0);
    let left = number("amount") - number("amount_refunded");
    if left == 0 {
        let message = format!("Charge {charge} has already been refunded.");
        return Err(StripeError::invalid(message).with_code("charge_already_refunded"));
    }
    let amount = form.integer("amount")?.unwrap_or(left);
    if !(1..=left).contains(&amount) {
        let message = format!(
            "Refund amount ({amount}) is greater than unrefunded amount on charge ({left})."
        );
        return Err(StripeError::invalid(message).about("amount"));
    }
    let reason = form
        .word("reason", &["duplicate", "fraudulent", "requested_by_customer"])?
        .map(str::to_owned);
    let id = books.add(
        "re",
        "refund",
        json!({
            "amount": amount, "charge": charge, "payment_intent": text(&found, "payment_intent"), "currency": "usd",
            "status": "succeeded", "reason": reason, "metadata": form.texts_by_name("metadata"),
        }),
    );
    let refunded = number("amount_refunded") + amount;
    books.set(
        &charge,
        json!({"amount_refunded": refunded, "refunded": refunded == number("amount")}),
    );
    books.emit("refund.created", &id);
    books.emit("charge.refunded", &charge);
    Ok(id)
}

/// Fails a refund that had succeeded, as a closed bank account does: the money is ours again.
/// Source: Stripe's guide to failed refunds.
pub(super) fn fail(books: &mut Objects, id: &str) -> StripeResult<String> {
    let refund = books.find("refund", id, "id")?.clone();
    if refund["status"] == "failed" {
        return Err(StripeError::invalid("The refund has failed already."));
    }
    let charge = text(&refund, "charge").to_owned();
    let refunded = books.any(&charge).map_or(0, |it| it["amount_refunded"].as_i64().unwrap_or(0));
    let left = refunded - refund["amount"].as_i64().unwrap_or(0);
    books.set(id, json!({"status": "failed", "failure_reason": "expired_or_canceled_card"}));
    books.set(&charge, json!({"amount_refunded": left, "refunded": false}));
    for event in ["refund.updated", "refund.failed", "charge.refund.updated"] {
        books.emit(event, id);
    }
    Ok(id.to_owned())
}

/// Closes a dispute with the bank's decision, `won` or `lost`. The charge stays marked as disputed.
pub(super) fn close(books: &mut Objects, id: &str, status: &str) -> StripeResult<String> {
    let dispute = books.find("dispute", id, "id")?.clone();
    if matches!(text(&dispute, "status"), "won" | "lost") {
        return Err(StripeError::invalid("The dispute is closed already."));
    }
    if !matches!(status, "won" | "lost") {
        return Err(StripeError::invalid("A dispute is `won` or `lost`.").about("status"));
    }
    books.set(id, json!({ "status": status }));
    books.emit("charge.dispute.closed", id);
    if status == "won" {
        books.emit("charge.dispute.funds_reinstated", id);
    }
    Ok(id.to_owned())
}

/// Disputes a payment, as a customer's bank does.
pub(super) fn dispute(books: &mut Objects, charge: &str) -> StripeResult<String> {
    let found = books.find("charge", charge, "charge")?.clone();
    if found["disputed"] == true {
        return Err(StripeError::invalid("The charge is disputed already."));
    }
    books.set(charge, json!({"disputed": true}));
    let id = books.add(
        "du",
        "dispute",
        json!({
            "amount": found["amount"], "charge": charge, "payment_intent": found["payment_intent"],
            "currency": "usd", "status": "needs_response", "reason": "general", "metadata": {},
        }),
    );
    books.emit("charge.dispute.created", &id);
    books.emit("charge.dispute.funds_withdrawn", &id);
    Ok(id)
}
