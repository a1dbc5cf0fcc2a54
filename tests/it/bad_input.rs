//! Bad input gets a clear error in the contract's shape, and nothing is written.

use fanfare_tests::{Options, TestApp, User};
use reqwest::Method;
use serde_json::{Value, json};

async fn quiet() -> (TestApp, User, i64) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    (app, user, account)
}

async fn count(user: &User) -> usize {
    user.get("/api/v1/posts").await.expect(200).body["posts"].as_array().unwrap().len()
}

fn codes(body: &Value) -> Vec<(String, String)> {
    let violations = body["validation_errors"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    violations.iter().map(|one| (text(&one["field"]), text(&one["code"]))).collect()
}

#[tokio::test]
async fn a_bad_post_is_refused_with_field_reason_and_remedy() {
    let (app, user, account) = quiet().await;
    let long = "x".repeat(412);
    let cases = [
        (json!({"caption": "a"}), 400, "field_required", "account_id"),
        (
            json!({"account_id": account, "sheduled_at": app.at(60)}),
            400,
            "unknown_field",
            "sheduled_at",
        ),
        (
            json!({"account_id": account, "caption": "a", "scheduled_at": "2099-01-01T00:00:00"}),
            400,
            "invalid_timestamp",
            "scheduled_at",
        ),
        (
            json!({"account_id": account, "caption": "a", "scheduled_at": app.at(-61)}),
            400,
            "scheduled_in_past",
            "scheduled_at",
        ),
        (
            json!({"account_id": account, "caption": "a", "timezone": "Mars/Base", "scheduled_at": "2099-01-01T00:00"}),
            400,
            "invalid_field",
            "timezone",
        ),
        (json!({"account_id": account, "caption": 5}), 400, "invalid_field", "caption"),
        (json!({"account_id": account, "caption": "a\u{0}"}), 400, "invalid_field", "caption"),
        (json!({"account_id": account, "caption": long}), 400, "caption_too_long", "caption"),
        (json!({"account_id": account}), 400, "caption_required", "caption"),
        (
            json!({"account_id": account, "caption": "a", "settings": {"langages": ["en"]}}),
            400,
            "unknown_field",
            "settings.langages",
        ),
        (
            json!({"account_id": account, "caption": "a", "media_url": "https://example.com/a.pdf"}),
            400,
            "pdf_requires_linkedin",
            "media_urls[0]",
        ),
    ];
    for (body, status, code, field) in cases {
        let answer = user.post("/api/v1/posts", body.clone()).await;
        assert_eq!(answer.status, status, "{body} -> {}", answer.text);
        let found = codes(&answer.body);
        assert!(found.contains(&(field.to_owned(), code.to_owned())), "{body} -> {}", answer.text);
        assert!(answer.body["doc_url"].as_str().unwrap().contains("/docs/errors#"));
        assert_eq!(answer.header("x-request-id"), answer.body["request_id"]);
    }
    assert_eq!(count(&user).await, 0, "nothing was written");
}

#[tokio::test]
async fn a_long_caption_says_limit_and_actual() {
    let (_app, user, account) = quiet().await;
    let body = json!({"account_id": account, "caption": "é".repeat(301)});
    let answer = user.post("/api/v1/posts", body).await;
    answer.clone().refused(400, "caption_too_long");
    let broken = &answer.body["validation_errors"][0];
    assert_eq!((broken["limit"].as_i64(), broken["actual"].as_i64()), (Some(300), Some(301)));
}

#[tokio::test]
async fn all_violations_come_at_once() {
    let (_app, user, account) = quiet().await;
    let body = json!({"account_id": account, "caption": "x".repeat(301), "zzz": 1, "yyy": 2});
    let answer = user.post("/api/v1/posts", body).await;
    assert!(codes(&answer.body).len() >= 2, "{}", answer.text);
}

#[tokio::test]
async fn other_peoples_ids_do_not_exist() {
    let (app, user, account) = quiet().await;
    let post = user.publish(json!({"account_id": account, "caption": "mine"})).await;
    let other = app.user().await;
    let id = post["id"].as_i64().unwrap();
    other.get(&format!("/api/v1/posts/{id}")).await.refused(404, "post_not_found");
    other
        .patch(&format!("/api/v1/posts/{id}"), json!({"caption": "x"}))
        .await
        .refused(404, "post_not_found");
    other.delete(&format!("/api/v1/posts/{id}")).await.refused(404, "post_not_found");
    let stolen = json!({"account_id": account, "caption": "x"});
    other.post("/api/v1/posts", stolen).await.refused(404, "account_not_found");
    other.delete(&format!("/api/v1/accounts/{account}")).await.refused(404, "account_not_found");
    other.get("/api/v1/posts/notanumber").await.expect(404);
    assert_eq!(count(&other).await, 0);
}

#[tokio::test]
async fn an_unknown_event_type_is_named_with_what_is_meant() {
    let (_app, user, _) = quiet().await;
    let events = ["post.failed", "post.publishd", "nonsense"];
    let wanted = json!({"url": "https://example.com/", "events": events});
    let refused = user.post("/api/v1/webhooks", wanted).await.expect(400);
    let violations = &refused.body["validation_errors"];
    assert_eq!(violations[0]["message"], "There is no event type \"post.publishd\".");
    // It is asked, not fixed: nobody would notice a wrong one.
    assert_eq!(violations[0]["remedy"], "Is post.published meant?");
    assert_eq!(violations[0]["fix"], Value::Null);
    assert_eq!(violations[1]["message"], "There is no event type \"nonsense\".");
    assert_eq!(
        (&violations[1]["field"], &violations[1]["fix"]),
        (&json!("events[2]"), &Value::Null)
    );
}

#[tokio::test]
async fn whatever_answers_get_answers_head() {
    let (app, user, _) = quiet().await;
    let document = user.get("/openapi.json").await.expect(200).body;
    let paths = document["paths"].as_object().unwrap().iter();
    let read = paths.filter(|(_, methods)| methods.get("get").is_some()).map(|(path, _)| path);
    let pages = ["/", "/signup", "/login", "/forgot", "/dashboard", "/admin", "/connect", "/docs"];
    let http =
        fanfare_tests::local_client_builder().redirect(reqwest::redirect::Policy::none()).build();
    let http = http.unwrap();
    for path in read.map(String::as_str).chain(pages) {
        let path = path.replace(['{', '}'], "");
        let ask = |method| {
            let asked =
                http.request(method, format!("{}{path}", app.origin)).bearer_auth(&user.key);
            async { asked.send().await.unwrap() }
        };
        let (get, head) = (ask(Method::GET).await, ask(Method::HEAD).await);
        assert_eq!(head.status(), get.status(), "{path}");
        let kind = |answer: &reqwest::Response| answer.headers().get("content-type").cloned();
        assert_eq!(kind(&head), kind(&get), "{path}");
        assert_eq!(head.bytes().await.unwrap().len(), 0, "{path}");
    }
}

#[tokio::test]
async fn every_path_answers_in_the_same_shape() {
    let (app, user, _) = quiet().await;
    user.get("/api/v1/nowhere").await.refused(404, "not_found");
    app.without_key().get("/api/v1/nowhere").await.refused(404, "not_found");
    let wrong = user.put("/api/v1/posts", json!({})).await;
    assert!(wrong.header("allow").contains("POST"), "{:?}", wrong.headers);
    wrong.refused(405, "method_not_allowed");
    // A fixed path is never taken for one with a parameter.
    for (path, allowed) in [("/api/v1/posts/batch", "POST"), ("/api/v1/media/upload", "POST")] {
        let wrong = user.delete(path).await;
        assert_eq!(wrong.header("allow"), allowed, "{path}");
        wrong.refused(405, "method_not_allowed");
    }
    let raw = |body: &str| {
        let body = body.as_bytes().to_vec();
        user.send_raw(Method::POST, "/api/v1/posts", "application/json", body)
    };
    for bad in ["{", "[]", "\"x\"", "{\"a\":1,\"a\":2}", "\u{feff}{}", ""] {
        raw(bad).await.refused(400, if bad.is_empty() { "field_required" } else { "invalid_json" });
    }
    let deep = format!("{}1{}", "{\"a\":".repeat(70), "}".repeat(70));
    raw(&deep).await.refused(400, "invalid_json");
    let bytes = vec![b'{', 0xff, b'}'];
    user.send_raw(Method::POST, "/api/v1/posts", "application/json", bytes)
        .await
        .refused(400, "invalid_json");
    let xml = user.send_raw(Method::POST, "/api/v1/posts", "text/xml", b"<a/>".to_vec()).await;
    xml.refused(415, "unsupported_media_type");
    let big = format!("{{\"caption\": \"{}\"}}", "x".repeat(5 << 20));
    raw(&big).await.refused(413, "payload_too_large");
    user.get("/api/v1/posts?limt=5").await.refused(400, "unknown_field");
    user.get("/api/v1/posts?limit=0").await.refused(400, "invalid_field");
    user.get("/api/v1/posts?from=yesterday").await.refused(400, "invalid_field");
    user.get("/api/v1/posts?cursor=zzz").await.refused(400, "invalid_field");
}

#[tokio::test]
async fn a_request_id_of_the_callers_own_is_kept_if_it_is_well_formed() {
    let (_app, user, _) = quiet().await;
    let own = [("X-Request-Id", "my-request_0001")];
    let answer = user.send(Method::GET, "/api/v1/whoami", &own, None).await;
    assert_eq!(answer.expect(200).header("x-request-id"), "my-request_0001");
    let bad = [("X-Request-Id", "a b")];
    let answer = user.send(Method::GET, "/api/v1/nowhere", &bad, None).await;
    assert!(answer.header("x-request-id").len() >= 8);
    assert_ne!(answer.header("x-request-id"), "a b");
}

#[tokio::test]
async fn a_key_must_be_a_key() {
    let (app, user, _) = quiet().await;
    app.without_key().get("/api/v1/whoami").await.refused(401, "missing_api_key");
    let mut typo = user.clone();
    let last = typo.key.pop().unwrap();
    typo.key.push(if last == 'x' { 'y' } else { 'x' });
    let answer = typo.get("/api/v1/whoami").await;
    let challenge = answer.header("www-authenticate");
    assert!(
        challenge.starts_with("Bearer ") && challenge.ends_with("error=\"invalid_token\""),
        "{challenge}"
    );
    answer.refused(401, "invalid_api_key");
    let who = user.get("/api/v1/whoami").await.expect(200);
    assert!(who.body["user"]["email"].is_string() && who.body["key"]["scopes"].is_array());
    assert!(!who.text.contains(&user.key));
}

#[tokio::test]
async fn a_dry_run_checks_everything_and_writes_nothing() {
    let (_app, user, account) = quiet().await;
    let body = json!({"account_id": account, "caption": "x", "dry_run": true});
    let answer = user.post("/api/v1/posts", body).await.expect(200);
    assert_eq!(answer.body["valid"], true);
    assert!(answer.body["post"].get("id").is_none());
    let bad = json!({"account_id": account, "caption": "x".repeat(301), "dry_run": true});
    user.post("/api/v1/posts", bad).await.refused(400, "caption_too_long");
    assert_eq!(count(&user).await, 0);
}

#[tokio::test]
async fn form_and_meaning_are_judged_in_one_answer() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let body = json!({
        "account_id": account, "caption": "x".repeat(301), "sheduled_at": "tomorrow",
        "scheduled_at": "2026-01-01T10:00:00", "settings": {"langs": ["en"]}, "group": 7,
        "media_urls": ["ftp://example.com/a", "not an address"],
    });
    let wrong = |answer: &Value| -> Vec<(String, String)> {
        let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
        let all = answer["validation_errors"].as_array().unwrap().iter();
        all.map(|one| (text(one, "field"), text(one, "code"))).collect()
    };
    let expected = [
        ("sheduled_at", "unknown_field"),
        ("group", "invalid_field"),
        ("scheduled_at", "invalid_timestamp"),
        ("caption", "caption_too_long"),
        ("settings.langs", "unknown_field"),
        ("media_urls[0]", "invalid_field"),
        ("media_urls[1]", "invalid_field"),
    ];
    let refused = user.post("/api/v1/posts", body.clone()).await.expect(400).body;
    for (field, code) in expected {
        assert!(wrong(&refused).contains(&(field.into(), code.into())), "{field}: {refused:#}");
    }
    assert_eq!(wrong(&refused).len(), expected.len(), "{refused:#}");
    let batch = user.post("/api/v1/posts/batch", json!({ "posts": [body.clone()] })).await;
    assert_eq!(wrong(&batch.expect(200).body["errors"][0]), wrong(&refused));
    let later = json!({"account_id": account, "caption": "x", "scheduled_at": app.at(600)});
    let id = user.publish(later).await["id"].clone();
    let mut changes = body;
    changes.as_object_mut().unwrap().remove("account_id");
    let edit = user.patch(&format!("/api/v1/posts/{id}"), changes).await.expect(400).body;
    assert_eq!(wrong(&edit).len(), expected.len(), "{edit:#}");
}

#[tokio::test]
async fn a_bad_fault_is_refused_with_its_place_in_the_list() {
    let (_app, user, account) = quiet().await;
    let good = json!({"kind": "reset"});
    let cases = [
        (json!({"kind": "explode"}), "faults[1].kind", "unknown variant `explode`"),
        (json!({"kind": "status"}), "faults[1].status", "missing"),
        (json!({"kind": "reset", "on": "commit", "often": 2}), "faults[1].often", "unknown field"),
    ];
    for (bad, field, reason) in cases {
        let body = json!({"account_id": account, "faults": [good, bad]});
        let refused = user.put("/api/v1/sandbox/bluesky/faults", body).await.expect(400).body;
        let violation = &refused["validation_errors"][0];
        assert_eq!(violation["field"], field, "{refused}");
        let message = violation["message"].as_str().unwrap();
        assert!(message.contains(reason) && !message.contains("line"), "{message}");
        assert!(
            violation["remedy"].as_str().unwrap().contains("/docs/guides/testing"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_date_that_is_there_but_empty_never_publishes_at_once() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    for dry_run in [false, true] {
        let body = json!({"account_id": account, "caption": "x", "scheduled_at": null, "dry_run": dry_run});
        let refused = user.post("/api/v1/posts", body).await.expect(400);
        let broken = &refused.body["validation_errors"][0];
        assert_eq!(broken["field"], "scheduled_at", "{broken}");
        assert!(broken["message"].as_str().unwrap().contains("leave the field out"), "{broken}");
    }
    let posts = user.get("/api/v1/posts").await.expect(200).body["posts"].clone();
    assert_eq!(posts, json!([]));
}
