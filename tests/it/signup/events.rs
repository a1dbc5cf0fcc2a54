//! Stripe's events may come late, early, twice, in any order, or not at all.

use std::time::Duration;

use fanfare_entities::{billing_subscription, stripe_event, subscription};
use fanfare_tests::{Options, TestApp};
use reqwest::Method;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn a_poll_asks_stripe_when_no_event_comes() {
    let app = TestApp::start().await;
    stripe(&app, Method::PUT, "deliveries", json!({"hold": true})).await;
    let started = start(&app, "ada@example.com").await;
    step(&app, &started, "pay").await;
    assert_eq!(poll(&app, &started).await["status"], "created", "it was asked a moment ago");
    app.advance(Duration::from_secs(5));
    assert_eq!(poll(&app, &started).await["status"], "paid");
}

#[tokio::test]
async fn events_may_come_in_any_order_and_as_often_as_they_like() {
    let app = TestApp::start().await;
    stripe(&app, Method::PUT, "deliveries", json!({"hold": true})).await;
    let started = start(&app, "ada@example.com").await;
    let paid = step(&app, &started, "pay").await;
    let all = stripe(&app, Method::GET, "deliveries", json!(null)).await;
    let ids: Vec<Value> =
        all["deliveries"].as_array().unwrap().iter().map(|one| one["event"].clone()).collect();
    assert!(ids.len() >= 6, "{all}");
    let mut order: Vec<_> = ids.iter().rev().cloned().collect();
    order.extend(ids.iter().cloned());
    order.extend(ids.iter().rev().cloned());
    let sent = stripe(&app, Method::POST, "deliveries/send", json!({ "events": order })).await;
    assert!(sent["taken"].as_array().unwrap().iter().all(|taken| taken == true));
    becomes(&app, &started, "paid").await;
    let rows = billing_subscription::Entity::find().all(&app.domain.db.read).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].stripe_id, text(&paid, "subscription"));
    app.eventually("a letter", || async {
        (!links(&app, "ada@example.com").await.is_empty()).then_some(())
    })
    .await;
    assert_eq!(links(&app, "ada@example.com").await.len(), 1, "one letter");
    // The subscription is read anew, whichever event came.
    let customer = text(&paid, "customer").to_owned();
    stripe(&app, Method::POST, &format!("customers/{customer}/card"), json!({"declines": true}))
        .await;
    stripe(&app, Method::POST, "clock", json!({"advance": "32d"})).await;
    stripe(&app, Method::PUT, "deliveries", json!({"hold": false})).await;
    subscription_becomes(&app, billing_subscription::BillingStatus::PastDue).await;
    let covered = async || {
        let theirs = subscription::Column::Granted.eq(false);
        let rows =
            subscription::Entity::find().filter(theirs).all(&app.domain.db.read).await.unwrap();
        rows[0].active
    };
    assert!(covered().await, "access is kept while Stripe tries again");
    stripe(&app, Method::POST, "clock", json!({"advance": "16d"})).await;
    subscription_becomes(&app, billing_subscription::BillingStatus::Ended).await;
    assert!(!covered().await);
}

#[tokio::test]
async fn a_webhook_must_be_signed_now_with_a_secret_of_ours() {
    let app = TestApp::start().await;
    let http = fanfare_tests::local_client();
    let url = format!("{}/api/stripe/webhook", app.origin);
    let event = json!({"id": "evt_1", "type": "invoice.paid", "data": {"object": {"id": "in_1"}}})
        .to_string();
    for signature in ["", "t=1,v1=00", "nonsense"] {
        let sent = http
            .post(&url)
            .header("Stripe-Signature", signature)
            .body(event.clone())
            .send()
            .await
            .unwrap();
        assert_eq!(sent.status(), 400, "{signature:?}");
        assert_eq!(sent.json::<Value>().await.unwrap()["code"], "invalid_signature");
    }
    let large = http
        .post(&url)
        .header("Stripe-Signature", "t=1,v1=00")
        .body("x".repeat(2 << 20))
        .send()
        .await
        .unwrap();
    assert_eq!(large.status(), 413);
}

/// Types of events whose object has no id, or that have no object: nothing of them is used.
const WITHOUT_ID: &[&str] =
    &["balance.available", "invoice.upcoming", "v1.billing.meter.error_report_triggered"];

/// Types of events that are used.
const USED: &[&str] = &[
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed",
    "checkout.session.expired",
    "customer.subscription.created",
    "customer.subscription.updated",
    "customer.subscription.deleted",
    "invoice.paid",
    "invoice.payment_failed",
    "invoice.payment_action_required",
    "subscription_schedule.updated",
    "subscription_schedule.released",
    "subscription_schedule.canceled",
    "charge.refunded",
    "charge.dispute.created",
];

/// Types of events that have an object with an id and are not used.
const UNUSED: &[&str] =
    &["customer.created", "payout.paid", "product.updated", "a.type.of.tomorrow"];

#[tokio::test]
async fn an_event_of_every_type_is_taken_whatever_it_is_about() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let billing = fanfare_people::settings(&app.domain).billing.as_ref().unwrap();
    let secret = billing.webhook_secrets[0].expose_secret();
    let post = async |event: Value| {
        let (body, at) = (event.to_string(), app.domain.clock.now() / 1_000);
        let header = format!("t={at},v1={}", shuffled::sign(secret, at, &body));
        let url = format!("{}/api/stripe/webhook", app.origin);
        let sent =
            fanfare_tests::local_client().post(url).header("Stripe-Signature", header).body(body);
        sent.send().await.unwrap().status().as_u16()
    };
    let objects =
        [json!({"object": {"object": "balance"}}), json!({"object": {"id": null}}), json!({})];
    for kind in WITHOUT_ID {
        for (place, data) in objects.iter().enumerate() {
            let id = format!("evt_{kind}_{place}");
            assert_eq!(
                post(json!({"id": id, "type": kind, "data": data})).await,
                200,
                "{kind} {data}"
            );
        }
        assert_eq!(post(json!({"id": "evt_thin", "type": kind})).await, 200, "{kind} without data");
    }
    for kind in UNUSED.iter().chain(USED) {
        let event =
            json!({"id": format!("evt_{kind}"), "type": kind, "data": {"object": {"id": "x_1"}}});
        assert_eq!(post(event).await, 200, "{kind}");
    }
    // What would be used and names nothing is a mistake that is told.
    for kind in USED {
        let event = json!({"id": format!("evt_{kind}_2"), "type": kind, "data": {"object": {}}});
        assert_eq!(post(event).await, 400, "{kind}");
    }
    let kept = stripe_event::Entity::find().all(&app.domain.db.read).await.unwrap();
    let mut kept: Vec<_> = kept.into_iter().map(|row| row.kind).collect();
    let mut right: Vec<_> = USED.iter().map(|kind| (*kind).to_owned()).collect();
    kept.sort();
    right.sort();
    assert_eq!(kept, right);
}
