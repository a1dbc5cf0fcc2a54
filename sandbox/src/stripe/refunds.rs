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
    books.emit("charge.refunded", &charge);
    Ok(id)
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
    Ok(id)
}
