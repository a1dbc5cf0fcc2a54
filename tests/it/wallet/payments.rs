//! Payments fill the wallet, and refunds empty it.

use std::time::Duration;

use fanfare_core::{Code, UserId};
use fanfare_people::credits::packs;
use fanfare_tests::{TestApp, Visitor};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::signup::{stripe, text};

#[tokio::test]
async fn each_paid_period_grants_its_credits_once() {
    let app = TestApp::start().await;
    let (ada, session) = subscriber(&app, "ada@example.com").await;
    holds(&app, ada, (500, 0)).await;
    let workspace = home(&app, ada).await;
    reserve(&app.domain, workspace, "test:1", 30).await.unwrap();
    assert!(settle(&app.domain, "test:1", Some(30)).await.unwrap());
    stripe(&app, Method::POST, "clock", json!({"advance": "32d"})).await;
    holds(&app, ada, (500, 0)).await;
    // A card that declines leaves the next period without credits.
    let customer = text(&session, "customer");
    stripe(&app, Method::POST, &format!("customers/{customer}/card"), json!({"declines": true}))
        .await;
    stripe(&app, Method::POST, "clock", json!({"advance": "31d"})).await;
    let unpaid = holds(&app, ada, (0, 0)).await;
    assert_eq!((unpaid.period, unpaid.allowance), (None, 0));
    stripe(&app, Method::POST, &format!("customers/{customer}/card"), json!({"declines": false}))
        .await;
    stripe(&app, Method::POST, "clock", json!({"advance": "4d"})).await;
    holds(&app, ada, (500, 0)).await;
    let kinds: Vec<_> = told(&app, ada).await.into_iter().map(|(kind, _, by)| (kind, by)).collect();
    let grant = || ("grant".to_owned(), 500);
    assert_eq!(
        kinds,
        [
            grant(),
            ("reserve".to_owned(), -30),
            ("settle".to_owned(), 0),
            ("expire".to_owned(), -470),
            grant(),
            ("expire".to_owned(), -500),
            grant(),
        ]
    );
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_pack_is_credited_once_and_taken_back_once_whatever_the_order_of_events() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    holds(&app, ada, (500, 0)).await;
    bob_buys_on_the_dashboard(&app).await;
    let order = Uuid::now_v7();
    let open = || packs::open_checkout(&app.domain, ada, 2_500, order);
    let url = open().await.unwrap();
    assert_eq!(open().await.unwrap(), url, "the same order is the same checkout");
    let unknown = packs::open_checkout(&app.domain, ada, 7, order).await.unwrap_err();
    assert_eq!(unknown.code(), Code::InvalidField);
    stripe(&app, Method::PUT, "deliveries", json!({"hold": true})).await;
    let checkout = url.rsplit('/').next().unwrap();
    let paid = stripe(&app, Method::POST, &format!("checkout/{checkout}/pay"), json!({})).await;
    let intent = text(&paid, "payment_intent");
    let events = |told: &Value| -> Vec<String> {
        let all = told["deliveries"].as_array().unwrap().iter();
        all.filter(|event| event["delivered"] == false)
            .map(|event| text(event, "event").to_owned())
            .collect()
    };
    let send =
        |ids: Vec<String>| stripe(&app, Method::POST, "deliveries/send", json!({ "events": ids }));
    let first = events(&stripe(&app, Method::GET, "deliveries", json!({})).await);
    send(first.iter().cycle().take(first.len() * 4).cloned().collect()).await;
    holds(&app, ada, (500, 2_500)).await;
    // Half of it is refunded, then its bank takes all of it back; the events come in the wrong order, and often.
    let charges = object(&app, &format!("charges?payment_intent={intent}")).await;
    let charge = text(&charges["data"][0], "id").to_owned();
    refund(&app, intent, 2_250).await;
    holds_after(&app, ada, (500, 1_250), &events).await;
    stripe(&app, Method::POST, &format!("charges/{charge}/dispute"), json!({})).await;
    let mut all = events(&stripe(&app, Method::GET, "deliveries", json!({})).await);
    all.extend(first);
    all.reverse();
    all.extend(all.clone());
    send(all).await;
    holds(&app, ada, (500, 0)).await;
    let bought: Vec<_> =
        told(&app, ada).await.into_iter().filter(|(_, pool, _)| pool == "purchased").collect();
    let line = |kind: &str, by| (kind.to_owned(), "purchased".to_owned(), by);
    assert_eq!(
        bought,
        [line("purchase", 2_500), line("withdraw", -1_250), line("withdraw", -1_250)]
    );
    assert_sound(&app).await;
}

/// Somebody without a subscription buys a pack.
async fn bob_buys_on_the_dashboard(app: &TestApp) {
    let (person, mut bob) = Visitor::person(app, "bob@example.com").await;
    let page = bob.get("/dashboard/billing").await.expect(200);
    assert!(page.html.contains("5000 of 5000"), "{}", page.html);
    let buy = async |bob: &mut Visitor, pack: &str| {
        let fields = ["csrf", "order"].map(|name| (name, page.hidden(name)));
        let fields: Vec<_> = fields.into_iter().chain([("pack", pack.to_owned())]).collect();
        bob.send("/dashboard/billing/credits", &fields).await
    };
    let checkout = |page: String| {
        let rest =
            page.split("/stripe/checkout/").nth(1).expect("a way to the checkout").to_owned();
        rest.split(['"', '&']).next().unwrap().to_owned()
    };
    let id = checkout(buy(&mut bob, "500").await.expect(200).html);
    assert_eq!(checkout(buy(&mut bob, "500").await.expect(200).html), id, "clicked twice");
    let open = bob.get(&format!("/dashboard/billing?paid={id}")).await.expect(200).html;
    assert!(open.contains("Nothing was paid."), "{open}");
    stripe(app, Method::POST, &format!("checkout/{id}/pay"), json!({})).await;
    // The page that Stripe leads back to has the credits already, whenever its event arrives.
    let paid = bob.get(&format!("/dashboard/billing?paid={id}")).await.expect(200).html;
    assert!(paid.contains("The credits are in your wallet."), "{paid}");
    holds(app, person, (5_000, 500)).await;
    for other in ["cs_test_of_somebody_else", "../customers", ""] {
        let html = bob.get(&format!("/dashboard/billing?paid={other}")).await.expect(200).html;
        assert!(!html.contains("Thank you."), "{other}: {html}");
    }
    let _ = buy(&mut bob, "501").await.expect(400);
}

async fn refund(app: &TestApp, intent: &str, cents: i64) {
    let url = app.simulator.url.join("/stripe/v1/refunds").unwrap();
    let keys = fanfare_sandbox::stripe::Keys::of(&app.simulator.secret.clone().into());
    let key = secrecy::ExposeSecret::expose_secret(&keys.secret_key).to_owned();
    let form = format!("payment_intent={intent}&amount={cents}");
    let request = fanfare_tests::local_client().post(url).bearer_auth(key).body(form);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    assert!(request.send().await.unwrap().status().is_success());
}

async fn holds_after(
    app: &TestApp,
    person: UserId,
    wanted: (i64, i64),
    events: &impl Fn(&Value) -> Vec<String>,
) {
    let waiting = events(&stripe(app, Method::GET, "deliveries", json!({})).await);
    stripe(app, Method::POST, "deliveries/send", json!({ "events": waiting })).await;
    holds(app, person, wanted).await;
}

#[tokio::test]
async fn a_refund_that_was_told_before_its_payment_takes_the_pack_back_too() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    holds(&app, ada, (500, 0)).await;
    let url = packs::open_checkout(&app.domain, ada, 500, Uuid::now_v7()).await.unwrap();
    stripe(&app, Method::PUT, "deliveries", json!({"hold": true})).await;
    let checkout = url.rsplit('/').next().unwrap();
    let paid = stripe(&app, Method::POST, &format!("checkout/{checkout}/pay"), json!({})).await;
    refund(&app, text(&paid, "payment_intent"), 1_000).await;
    let told_now = stripe(&app, Method::GET, "deliveries", json!({})).await;
    let mut waiting: Vec<String> = told_now["deliveries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["delivered"] == false)
        .map(|event| text(event, "event").to_owned())
        .collect();
    waiting.reverse();
    stripe(&app, Method::POST, "deliveries/send", json!({ "events": waiting })).await;
    app.eventually("it was bought and taken back", || async {
        app.advance(Duration::from_secs(1));
        let lines = told(&app, ada).await;
        (lines.iter().filter(|(_, pool, _)| pool == "purchased").count() == 2).then_some(())
    })
    .await;
    holds(&app, ada, (500, 0)).await;
    assert_sound(&app).await;
}
