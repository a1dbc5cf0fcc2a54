//! Every payment ends as what was bought or as a refund, and every withdrawal has its reversal.

use std::time::Duration;

use fanfare_core::{UserId, access::PlanTier};
use fanfare_entities::{signup, user, workspace};
use fanfare_people::{
    billing::reconcile,
    credits::{self, packs},
    users,
};
use fanfare_tests::{Options, TestApp};
use reqwest::Method;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use serde_json::{Value, json};
use uuid::Uuid;

use super::at_stripe;
use crate::{
    signup::{becomes, object, start, step, stripe, text},
    subscriptions::subscriber,
};

async fn person(app: &TestApp, email: &str) -> UserId {
    let found = user::Entity::find().filter(user::Column::Email.eq(email));
    found.one(&app.domain.db.read).await.unwrap().unwrap().id
}

/// Makes the prices of a plan by hand, under products with ids of Stripe's choice.
async fn price_by_hand(app: &TestApp, key: &str, cents: &str) -> Value {
    let product = at_stripe(app, "products", &[("name", "By hand")]).await;
    let form = [
        ("product", text(&product, "id")),
        ("currency", "usd"),
        ("unit_amount", cents),
        ("lookup_key", key),
        ("transfer_lookup_key", "true"),
        ("recurring[interval]", "month"),
    ];
    at_stripe(app, "prices", &form).await
}

#[tokio::test]
async fn prices_that_were_made_by_hand_are_known_by_their_keys() {
    let app = TestApp::start().await;
    let mut made = Vec::new();
    for (key, cents) in [
        ("fanfare_starter_month", "1900"),
        ("fanfare_pro_month", "4900"),
        ("fanfare_power_user_month", "9900"),
        ("fanfare_agency_month", "24900"),
        ("fanfare_api_addon_month", "1900"),
    ] {
        made.push(price_by_hand(&app, key, cents).await);
    }
    let (ada, session) = subscriber(&app, "ada@example.com").await;
    let shown =
        async || ada.get("/api/v1/subscription").await.expect(200).body["subscription"].clone();
    let plan = |shown: &Value| (text(shown, "plan_tier").to_owned(), shown["api_addon"] == true);
    assert_eq!(plan(&shown().await), ("pro".to_owned(), true));
    // A new price of the same product takes the key over; the old one is what they pay.
    let product = text(&made[1], "product");
    let form = [
        ("product", product),
        ("currency", "usd"),
        ("unit_amount", "5900"),
        ("lookup_key", "fanfare_pro_month"),
        ("transfer_lookup_key", "true"),
        ("recurring[interval]", "month"),
    ];
    at_stripe(&app, "prices", &form).await;
    let read = async || {
        fanfare_people::billing::subscriptions::refresh_all(&app.domain).await.unwrap();
        shown().await
    };
    assert_eq!(plan(&read().await), ("pro".to_owned(), true));
    // Something that is not sold here: what was bought stays.
    let other = price_by_hand(&app, "something_else", "100").await;
    let id = text(&session, "subscription");
    let items = object(&app, &format!("subscriptions/{id}")).await["items"]["data"].clone();
    let changes: Vec<(String, String)> = (0..2)
        .flat_map(|nth| {
            let item = text(&items[nth], "id").to_owned();
            let price = text(&other, "id").to_owned();
            [(format!("items[{nth}][id]"), item), (format!("items[{nth}][price]"), price)]
        })
        .collect();
    let changes: Vec<_> = changes.iter().map(|(name, value)| (&**name, &**value)).collect();
    at_stripe(&app, &format!("subscriptions/{id}"), &changes).await;
    assert_eq!(plan(&read().await), ("pro".to_owned(), true));
}

#[tokio::test]
async fn a_bank_debit_that_settles_late_is_what_was_bought() {
    let app = TestApp::start().await;
    let started = start(&app, "ada@example.com").await;
    step(&app, &started, "async").await;
    becomes(&app, &started, "payment_processing").await;
    for _ in 0..20 {
        app.advance(Duration::from_secs(86_400));
        let done = fanfare_ops::upkeep::clean_up(&app.domain).await;
        assert!(done.failed.is_empty(), "{:?}", done.failed);
    }
    step(&app, &started, "settle").await;
    becomes(&app, &started, "paid").await;
    let _ = person(&app, "ada@example.com").await;
}

#[tokio::test]
async fn a_payment_for_a_signup_that_is_gone_is_given_back() {
    let app = TestApp::start().await;
    let started = start(&app, "ada@example.com").await;
    let session = step(&app, &started, "async").await;
    becomes(&app, &started, "payment_processing").await;
    signup::Entity::delete_many().exec(&app.domain.db.write).await.unwrap();
    step(&app, &started, "settle").await;
    let path = format!("subscriptions/{}", text(&session, "subscription"));
    app.eventually_in_time("it is given back", Duration::from_secs(1), || async {
        let all = object(&app, "refunds").await;
        let refunded = all["data"].as_array().unwrap().len() == 1;
        (refunded && object(&app, &path).await["status"] == "canceled").then_some(())
    })
    .await;
    assert_eq!(user::Entity::find().count(&app.domain.db.read).await.unwrap(), 0);
    for _ in 0..2 {
        let found = reconcile::checkouts(&app.domain).await.unwrap();
        assert_eq!((found.paid, found.unsettled), (1, 0));
    }
    assert_eq!(object(&app, "refunds").await["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_checkout_of_other_software_in_the_same_account_is_left_alone() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let price = price_by_hand(&app, "theirs", "500").await;
    let reference = Uuid::now_v7().to_string();
    let form = [
        ("mode", "subscription"),
        ("line_items[0][price]", text(&price, "id")),
        ("line_items[0][quantity]", "1"),
        ("client_reference_id", &reference),
        ("success_url", "https://example.com"),
    ];
    let session = at_stripe(&app, "checkout/sessions", &form).await;
    let path = format!("checkout/{}/pay", text(&session, "id"));
    stripe(&app, Method::POST, &path, json!({})).await;
    let found = reconcile::checkouts(&app.domain).await.unwrap();
    assert_eq!((found.paid, found.unsettled), (1, 0));
    assert_eq!(object(&app, "refunds").await["data"], json!([]));
}

#[tokio::test]
async fn a_pack_that_was_paid_for_nobody_is_given_back() {
    let app = TestApp::start().await;
    let (_, _) = subscriber(&app, "ada@example.com").await;
    let ada = person(&app, "ada@example.com").await;
    let url = packs::open_checkout(&app.domain, ada, 500, Uuid::now_v7()).await.unwrap();
    let checkout =
        object(&app, &format!("checkout/sessions/{}", url.rsplit('/').next().unwrap())).await;
    let price = object(&app, "prices?lookup_keys[]=fanfare_credits_500").await;
    assert_eq!(text(&checkout, "client_reference_id"), ada.0.to_string());
    let nobody = Uuid::now_v7().to_string();
    let form = [
        ("mode", "payment"),
        ("line_items[0][price]", text(&price["data"][0], "id")),
        ("line_items[0][quantity]", "1"),
        ("client_reference_id", &nobody),
        ("metadata[fanfare_credits]", "500"),
        ("success_url", "https://example.com"),
    ];
    let session = at_stripe(&app, "checkout/sessions", &form).await;
    let path = format!("checkout/{}/pay", text(&session, "id"));
    stripe(&app, Method::POST, &path, json!({})).await;
    app.eventually_in_time("it is given back", Duration::from_secs(1), || async {
        let refunds = object(&app, "refunds").await;
        (refunds["data"].as_array().unwrap().len() == 1).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_payment_whose_events_are_lost_is_found_by_the_daily_look() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    stripe(&app, Method::PUT, "deliveries", json!({"hold": true})).await;
    let started = start(&app, "ada@example.com").await;
    step(&app, &started, "pay").await;
    assert_eq!(user::Entity::find().count(&app.domain.db.read).await.unwrap(), 0);
    let found = reconcile::checkouts(&app.domain).await.unwrap();
    assert_eq!((found.paid, found.unsettled), (1, 0));
    let ada = person(&app, "ada@example.com").await;
    let url = packs::open_checkout(&app.domain, ada, 500, Uuid::now_v7()).await.unwrap();
    let path = format!("checkout/{}/pay", url.rsplit('/').next().unwrap());
    stripe(&app, Method::POST, &path, json!({})).await;
    reconcile::checkouts(&app.domain).await.unwrap();
    assert_eq!(credits::wallet_of(&app.domain, ada).await.unwrap().purchased, 500);
}

/// Waits until a wallet has this many bought credits.
async fn bought(app: &TestApp, person: UserId, wanted: i64) {
    app.eventually_in_time(&format!("{wanted} are there"), Duration::from_secs(1), || async {
        let wallet = credits::wallet_of(&app.domain, person).await.unwrap();
        (wallet.purchased == wanted).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_won_dispute_and_a_failed_refund_bring_the_credits_back() {
    let app = TestApp::start().await;
    let _ = subscriber(&app, "ada@example.com").await;
    let ada = person(&app, "ada@example.com").await;
    let mut charges = Vec::new();
    for _ in 0..2 {
        let url = packs::open_checkout(&app.domain, ada, 500, Uuid::now_v7()).await.unwrap();
        let path = format!("checkout/{}/pay", url.rsplit('/').next().unwrap());
        let paid = stripe(&app, Method::POST, &path, json!({})).await;
        let path = format!("charges?payment_intent={}", text(&paid, "payment_intent"));
        charges.push(text(&object(&app, &path).await["data"][0], "id").to_owned());
    }
    bought(&app, ada, 1_000).await;
    let post = |path: String, body: Value| {
        let app = &app;
        async move { stripe(app, Method::POST, &path, body).await }
    };
    // Won: all of it comes back. Lost: none.
    let dispute = post(format!("charges/{}/dispute", charges[0]), json!({})).await;
    bought(&app, ada, 500).await;
    post(format!("disputes/{}/close", text(&dispute, "id")), json!({"status": "won"})).await;
    bought(&app, ada, 1_000).await;
    let refund = at_stripe(&app, "refunds", &[("charge", &charges[0]), ("amount", "500")]).await;
    bought(&app, ada, 750).await;
    post(format!("refunds/{}/fail", text(&refund, "id")), json!({})).await;
    bought(&app, ada, 1_000).await;
    let lost = post(format!("charges/{}/dispute", charges[1]), json!({})).await;
    bought(&app, ada, 500).await;
    post(format!("disputes/{}/close", text(&lost, "id")), json!({"status": "lost"})).await;
    // Only what the wallet had is taken, and only that comes back.
    let home = workspace::Entity::find().one(&app.domain.db.read).await.unwrap().unwrap().id;
    let wallet = credits::wallet_of(&app.domain, ada).await.unwrap();
    let spend = credits::Spend {
        workspace: home,
        operation: "test:spent",
        credits: wallet.included + 400,
        expires_after: credits::SHORT_EXPIRY,
    };
    let tx = app.domain.db.begin().await.unwrap();
    credits::reserve(&app.domain, &tx, spend).await.unwrap();
    credits::pay(&app.domain, &tx, "test:spent", wallet.included + 400).await.unwrap();
    tx.commit().await.unwrap();
    bought(&app, ada, 100).await;
    let refund = at_stripe(&app, "refunds", &[("charge", &charges[0])]).await;
    bought(&app, ada, 0).await;
    post(format!("refunds/{}/fail", text(&refund, "id")), json!({})).await;
    bought(&app, ada, 100).await;
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

#[tokio::test]
async fn an_operators_plan_counts_again_after_a_subscription_in_between() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    let person = person(&app, "ada@example.com").await;
    let home = workspace::Entity::find().one(&app.domain.db.read).await.unwrap().unwrap().id;
    let holds = async |wanted: i64| {
        app.eventually_in_time(&format!("{wanted}"), Duration::from_secs(1), || async {
            let wallet = credits::wallet_of(&app.domain, person).await.unwrap();
            (wallet.included == wanted).then_some(())
        })
        .await;
    };
    holds(500).await;
    let end = json!({"reason": "other", "immediate": true});
    let _ = ada.post("/api/v1/subscription/cancel", end.clone()).await.expect(200);
    holds(0).await;
    users::set_plan(&app.domain, home, PlanTier::PowerUser, Some(true)).await.unwrap();
    holds(1_500).await;
    // Bought on top of the operator's plan, within the same month.
    let started = start(&app, "ada@example.com").await;
    step(&app, &started, "pay").await;
    holds(500).await;
    let _ = ada.post("/api/v1/subscription/cancel", end).await.expect(200);
    holds(1_500).await;
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

#[tokio::test]
async fn the_credits_of_a_video_wait_for_its_job_however_long() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let available =
        async || user.get("/api/v1/credits").await.expect(200).body["wallet"]["available"].clone();
    let before = available().await;
    let asked = json!({"prompt": "A cat", "provider": "xai", "duration_seconds": 1});
    let job = user.post("/api/v1/ai/generate-video", asked).await.expect(202).body;
    let held = available().await;
    assert_ne!(held, before);
    app.advance(Duration::from_secs(25 * 3_600));
    assert_eq!(credits::refund_expired(&app.domain).await.unwrap(), 0);
    assert_eq!(available().await, held, "its job lives");
    app.start_workers();
    let path = format!("/api/v1/ai/video-jobs/{}", text(&job, "job_id"));
    app.eventually_in_time("it ends", Duration::from_secs(5), || async {
        let job = user.get(&path).await.expect(200).body["job"].clone();
        (job["status"] == "failed").then_some(())
    })
    .await;
    assert_eq!(available().await, before, "nothing was made, and nothing is paid");
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

#[tokio::test]
async fn a_key_that_is_older_than_a_day_is_another_request() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    let keyed = |verb: &'static str| {
        let path = format!("/api/v1/subscription/{verb}");
        let ada = &ada;
        async move { ada.post_keyed(&path, verb, &json!({})).await.expect(200).body }
    };
    for _ in 0..2 {
        assert_eq!(text(&keyed("pause").await["subscription"], "status"), "paused");
        assert_eq!(text(&keyed("resume").await["subscription"], "status"), "active");
        app.advance(Duration::from_secs(91 * 86_400));
        stripe(&app, Method::POST, "clock", json!({"advance": "91d"})).await;
    }
}
