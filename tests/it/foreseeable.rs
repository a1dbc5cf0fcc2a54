//! What a plan allows, what an operation costs and what a request would be refused with can be read beforehand.

use fanfare_core::access::Role;
use fanfare_tests::{Options, TestApp, User};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::business;

#[tokio::test]
async fn the_room_of_a_plan_can_be_read() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, user) = app.member(team, Role::Publisher).await;
    let limits = async |path: &str| user.get(path).await.expect(200).body["limits"].clone();
    let listed = limits(&format!("/api/v1/accounts?workspace_id={}", team.0)).await;
    assert_eq!(listed["members"]["used"], 2, "{listed}");
    let account = user.connect("bluesky").await;
    let now = limits("/api/v1/whoami").await;
    assert_eq!(
        (&now["accounts"]["used"], &now["accounts"]["counts_sandbox"]),
        (&json!(0), &json!(false))
    );
    let real = format!(
        "UPDATE accounts SET sandbox = {} WHERE id = {account}",
        if app.domain.db.is_postgres() { "false" } else { "0" }
    );
    let _ = app.domain.db.write.execute_unprepared(&real).await.unwrap();
    for path in ["/api/v1/whoami", "/api/v1/accounts"] {
        let now = limits(path).await;
        assert_eq!(now["accounts"]["used"], 1, "{path}: {now}");
        for thing in ["accounts", "members", "brands"] {
            assert!(now[thing]["max"].as_u64() >= now[thing]["used"].as_u64(), "{thing}: {now}");
        }
    }
}

/// Sends a request with `dry_run` and without; returns what the first says and what the second spent.
async fn told_and_spent(user: &User, path: &str, body: Value, available: &str) -> (i64, i64) {
    let wallet = async || {
        user.get("/api/v1/credits").await.expect(200).body["wallet"][available].as_i64().unwrap()
    };
    let before = wallet().await;
    let mut dry = body.clone();
    dry["dry_run"] = true.into();
    let told = user.post(path, dry).await.expect(200).body;
    assert_eq!((&told["dry_run"], &told["affordable"]), (&json!(true), &json!(true)), "{told}");
    assert_eq!((told["available"].as_i64(), wallet().await), (Some(before), before), "{path}");
    let made = user.post(path, body).await;
    assert!(made.status < 300, "{}", made.text);
    (told["credits"].as_i64().unwrap(), before - wallet().await)
}

#[tokio::test]
async fn a_price_is_known_before_it_is_paid() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let prices = user.get("/api/v1/ai/prices").await.expect(200).body["prices"].clone();
    let price = |wanted: &Value| {
        let listed = prices.as_array().unwrap().iter();
        let wanted = wanted.as_object().unwrap();
        let mut fitting =
            listed.filter(|one| wanted.iter().all(|(name, value)| one[name] == *value));
        fitting.next().unwrap_or_else(|| panic!("{wanted:?}: {prices}"))["credits"]
            .as_i64()
            .unwrap()
    };
    let account = business::profile(&app, &user).await;
    business::review(&user, account, "Lovely", 5).await;
    business::read(&app, &user).await;
    let review = business::reviews(&user, "").await[0]["id"].clone();
    for (path, body, listed, times) in [
        (
            "/api/v1/ai/generate-captions",
            json!({"brief": "Brunch on Sunday", "platforms": ["bluesky"]}),
            json!({"operation": "generate_captions"}),
            1,
        ),
        (
            "/api/v1/google-business/reviews/suggest-reply",
            json!({"review_id": review}),
            json!({"operation": "suggest_review_reply"}),
            1,
        ),
        (
            "/api/v1/ai/generate-image",
            json!({"prompt": "A cat", "provider": "google", "resolution": "2K", "count": 2}),
            json!({"operation": "generate_image", "provider": "google", "resolution": "2K"}),
            2,
        ),
        (
            "/api/v1/ai/generate-video",
            json!({"prompt": "A cat", "provider": "xai", "duration_seconds": 6, "resolution": "720p"}),
            json!({"operation": "generate_video", "provider": "xai_grok", "duration_seconds": 6, "resolution": "720p"}),
            1,
        ),
    ] {
        let (told, spent) = told_and_spent(&user, path, body, "available").await;
        assert_eq!((told, spent), (price(&listed) * times, price(&listed) * times), "{path}");
    }
}

#[tokio::test]
async fn captions_come_in_the_order_asked_for() {
    let app = TestApp::start().await;
    let user = app.user().await;
    for asked in [["x", "facebook", "bluesky"], ["bluesky", "x", "facebook"]] {
        let body = json!({"brief": "Brunch on Sunday", "platforms": asked, "count": 2});
        let made = user.post("/api/v1/ai/generate-captions", body).await.expect(200).body;
        let made = made["captions"].as_array().unwrap().clone();
        let order: Vec<_> = made.iter().map(|one| one["platform"].as_str().unwrap()).collect();
        assert_eq!(order, asked);
    }
}

#[tokio::test]
async fn a_request_for_a_video_is_judged_as_the_real_one_would_be() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let ask = async |function: &str, params: &Value| {
        let body = json!({"identifier": "xai_grok", "function": function, "params": params});
        user.post("/api/v1/ai/video-function", body).await
    };
    for bad in [
        json!({}),
        json!({"prompt": ""}),
        json!({"prompt": 7}),
        json!({"prompt": "A cat", "duration_seconds": 99}),
        json!({"prompt": "A cat", "duration_seconds": "long"}),
        json!({"prompt": "A cat", "colour": "red"}),
        json!({"prompt": "A cat", "resolution": "9k", "aspect_ratio": "5:7"}),
        json!({"prompt": "x".repeat(5_000), "colour": "red"}),
    ] {
        let mut real = bad.clone();
        real["provider"] = "xai".into();
        let refused = user.post("/api/v1/ai/generate-video", real).await.expect(400).body;
        let judged = ask("validate_request", &bad).await.expect(200).body["result"].clone();
        assert_eq!(judged["valid"], false, "{bad}");
        let fields = |errors: &Value| {
            let mut fields: Vec<_> =
                errors.as_array().unwrap().iter().map(|one| one["field"].to_string()).collect();
            fields.sort();
            fields
        };
        assert_eq!(
            fields(&judged["validation_errors"]),
            fields(&refused["validation_errors"]),
            "{bad}"
        );
        let _ = ask("list_models", &bad).await.expect(200);
        let estimate = ask("estimate_cost", &bad).await.expect(400).body;
        let field = estimate["validation_errors"][0]["field"].as_str().unwrap().to_owned();
        assert!(field.starts_with("params."), "{estimate}");
    }
    let good = json!({"prompt": "A cat", "duration_seconds": 6});
    assert_eq!(ask("validate_request", &good).await.expect(200).body["result"]["valid"], true);
}

#[tokio::test]
async fn every_refusal_says_what_to_do() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("threads").await;
    let nobody = app.without_key();
    let entry = |code: &str| fanfare_core::Code::named(code).unwrap().entry();
    let refusals = [
        user.get("/api/v1/posts/1").await,
        user.get("/api/v1/nowhere").await,
        user.delete("/api/v1/whoami").await,
        nobody.get("/api/v1/posts").await,
        user.post("/api/v1/posts/1/retry", json!({})).await,
        user.delete("/api/v1/inbox/comments/1").await,
        user.post("/api/v1/posts", json!({"account_id": account, "caption": ""})).await,
        user.get("/api/v1/events?after=99").await,
    ];
    for refused in refusals {
        let (code, remedy) = (refused.body["code"].as_str().unwrap(), &refused.body["remedy"]);
        assert!(
            refused.status >= 400 && remedy.as_str().is_some_and(|remedy| !remedy.is_empty()),
            "{}",
            refused.text
        );
        let first = &refused.body["validation_errors"][0]["remedy"];
        let expected = if first.is_null() { json!(entry(code).remedy) } else { first.clone() };
        assert_eq!(*remedy, expected, "{code}");
    }
    for code in fanfare_core::Code::ALL {
        let told = json!(fanfare_core::Error::new(*code, "It is refused.").refusal());
        assert_eq!(told["remedy"], code.entry().remedy, "{code:?}");
    }
}
