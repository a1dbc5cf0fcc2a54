//! Stripe is away, or its answers are lost: a clear refusal, nothing half done, and settled when it is back.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
};

use fanfare_entities::signup;
use fanfare_tests::{ApiReply, Options, TestApp, User};
use reqwest::Method;
use sea_orm::{EntityTrait, PaginatorTrait};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::watch,
};
use url::Url;

use crate::{
    signup::{object, text},
    subscriptions::subscriber,
};

/// The way to Stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Open,
    /// Nobody answers.
    Closed,
    /// Requests arrive, and their answers are lost.
    Deaf,
    /// Every request gets this status, and an error with this code and message.
    Refusing(u16, &'static str, &'static str),
}

/// A way to the simulated Stripe that can be cut.
struct Road {
    url: Url,
    way: watch::Sender<Way>,
    to: Arc<OnceLock<SocketAddr>>,
}

impl Road {
    async fn build() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/stripe", listener.local_addr().unwrap()).parse().unwrap();
        let (way, seen) = watch::channel(Way::Open);
        let to: Arc<OnceLock<SocketAddr>> = Arc::default();
        let there = Arc::clone(&to);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if let Some(to) = there.get() {
                    tokio::spawn(pass(client, *to, seen.clone()));
                }
            }
        });
        Self { url, way, to }
    }

    fn lead_to(&self, app: &TestApp) {
        let there = &app.simulator.url;
        let place = format!("{}:{}", there.host_str().unwrap(), there.port().unwrap());
        self.to.set(place.parse().unwrap()).unwrap();
    }

    fn is(&self, way: Way) {
        self.way.send_replace(way);
    }
}

/// Carries a connection while the way stays as it was.
async fn pass(mut client: TcpStream, to: SocketAddr, mut seen: watch::Receiver<Way>) {
    let way = *seen.borrow_and_update();
    let Ok(mut server) = TcpStream::connect(to).await else { return };
    let carried = async {
        match way {
            Way::Open => drop(copy_bidirectional(&mut client, &mut server).await),
            Way::Closed => {}
            Way::Refusing(status, code, message) => {
                let _ = client.read(&mut [0; 64 << 10]).await;
                let body = json!({"error": {"code": code, "message": message}}).to_string();
                let head = format!(
                    "HTTP/1.1 {status} Refused\r\ncontent-type: application/json\r\n\
                     content-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                let _ = client.write_all(format!("{head}{body}").as_bytes()).await;
            }
            Way::Deaf => {
                let (mut from, mut answer) = (client.split().0, server.into_split());
                tokio::select! {
                    _ = copy(&mut from, &mut answer.1) => {}
                    _ = answer.0.read_u8() => {}
                }
            }
        }
    };
    tokio::select! {
        () = carried => {}
        _ = seen.changed() => {}
    }
}

async fn subscribed() -> (TestApp, Road, User, String) {
    let road = Road::build().await;
    let options = Options { stripe_at: Some(road.url.clone()), ..Options::default() };
    let app = TestApp::with(options).await;
    road.lead_to(&app);
    let (ada, session) = subscriber(&app, "ada@example.com").await;
    let theirs = format!("subscriptions/{}", text(&session, "subscription"));
    (app, road, ada, theirs)
}

async fn ask(user: &User, verb: &str, key: &str, body: &Value) -> ApiReply {
    let path = format!("/api/v1/subscription/{verb}");
    user.send(Method::POST, &path, &[("Idempotency-Key", key)], Some(body)).await
}

async fn shown(user: &User) -> Value {
    user.get("/api/v1/subscription").await.expect(200).body["subscription"].clone()
}

/// Changes of a subscription, and what each asks for.
fn changes() -> [(&'static str, Value); 3] {
    [("cancel", json!({"reason": "other"})), ("pause", json!({})), ("downgrade", json!({}))]
}

#[tokio::test]
async fn while_stripe_is_away_nothing_changes_and_then_all_works() {
    let (app, road, ada, theirs) = subscribed().await;
    let (before, of_stripe) = (shown(&ada).await, object(&app, &theirs).await);
    let signups = async || signup::Entity::find().count(&app.domain.db.read).await.unwrap();
    let begun = signups().await;
    road.is(Way::Closed);
    for (verb, body) in changes() {
        let refused = ask(&ada, verb, verb, &body).await.refused(503, "unavailable");
        assert_eq!(refused.body["retryable"], true, "{verb}: {}", refused.text);
        assert_eq!(shown(&ada).await, before, "{verb}");
    }
    let new = json!({"email": "eve@example.com", "name": "Eve"});
    let _ = app.without_key().post("/api/v1/signup", new.clone()).await.refused(503, "unavailable");
    assert_eq!(signups().await, begun, "no signup is left behind");
    assert_eq!(object(&app, &theirs).await, of_stripe);
    road.is(Way::Open);
    let _ = app.without_key().post("/api/v1/signup", new).await.expect(201);
    // The same request under the same key is carried out now.
    let paused = ask(&ada, "pause", "pause", &json!({})).await.expect(200).body;
    assert_eq!(paused["subscription"]["status"], "paused", "{paused}");
    assert!(object(&app, &theirs).await["pause_collection"].is_object());
}

#[tokio::test]
async fn a_pause_whose_answer_was_lost_is_one_pause() {
    let (app, road, ada, theirs) = subscribed().await;
    road.is(Way::Deaf);
    let lost = ask(&ada, "pause", "once", &json!({})).await;
    lost.refused(503, "unavailable");
    let pause = object(&app, &theirs).await["pause_collection"].clone();
    assert!(pause.is_object(), "Stripe has it: {pause}");
    road.is(Way::Open);
    // An event may tell of it before the request comes again.
    app.eventually("Stripe's event is applied", || async {
        app.advance(std::time::Duration::from_secs(1));
        (shown(&ada).await["status"] == "paused").then_some(())
    })
    .await;
    let paused = ask(&ada, "pause", "once", &json!({})).await.expect(200).body;
    assert_eq!(paused["subscription"]["status"], "paused", "{paused}");
    assert_eq!(object(&app, &theirs).await["pause_collection"], pause, "the same pause");
    let resumed = ask(&ada, "resume", "back", &json!({})).await.expect(200).body;
    assert_eq!(resumed["subscription"]["status"], "active", "{resumed}");
}

/// What callers are told: the status, the code, and whether to try again.
type Told = (u16, &'static str, bool);

/// What Stripe may say, and what callers are told.
const REFUSALS: &[(u16, &str, &str, Told)] = &[
    (400, "email_invalid", "Invalid email address: x", (400, "payment_refused", false)),
    (400, "resource_missing", "No such customer: 'cus_1'", (409, "payment_object_gone", false)),
    (401, "", "Invalid API Key provided: sk_test_****1234", (503, "billing_misconfigured", false)),
    (402, "card_declined", "Your card was declined.", (402, "payment_declined", false)),
    (403, "", "The provided key does not have access.", (503, "billing_misconfigured", false)),
    (404, "resource_missing", "No such subscription: 'sub_1'", (409, "payment_object_gone", false)),
    (409, "lock_timeout", "This object cannot be accessed.", (503, "unavailable", true)),
    (429, "rate_limit", "Too many requests.", (503, "unavailable", true)),
    (500, "", "Something went wrong.", (503, "unavailable", true)),
];

#[tokio::test]
async fn what_stripe_refuses_is_told_by_its_kind_over_every_call() {
    let (app, road, ada, _) = subscribed().await;
    let before = shown(&ada).await;
    for (place, (status, code, message, (told, name, again))) in REFUSALS.iter().enumerate() {
        road.is(Way::Refusing(*status, code, message));
        let mut answers = Vec::new();
        for (verb, body) in changes() {
            answers.push((verb, ask(&ada, verb, &format!("{verb}-{place}"), &body).await));
        }
        let new = json!({"email": format!("eve{place}@example.com"), "name": "Eve"});
        answers.push(("signup", app.without_key().post("/api/v1/signup", new).await));
        for (verb, answer) in answers {
            let answer = answer.refused(*told, name);
            assert_eq!(answer.body["retryable"], *again, "{status} {code} {verb}: {}", answer.text);
            assert!(!answer.text.contains("sk_test"), "{}", answer.text);
        }
    }
    road.is(Way::Open);
    assert_eq!(shown(&ada).await, before, "nothing was begun");
}
