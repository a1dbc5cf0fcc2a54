//! A subscription is shown, cancelled, paused, resumed and lowered, and what happens to the posts meanwhile.

use fanfare_core::access::Scope;
use fanfare_entities::user;
use fanfare_tests::{Options, TestApp, User};
use reqwest::Method;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};

use crate::signup::{becomes, object, start, step, stripe, text};

/// Somebody who has paid for the plan pro with the add-on: a key with every scope, and the paid checkout.
pub async fn subscriber(app: &TestApp, email: &str) -> (User, Value) {
    let started = start(app, email).await;
    let session = step(app, &started, "pay").await;
    becomes(app, &started, "paid").await;
    let found = user::Entity::find().filter(user::Column::Email.eq(email));
    let person = found.one(&app.domain.db.read).await.unwrap().unwrap();
    (app.key(person.id, None, &Scope::ALL).await, session)
}

async fn shown(user: &User) -> Value {
    user.get("/api/v1/subscription").await.expect(200).body["subscription"].clone()
}

async fn change(user: &User, verb: &str, body: Value) -> Value {
    let path = format!("/api/v1/subscription/{verb}");
    user.post(&path, body).await.expect(200).body["subscription"].clone()
}

async fn refused(user: &User, verb: &str, body: Value, status: u16) -> Value {
    user.post(&format!("/api/v1/subscription/{verb}"), body).await.expect(status).body
}

async fn advance(app: &TestApp, by: &str) {
    stripe(app, Method::POST, "clock", json!({ "advance": by })).await;
}

async fn stands(app: &TestApp, user: &User, status: &str) -> Value {
    app.eventually(status, || async {
        let shown = shown(user).await;
        (shown["status"] == status).then_some(shown)
    })
    .await
}

#[tokio::test]
async fn a_subscription_is_shown_to_its_person_alone() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    let mine = shown(&ada).await;
    assert_eq!((text(&mine, "status"), text(&mine, "plan_tier")), ("active", "pro"));
    assert_eq!(mine["price"], json!({"amount": 6_800, "currency": "usd", "interval": "month"}));
    for name in ["pending_change", "pause", "pause_available_at"] {
        assert_eq!(mine[name], Value::Null, "{name}");
    }
    // A plan that an operator gave is no subscription.
    let bob = app.user().await;
    for (method, verb) in [
        ("get", ""),
        ("post", "/cancel"),
        ("post", "/pause"),
        ("post", "/resume"),
        ("post", "/downgrade"),
    ] {
        let path = format!("/api/v1/subscription{verb}");
        if method == "get" {
            // The plan that an operator gave can be read, and changed by the operator alone.
            let plan = bob.get(&path).await.expect(200).body["subscription"].clone();
            assert_eq!((text(&plan, "source"), text(&plan, "plan_tier")), ("operator", "agency"));
            continue;
        }
        let reason = if verb == "/cancel" { json!({"reason": "other"}) } else { json!({}) };
        let answer = bob.post(&path, reason).await;
        assert_eq!(answer.expect(404).body["code"], "no_subscription", "{verb}");
    }
    let person = user::Entity::find().filter(user::Column::Email.eq("ada@example.com"));
    let person = person.one(&app.domain.db.read).await.unwrap().unwrap();
    let narrow = app.key(person.id, None, &[Scope::BillingRead]).await;
    let _ = narrow.get("/api/v1/subscription").await.expect(200);
    assert_eq!(refused(&narrow, "pause", json!({}), 403).await["code"], "insufficient_scope");
}

#[tokio::test]
async fn a_cancellation_needs_a_reason_and_comes_with_the_period() {
    let app = TestApp::start().await;
    let (ada, session) = subscriber(&app, "ada@example.com").await;
    for bad in [json!({}), json!({"reason": "because"}), json!({"reason": 7})] {
        assert_eq!(refused(&ada, "cancel", bad, 400).await["code"], "invalid_reason");
    }
    let asked = json!({"reason": "switching_service", "feedback": "Goodbye"});
    let leaving = change(&ada, "cancel", asked.clone()).await;
    assert_eq!(
        (text(&leaving, "status"), &leaving["cancel_at_period_end"]),
        ("canceling", &json!(true))
    );
    assert_eq!(text(&change(&ada, "cancel", asked).await, "status"), "canceling", "again");
    let theirs = object(&app, &format!("subscriptions/{}", text(&session, "subscription"))).await;
    assert_eq!(theirs["cancellation_details"]["feedback"], "switched_service");
    assert_eq!(theirs["cancellation_details"]["comment"], "Goodbye");
    for verb in ["pause", "resume", "downgrade"] {
        let refusal = refused(&ada, verb, json!({}), 409).await;
        assert_eq!(refusal["code"], "invalid_transition", "{verb}");
        assert_eq!(
            (text(&refusal, "status"), &refusal["allowed"]),
            ("canceling", &json!(["cancel"]))
        );
    }
    let _ = ada.get("/api/v1/accounts").await.expect(200);
    advance(&app, "32d").await;
    stands(&app, &ada, "ended").await;
    assert_eq!(
        refused(&ada, "cancel", json!({"reason": "other"}), 404).await["code"],
        "no_subscription"
    );
    assert_eq!(ada.get("/api/v1/accounts").await.expect(403).body["code"], "api_addon_required");
}

#[tokio::test]
async fn an_immediate_cancellation_ends_now() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    let asked = json!({"reason": "other", "immediate": true});
    let ended = change(&ada, "cancel", asked.clone()).await;
    assert_eq!(text(&ended, "status"), "ended");
    let again = change(&ada, "cancel", asked).await;
    assert_eq!(
        text(&again, "status"),
        "ended",
        "an answer may be lost, and its request be repeated"
    );
    let other = refused(&ada, "cancel", json!({"reason": "other"}), 404).await;
    assert_eq!(other["code"], "no_subscription");
}

#[tokio::test]
async fn a_pause_holds_posts_back_and_its_end_lets_them_go() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    let account = ada.connect("bluesky").await;
    let post = |seconds: i64| json!({"account_id": account, "caption": "Later", "scheduled_at": app.at(seconds)});
    let (soon, late) = (ada.publish(post(3_600)).await, ada.publish(post(7_200)).await);
    let status = async |post: &Value| {
        let path = format!("/api/v1/posts/{}", post["id"]);
        ada.get(&path).await.expect(200).body["post"]["status"].clone()
    };
    let paused = change(&ada, "pause", json!({})).await;
    assert_eq!(text(&paused, "status"), "paused");
    assert!(
        paused["pause"]["resumes_at"].is_string() && paused["pause_available_at"].is_string(),
        "{paused}"
    );
    for post in [&soon, &late] {
        assert_eq!(status(post).await, "paused", "reading works");
    }
    let held = ada.post("/api/v1/posts", post(9_000)).await.expect(403).body;
    assert_eq!(
        (&held["code"], &held["reason"]),
        (&json!("subscription_required"), &json!("paused"))
    );
    assert_eq!(
        refused(&ada, "pause", json!({}), 429).await["code"],
        "pause_cooldown",
        "the cooldown is checked first"
    );
    app.advance(std::time::Duration::from_secs(5_400));
    let resumed = change(&ada, "resume", json!({})).await;
    assert_eq!((text(&resumed, "status"), &resumed["pause"]), ("active", &Value::Null));
    assert_eq!((status(&soon).await, status(&late).await), (json!("paused"), json!("scheduled")));
    assert_eq!(refused(&ada, "resume", json!({}), 409).await["code"], "invalid_transition");
    let cooling = ada.post("/api/v1/subscription/pause", json!({})).await.expect(429);
    assert!(
        cooling.body["available_at"].is_string()
            && cooling.body["retry_after"].as_u64() > Some(80 * 86_400)
    );
}

#[tokio::test]
async fn a_pause_ends_by_stripes_own_clock() {
    let app = TestApp::start().await;
    let (ada, session) = subscriber(&app, "ada@example.com").await;
    let account = ada.connect("bluesky").await;
    let far =
        json!({"account_id": account, "caption": "After it", "scheduled_at": app.at(45 * 86_400)});
    let post = ada.publish(far.clone()).await;
    let status = async || {
        let path = format!("/api/v1/posts/{}", post["id"]);
        ada.get(&path).await.expect(200).body["post"]["status"].clone()
    };
    let paused = change(&ada, "pause", json!({})).await;
    assert_eq!((text(&paused, "status"), status().await), ("paused", json!("paused")));
    let theirs = format!("subscriptions/{}", text(&session, "subscription"));
    let until = object(&app, &theirs).await["pause_collection"]["resumes_at"].as_i64().unwrap();
    let said: chrono::DateTime<chrono::Utc> = text(&paused["pause"], "resumes_at").parse().unwrap();
    assert_eq!(said.timestamp(), until);
    // A day before, nothing has ended. (An event of Stripe that comes meanwhile changes nothing.)
    advance(&app, "29d").await;
    assert!(object(&app, &theirs).await["pause_collection"].is_object());
    assert_eq!((text(&shown(&ada).await, "status"), status().await), ("paused", json!("paused")));
    // Stripe ends it, and says so in an event. Nobody asks for it here.
    advance(&app, "2d").await;
    let active = stands(&app, &ada, "active").await;
    assert_eq!(active["pause"], Value::Null, "{active}");
    assert_eq!(object(&app, &theirs).await["pause_collection"], Value::Null);
    app.eventually("the post is scheduled again", || async {
        (status().await == "scheduled").then_some(())
    })
    .await;
    let _ = ada.post("/api/v1/posts", far).await.expect(201);
    assert_eq!(refused(&ada, "resume", json!({}), 409).await["code"], "invalid_transition");
    // The cooldown goes on from the start of the pause, by Stripe's clock too.
    assert_eq!(refused(&ada, "pause", json!({}), 429).await["code"], "pause_cooldown");
    advance(&app, "60d").await;
    let again = change(&ada, "pause", json!({})).await;
    assert_eq!(text(&again, "status"), "paused");
}

#[tokio::test]
async fn a_downgrade_waits_for_the_end_of_the_period() {
    let app = TestApp::start().await;
    let (ada, session) = subscriber(&app, "ada@example.com").await;
    for bad in ["agency", "pro", "gold"] {
        assert_eq!(
            refused(&ada, "downgrade", json!({"tier": bad}), 400).await["code"],
            "invalid_tier",
            "{bad}"
        );
    }
    let lower = change(&ada, "downgrade", json!({})).await;
    assert_eq!((text(&lower, "status"), text(&lower, "plan_tier")), ("active", "pro"));
    assert_eq!(lower["pending_change"]["plan_tier"], "starter");
    assert_eq!(lower["pending_change"]["effective_at"], lower["current_period_end"]);
    assert_eq!(refused(&ada, "pause", json!({}), 409).await["code"], "invalid_transition");
    let again = change(&ada, "downgrade", json!({"tier": "starter"})).await;
    assert_eq!(again["pending_change"]["plan_tier"], "starter", "another one replaces it");
    // A cancellation lets the schedule go first.
    let leaving = change(&ada, "cancel", json!({"reason": "not_using"})).await;
    assert_eq!((text(&leaving, "status"), &leaving["pending_change"]), ("canceling", &Value::Null));
    let theirs = object(&app, &format!("subscriptions/{}", text(&session, "subscription"))).await;
    assert_eq!(theirs["schedule"], Value::Null);

    let (bob, _) = subscriber(&app, "bob@example.com").await;
    change(&bob, "downgrade", json!({"tier": "starter"})).await;
    advance(&app, "32d").await;
    let moved = app
        .eventually("it has moved", || async {
            let shown = shown(&bob).await;
            (shown["plan_tier"] == "starter").then_some(shown)
        })
        .await;
    assert_eq!(
        (&moved["price"]["amount"], &moved["pending_change"]),
        (&json!(3_800), &Value::Null)
    );
    assert_eq!(refused(&bob, "downgrade", json!({}), 409).await["code"], "no_lower_tier");
}

#[tokio::test]
async fn a_change_that_is_sent_again_under_its_key_is_made_once() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    let http = fanfare_tests::local_client();
    let send = async || {
        let request =
            http.post(format!("{}/api/v1/subscription/pause", app.origin)).bearer_auth(&ada.key);
        request.header("Idempotency-Key", "once").send().await.unwrap()
    };
    let first: Value = send().await.json().await.unwrap();
    let again = send().await;
    assert_eq!(again.status(), 200);
    assert_eq!(again.json::<Value>().await.unwrap(), first);
}

#[tokio::test]
async fn while_stripe_is_away_nothing_is_begun() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    // The same service, with a Stripe that nobody answers for.
    let mut billing = fanfare_people::settings(&app.domain).billing.clone().unwrap();
    let http = fanfare_outbound::Client::new(fanfare_outbound::Policy { allow_private: true });
    let nowhere = "http://127.0.0.1:9".parse().unwrap();
    billing.stripe = fanfare_payments::Stripe::new(&http.unwrap(), nowhere, "sk".into());
    let options = Options { billing: Some(Some(billing)), workers: false, ..Options::default() };
    let away = TestApp::with(options).await;
    let new = json!({"email": "eve@example.com", "name": "Eve"});
    let refused = away.without_key().post("/api/v1/signup", new).await.expect(503).body;
    assert_eq!((&refused["code"], &refused["retryable"]), (&json!("unavailable"), &json!(true)));
    let started = fanfare_entities::signup::Entity::find().all(&away.domain.db.read).await;
    assert_eq!(started.unwrap().len(), 0);
}

#[tokio::test]
async fn null_names_no_plan_and_starts_nothing() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    let before = shown(&ada).await;
    assert_eq!(
        refused(&ada, "downgrade", json!({"tier": null}), 400).await["code"],
        "invalid_tier"
    );
    for reason in [json!({"reason": null}), json!({"reason": null, "immediate": true})] {
        assert_eq!(refused(&ada, "cancel", reason, 400).await["code"], "invalid_reason");
    }
    let now = json!({"reason": "other", "immediate": null});
    let _ = refused(&ada, "cancel", now, 400).await;
    assert_eq!(shown(&ada).await, before);
    let lower = change(&ada, "downgrade", json!({})).await;
    assert_eq!(lower["pending_change"]["plan_tier"], "starter", "left out: the next lower one");
}
