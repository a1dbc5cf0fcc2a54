//! Webhooks are told what happened, signed, until they have heard it.

use std::time::Duration;

use fanfare_core::access::Scope;
use fanfare_tests::{Options, Receiver, TestApp, User};
use futures_util::future::join_all;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

fn sign(secret: &str, time: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{time}.{body}").as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn a_published_post_reaches_the_webhook_signed() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url, "events": ["post.published"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"].clone();
    let secret = hook["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_"));
    let listed = user.get("/api/v1/webhooks").await.expect(200);
    assert!(!listed.text.contains(secret));
    let post = user.publish(json!({"account_id": account, "caption": "Told"})).await;
    let heard = app.eventually("the webhook hears", || async { receiver.received().pop() }).await;
    let body = heard.body();
    assert_eq!(body["type"], "post.published");
    assert_eq!(body["data"]["post"]["id"], post["id"]);
    let header = heard.header("x-fanfare-signature");
    let (time, signature) = header.split_once(",v1=").unwrap();
    assert_eq!(signature, sign(secret, time.trim_start_matches("t="), &heard.text));
    assert_eq!(heard.header("x-fanfare-event"), "post.published");
}

#[tokio::test]
async fn a_second_header_carries_the_same_signature() {
    let signature_header = Some("X-Postman-Signature".to_owned());
    let app = TestApp::with(Options { signature_header, ..Options::default() }).await;
    let user = app.user().await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url, "events": ["webhook.test"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"].clone();
    let path = format!("/api/v1/webhooks/{}/test", hook["id"].as_str().unwrap());
    let _ = user.post(&path, json!({})).await.expect(202);
    let heard = app.eventually("the webhook hears", || async { receiver.received().pop() }).await;
    let signed = heard.header("x-fanfare-signature");
    assert!(signed.starts_with("t=") && signed.contains(",v1="), "{signed}");
    assert_eq!(heard.header("x-postman-signature"), signed);
}

#[tokio::test]
async fn a_webhook_may_be_described_and_begin_disabled() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let hook =
        json!({"url": "https://203.0.113.7/hook", "description": "For the shop", "enabled": false});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"].clone();
    assert_eq!(
        (&hook["description"], &hook["enabled"], &hook["disabled_reason"]),
        (&json!("For the shop"), &json!(false), &json!("disabled by its owner"))
    );
    let path = format!("/api/v1/webhooks/{}", hook["id"].as_str().unwrap());
    let change =
        async |body: Value| user.patch(&path, body).await.expect(200).body["webhook"].clone();
    let kept = change(json!({"enabled": true})).await;
    assert_eq!((&kept["description"], &kept["enabled"]), (&json!("For the shop"), &json!(true)));
    assert_eq!(change(json!({"description": null})).await["description"], Value::Null);
    let long = json!({"url": "https://203.0.113.7/hook", "description": "x".repeat(201)});
    let _ = user.post("/api/v1/webhooks", long.clone()).await.refused(400, "invalid_field");
    let _ = user
        .patch(&path, json!({"description": long["description"]}))
        .await
        .refused(400, "invalid_field");
}

#[tokio::test]
async fn a_delivery_is_tried_again_and_can_be_made_again() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let receiver = Receiver::start().await;
    receiver.respond_with(500);
    let hook = json!({"url": receiver.url, "events": ["*"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"].clone();
    let path = format!("/api/v1/webhooks/{}", hook["id"].as_str().unwrap());
    let _ = user.post(&format!("{path}/test"), json!({})).await.expect(202);
    let deliveries = format!("{path}/deliveries");
    let tried = app
        .eventually("a first try", || async {
            let list = user.get(&deliveries).await.expect(200).body["deliveries"].clone();
            (list[0]["tries"] == 1).then(|| list[0].clone())
        })
        .await;
    assert_eq!((&tried["status"], &tried["last_status"]), (&json!("pending"), &json!(500)));
    receiver.respond_with(200);
    app.advance(Duration::from_secs(6));
    let done = app
        .eventually("a second try", || async {
            let list = user.get(&deliveries).await.expect(200).body["deliveries"].clone();
            (list[0]["status"] == "delivered").then(|| list[0].clone())
        })
        .await;
    assert_eq!(done["id"], tried["id"], "the id stays over all tries");
    let heard = receiver.received().len();
    let again = format!("{deliveries}/{}/redeliver", done["id"].as_str().unwrap());
    let _ = user.post(&again, json!({})).await.expect(202);
    app.eventually("it is delivered again", || async {
        (receiver.received().len() > heard).then_some(())
    })
    .await;
}

#[tokio::test]
async fn gone_is_gone() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let receiver = Receiver::start().await;
    receiver.respond_with(410);
    let hook = json!({"url": receiver.url, "events": ["*"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"].clone();
    let path = format!("/api/v1/webhooks/{}", hook["id"].as_str().unwrap());
    let _ = user.post(&format!("{path}/test"), json!({})).await.expect(202);
    app.eventually("it is disabled", || async {
        let list = user.get("/api/v1/webhooks").await.expect(200).body["webhooks"].clone();
        (list[0]["enabled"] == false).then_some(())
    })
    .await;
    let activity = user.get("/api/v1/activity").await.expect(200);
    assert_eq!(activity.body["activity"][0]["type"], "webhook.disabled");
}

#[tokio::test]
async fn after_a_rotation_both_secrets_sign() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url, "events": ["webhook.test"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"].clone();
    let path = format!("/api/v1/webhooks/{}", hook["id"].as_str().unwrap());
    let new = user.post(&format!("{path}/rotate-secret"), json!({})).await.expect(200);
    let new = new.body["webhook"]["secret"].as_str().unwrap().to_owned();
    let _ = user.post(&format!("{path}/test"), json!({})).await.expect(202);
    let heard = app.eventually("the test arrives", || async { receiver.received().pop() }).await;
    let header = heard.header("x-fanfare-signature").to_owned();
    let parts: Vec<&str> = header.split(",v1=").collect();
    let time = parts[0].trim_start_matches("t=");
    let old = hook["secret"].as_str().unwrap();
    let expected = [new.as_str(), old].map(|secret| sign(secret, time, &heard.text));
    assert_eq!(parts[1..], expected);
}

/// The number of signatures of a test delivery, and whether `secret` made one of them.
async fn signatures(
    app: &TestApp,
    user: &User,
    (path, receiver): (&str, &Receiver),
    secret: &str,
) -> (usize, bool) {
    let sent = user.post(&format!("{path}/test"), json!({})).await.expect(202).body;
    let id = sent["delivery"]["id"].as_str().unwrap();
    let heard = app
        .eventually("the test arrives", || async {
            let all = receiver.received();
            all.into_iter().find(|heard| heard.header("x-fanfare-delivery") == id)
        })
        .await;
    // A clock that moves on before the result is written has it delivered again.
    app.wait_until_idle().await;
    let header = heard.header("x-fanfare-signature").to_owned();
    let parts: Vec<&str> = header.split(",v1=").collect();
    let expected = sign(secret, parts[0].trim_start_matches("t="), &heard.text);
    (parts.len() - 1, parts.contains(&expected.as_str()))
}

#[tokio::test]
async fn a_secret_lives_its_day_however_often_it_is_rotated_and_ends_at_once_when_asked() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url, "events": ["webhook.test"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"].clone();
    let path = format!("/api/v1/webhooks/{}", hook["id"].as_str().unwrap());
    let first = hook["secret"].as_str().unwrap();
    let place = (path.as_str(), &receiver);
    let rotate = format!("{path}/rotate-secret");
    let mut newest = String::new();
    for _ in 0..2 {
        app.advance(Duration::from_secs(3_600));
        let rotated = user.post(&rotate, json!({})).await.expect(200);
        newest = rotated.body["webhook"]["secret"].as_str().unwrap().to_owned();
    }
    assert_eq!(signatures(&app, &user, place, first).await, (3, true));
    app.advance(Duration::from_secs(23 * 3_600));
    assert_eq!(signatures(&app, &user, place, first).await, (2, false), "its day is over");
    let gone = user.delete(&format!("{path}/earlier-secrets")).await.expect(200);
    assert_eq!(gone.body, json!({"deleted": true, "id": hook["id"], "ended": 2}));
    assert_eq!(signatures(&app, &user, place, &newest).await, (1, true));
    for _ in 0..9 {
        user.post(&rotate, json!({})).await.expect(200);
    }
    user.post(&rotate, json!({})).await.refused(409, "secret_limit");
}

#[tokio::test]
async fn all_that_failed_since_a_time_is_delivered_again() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url, "events": ["post.created"], "enabled": false});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"].clone();
    let path = format!("/api/v1/webhooks/{}", hook["id"].as_str().unwrap());
    let draft =
        |caption: &str| json!({"account_id": account, "caption": caption, "status": "draft"});
    user.publish(draft("before")).await;
    app.advance(Duration::from_secs(60));
    let since = app.at(0);
    app.advance(Duration::from_secs(60));
    for caption in ["one", "two", "three"] {
        user.publish(draft(caption)).await;
    }
    let again = format!("{path}/redeliver");
    let asked = json!({ "since": since });
    user.post(&again, asked.clone()).await.refused(409, "invalid_transition");
    let _ = user.patch(&path, json!({"enabled": true})).await.expect(200);
    user.post(&again, json!({"since": "yesterday"})).await.refused(400, "invalid_timestamp");
    let sent = user.post(&again, asked.clone()).await.expect(202);
    assert_eq!(sent.body, json!({"redelivered": 3, "has_more": false}));
    // An attempt that fails on a busy machine is made again, in its time.
    app.eventually_in_time("all three arrive", Duration::from_secs(5), || async {
        (receiver.received().len() >= 3).then_some(())
    })
    .await;
    app.wait_until_idle().await;
    assert_eq!(user.post(&again, asked).await.expect(202).body["redelivered"], 0);
    let heard = receiver.received();
    let mut captions: Vec<_> =
        heard.iter().map(|one| one.body()["data"]["post"]["caption"].to_string()).collect();
    captions.sort();
    assert_eq!(captions, ["\"one\"", "\"three\"", "\"two\""]);
}

#[tokio::test]
async fn events_are_a_stream_without_gaps() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    for n in 0..5 {
        let post = user.publish(json!({"account_id": account, "caption": n.to_string()})).await;
        app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published"]).await;
    }
    let (mut after, mut seen): (i64, Vec<Value>) = (0, Vec::new());
    loop {
        let page = user.get(&format!("/api/v1/events?after={after}&limit=4")).await.expect(200);
        let events = page.body["events"].as_array().unwrap().clone();
        let Some(last) = events.last() else { break };
        after = last["sequence"].as_i64().unwrap();
        seen.extend(events);
    }
    let sequences: Vec<i64> =
        seen.iter().map(|event| event["sequence"].as_i64().unwrap()).collect();
    assert_eq!(sequences, (1..=16).collect::<Vec<i64>>());
    let kinds: Vec<&str> = seen[1..4].iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["post.created", "post.publishing", "post.published"]);
}

#[tokio::test]
async fn a_private_address_is_no_target() {
    let app = TestApp::with(fanfare_tests::Options {
        allow_private: false,
        workers: false,
        ..Default::default()
    })
    .await;
    let user = app.user().await;
    for url in [
        "http://example.com/x",
        "https://127.0.0.1/x",
        "https://localhost/x",
        "https://10.0.0.1/x",
        "https://[::1]/x",
    ] {
        let hook = json!({"url": url, "events": ["*"]});
        user.post("/api/v1/webhooks", hook).await.refused(400, "url_not_allowed");
    }
    let hook = json!({"url": "https://example.com/x", "events": ["post.pubished"]});
    user.post("/api/v1/webhooks", hook).await.refused(400, "invalid_field");
}

#[tokio::test]
async fn a_receiver_that_is_refused_gets_every_reason_at_once_and_what_to_set() {
    let options = Options { allow_private: false, workers: false, ..Options::default() };
    let app = TestApp::with(options).await;
    let user = app.user().await;
    for (url, reasons) in [
        ("http://127.0.0.1:3000/x", &["https", "ports 80 and 443", "private or reserved"][..]),
        ("http://localhost:3000/x", &["https", "ports 80 and 443", "private or reserved"]),
        ("ftp://me@10.0.0.1:21/", &["https", "user name", "ports 80 and 443", "private"]),
    ] {
        let refused = user.post("/api/v1/webhooks", json!({"url": url, "events": ["*"]})).await;
        let body = refused.refused(400, "url_not_allowed").body;
        for reason in reasons {
            assert!(body["error"].as_str().unwrap().contains(reason), "{url}: {reason} in {body}");
        }
        let remedy = body["validation_errors"][0]["remedy"].as_str().unwrap();
        assert!(remedy.contains("FANFARE_ALLOW_PRIVATE_TARGETS=true"), "{remedy}");
    }
    let hook = json!({"url": "https://nowhere.invalid/x", "events": ["*"]});
    let body = user.post("/api/v1/webhooks", hook).await.refused(400, "url_not_allowed").body;
    let remedy = body["validation_errors"][0]["remedy"].as_str().unwrap();
    assert!(remedy.contains("spelling") && !remedy.contains("https"), "{remedy}");
}

#[tokio::test]
async fn the_owner_of_an_installation_on_one_machine_is_sent_events_there() {
    let app = TestApp::with(Options { allow_private: false, ..Options::default() }).await;
    let owner = app.person("owner@localhost").await;
    let owner = app.key(owner, None, &Scope::ALL).await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url, "events": ["webhook.test"]});
    app.user().await.post("/api/v1/webhooks", hook.clone()).await.refused(400, "url_not_allowed");
    let made = owner.post("/api/v1/webhooks", hook).await;
    if app.domain.db.is_postgres() {
        made.refused(400, "url_not_allowed");
        return;
    }
    let path =
        format!("/api/v1/webhooks/{}", made.expect(201).body["webhook"]["id"].as_str().unwrap());
    let _ = owner.post(&format!("{path}/test"), json!({})).await.expect(202);
    app.eventually("the test arrives", || async { receiver.received().pop() }).await;
    for elsewhere in ["http://10.0.0.1/x", "http://169.254.169.254/x", "http://127.0.0.1.example/x"]
    {
        let hook = json!({"url": elsewhere, "events": ["*"]});
        owner.post("/api/v1/webhooks", hook).await.refused(400, "url_not_allowed");
    }
}

#[tokio::test]
async fn a_workspace_has_twenty_webhooks_and_tests_them_only_so_often() {
    let app = TestApp::with(Options { workers: false, limits_factor: 0.1, ..Options::default() });
    let app = app.await;
    let user = app.user().await;
    let hook = |n: usize| json!({"url": format!("https://example.com/{n}"), "events": ["*"]});
    let made = join_all((0..25).map(|n| user.post("/api/v1/webhooks", hook(n)))).await;
    let id = made.iter().find(|one| one.status == 201).unwrap().body["webhook"]["id"].clone();
    let path = format!("/api/v1/webhooks/{}", id.as_str().unwrap());
    assert_eq!(made.iter().filter(|one| one.status == 201).count(), 20);
    let refused = made.into_iter().find(|one| one.status != 201).unwrap();
    assert_eq!(refused.refused(403, "webhook_limit").body["limit"], 20);
    for _ in 0..6 {
        let _ = user.post(&format!("{path}/test"), json!({})).await.expect(202);
    }
    user.post(&format!("{path}/test"), json!({})).await.refused(429, "rate_limited");
    let _ = user.delete(&path).await.expect(200);
    let _ = user.post("/api/v1/webhooks", hook(25)).await.expect(201);
}
