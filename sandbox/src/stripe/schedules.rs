//! Subscription schedules: a change of prices at the end of a period.

use serde_json::{Value, json};

use super::{
    catalog,
    clock::month_after,
    error::{StripeError, StripeResult},
    form::Form,
    objects::{Objects, text},
    subscriptions,
};

/// `POST /v1/subscription_schedules`, from a subscription.
pub(super) fn create(books: &mut Objects, form: &Form) -> StripeResult<String> {
    form.require_known(&["from_subscription", "metadata.*"])?;
    let of = form.required("from_subscription")?.to_owned();
    let subscription = books.find("subscription", &of, "from_subscription")?.clone();
    if let Some(schedule) = subscription["schedule"].as_str() {
        let message = format!(
            "You cannot migrate a subscription that is already attached to a schedule: {schedule}"
        );
        return Err(StripeError::invalid(message).about("from_subscription"));
    }
    if !matches!(text(&subscription, "status"), "active" | "past_due" | "trialing") {
        let message = "You cannot migrate a subscription that is canceled.";
        return Err(StripeError::invalid(message).about("from_subscription"));
    }
    let (start, end) = subscriptions::period(&subscription);
    let items: Vec<_> = subscriptions::items(&subscription)
        .iter()
        .map(|item| json!({"price": item["price"]["id"], "quantity": item["quantity"]}))
        .collect();
    let id = books.add(
        "sub_sched",
        "subscription_schedule",
        json!({
            "status": "active", "subscription": of, "customer": subscription["customer"], "end_behavior": "release",
            "current_phase": {"start_date": start, "end_date": end},
            "phases": [{"start_date": start, "end_date": end, "items": items, "proration_behavior": "create_prorations"}],
            "released_at": null, "released_subscription": null, "canceled_at": null, "completed_at": null,
            "metadata": form.texts_by_name("metadata"),
        }),
    );
    books.set(&of, json!({ "schedule": id }));
    books.emit("subscription_schedule.created", &id);
    Ok(id)
}

/// `POST /v1/subscription_schedules/{id}`.
pub(super) fn update(books: &mut Objects, id: &str, form: &Form) -> StripeResult<String> {
    form.require_known(&[
        "end_behavior",
        "proration_behavior",
        "metadata.*",
        "phases..start_date",
        "phases..end_date",
        "phases..proration_behavior",
        "phases..items..price",
        "phases..items..quantity",
        "phases..metadata.*",
    ])?;
    let schedule = active(books, id)?;
    let mut phases = Vec::new();
    let given = form.list("phases");
    for (place, phase) in given.iter().enumerate() {
        phases.push(phase_of(books, place, phase, phases.last())?);
    }
    let first = schedule["phases"][0]["start_date"].as_i64();
    if phases.first().is_some_and(|phase: &Value| phase["start_date"].as_i64() != first) {
        let message = "You can not modify the start date of the current phase.";
        return Err(StripeError::invalid(message).about("phases[0][start_date]"));
    }
    if !phases.is_empty() {
        books.set(id, json!({ "phases": phases }));
    }
    if let Some(end) = form.word("end_behavior", &["release", "cancel"])? {
        books.set(id, json!({ "end_behavior": end }));
    }
    books.emit("subscription_schedule.updated", id);
    Ok(id.to_owned())
}

fn phase_of(
    books: &Objects,
    place: usize,
    phase: &Value,
    before: Option<&Value>,
) -> StripeResult<Value> {
    let name = |rest: &str| format!("phases[{place}][{rest}]");
    let date = |name: &str| phase[name].as_str().and_then(|text| text.parse::<i64>().ok());
    let start = date("start_date").or_else(|| before.and_then(|it| it["end_date"].as_i64()));
    let start = start.ok_or_else(|| StripeError::missing(&name("start_date")))?;
    let end = date("end_date").unwrap_or_else(|| month_after(start));
    if end <= start {
        return Err(
            StripeError::invalid("A phase must end after its start.").about(&name("end_date"))
        );
    }
    let items = phase["items"].as_object().cloned().unwrap_or_default();
    if items.is_empty() {
        return Err(StripeError::missing(&name("items")));
    }
    let mut sold = Vec::new();
    for item in items.values() {
        let price =
            item["price"].as_str().ok_or_else(|| StripeError::missing(&name("items][price")))?;
        catalog::purchasable_price(books, price, &name("items][price"))?;
        sold.push(json!({"price": price, "quantity": 1}));
    }
    let prorates = phase["proration_behavior"].as_str().unwrap_or("create_prorations");
    Ok(json!({"start_date": start, "end_date": end, "items": sold, "proration_behavior": prorates}))
}

fn active(books: &Objects, id: &str) -> StripeResult<Value> {
    let schedule = books.find("subscription_schedule", id, "id")?;
    if schedule["status"] != "active" {
        let message = format!(
            "You cannot change a subscription schedule that is currently in the `{}` status.",
            text(schedule, "status")
        );
        return Err(StripeError::invalid(message));
    }
    Ok(schedule.clone())
}

/// `POST /v1/subscription_schedules/{id}/release`.
pub(super) fn release(books: &mut Objects, id: &str, form: &Form) -> StripeResult<String> {
    form.require_known(&["preserve_cancel_date"])?;
    active(books, id)?;
    detach(books, id);
    Ok(id.to_owned())
}

/// Detaches the schedule; the subscription stays as it is.
fn detach(books: &mut Objects, id: &str) {
    let (now, schedule) = (books.now, books.shown(id));
    let of = text(&schedule, "subscription").to_owned();
    books.set(
        id,
        json!({
            "status": "released", "released_at": now, "released_subscription": of, "subscription": null,
            "current_phase": null,
        }),
    );
    books.set(&of, json!({"schedule": null}));
    books.emit("subscription_schedule.released", id);
    books.emit("customer.subscription.updated", &of);
}

/// Returns the prices of the phase that begins at `start`. After the last phase it detaches itself.
pub(super) fn prices_at(books: &mut Objects, schedule: &str, start: i64) -> Option<Vec<String>> {
    let shown = books.shown(schedule);
    let phases = shown["phases"].as_array().cloned().unwrap_or_default();
    let within = |phase: &&Value| {
        let at = |name: &str| phase[name].as_i64().unwrap_or(0);
        (at("start_date")..at("end_date")).contains(&start)
    };
    let Some(phase) = phases.iter().find(within) else {
        detach(books, schedule);
        return None;
    };
    let (from, to) = (phase["start_date"].clone(), phase["end_date"].clone());
    books.set(schedule, json!({"current_phase": {"start_date": from, "end_date": to}}));
    books.emit("subscription_schedule.updated", schedule);
    let items = phase["items"].as_array().cloned().unwrap_or_default();
    Some(items.iter().map(|item| text(item, "price").to_owned()).collect())
}
