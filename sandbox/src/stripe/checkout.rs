//! Checkout sessions, and the user's actions on their page.

use serde_json::{Value, json};

use super::{
    catalog, customers,
    error::{StripeError, StripeResult},
    form::Form,
    invoices,
    objects::{Objects, text},
    subscriptions,
};

/// The default and the shortest time a session is open, in seconds.
const OPEN: i64 = 86_400;
const OPEN_AT_LEAST: i64 = 1_800;

/// `POST /v1/checkout/sessions`.
pub(super) fn create(books: &mut Objects, form: &Form, pages: &str) -> StripeResult<String> {
    form.require_known(&[
        "mode",
        "line_items..price",
        "line_items..quantity",
        "success_url",
        "cancel_url",
        "client_reference_id",
        "customer",
        "customer_email",
        "customer_creation",
        "metadata.*",
        "subscription_data.metadata.*",
        "payment_intent_data.metadata.*",
        "allow_promotion_codes",
        "expires_at",
        "ui_mode",
        "automatic_tax.enabled",
        "billing_address_collection",
        "locale",
        "tax_id_collection.enabled",
    ])?;
    let mode = form.word("mode", &["payment", "subscription", "setup"])?;
    let mode = mode.ok_or_else(|| StripeError::missing("mode"))?.to_owned();
    form.word("ui_mode", &["hosted_page", "embedded_page", "elements"])?;
    let prices = prices(books, form, &mode)?;
    let success =
        address(form, "success_url")?.ok_or_else(|| StripeError::missing("success_url"))?;
    let cancel = address(form, "cancel_url")?;
    let customer = form.text("customer").map(str::to_owned);
    if let Some(customer) = &customer {
        books.find("customer", customer, "customer")?;
        if form.has("customer_email") {
            let message = "You may only specify one of these parameters: customer, customer_email.";
            return Err(StripeError::invalid(message));
        }
    }
    let expires = form.integer("expires_at")?.unwrap_or(books.now + OPEN);
    if !(books.now + OPEN_AT_LEAST..=books.now + OPEN).contains(&expires) {
        let message =
            "The `expires_at` timestamp must be between 30 minutes and 24 hours from now.";
        return Err(StripeError::invalid(message).about("expires_at"));
    }
    let amount = |price: &String| books.shown(price)["unit_amount"].as_i64().unwrap_or(0);
    let total: i64 = prices.iter().map(amount).sum();
    let id = format!("cs_test_{}", crate::random::text(crate::random::BASE62, 58));
    let email = form.text("customer_email");
    books.add_as(
        &id,
        "checkout.session",
        json!({
            "mode": mode, "status": "open", "payment_status": "unpaid", "url": format!("{pages}/stripe/checkout/{id}"),
            "success_url": success, "cancel_url": cancel, "client_reference_id": form.text("client_reference_id"),
            "customer": customer, "customer_email": email,
            "customer_details": email.map(|email| json!({"email": email})),
            "subscription": null, "payment_intent": null, "invoice": null, "currency": "usd",
            "amount_total": total, "amount_subtotal": total, "expires_at": expires, "ui_mode": "hosted_page",
            "metadata": form.texts_by_name("metadata"), "_prices": prices,
            "_subscription_metadata": form.texts_by_name("subscription_data.metadata"),
            "_payment_metadata": form.texts_by_name("payment_intent_data.metadata"),
        }),
    );
    Ok(id)
}

fn prices(books: &Objects, form: &Form, mode: &str) -> StripeResult<Vec<String>> {
    let mut prices = Vec::new();
    for (place, item) in form.list("line_items").iter().enumerate() {
        let param = format!("line_items[{place}][price]");
        let id = item["price"].as_str().ok_or_else(|| StripeError::missing(&param))?;
        let price = catalog::purchasable_price(books, id, &param)?;
        if mode == "payment" && price["type"] == "recurring" {
            let message = "You specified `payment` mode but passed a recurring price.";
            return Err(StripeError::invalid(message).about(&param));
        }
        if item["quantity"].as_str().is_none_or(|quantity| quantity != "1") {
            let message = "This account sells one of each: send a quantity of 1.";
            return Err(
                StripeError::invalid(message).about(&format!("line_items[{place}][quantity]"))
            );
        }
        prices.push(id.to_owned());
    }
    let recurring = |id: &String| books.shown(id)["type"] == "recurring";
    if mode == "subscription" && !prices.iter().any(recurring) {
        let message = "You must provide at least one recurring price in `subscription` mode when using prices.";
        return Err(StripeError::invalid(message).about("line_items"));
    }
    if prices.is_empty() && mode != "setup" {
        return Err(StripeError::missing("line_items"));
    }
    Ok(prices)
}

fn address(form: &Form, name: &str) -> StripeResult<Option<String>> {
    let Some(text) = form.text(name) else { return Ok(None) };
    let is_web = |url: url::Url| matches!(url.scheme(), "http" | "https");
    // It may contain `{CHECKOUT_SESSION_ID}`.
    if !url::Url::parse(text).is_ok_and(is_web) {
        return Err(StripeError::invalid("Not a valid URL").with_code("url_invalid").about(name));
    }
    Ok(Some(text.to_owned()))
}

/// Returns a session that is still open.
pub(super) fn open<'a>(books: &'a Objects, id: &str) -> StripeResult<&'a Value> {
    let session = books.find("checkout.session", id, "id")?;
    if session["status"] == "open" {
        return Ok(session);
    }
    Err(StripeError::invalid(format!(
        "This Checkout Session is not open; its status is `{}`.",
        text(session, "status")
    )))
}

/// Returns the address that the user is redirected to after the payment.
pub(super) fn success_url(session: &Value) -> String {
    text(session, "success_url").replace("{CHECKOUT_SESSION_ID}", text(session, "id"))
}

/// Pays a session: at once with a card, or (`later`) by a method whose money arrives later.
pub(super) fn pay(books: &mut Objects, id: &str, later: bool) -> StripeResult<()> {
    let session = open(books, id)?.clone();
    let known = session["customer"].as_str();
    if !later && known.is_some_and(|customer| customers::declines(books, customer)) {
        return Err(StripeError::declined());
    }
    let customer = match known {
        Some(customer) => customer.to_owned(),
        None => customers::make(books, session["customer_email"].as_str(), None, json!({})),
    };
    let email = books.shown(&customer)["email"].clone();
    books.set(
        id,
        json!({"status": "complete", "customer": customer, "customer_details": {"email": email}, "url": null}),
    );
    if session["mode"] == "subscription" {
        subscribe(books, &session, &customer, later);
    } else {
        let amount = session["amount_total"].as_i64().unwrap_or(0);
        let metadata = session["_payment_metadata"].clone();
        let status = if later { "processing" } else { "succeeded" };
        let intent = invoices::create_payment_intent(books, &customer, amount, metadata, status);
        books.set(id, json!({ "payment_intent": intent }));
    }
    let paid = if later { "unpaid" } else { "paid" };
    books.set(id, json!({ "payment_status": paid }));
    books.emit("checkout.session.completed", id);
    Ok(())
}

fn subscribe(books: &mut Objects, session: &Value, customer: &str, later: bool) {
    let prices: Vec<String> =
        serde_json::from_value(session["_prices"].clone()).unwrap_or_default();
    let metadata = session["_subscription_metadata"].clone();
    let subscription = subscriptions::make(books, customer, &prices, metadata);
    let invoice = subscriptions::bill(books, &subscription, "subscription_create");
    books.set(text(session, "id"), json!({"subscription": subscription, "invoice": invoice}));
    if later {
        let amount = session["amount_total"].as_i64().unwrap_or(0);
        let intent =
            invoices::create_payment_intent(books, customer, amount, json!({}), "processing");
        invoices::record(books, &invoice, &intent, amount, "open");
        books.emit("customer.subscription.created", &subscription);
        return;
    }
    books.set(&subscription, json!({"status": "active"}));
    books.emit("customer.subscription.created", &subscription);
    invoices::pay(books, &invoice);
}

/// Returns the payment intent of a session whose money arrives later.
fn pending_payment(books: &Objects, id: &str) -> StripeResult<(Value, String)> {
    let session = books.find("checkout.session", id, "id")?.clone();
    let intent = match session["payment_intent"].as_str() {
        Some(intent) => Some(intent.to_owned()),
        None => books
            .all("invoice_payment")
            .into_iter()
            .find(|payment| payment["invoice"] == session["invoice"])
            .and_then(|payment| payment["payment"]["payment_intent"].as_str().map(str::to_owned)),
    };
    let processing =
        |id: &String| books.any(id).is_some_and(|intent| intent["status"] == "processing");
    match intent.filter(processing) {
        Some(intent) => Ok((session, intent)),
        None => Err(StripeError::invalid("No payment of this Checkout Session is on its way.")),
    }
}

/// Completes a session whose money has arrived.
pub(super) fn payment_arrived(books: &mut Objects, id: &str) -> StripeResult<()> {
    let (session, intent) = pending_payment(books, id)?;
    invoices::succeed(books, &intent);
    if let (Some(subscription), Some(invoice)) =
        (session["subscription"].as_str(), session["invoice"].as_str())
    {
        books.set(subscription, json!({"status": "active"}));
        mark_payment(books, invoice, "paid");
        invoices::settle(books, invoice);
        books.emit("customer.subscription.updated", subscription);
    }
    books.set(id, json!({"payment_status": "paid"}));
    books.emit("checkout.session.async_payment_succeeded", id);
    Ok(())
}

/// Fails a session whose money will not arrive.
pub(super) fn fail(books: &mut Objects, id: &str) -> StripeResult<()> {
    let (session, intent) = pending_payment(books, id)?;
    books.set(&intent, json!({"status": "requires_payment_method"}));
    books.emit("payment_intent.payment_failed", &intent);
    if let (Some(subscription), Some(invoice)) =
        (session["subscription"].as_str(), session["invoice"].as_str())
    {
        mark_payment(books, invoice, "canceled");
        invoices::fail(books, invoice);
        invoices::void(books, invoice);
        books.set(subscription, json!({"status": "incomplete_expired"}));
        books.emit("customer.subscription.updated", subscription);
    }
    books.emit("checkout.session.async_payment_failed", id);
    Ok(())
}

fn mark_payment(books: &mut Objects, invoice: &str, status: &str) {
    let payment = books.all("invoice_payment").into_iter().find(|it| it["invoice"] == invoice);
    if let Some(id) = payment.and_then(|it| it["id"].as_str()).map(str::to_owned) {
        books.set(&id, json!({ "status": status }));
    }
}

/// Expires an unpaid session.
pub(super) fn expire(books: &mut Objects, id: &str) {
    books.set(id, json!({"status": "expired", "url": null}));
    books.emit("checkout.session.expired", id);
}
