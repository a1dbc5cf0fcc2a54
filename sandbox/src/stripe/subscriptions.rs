//! Subscriptions: their items, their end, their pause.

use serde_json::{Value, json};

use super::{
    catalog,
    clock::month_after,
    error::{StripeError, StripeResult},
    form::Form,
    invoices::{self, InvoiceDraft},
    objects::{Objects, text},
};

const FEEDBACK: [&str; 8] = [
    "customer_service",
    "low_quality",
    "missing_features",
    "other",
    "switched_service",
    "too_complex",
    "too_expensive",
    "unused",
];

/// Creates a subscription with these prices; the first invoice is open.
pub(super) fn make(
    books: &mut Objects,
    customer: &str,
    prices: &[String],
    metadata: Value,
) -> String {
    let (start, end) = (books.now, month_after(books.now));
    let id = books.add(
        "sub",
        "subscription",
        json!({
            "customer": customer, "status": "incomplete", "currency": "usd", "metadata": metadata,
            "cancel_at_period_end": false, "cancel_at": null, "canceled_at": null, "ended_at": null,
            "cancellation_details": {"comment": null, "feedback": null, "reason": null},
            "pause_collection": null, "schedule": null, "latest_invoice": null,
            "start_date": start, "billing_cycle_anchor": start, "collection_method": "charge_automatically",
            "billing_mode": {"type": "flexible"}, "default_payment_method": null, "trial_end": null,
        }),
    );
    let items: Vec<_> = prices.iter().map(|price| item(books, &id, price, (start, end))).collect();
    books.set(&id, json!({ "items": list(items) }));
    id
}

fn item(books: &Objects, subscription: &str, price: &str, period: (i64, i64)) -> Value {
    json!({
        "id": format!("si_{}", crate::random::text(crate::random::BASE62, 14)),
        "object": "subscription_item", "created": books.now, "subscription": subscription, "quantity": 1,
        "price": books.shown(price), "metadata": {},
        "current_period_start": period.0, "current_period_end": period.1,
    })
}

fn list(items: Vec<Value>) -> Value {
    json!({"object": "list", "data": items, "has_more": false})
}

/// Returns the items of a subscription.
pub(super) fn items(subscription: &Value) -> Vec<Value> {
    subscription["items"]["data"].as_array().cloned().unwrap_or_default()
}

/// Returns the start and end of a subscription's period.
pub(super) fn period(subscription: &Value) -> (i64, i64) {
    let first = &subscription["items"]["data"][0];
    let at = |name: &str| first[name].as_i64().unwrap_or(0);
    (at("current_period_start"), at("current_period_end"))
}

/// Creates the invoice of a subscription's period; returns its id.
pub(super) fn bill(books: &mut Objects, id: &str, reason: &'static str) -> String {
    let subscription = books.shown(id);
    let lines = items(&subscription).into_iter().map(|item| {
        let amount = item["price"]["unit_amount"].as_i64().unwrap_or(0);
        (item["id"].clone(), item["price"].clone(), amount)
    });
    let bill = InvoiceDraft {
        customer: text(&subscription, "customer"),
        subscription: id,
        reason,
        period: period(&subscription),
        lines: lines.collect(),
    };
    invoices::create(books, &bill)
}

/// Starts the next period, with the prices of a schedule if it has one.
pub(super) fn begin_period(books: &mut Objects, id: &str, start: i64, prices: Option<&[String]>) {
    let subscription = books.shown(id);
    let period = (start, month_after(start));
    let items = match prices {
        Some(prices) => {
            let kept = items(&subscription);
            let known = |price: &String| {
                kept.iter().find(|item| item["price"]["id"] == price.as_str()).cloned()
            };
            prices
                .iter()
                .map(|price| known(price).unwrap_or_else(|| item(books, id, price, period)))
                .collect()
        }
        None => items(&subscription),
    };
    let moved = items.into_iter().map(|mut item| {
        item["current_period_start"] = period.0.into();
        item["current_period_end"] = period.1.into();
        item
    });
    books.set(id, json!({ "items": list(moved.collect()) }));
}

/// Ends a subscription.
pub(super) fn end(books: &mut Objects, id: &str, reason: &str) {
    let (now, subscription) = (books.now, books.shown(id));
    let mut details = subscription["cancellation_details"].clone();
    details["reason"] = reason.into();
    let canceled_at = subscription["canceled_at"].as_i64().unwrap_or(now);
    if let Some(schedule) = subscription["schedule"].as_str() {
        books.set(schedule, json!({"status": "canceled", "canceled_at": now}));
        books.emit("subscription_schedule.canceled", schedule);
    }
    books.set(
        id,
        json!({
            "status": "canceled", "canceled_at": canceled_at, "ended_at": now, "cancellation_details": details,
            "schedule": null,
        }),
    );
    if let Some(invoice) = subscription["latest_invoice"].as_str()
        && books.any(invoice).is_some_and(|invoice| invoice["status"] == "open")
    {
        invoices::void(books, invoice);
    }
    books.emit("customer.subscription.deleted", id);
}

/// `POST /v1/subscriptions/{id}`.
pub(super) fn update(books: &mut Objects, id: &str, form: &Form) -> StripeResult<String> {
    form.require_known(&[
        "cancel_at",
        "cancel_at_period_end",
        "cancellation_details.comment",
        "cancellation_details.feedback",
        "pause_collection*",
        "items.*",
        "proration_behavior",
        "payment_behavior",
        "metadata.*",
    ])?;
    let subscription = books.find("subscription", id, "id")?.clone();
    if !matches!(text(&subscription, "status"), "active" | "past_due" | "trialing") {
        let message =
            "A canceled subscription can only update its cancellation_details and metadata.";
        return Err(StripeError::invalid(message));
    }
    let metadata = form.texts_by_name("metadata");
    if !metadata.is_empty() {
        let mut all = subscription["metadata"].as_object().cloned().unwrap_or_default();
        all.extend(metadata);
        books.set(id, json!({ "metadata": all }));
    }
    require_unscheduled(&subscription, form)?;
    change_end(books, id, &subscription, form)?;
    change_pause(books, id, form)?;
    if form.has("items") {
        change_items(books, id, &subscription, form)?;
    }
    books.emit("customer.subscription.updated", id);
    Ok(id.to_owned())
}

/// Refuses changes of fields that a schedule manages.
fn require_unscheduled(subscription: &Value, form: &Form) -> StripeResult<()> {
    let Some(schedule) = subscription["schedule"].as_str() else { return Ok(()) };
    let Some(param) =
        ["items", "cancel_at", "cancel_at_period_end"].into_iter().find(|name| form.has(name))
    else {
        return Ok(());
    };
    let message = format!(
        "The subscription is managed by the subscription schedule `{schedule}`, and updating it directly is not allowed. \
         Please update the schedule instead."
    );
    Err(StripeError::invalid(message).about(param))
}

fn details(subscription: &Value, form: &Form) -> StripeResult<Value> {
    let mut details = subscription["cancellation_details"].clone();
    if let Some(comment) = form.text("cancellation_details.comment") {
        details["comment"] = comment.into();
    }
    if let Some(feedback) = form.word("cancellation_details.feedback", &FEEDBACK)? {
        details["feedback"] = feedback.into();
    }
    Ok(details)
}

fn change_end(
    books: &mut Objects,
    id: &str,
    subscription: &Value,
    form: &Form,
) -> StripeResult<()> {
    let mut details = details(subscription, form)?;
    let (now, end) = (books.now, period(subscription).1);
    if form.has("cancel_at") {
        if form.has("cancel_at_period_end") {
            let message =
                "You may only specify one of these parameters: cancel_at, cancel_at_period_end.";
            return Err(StripeError::invalid(message));
        }
        let at = form.integer("cancel_at")?;
        if at.is_some_and(|at| at <= now) {
            let message = "The timestamp must be in the future.";
            return Err(StripeError::invalid(message).about("cancel_at"));
        }
        let (since, reason) = (at.map(|_| now), at.map(|_| "cancellation_requested"));
        books
            .set(id, json!({"cancel_at_period_end": false, "cancel_at": at, "canceled_at": since}));
        details["reason"] = reason.into();
    }
    match form.flag("cancel_at_period_end")? {
        Some(true) => {
            details["reason"] = "cancellation_requested".into();
            books.set(
                id,
                json!({"cancel_at_period_end": true, "cancel_at": end, "canceled_at": now}),
            );
        }
        Some(false) => {
            details = json!({"comment": null, "feedback": null, "reason": null});
            books.set(
                id,
                json!({"cancel_at_period_end": false, "cancel_at": null, "canceled_at": null}),
            );
        }
        None => {}
    }
    books.set(id, json!({ "cancellation_details": details }));
    Ok(())
}

fn change_pause(books: &mut Objects, id: &str, form: &Form) -> StripeResult<()> {
    if !form.has("pause_collection") {
        return Ok(());
    }
    if form.at("pause_collection").is_some_and(Value::is_string) {
        books.set(id, json!({"pause_collection": null}));
        return Ok(());
    }
    let behaviors = ["void", "keep_as_draft", "mark_uncollectible"];
    let behavior = form.word("pause_collection.behavior", &behaviors)?;
    let behavior = behavior.ok_or_else(|| StripeError::missing("pause_collection[behavior]"))?;
    let resumes_at = form.integer("pause_collection.resumes_at")?;
    if resumes_at.is_some_and(|at| at <= books.now) {
        let message = "The timestamp must be in the future.";
        return Err(StripeError::invalid(message).about("pause_collection[resumes_at]"));
    }
    books.set(id, json!({"pause_collection": {"behavior": behavior, "resumes_at": resumes_at}}));
    Ok(())
}

/// Replaces the prices of items; with `always_invoice` the difference is charged at once.
fn change_items(
    books: &mut Objects,
    id: &str,
    subscription: &Value,
    form: &Form,
) -> StripeResult<()> {
    let (items, due) = changed_items(books, subscription, form, "")?;
    let customer = text(subscription, "customer").to_owned();
    if due > 0 && super::customers::declines(books, &customer) {
        return Err(StripeError::declined());
    }
    books.set(id, json!({ "items": list(items.clone()) }));
    if due > 0 {
        let invoice = invoices::create(books, &proration(books.now, subscription, &items, due));
        invoices::pay(books, &invoice);
    }
    Ok(())
}

/// Returns the invoice for the rest of a period at a higher price.
fn proration<'a>(now: i64, subscription: &'a Value, items: &[Value], due: i64) -> InvoiceDraft<'a> {
    let first = items.first().cloned().unwrap_or_default();
    InvoiceDraft {
        customer: text(subscription, "customer"),
        subscription: text(subscription, "id"),
        reason: "subscription_update",
        period: (now, period(subscription).1),
        lines: vec![(first["id"].clone(), first["price"].clone(), due)],
    }
}

/// Returns the items of a subscription after the changes under `prefix`, and what is due now for the rest of the period.
fn changed_items(
    books: &Objects,
    subscription: &Value,
    form: &Form,
    prefix: &str,
) -> StripeResult<(Vec<Value>, i64)> {
    let (id, period) = (text(subscription, "id"), period(subscription));
    let mut items = items(subscription);
    let missing = |named: Option<&str>| {
        StripeError::no_such("subscription item", named.unwrap_or(""), "items")
    };
    let cents = |price: &Value| price["unit_amount"].as_i64().unwrap_or(0);
    let total = |items: &[Value]| items.iter().map(|item| cents(&item["price"])).sum::<i64>();
    let before = total(&items);
    for change in form.list(&format!("{prefix}items")) {
        let named = change["id"].as_str();
        let place = items.iter().position(|item| named.is_some() && item["id"].as_str() == named);
        if named.is_some() && place.is_none() {
            return Err(missing(named));
        }
        if change["deleted"] == "true" {
            let place = place.ok_or_else(|| missing(named))?;
            items.remove(place);
            continue;
        }
        let price = change["price"].as_str().ok_or_else(|| StripeError::missing("items[price]"))?;
        let sold = catalog::purchasable_price(books, price, "items[price]")?;
        match place {
            Some(place) => items[place]["price"] = super::objects::shown(sold),
            None => items.push(item(books, id, price, period)),
        }
    }
    let behaviors = ["none", "create_prorations", "always_invoice"];
    let behavior = form.word(&format!("{prefix}proration_behavior"), &behaviors)?;
    let left = (period.1 - books.now).max(0);
    let due = (total(&items) - before) * left / (period.1 - period.0).max(1);
    Ok((items, if behavior == Some("always_invoice") { due.max(0) } else { 0 }))
}

/// `POST /v1/invoices/create_preview`: the invoice that a change of items would make. Nothing is stored.
pub(super) fn preview(books: &Objects, form: &Form) -> StripeResult<Value> {
    form.require_known(&[
        "subscription",
        "subscription_details.items.*",
        "subscription_details.proration_behavior",
    ])?;
    let id = form.required("subscription")?;
    let subscription = books.find("subscription", id, "subscription")?;
    require_unscheduled(subscription, form)?;
    let (items, due) = changed_items(books, subscription, form, "subscription_details.")?;
    Ok(invoices::shown(books, &proration(books.now, subscription, &items, due)))
}

/// `DELETE /v1/subscriptions/{id}`.
pub(super) fn cancel(books: &mut Objects, id: &str, form: &Form) -> StripeResult<String> {
    form.require_known(&[
        "invoice_now",
        "prorate",
        "cancellation_details.comment",
        "cancellation_details.feedback",
    ])?;
    let subscription = books.find("subscription", id, "id")?.clone();
    if matches!(text(&subscription, "status"), "canceled" | "incomplete_expired") {
        return Err(StripeError::no_such("subscription", id, "id"));
    }
    let details = details(&subscription, form)?;
    books.set(id, json!({ "cancellation_details": details }));
    end(books, id, "cancellation_requested");
    Ok(id.to_owned())
}
