//! Thousands of deliveries of Stripe's events, shuffled: one person, one subscription, one grant of credits, one letter.

use fanfare_entities::{
    billing_subscription,
    stripe_event::{self, EventStatus},
    user,
};
use fanfare_people::credits;
use fanfare_tests::TestApp;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{becomes, links, start, step, stripe, text};

/// Deliveries of one event.
const DELIVERIES: usize = 1_000;

/// The number of orders of all events that are tried: of eight events, `ORDERS=40320` tries every one.
#[expect(clippy::disallowed_methods, reason = "the number of orders, for whoever wants more")]
fn orders() -> usize {
    std::env::var("ORDERS").map_or(24, |orders| orders.parse().expect("ORDERS is a number"))
}

/// The first eight of `events` in their `nth` order, of 40,320. Neighbouring numbers are far apart in the list of orders, so that
/// a few of them differ at their beginning and at their end.
fn ordered(events: &[Value], nth: usize) -> Vec<Value> {
    // It has no factor in common with 8!, so every order has its turn.
    let mut number = nth * 10_007 % 40_320;
    let mut left = events.to_vec();
    let mut order = Vec::new();
    for many in (1..=left.len().min(8)).rev() {
        order.push(left.remove(number % many));
        number /= many;
    }
    order.extend(left);
    order
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}

/// The signature of a body, as Stripe makes it.
pub fn sign(secret: &str, at: i64, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{at}.{body}").as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The ids of events that are held back and were not there before.
async fn held(app: &TestApp, before: &[Value]) -> Vec<Value> {
    let all = stripe(app, Method::GET, "deliveries", json!(null)).await;
    let ids = all["deliveries"].as_array().unwrap().iter().map(|one| one["event"].clone());
    ids.filter(|id| !before.contains(id)).collect()
}

async fn send(app: &TestApp, order: &[Value]) {
    let sent = stripe(app, Method::POST, "deliveries/send", json!({ "events": order })).await;
    assert!(sent["taken"].as_array().unwrap().iter().all(|taken| taken == true), "{sent}");
}

/// Waits until the e-mail's subscription is live, and looks at what it brought.
async fn stands(app: &TestApp, email: &str, subscription: &str) {
    let person = user::Entity::find().filter(user::Column::Email.eq(email));
    let person = person.one(&app.domain.db.read).await.unwrap().expect("one person");
    let mine = billing_subscription::Column::UserId.eq(person.id);
    let rows = billing_subscription::Entity::find().filter(mine);
    let rows = rows.all(&app.domain.db.read).await.unwrap();
    assert_eq!(rows.len(), 1, "{email}");
    assert_eq!(rows[0].stripe_id, subscription, "{email}");
    assert_eq!(rows[0].status, billing_subscription::BillingStatus::Active, "{email}");
    let key = app.key(person.id, None, &fanfare_core::access::Scope::ALL).await;
    app.eventually("the period's credits", || async {
        let wallet = key.get("/api/v1/credits").await.expect(200).body["wallet"].clone();
        (wallet["available"] == 500).then_some(())
    })
    .await;
    let ledger = key.get("/api/v1/credits/ledger").await.expect(200).body;
    let granted = ledger["ledger"].as_array().unwrap().iter().filter(|row| row["kind"] == "grant");
    assert_eq!(granted.count(), 1, "{ledger}");
    app.eventually("a letter", || async { (links(app, email).await.len() == 1).then_some(()) })
        .await;
}

#[tokio::test]
async fn a_thousand_deliveries_of_one_event_among_all_others_count_once() {
    let app = TestApp::start().await;
    stripe(&app, Method::PUT, "deliveries", json!({"hold": true})).await;
    let started = start(&app, "ada@example.com").await;
    let paid = step(&app, &started, "pay").await;
    let all = held(&app, &[]).await;
    assert!(all.len() >= 6, "{all:?}");
    let mut order: Vec<Value> = (0..DELIVERIES).map(|_| all[0].clone()).collect();
    for event in &all[1..] {
        order.extend((0..20).map(|_| event.clone()));
    }
    Dice(7).shuffle(&mut order);
    send(&app, &order).await;
    becomes(&app, &started, "paid").await;
    stands(&app, "ada@example.com", text(&paid, "subscription")).await;
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

#[tokio::test]
async fn in_whatever_order_events_come_the_end_is_the_same() {
    let app = TestApp::start().await;
    stripe(&app, Method::PUT, "deliveries", json!({"hold": true})).await;
    let (orders, mut before) = (orders(), Vec::new());
    for nth in 0..orders {
        let email = format!("ada{nth}@example.com");
        let started = start(&app, &email).await;
        let paid = step(&app, &started, "pay").await;
        let held = held(&app, &before).await;
        before.extend(held.iter().cloned());
        send(&app, &ordered(&held, nth)).await;
        becomes(&app, &started, "paid").await;
        stands(&app, &email, text(&paid, "subscription")).await;
    }
    let persons = billing_subscription::Entity::find().count(&app.domain.db.read).await.unwrap();
    assert_eq!(persons, orders as u64);
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

#[tokio::test]
async fn an_old_secret_counts_while_it_is_listed_and_events_of_strangers_change_nothing() {
    let app = TestApp::start().await;
    let started = start(&app, "ada@example.com").await;
    let paid = step(&app, &started, "pay").await;
    becomes(&app, &started, "paid").await;
    let secret =
        &fanfare_people::settings(&app.domain).billing.as_ref().unwrap().webhook_secrets[0];
    let post = async |secret: &str, age: i64, event: &Value| {
        let (body, at) = (event.to_string(), app.domain.clock.now() / 1_000 - age);
        let wrong = sign("whsec_of_somebody_else", at, &body);
        let right = sign(secret, at, &body);
        // Stripe signs with every secret while one is being replaced.
        let header = format!("t={at},v1={wrong},v1={right}");
        let url = format!("{}/api/stripe/webhook", app.origin);
        let sent =
            fanfare_tests::local_client().post(url).header("Stripe-Signature", header).body(body);
        sent.send().await.unwrap().status().as_u16()
    };
    let event = |id: &str, of: &str| {
        json!({"id": id, "object": "event", "type": "customer.subscription.deleted",
            "data": {"object": {"id": of, "object": "subscription"}}})
    };
    let mine = event("evt_mine", text(&paid, "subscription"));
    assert_eq!(post("whsec_that_was_never_ours", 0, &mine).await, 400);
    assert_eq!(post(secret.expose_secret(), 301, &mine).await, 400, "it is too old");
    let stranger = event("evt_stranger", "sub_of_somebody_else");
    assert_eq!(post(secret.expose_secret(), 0, &stranger).await, 200);
    // The content of an event of ours is not believed either: the object is read anew.
    assert_eq!(post(secret.expose_secret(), 0, &mine).await, 200);
    assert_eq!(post(secret.expose_secret(), 0, &mine).await, 200, "a duplicate");
    app.eventually("the event is applied", || async {
        let of_ours = stripe_event::Column::EventId.eq("evt_mine");
        let row = stripe_event::Entity::find().filter(of_ours).one(&app.domain.db.read).await;
        (row.unwrap().unwrap().status == EventStatus::Applied).then_some(())
    })
    .await;
    stands(&app, "ada@example.com", text(&paid, "subscription")).await;
}
