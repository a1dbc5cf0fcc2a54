//! Events that networks send: signed, once for each event, in any order.

use fanfare_conversations::inbox::MetaSettings;
use fanfare_core::AccountId;
use fanfare_tests::{ApiReply, Options, TestApp, User};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{conversation, pro, write};

/// The secret of the simulated app.
fn secret(app: &TestApp, platform: &str) -> String {
    use secrecy::ExposeSecret;
    let simulator = app.domain.settings.simulator.as_ref().unwrap();
    simulator.app_secret(platform.parse().unwrap()).unwrap().expose_secret().to_owned()
}

fn signature(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    let hex: String =
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

async fn post(app: &TestApp, platform: &str, body: Vec<u8>, signature: Option<&str>) -> ApiReply {
    let user = app.without_key();
    let url = format!("{}/api/hooks/meta/{platform}", app.origin);
    let mut request =
        user.http.request(Method::POST, url).header("Content-Type", "application/json").body(body);
    if let Some(signature) = signature {
        request = request.header("X-Hub-Signature-256", signature);
    }
    let reply = request.send().await.unwrap();
    let (status, headers) = (reply.status().as_u16(), reply.headers().clone());
    let text = reply.text().await.unwrap();
    ApiReply { status, headers, body: serde_json::from_str(&text).unwrap_or_default(), text }
}

pub async fn deliver(app: &TestApp, platform: &str, body: &Value) {
    let body = body.to_string().into_bytes();
    let signed = signature(&secret(app, platform), &body);
    let _ = post(app, platform, body, Some(&signed)).await.expect(200);
}

pub async fn remote_id(app: &TestApp, account: i64) -> String {
    fanfare_publishing::accounts::row(&app.domain, AccountId(account))
        .await
        .unwrap()
        .unwrap()
        .remote_id
}

fn message(page: &str, mid: &str, text: &str, at: i64) -> Value {
    json!({"object": "page", "entry": [{"id": page, "time": at, "messaging": [{
        "sender": {"id": "555"}, "recipient": {"id": page}, "timestamp": at,
        "message": {"mid": mid, "text": text},
    }]}]})
}

fn unsent(page: &str, mid: &str, at: i64) -> Value {
    json!({"object": "page", "entry": [{"id": page, "time": at, "messaging": [{
        "sender": {"id": "555"}, "recipient": {"id": page}, "timestamp": at,
        "message": {"mid": mid, "is_deleted": true},
    }]}]})
}

async fn messages(user: &User, conversation: &Value) -> Vec<Value> {
    let path = format!("/api/v1/inbox/conversations/{}?limit=100", conversation["id"]);
    user.get(&path).await.expect(200).body["messages"].as_array().unwrap().clone()
}

#[tokio::test]
async fn the_challenge_is_answered_to_whoever_knows_the_token() {
    let meta = MetaSettings { verify_token: Some("open sesame".into()), human_agent: false };
    let app = TestApp::with(Options { meta, ..Options::default() }).await;
    let ask = async |platform: &str, query: &str| {
        app.without_key().get(&format!("/api/hooks/meta/{platform}?{query}")).await
    };
    for platform in ["facebook", "instagram", "threads"] {
        let good = "hub.mode=subscribe&hub.verify_token=open%20sesame&hub.challenge=1158201444";
        assert_eq!(ask(platform, good).await.expect(200).text, "1158201444");
        for bad in [
            "hub.mode=subscribe&hub.verify_token=guess&hub.challenge=1",
            "hub.mode=subscribe&hub.challenge=1",
            "hub.mode=unsubscribe&hub.verify_token=open%20sesame&hub.challenge=1",
            "",
        ] {
            ask(platform, bad).await.refused(403, "webhook_not_verified");
        }
    }
    ask("x", "hub.mode=subscribe").await.refused(404, "platform_not_found");
    let closed = TestApp::start().await;
    let empty = "hub.mode=subscribe&hub.verify_token=&hub.challenge=1";
    let answer = closed.without_key().get(&format!("/api/hooks/meta/facebook?{empty}")).await;
    answer.refused(403, "webhook_not_verified");
}

#[tokio::test]
async fn what_is_not_signed_is_refused_before_it_is_read() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let page = remote_id(&app, user.connect("facebook").await).await;
    let body = message(&page, "m_1", "Hello", app.clock.now()).to_string().into_bytes();
    let good = signature(&secret(&app, "facebook"), &body);
    let other = signature(&secret(&app, "instagram"), &body);
    for wrong in
        [None, Some(""), Some("sha256="), Some("sha256=00"), Some(other.as_str()), Some(&good[7..])]
    {
        post(&app, "facebook", body.clone(), wrong).await.refused(401, "hook_signature_invalid");
    }
    // Not even that it is no JSON is told to whoever cannot sign.
    post(&app, "facebook", b"{".to_vec(), Some(&good)).await.refused(401, "hook_signature_invalid");
    let large = vec![b' '; (1 << 20) + 1];
    let signed = signature(&secret(&app, "facebook"), &large);
    post(&app, "facebook", large, Some(&signed)).await.refused(413, "payload_too_large");
    let broken = b"{\"object\"".to_vec();
    let signed = signature(&secret(&app, "facebook"), &broken);
    post(&app, "facebook", broken, Some(&signed)).await.refused(400, "invalid_json");
    let odd = [
        json!([]),
        json!(null),
        json!({"object": "page", "entry": [{"id": 7, "messaging": "x"}]}),
        json!({"object": "page", "entry": [{"id": page, "messaging": [{"message": {"mid": 1}}], "changes": [{"field": "feed", "value": null}]}]}),
    ];
    for odd in odd {
        deliver(&app, "facebook", &odd).await;
    }
    deliver(&app, "facebook", &message("1", "m_1", "To nobody", app.clock.now())).await;
    assert_eq!(
        user.get("/api/v1/inbox/conversations").await.expect(200).body["conversations"],
        json!([])
    );
}

#[tokio::test]
async fn doubles_and_any_order_come_to_the_same() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let account = user.connect("facebook").await;
    let page = remote_id(&app, account).await;
    let now = app.clock.now();
    let mut all: Vec<Value> = (0..10)
        .map(|nth| message(&page, &format!("m_{nth}"), &format!("Text {nth}"), now + nth))
        .collect();
    all.push(unsent(&page, "m_3", now + 20));
    all.push(unsent(&page, "m_99", now + 30));
    all.push(message(&page, "m_99", "Never seen", now + 5));
    all.reverse();
    for body in all.iter().chain(all.iter().rev()) {
        deliver(&app, "facebook", body).await;
    }
    let conversation = conversation(&app, &user, account).await;
    let found = app
        .eventually("all is applied", || async {
            let found = messages(&user, &conversation).await;
            let gone = found.iter().filter(|one| one["deleted"] == true).count();
            (found.len() == 11 && gone == 2).then_some(found)
        })
        .await;
    for one in &found {
        if one["deleted"] == true {
            assert_eq!(one["text"], "");
        }
    }
    let texts: Vec<_> = found
        .iter()
        .filter(|one| one["deleted"] == false)
        .map(|one| one["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        texts,
        ["Text 9", "Text 8", "Text 7", "Text 6", "Text 5", "Text 4", "Text 2", "Text 1", "Text 0"]
    );
    let events = user.get("/api/v1/events?limit=100").await.expect(200).body.to_string();
    let told = events.matches("\"message.received\"").count();
    // A message whose deletion was applied first is announced to nobody.
    assert!((9..=11).contains(&told), "{told}");
}

#[tokio::test]
async fn echoes_of_others_are_messages_and_those_of_ours_join() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let account = user.connect("instagram").await;
    let page = remote_id(&app, account).await;
    write(
        &user,
        "instagram",
        json!({"account_id": account, "kind": "message", "text": "Hi", "author": {"id": "555"}}),
    )
    .await;
    let conversation = conversation(&app, &user, account).await;
    let path = format!("/api/v1/inbox/conversations/{}/reply", conversation["id"]);
    let _ = user.post(&path, json!({"text": "Ours"})).await.expect(201);
    let echo = json!({"object": "instagram", "entry": [{"id": page, "time": 1, "messaging": [{
        "sender": {"id": page}, "recipient": {"id": "555"}, "timestamp": app.clock.now(),
        "message": {"mid": "m_phone", "text": "From the phone", "is_echo": true},
    }]}]});
    deliver(&app, "instagram", &echo).await;
    app.eventually("the echo is there", || async {
        let found = messages(&user, &conversation).await;
        let texts: Vec<_> = found.iter().map(|one| one["text"].as_str().unwrap()).collect();
        let out = found.iter().filter(|one| one["direction"] == "out").count();
        (texts.len() == 3 && out == 2).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_echo_that_may_be_of_several_confirms_none() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let account = user.connect("instagram").await;
    let page = remote_id(&app, account).await;
    let item =
        json!({"account_id": account, "kind": "message", "text": "Hi", "author": {"id": "555"}});
    write(&user, "instagram", item).await;
    let conversation = conversation(&app, &user, account).await;
    let path = format!("/api/v1/inbox/conversations/{}/reply", conversation["id"]);
    let lost = json!([{"on": "commit", "kind": "reset", "times": 2}]);
    user.faults("instagram", account, lost).await;
    let again = json!({"text": "Same", "acknowledge_duplicate_risk": true});
    for _ in 0..2 {
        let _ = user.post(&path, again.clone()).await.expect(202);
    }
    let echo = json!({"object": "instagram", "entry": [{"id": page, "time": 1, "messaging": [{
        "sender": {"id": page}, "recipient": {"id": "555"}, "timestamp": app.clock.now(),
        "message": {"mid": "m_phone", "text": "Same", "is_echo": true},
    }]}]});
    deliver(&app, "instagram", &echo).await;
    app.eventually("the echo is there, as a message of its own", || async {
        let found = messages(&user, &conversation).await;
        let same: Vec<_> = found.iter().filter(|one| one["text"] == "Same").collect();
        let unknown = same.iter().filter(|one| one["status"] == "unknown").count();
        (same.len() == 3 && unknown == 2).then_some(())
    })
    .await;
}

#[tokio::test]
async fn one_odd_text_costs_neither_its_neighbours_nor_a_list() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let account = user.connect("facebook").await;
    let page = remote_id(&app, account).await;
    let at = app.clock.now();
    let odd = [
        r"a\u0000b".to_owned(),
        r"half a pair \ud83d and another \ude00".to_owned(),
        r"bell \u0007 and escape \u001b[1m".to_owned(),
        "x".repeat(500_000),
    ];
    for (n, text) in odd.iter().enumerate() {
        let of = |mid: &str, text: &str, at: i64| {
            format!(
                r#"{{"sender": {{"id": "555"}}, "recipient": {{"id": "{page}"}}, "timestamp": {at},
                "message": {{"mid": "{mid}", "text": "{text}"}}}}"#
            )
        };
        let step = i64::try_from(n).unwrap() * 10;
        let both = [
            of(&format!("good{n}"), &format!("good {n}"), at + step),
            of(&format!("odd{n}"), text, at + step + 1),
        ];
        let body = format!(
            r#"{{"object": "page", "entry": [{{"id": "{page}", "time": {at}, "messaging": [{}]}}]}}"#,
            both.join(",")
        );
        let body = body.into_bytes();
        let signed = signature(&secret(&app, "facebook"), &body);
        let _ = post(&app, "facebook", body, Some(&signed)).await.expect(200);
    }
    let conversation = conversation(&app, &user, account).await;
    let found = app
        .eventually("all messages are there", || async {
            Some(messages(&user, &conversation).await).filter(|found| found.len() == 8)
        })
        .await;
    let texts: Vec<_> = found.iter().map(|one| one["text"].as_str().unwrap()).collect();
    for n in 0..4 {
        assert!(texts.contains(&format!("good {n}").as_str()), "{n}");
    }
    for wanted in ["ab", "half a pair \u{fffd} and another \u{fffd}", "bell  and escape [1m"] {
        assert!(texts.contains(&wanted), "{wanted:?}");
    }
    assert_eq!(texts.iter().map(|text| text.chars().count()).max(), Some(10_000));
    let list = user.get("/api/v1/inbox/conversations").await.expect(200);
    assert!(list.text.len() < 4_000, "{}", list.text.len());
}

/// The secret of the app that is configured for a network.
fn configured_secret(app: &TestApp, platform: &str) -> String {
    use secrecy::ExposeSecret;
    let app = &fanfare_publishing::settings(&app.domain).apps[&platform.parse().unwrap()];
    app.client_secret.expose_secret().to_owned()
}

#[tokio::test]
async fn an_event_that_one_signs_oneself_names_the_account_by_its_remote_id() {
    let app = TestApp::with(Options { stand_ins: true, ..Options::default() }).await;
    let user = pro(&app).await;
    for platform in ["facebook", "instagram", "threads"] {
        let new = json!({"platform": platform});
        let made = user.post("/api/v1/sandbox/accounts", new).await.expect(201).body;
        let (account, id) = (made["account"]["id"].as_i64().unwrap(), &made["remote_id"]);
        let public = fanfare_tests::networks::post(platform, account);
        let public = fanfare_tests::networks::publish(&app, &user, public).await;
        let root = &public["platform_post_id"];
        let secrets = [secret(&app, platform), configured_secret(&app, platform)];
        for (place, secret) in secrets.iter().enumerate() {
            let (at, said) = (app.clock.now(), format!("Signed {place}"));
            let body = match platform {
                "threads" => json!({
                    "app_id": "1", "topic": "moderate", "target_id": id, "time": at / 1_000,
                    "values": {"field": "replies", "value": {
                        "id": format!("1800{place}"), "username": "ada.l", "text": said,
                        "media_type": "TEXT_POST", "replied_to": {"id": root},
                        "root_post": {"id": root, "owner_id": id, "username": "us"},
                        "timestamp": fanfare_core::clock::to_rfc3339(at),
                    }},
                }),
                _ => {
                    let object = if platform == "facebook" { "page" } else { "instagram" };
                    json!({"object": object, "entry": [{"id": id, "time": at, "messaging": [{
                        "sender": {"id": "555"}, "recipient": {"id": id}, "timestamp": at,
                        "message": {"mid": format!("m_{place}"), "text": said},
                    }]}]})
                }
            };
            let body = body.to_string().into_bytes();
            let signed = signature(secret, &body);
            let _ = post(&app, platform, body, Some(&signed)).await.expect(200);
            let arrived =
                |list: &Value| list.as_array().unwrap().iter().any(|one| one["text"] == said);
            app.eventually(&format!("{said} arrives on {platform}"), || async {
                if platform == "threads" {
                    let path = format!("/api/v1/inbox/comments?account_id={account}");
                    return arrived(&user.get(&path).await.expect(200).body["comments"])
                        .then_some(());
                }
                let conversation = super::conversation(&app, &user, account).await;
                arrived(&json!(messages(&user, &conversation).await)).then_some(())
            })
            .await;
        }
    }
}
