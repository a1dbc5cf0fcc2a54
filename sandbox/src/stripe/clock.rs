//! Work that becomes due over time: renewals, retries, ends of pauses, expiring checkouts.

use chrono::{DateTime, Months};
use serde_json::{Value, json};

use super::{
    checkout, invoices,
    objects::{Objects, text},
    schedules, subscriptions,
};

/// The most steps in one run: many years of one subscription.
const STEPS: usize = 10_000;

/// Returns the same day of the next month, or its last day.
pub(super) fn month_after(seconds: i64) -> i64 {
    let date = DateTime::from_timestamp(seconds, 0);
    let next = date.and_then(|date| date.checked_add_months(Months::new(1)));
    next.map_or(seconds + 30 * 86_400, |date| date.timestamp())
}

/// Work that is due at a time.
enum Due {
    PeriodEnd(String),
    Retry { invoice: String },
    Resume(String),
    Cancel(String),
    Expire(String),
}

/// Does all due work, in order of time.
pub(super) fn catch_up(books: &mut Objects) {
    let now = books.now;
    for _ in 0..STEPS {
        let Some((at, due)) = next(books).filter(|(at, _)| *at <= now) else { break };
        books.now = at;
        carry_out(books, due);
    }
    books.now = now;
}

/// Returns the work that is due first.
fn next(books: &Objects) -> Option<(i64, Due)> {
    let mut first: Option<(i64, Due)> = None;
    let mut note = |at: Option<i64>, due: Due| {
        if let Some(at) = at
            && first.as_ref().is_none_or(|(known, _)| at < *known)
        {
            first = Some((at, due));
        }
    };
    for subscription in books.all("subscription") {
        let id = text(subscription, "id");
        if !matches!(text(subscription, "status"), "active" | "past_due") {
            continue;
        }
        let resumes = subscription["pause_collection"]["resumes_at"].as_i64();
        note(resumes, Due::Resume(id.to_owned()));
        if subscription["cancel_at_period_end"] != true {
            note(subscription["cancel_at"].as_i64(), Due::Cancel(id.to_owned()));
        }
        note(Some(subscriptions::period(subscription).1), Due::PeriodEnd(id.to_owned()));
    }
    for invoice in books.all("invoice").into_iter().filter(|invoice| invoice["status"] == "open") {
        let retry = Due::Retry { invoice: text(invoice, "id").to_owned() };
        note(invoice["next_payment_attempt"].as_i64(), retry);
    }
    for session in books.all("checkout.session") {
        if session["status"] == "open" {
            let id = text(session, "id").to_owned();
            note(session["expires_at"].as_i64(), Due::Expire(id));
        }
    }
    first
}

fn carry_out(books: &mut Objects, due: Due) {
    match due {
        Due::PeriodEnd(id) => end_period(books, &id),
        Due::Retry { invoice } => retry(books, &invoice),
        Due::Resume(id) => {
            books.set(&id, json!({"pause_collection": null}));
            books.emit("customer.subscription.updated", &id);
        }
        Due::Cancel(id) => subscriptions::end(books, &id, "cancellation_requested"),
        Due::Expire(id) => checkout::expire(books, &id),
    }
}

fn end_period(books: &mut Objects, id: &str) {
    let subscription = books.shown(id);
    if subscription["cancel_at_period_end"] == true {
        return subscriptions::end(books, id, "cancellation_requested");
    }
    let start = subscriptions::period(&subscription).1;
    let prices = match subscription["schedule"].as_str() {
        Some(schedule) => schedules::prices_at(books, schedule, start),
        None => None,
    };
    subscriptions::begin_period(books, id, start, prices.as_deref());
    let invoice = subscriptions::bill(books, id, "subscription_cycle");
    if subscription["pause_collection"]["behavior"] == "void" {
        invoices::void(books, &invoice);
    } else if !invoices::pay(books, &invoice) {
        books.set(id, json!({"status": "past_due"}));
    }
    books.emit("customer.subscription.updated", id);
}

/// Retries an invoice; after the last failed attempt the subscription ends.
fn retry(books: &mut Objects, invoice: &str) {
    let id = subscription_of(&books.shown(invoice));
    if invoices::pay(books, invoice) {
        books.set(&id, json!({"status": "active"}));
        books.emit("customer.subscription.updated", &id);
    } else if books.any(invoice).is_none_or(|it| it["next_payment_attempt"].is_null()) {
        subscriptions::end(books, &id, "payment_failed");
    }
}

/// Returns the subscription of an invoice.
pub(super) fn subscription_of(invoice: &Value) -> String {
    let details = &invoice["parent"]["subscription_details"];
    text(details, "subscription").to_owned()
}

#[cfg(test)]
mod tests {
    use super::month_after;

    #[test]
    fn a_month_ends_on_its_last_day_at_the_latest() {
        let day = |text: &str| text.parse::<chrono::DateTime<chrono::Utc>>().unwrap().timestamp();
        assert_eq!(month_after(day("2026-01-31T10:00:00Z")), day("2026-02-28T10:00:00Z"));
        assert_eq!(month_after(day("2026-12-05T10:00:00Z")), day("2027-01-05T10:00:00Z"));
    }
}
