//! Somebody without any account signs up, pays, sets a password and gets a key; and what goes wrong on the way.

mod events;
mod kills;
mod nobody;
mod shuffled;

use fanfare_entities::{billing_subscription, letter, signup, user};
use fanfare_sandbox::stripe::Keys;
use fanfare_tests::{Options, TestApp, Visitor, visitor::PASSWORD};
use reqwest::Method;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

const NEW: &str = "another long enough one";

/// A signup of this address; what the API answered.
pub async fn start(app: &TestApp, email: &str) -> Value {
    let new = json!({"email": email, "name": "Ada Lovelace", "tier": "pro", "api_addon": true, "source": "a-test"});
    app.without_key().post("/api/v1/signup", new).await.expect(201).body
}

pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}"))
}

/// Asks the simulated Stripe with its secret.
pub async fn stripe(app: &TestApp, method: Method, path: &str, body: Value) -> Value {
    let url = app.simulator.url.join(&format!("/stripe/{path}")).unwrap();
    let http = fanfare_tests::local_client();
    let request = http.request(method.clone(), url).bearer_auth(&app.simulator.secret);
    let request = if method == Method::GET { request } else { request.json(&body) };
    let reply = request.send().await.unwrap();
    assert!(reply.status().is_success(), "{path}: {}", reply.text().await.unwrap());
    reply.json().await.unwrap()
}

/// Reads an object of the simulated Stripe.
pub async fn object(app: &TestApp, path: &str) -> Value {
    let url = app.simulator.url.join(&format!("/stripe/v1/{path}")).unwrap();
    let key = Keys::of(&app.simulator.secret.clone().into()).secret_key;
    let reply =
        fanfare_tests::local_client().get(url).bearer_auth(key.expose_secret()).send().await;
    reply.unwrap().json().await.unwrap()
}

fn checkout(started: &Value) -> String {
    text(started, "checkout_url").rsplit('/').next().unwrap().to_owned()
}

pub async fn step(app: &TestApp, started: &Value, verb: &str) -> Value {
    stripe(app, Method::POST, &format!("checkout/{}/{verb}", checkout(started)), json!({})).await
}

async fn poll(app: &TestApp, started: &Value) -> Value {
    let id = text(started, "session_id");
    let polled = app.without_key().get(&format!("/api/v1/signup/sessions/{id}")).await.expect(200);
    polled.body["signup_session"].clone()
}

pub async fn becomes(app: &TestApp, started: &Value, status: &str) -> Value {
    app.eventually(status, || async {
        let polled = poll(app, started).await;
        (polled["status"] == status).then_some(polled)
    })
    .await
}

/// Waits until the person's subscription has this status. An event that met another one is tried again a moment later, so time
/// passes meanwhile; less than the five minutes for which a signature is good.
async fn subscription_becomes(app: &TestApp, status: billing_subscription::BillingStatus) {
    for _ in 0..60 {
        let rows = billing_subscription::Entity::find().all(&app.domain.db.read).await.unwrap();
        if rows[0].status == status {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        app.advance(std::time::Duration::from_secs(2));
    }
    panic!("never happened: {status:?}");
}

/// The links in the letters to this address, newest first.
async fn links(app: &TestApp, email: &str) -> Vec<String> {
    let http = fanfare_tests::local_client();
    let asked = http.get(format!("{}/dev/mail", app.origin)).header("Accept", "application/json");
    let said: Value = asked.send().await.unwrap().json().await.unwrap();
    let letters = said["letters"].as_array().unwrap().iter().filter(|letter| letter["to"] == email);
    letters
        .map(|letter| {
            text(letter, "text")
                .split_whitespace()
                .find(|word| word.contains("/set-password/"))
                .unwrap()
                .to_owned()
        })
        .collect()
}

pub async fn link(app: &TestApp, email: &str) -> String {
    app.eventually("a letter", || async { links(app, email).await.into_iter().next() }).await
}

pub async fn set_password(visitor: &mut Visitor, link: &str) -> String {
    let fields = [("password", NEW.to_owned()), ("password_again", NEW.to_owned())];
    visitor.submit(link, &fields).await.expect(303).location
}

/// The key that stands on a page, if one does.
fn key(html: &str) -> Option<String> {
    let from = html.find("<code>fan_")? + "<code>".len();
    let key = &html[from..from + html[from..].find('<')?];
    (key.len() == 42).then(|| key.to_owned())
}

#[tokio::test]
async fn somebody_without_an_account_gets_a_key_that_works() {
    let app = TestApp::start().await;
    let started = start(&app, "ada@example.com").await;
    assert_eq!(text(&started, "status"), "created");
    assert_eq!(started["authorize_url"], Value::Null);
    assert!(started.get("email").is_none());
    let mut ada = Visitor::nobody(&app);
    let page = ada.get(text(&started, "checkout_redirect_url")).await.expect(200).html;
    for shown in
        ["Ada Lovelace", "a•••@example.com", "pro with the API add-on", "$68.00 a month", "a-test"]
    {
        assert!(page.contains(shown), "{shown} in {page}");
    }
    let on =
        ada.get(&format!("{}/checkout", text(&started, "checkout_redirect_url"))).await.expect(303);
    assert_eq!(on.location, text(&started, "checkout_url"));
    assert_eq!(poll(&app, &started).await["status"], "checkout_opened");
    // Somebody who comes back from the payment is told to wait, and cannot pay twice.
    let back = format!("{}?paid=1", text(&started, "checkout_redirect_url"));
    let waits = ada.get(&back).await.expect(200).html;
    assert!(
        waits.contains("do not pay again") && waits.contains("http-equiv=\"refresh\""),
        "{waits}"
    );
    assert!(!waits.contains("Continue to the payment"), "{waits}");
    step(&app, &started, "pay").await;
    let polled = becomes(&app, &started, "paid").await;
    let paid = ada.get(&back).await.expect(200).html;
    assert!(paid.contains("The payment went through.") && paid.contains("/dev/mail"), "{paid}");
    let again =
        ada.get(&format!("{}/checkout", text(&started, "checkout_redirect_url"))).await.expect(303);
    assert!(again.location.starts_with("/signup/"), "{}", again.location);
    assert_eq!((text(&polled, "email"), text(&polled, "tier")), ("a•••@example.com", "pro"));
    assert_eq!(
        set_password(&mut ada, &link(&app, "ada@example.com").await).await,
        "/dashboard/api"
    );
    assert_eq!(poll(&app, &started).await["status"], "ready");
    let first = ada.get("/dashboard/api").await.expect(200);
    let first = key(&first.html).expect("the first key");
    assert_eq!(key(&ada.get("/dashboard/api").await.expect(200).html), None, "it is shown once");
    let polled = poll(&app, &started).await;
    assert_eq!(polled["status"], "completed");
    assert!(!polled.to_string().contains(&first));
    let ada = fanfare_tests::User::new(&app.origin, first);
    let who = ada.get("/api/v1/whoami").await.expect(200).body;
    assert_eq!(who["user"]["name"], "Ada Lovelace");
    assert_eq!(who["default_workspace"]["plan_tier"], "pro");
    let _ = ada.get("/api/v1/accounts").await.expect(200);
}

#[tokio::test]
async fn without_the_addon_nothing_is_bought_that_was_not_asked_for() {
    let app = TestApp::start().await;
    let new = json!({"email": "ada@example.com", "name": "Ada"});
    let started = app.without_key().post("/api/v1/signup", new).await.expect(201).body;
    let session = object(&app, &format!("checkout/sessions/{}", checkout(&started))).await;
    assert_eq!(session["amount_total"], 1_900);
    step(&app, &started, "pay").await;
    becomes(&app, &started, "paid").await;
    let mut ada = Visitor::nobody(&app);
    set_password(&mut ada, &link(&app, "ada@example.com").await).await;
    let first = key(&ada.get("/dashboard/api").await.expect(200).html).expect("the first key");
    let refused = fanfare_tests::User::new(&app.origin, first).get("/api/v1/accounts").await;
    assert_eq!(refused.expect(403).body["code"], "api_addon_required");
}

#[tokio::test]
async fn a_key_is_made_for_whoever_looks_and_not_for_a_prefetch() {
    let app = TestApp::start().await;
    let started = start(&app, "ada@example.com").await;
    step(&app, &started, "pay").await;
    becomes(&app, &started, "paid").await;
    let mut ada = Visitor::nobody(&app);
    set_password(&mut ada, &link(&app, "ada@example.com").await).await;
    let http = fanfare_tests::local_client();
    for (name, value) in [
        ("Sec-Purpose", "prefetch;prerender"),
        ("Purpose", "prefetch"),
        ("Sec-Fetch-Dest", "empty"),
    ] {
        let page = http.get(format!("{}/dashboard/api", app.origin)).header("Cookie", &ada.cookie);
        let html = page.header(name, value).send().await.unwrap().text().await.unwrap();
        assert_eq!(key(&html), None, "{name}: {value}");
    }
    // Of many at once one gets it.
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let mut ada = ada.clone();
        asked.spawn(async move { key(&ada.get("/dashboard/api").await.html).is_some() });
    }
    assert_eq!(asked.join_all().await.into_iter().filter(|shown| *shown).count(), 1);
}

#[tokio::test]
async fn until_it_is_paid_a_known_address_is_an_unknown_one() {
    let app = TestApp::start().await;
    let (person, _) = Visitor::person(&app, "ada@example.com").await;
    let persons = async || user::Entity::find().count(&app.domain.db.read).await.unwrap();
    let before = persons().await;
    let shape = |started: &Value| {
        let mut shape = started.clone();
        for name in
            ["session_id", "checkout_redirect_url", "checkout_url", "poll_url", "expires_at"]
        {
            shape[name] = name.into();
        }
        shape
    };
    let (known, unknown) =
        (start(&app, "ada@example.com").await, start(&app, "nobody@example.com").await);
    assert_eq!(shape(&known), shape(&unknown));
    for started in [&known, &unknown] {
        let mut polled = poll(&app, started).await;
        polled["created_at"] = json!(null);
        let other = poll(&app, if started == &known { &unknown } else { &known }).await;
        assert_eq!(polled["status_message"], other["status_message"]);
    }
    assert_eq!(persons().await, before);
    assert_eq!(letter::Entity::find().count(&app.domain.db.read).await.unwrap(), 0);
    // The known person keeps the password, and gets no letter.
    step(&app, &known, "pay").await;
    becomes(&app, &known, "ready").await;
    assert_eq!(links(&app, "ada@example.com").await, Vec::<String>::new());
    let mine = billing_subscription::Column::UserId.eq(person);
    let mine = billing_subscription::Entity::find().filter(mine).count(&app.domain.db.read).await;
    assert_eq!(mine.unwrap(), 1);
    let mut ada = Visitor::nobody(&app);
    let _ = ada
        .try_password_at("/login?next=/dashboard/api", "ada@example.com", PASSWORD)
        .await
        .expect(303);
    let _ = ada.get("/dashboard/api").await.expect(200);
    becomes(&app, &known, "completed").await;
}

#[tokio::test]
async fn of_two_paid_signups_one_keeps_its_subscription_and_the_other_is_refunded() {
    let app = TestApp::start().await;
    let (one, other) = (start(&app, "ada@example.com").await, start(&app, "ada@example.com").await);
    let (first, second) = tokio::join!(step(&app, &one, "pay"), step(&app, &other, "pay"));
    let ended = app
        .eventually("one is kept and one is given back", || async {
            let (one, other) = (poll(&app, &one).await, poll(&app, &other).await);
            let statuses = [text(&one, "status"), text(&other, "status")];
            (statuses.contains(&"paid") && statuses.contains(&"completed"))
                .then_some(one["status"] == "completed")
        })
        .await;
    let (kept, refunded) = if ended { (second, first) } else { (first, second) };
    let subscription = async |session: &Value| {
        object(&app, &format!("subscriptions/{}", text(session, "subscription"))).await
    };
    assert_eq!(subscription(&kept).await["status"], "active");
    assert_eq!(subscription(&refunded).await["status"], "canceled");
    let refunds = object(&app, "refunds").await;
    assert_eq!(
        (refunds["data"].as_array().unwrap().len(), &refunds["data"][0]["amount"]),
        (1, &json!(6_800))
    );
    let message = poll(&app, if ended { &one } else { &other }).await;
    assert!(text(&message, "status_message").contains("refunded"), "{message}");
    let live = billing_subscription::Entity::find().count(&app.domain.db.read).await.unwrap();
    assert_eq!(live, 1);
}

#[tokio::test]
async fn a_checkout_may_end_without_money() {
    let app = TestApp::start().await;
    let declined = start(&app, "a@example.com").await;
    let mut ada = Visitor::nobody(&app);
    let _ = ada
        .get(&format!("{}/checkout", text(&declined, "checkout_redirect_url")))
        .await
        .expect(303);
    step(&app, &declined, "decline").await;
    assert_eq!(poll(&app, &declined).await["status"], "checkout_opened");
    step(&app, &declined, "cancel").await;
    becomes(&app, &declined, "cancelled").await;
    // The person goes back from the page.
    let back = start(&app, "b@example.com").await;
    let _ = ada.get(&format!("{}/cancel", text(&back, "checkout_redirect_url"))).await.expect(303);
    assert_eq!(poll(&app, &back).await["status"], "cancelled");
    let session = object(&app, &format!("checkout/sessions/{}", checkout(&back))).await;
    assert_eq!(session["status"], "expired");
    let gone = ada.get(&format!("{}/checkout", text(&back, "checkout_redirect_url"))).await;
    assert_eq!(gone.status, 409);
    let later = start(&app, "c@example.com").await;
    step(&app, &later, "async").await;
    becomes(&app, &later, "payment_processing").await;
    step(&app, &later, "settle").await;
    becomes(&app, &later, "paid").await;
    let never = start(&app, "d@example.com").await;
    step(&app, &never, "async").await;
    becomes(&app, &never, "payment_processing").await;
    step(&app, &never, "fail").await;
    becomes(&app, &never, "failed").await;
    let slow = start(&app, "e@example.com").await;
    stripe(&app, Method::POST, "clock", json!({"advance": "25h"})).await;
    becomes(&app, &slow, "expired").await;
    assert_eq!(
        user::Entity::find().count(&app.domain.db.read).await.unwrap(),
        1,
        "only the one who paid"
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_signup_is_said_at_once() {
    let app = TestApp::start().await;
    let bad = json!({"email": "nobody", "name": " ", "source": "a b"});
    let refused = app.without_key().post("/api/v1/signup", bad).await.expect(400).body;
    let fields: Vec<_> = refused["validation_errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| text(one, "field").to_owned())
        .collect();
    assert_eq!(fields, ["email", "name", "source"], "{refused}");
    let tier = json!({"email": "a@b.c", "name": "A", "tier": "gold"});
    assert_eq!(
        app.without_key().post("/api/v1/signup", tier).await.expect(400).body["code"],
        "invalid_field"
    );
    let unknown = json!({"email": "a@b.c", "name": "A", "plan": "pro"});
    assert_eq!(
        app.without_key().post("/api/v1/signup", unknown).await.expect(400).body["code"],
        "unknown_field"
    );
    let missing = app.without_key().get("/api/v1/signup/sessions/guessed").await.expect(404).body;
    assert_eq!(missing["code"], "signup_session_not_found");
    // A key that is not good for anything is not looked at.
    let stranger = fanfare_tests::User::new(&app.origin, "fan_nonsense".to_owned());
    let new = json!({"email": "a@b.c", "name": "A"});
    let _ = stranger.post("/api/v1/signup", new).await.expect(201);
}

#[tokio::test]
async fn a_signup_that_is_sent_again_under_its_key_is_the_same_one() {
    let app = TestApp::start().await;
    let http = fanfare_tests::local_client();
    let send = async |email: &str| {
        let request =
            http.post(format!("{}/api/v1/signup", app.origin)).header("Idempotency-Key", "k");
        request.json(&json!({"email": email, "name": "Ada"})).send().await.unwrap()
    };
    let first: Value = send("ada@example.com").await.json().await.unwrap();
    let again = send("ada@example.com").await;
    assert_eq!(again.headers()["idempotent-replayed"], "true");
    assert_eq!(again.json::<Value>().await.unwrap(), first);
    assert_eq!(send("bob@example.com").await.status(), 422);
    assert_eq!(signup::Entity::find().count(&app.domain.db.read).await.unwrap(), 1);
}

#[tokio::test]
async fn nobody_signs_up_where_it_is_closed_or_nothing_is_sold() {
    let closed =
        TestApp::with(Options { signup_open: false, workers: false, ..Options::default() }).await;
    let unsold =
        TestApp::with(Options { billing: Some(None), workers: false, ..Options::default() }).await;
    let base_url = Some("https://fanfare.example".to_owned());
    let mute = TestApp::with(Options { base_url, workers: false, ..Options::default() }).await;
    for (app, status, code) in [
        (&closed, 403, "signup_closed"),
        (&unsold, 503, "billing_not_configured"),
        (&mute, 503, "mail_not_configured"),
    ] {
        let new = json!({"email": "ada@example.com", "name": "Ada"});
        let refused = app.without_key().post("/api/v1/signup", new).await.expect(status).body;
        assert_eq!(refused["code"], code);
    }
}

#[tokio::test]
async fn an_address_signs_up_only_so_often() {
    let app =
        TestApp::with(Options { limits_factor: 1.0, workers: false, ..Options::default() }).await;
    for n in 0..5 {
        start(&app, &format!("{n}@example.com")).await;
    }
    let new = json!({"email": "six@example.com", "name": "Six"});
    let refused = app.without_key().post("/api/v1/signup", new).await.expect(429);
    assert_eq!(refused.body["code"], "rate_limited");
}
