//! Captions and images from models: paid once, and nothing invented.

use fanfare_api::{Route, routes::ROUTES};
use fanfare_core::{Code, access::Role};
use fanfare_people::credits;
use fanfare_tests::{Options, TestApp, User};
use serde_json::{Value, json};

use crate::{business, signup::text};

async fn wallet(user: &User) -> Value {
    user.get("/api/v1/credits").await.expect(200).body["wallet"].clone()
}

async fn available(user: &User) -> i64 {
    wallet(user).await["available"].as_i64().unwrap()
}

async fn captions(user: &User, brief: &str) -> Value {
    let body = json!({"brief": brief, "platforms": ["bluesky", "linkedin"], "count": 3});
    user.post("/api/v1/ai/generate-captions", body).await.expect(200).body
}

fn reasons(captions: &Value, place: usize) -> Vec<String> {
    let dropped = captions["captions"][place]["dropped"].as_array().unwrap().iter();
    dropped.map(|entry| text(entry, "reason").to_owned()).collect()
}

#[tokio::test]
async fn captions_are_written_checked_and_paid() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let before = available(&user).await;
    let brief = "Brunch every Sunday from 10am, 9 euros, at www.cafe-luna.de";
    let made = captions(&user, brief).await;
    assert_eq!((&made["credits_spent"], &made["rewritten"]), (&json!(1), &json!(false)));
    assert_eq!((text(&made, "provider"), &made["sandbox"]), ("sandbox", &json!(true)));
    for (place, platform) in ["bluesky", "linkedin"].into_iter().enumerate() {
        let of = &made["captions"][place];
        assert_eq!((text(of, "platform"), &of["requested"]), (platform, &json!(3)));
        let variants = of["variants"].as_array().unwrap();
        assert_eq!(variants.len(), 3, "{of}");
        for variant in variants {
            assert!(text(variant, "text").contains("9 euros"), "{variant}");
            assert!(variant["length"].as_i64() <= variant["limit"].as_i64());
        }
    }
    assert_eq!(made["captions"][0]["variants"][0]["limit"], 300);
    assert_eq!(available(&user).await, before - 1);
    assert_eq!(wallet(&user).await["reserved"], 0);
}

#[tokio::test]
async fn what_a_model_invents_is_rewritten_once_and_then_dropped() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let mended = captions(&user, "Brunch on Sunday [[invent]]").await;
    assert_eq!((&mended["rewritten"], reasons(&mended, 0)), (&json!(true), Vec::new()));
    assert_eq!(mended["captions"][0]["variants"].as_array().unwrap().len(), 3);
    let stubborn = captions(&user, "Brunch on Sunday [[invent-always]]").await;
    let of = &stubborn["captions"][0];
    assert_eq!(of["variants"].as_array().unwrap().len(), 2, "{of}");
    let mut found = reasons(&stubborn, 0);
    found.sort();
    assert_eq!(
        found,
        [
            "unverified_date",
            "unverified_handle",
            "unverified_link",
            "unverified_phone",
            "unverified_price",
        ]
    );
    assert!(of["dropped"].as_array().unwrap().iter().all(|entry| entry["variant"] == 1));
    // A text may name the workspace's accounts.
    let username = "inventedbar";
    let _ = user
        .post("/api/v1/sandbox/accounts", json!({"platform": "bluesky", "username": username}))
        .await;
    let body = json!({"brief": "Brunch with @luna", "platforms": ["bluesky"], "count": 1, "never_say": ["good news", "here it is"]});
    let said = user.post("/api/v1/ai/generate-captions", body).await.expect(200).body;
    assert_eq!(reasons(&said, 0), ["never_say"]);
    assert_eq!((&said["credits_spent"], &said["captions"][0]["variants"]), (&json!(0), &json!([])));
}

#[tokio::test]
async fn a_text_that_was_asked_for_is_there_or_has_a_reason() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = business::profile(&app, &user).await;
    let words = ["[[texts 0]]", "[[texts 1]]", "[[texts 2]]", "[[texts 7]]", "[[blank]]"];
    let wanted = [0, 1, 2, 3, 0];
    for word in words {
        business::review(&user, account, &format!("Lovely {word}"), 4).await;
    }
    business::read(&app, &user).await;
    let all = business::reviews(&user, "limit=100").await;
    // What was dropped, by the number of its text.
    let is_whole = |texts: &Value, dropped: &Value, there: usize, what: &str| {
        assert_eq!(texts.as_array().unwrap().len(), there, "{what}: {texts}");
        let mut numbers: Vec<_> =
            dropped.as_array().unwrap().iter().map(|one| one["variant"].to_string()).collect();
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len() + there, 3, "{what}: {dropped}");
        let reasons = dropped.as_array().unwrap().iter().map(|one| text(one, "reason"));
        assert!(reasons.into_iter().all(|reason| reason == "missing"), "{what}: {dropped}");
    };
    for (word, there) in words.into_iter().zip(wanted) {
        let made = captions(&user, &format!("Brunch on Sunday {word}")).await;
        for of in made["captions"].as_array().unwrap() {
            assert_eq!(of["requested"], 3, "{word}: {of}");
            is_whole(&of["variants"], &of["dropped"], there, word);
        }
        let costs_nothing = made["credits_spent"] == 0;
        assert_eq!(costs_nothing, there == 0, "{word}: {made}");
        let review = all.iter().find(|one| text(one, "text").contains(word)).unwrap();
        let asked = json!({"review_id": review["id"], "count": 3});
        let path = format!("{}/reviews/suggest-reply", business::BASE);
        let made = user.post(&path, asked).await.expect(200).body;
        is_whole(&made["suggestions"], &made["dropped"], there, word);
    }
}

#[tokio::test]
async fn what_yields_nothing_costs_nothing() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let before = available(&user).await;
    let ask = async |brief: &str| {
        let body = json!({"brief": brief, "platforms": ["bluesky"]});
        user.post("/api/v1/ai/generate-captions", body).await
    };
    let _ = ask("Brunch [[refuse]]").await.refused(422, "content_refused");
    let _ = ask("Brunch [[bad-json]]").await.refused(502, "provider_bad_answer");
    let _ = ask("Brunch [[fail]]").await.refused(502, "provider_unreachable");
    let _ = ask("Brunch [[drop]]").await.refused(502, "provider_unreachable");
    let draw = async |prompt: &str, provider: &str| {
        let body = json!({"prompt": prompt, "provider": provider});
        user.post("/api/v1/ai/generate-image", body).await
    };
    for provider in ["google", "xai"] {
        let _ = draw("A cat [[refuse]]", provider).await.refused(422, "content_refused");
        let _ = draw("A cat [[bad-json]]", provider).await.refused(502, "provider_bad_answer");
        let _ = draw("A cat [[drop]]", provider).await.refused(502, "provider_unreachable");
    }
    assert_eq!(available(&user).await, before);
    assert_eq!(wallet(&user).await["reserved"], 0);
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

#[tokio::test]
async fn a_wrong_request_names_all_that_is_wrong_and_asks_nobody() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let bad = json!({"brief": " ", "platforms": ["bluesky", "bluesky", "nowhere"], "count": 9});
    let answer = user.post("/api/v1/ai/generate-captions", bad).await.expect(400);
    let fields: Vec<_> = answer.body["validation_errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| text(it, "field").to_owned())
        .collect();
    assert_eq!(fields, ["brief", "count", "platforms[1]", "platforms[2]"]);
    let both = json!({"brief": "Hi", "platforms": ["bluesky"], "account_ids": [1]});
    let _ = user.post("/api/v1/ai/generate-captions", both).await.expect(400);
    let bad = json!({"prompt": "", "provider": "google", "quality": "low", "resolution": "8K", "aspect_ratio": "5:7", "count": 5});
    let answer = user.post("/api/v1/ai/generate-image", bad).await.expect(400);
    assert_eq!(answer.body["validation_errors"].as_array().unwrap().len(), 5, "{}", answer.text);
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, viewer) = app.member(team, Role::Viewer).await;
    let asked = json!({"brief": "Hi", "platforms": ["bluesky"]});
    let _ = viewer
        .post("/api/v1/ai/generate-captions", asked.clone())
        .await
        .refused(403, "insufficient_workspace_permissions");
    let off = TestApp::with(Options { ai: false, ..Options::default() }).await;
    let user = off.user().await;
    let _ = user
        .post("/api/v1/ai/generate-captions", asked)
        .await
        .refused(503, "provider_not_configured");
    let _ = user
        .post("/api/v1/ai/generate-image", json!({"prompt": "A cat"}))
        .await
        .refused(503, "provider_not_configured");
    let options = user.get("/api/v1/ai/video-options").await.expect(200).body;
    assert!(options["providers"].as_array().unwrap().iter().all(|it| it["configured"] == false));
}

#[tokio::test]
async fn an_empty_wallet_is_told_so_before_anybody_is_asked() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let id = wallet(&user).await["workspace"]["id"].as_str().unwrap().parse().unwrap();
    let tx = app.domain.db.begin().await.unwrap();
    let all = credits::Spend {
        workspace: fanfare_core::WorkspaceId(id),
        operation: "test:all",
        credits: 4_998,
        expires_after: credits::SHORT_EXPIRY,
    };
    credits::reserve(&app.domain, &tx, all).await.unwrap();
    tx.commit().await.unwrap();
    let image = json!({"prompt": "A cat"});
    let told = user.post("/api/v1/ai/generate-image", image).await;
    let told = told.refused(402, "insufficient_credits").body;
    assert!(told["required"].as_i64() > Some(2) && told["available"] == 2, "{told}");
    let _ = captions(&user, "Hello").await;
    let _ = captions(&user, "Hello").await;
    // Every route that spends tells what it costs and what there is.
    let spends = |route: &&Route| route.refusals.contains(&Code::InsufficientCredits);
    let mut asked = 0;
    for route in ROUTES.iter().filter(spends).filter(|route| route.tag == "ai") {
        let body: Value = serde_json::from_str(route.body.as_ref().unwrap().example).unwrap();
        let told = user.post(route.path, body).await.refused(402, "insufficient_credits").body;
        assert!(told["required"].as_i64() > Some(0), "{}: {told}", route.name);
        assert_eq!(told["available"], 0, "{}: {told}", route.name);
        asked += 1;
    }
    assert!(asked >= 3, "{asked} routes");
}

#[tokio::test]
async fn images_are_stored_as_media_and_can_be_posted() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let before = available(&user).await;
    let body = json!({"prompt": "A cat on a red sofa", "aspect_ratio": "16:9", "count": 2});
    let made = user.post("/api/v1/ai/generate-image", body).await.expect(201).body;
    assert_eq!(
        (&made["credits_spent"], text(&made, "model")),
        (&json!(14), "gemini-3.1-flash-image")
    );
    let images = made["images"].as_array().unwrap();
    assert_eq!(images.len(), 2);
    assert_eq!((&images[0]["width"], &images[0]["height"]), (&json!(320), &json!(180)));
    assert_eq!(text(&images[0], "mime"), "image/png");
    let listed = user.get("/api/v1/media").await.expect(200).body;
    let rows = listed["media"].as_array().unwrap();
    assert!(rows.len() == 2 && rows.iter().all(|row| row["ai_generated"] == true), "{listed}");
    assert_eq!(available(&user).await, before - 14);
    let low = json!({"prompt": "A dog", "provider": "xai", "quality": "low", "resolution": "2k", "count": 3, "image_urls": [made["media_urls"][0]]});
    let drawn = user.post("/api/v1/ai/generate-image", low).await.expect(201).body;
    assert_eq!(
        (&drawn["credits_spent"], drawn["images"].as_array().unwrap().len()),
        (&json!(18), 3)
    );
    let foreign = json!({"prompt": "A dog", "image_urls": ["https://example.com/cat.png"]});
    let _ = user.post("/api/v1/ai/generate-image", foreign).await.expect(400);
    let account = user.connect("bluesky").await;
    let post = json!({"account_id": account, "caption": "Look", "media_urls": made["media_urls"]});
    let post = user.post("/api/v1/posts", post).await.expect(201).body["post"].clone();
    app.wait_until_published(&user, &post).await;
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

#[tokio::test]
async fn a_repeated_request_under_its_key_is_made_and_paid_once() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let before = available(&user).await;
    let body = json!({"brief": "Brunch", "platforms": ["bluesky"]});
    let send = || {
        user.send(
            reqwest::Method::POST,
            "/api/v1/ai/generate-captions",
            &[("Idempotency-Key", "brunch-1")],
            Some(&body),
        )
    };
    let first = send().await.expect(200).body;
    assert_eq!(send().await.expect(200).body, first);
    assert_eq!(available(&user).await, before - 1);
}

#[tokio::test]
async fn an_estimate_is_what_the_options_say() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let options = user.get("/api/v1/ai/video-options").await.expect(200).body;
    let mut compared = 0;
    for provider in options["providers"].as_array().unwrap() {
        for model in provider["models"].as_array().unwrap() {
            for estimate in model["estimates"].as_array().unwrap().iter().step_by(3) {
                let params = json!({"prompt": "A cat", "model": model["id"],
                    "duration_seconds": estimate["duration_seconds"], "resolution": estimate["resolution"]});
                let asked = json!({"identifier": provider["id"], "function": "estimate_cost", "params": params});
                let said = user.post("/api/v1/ai/video-function", asked).await.expect(200).body;
                assert_eq!(said["result"]["credits"], estimate["credits"], "{said}");
                assert_eq!(
                    (&said["result"]["affordable"], &said["result"]["available"]),
                    (&json!(true), &json!(5_000))
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared}");
    let ask = async |function: &str, params: Value| {
        let asked = json!({"identifier": "google_veo", "function": function, "params": params});
        user.post("/api/v1/ai/video-function", asked).await
    };
    let fine = ask("validate_request", json!({"prompt": "A cat", "resolution": "4K"}))
        .await
        .expect(200)
        .body;
    assert_eq!(
        (&fine["result"]["valid"], &fine["result"]["normalized"]["resolution"]),
        (&json!(true), &json!("4k"))
    );
    let wrong = ask("validate_request", json!({"prompt": "", "duration_seconds": 5}))
        .await
        .expect(200)
        .body;
    assert_eq!(wrong["result"]["valid"], false);
    assert_eq!(wrong["result"]["validation_errors"].as_array().unwrap().len(), 2);
    let _ =
        ask("estimate_cost", json!({"prompt": "A cat", "duration_seconds": 5})).await.expect(400);
    let _ = ask("anything", json!({})).await.expect(400);
}
