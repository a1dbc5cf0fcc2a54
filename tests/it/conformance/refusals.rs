//! Refusals and failures of networks.

use std::time::Duration;

use fanfare_core::clock::to_rfc3339;
use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

/// Every reason a post can fail for.
const REASONS: &[&str] = &[
    "account_disconnected",
    "token_expired",
    "content_rejected",
    "duplicate_content",
    "media_rejected",
    "platform_rate_limited",
    "quota_exhausted",
    "platform_unavailable",
    "misconfigured",
    "platform_permission_missing",
    "account_restricted",
    "target_not_found",
    "outcome_unknown",
    "missed",
];

/// One post whose publishing call meets a fault: the post as it ended, and how many the network holds.
async fn after(app: &TestApp, name: &str, fault: Value) -> (User, Value, usize) {
    let user = app.user().await;
    let account = user.connect(name).await;
    user.faults(name, account, json!([fault])).await;
    let post = networks::publish(app, &user, networks::post(name, account)).await;
    let held = user.on_network(name, account).await.len();
    (user, post, held)
}

fn is_explained(story: &str, post: &Value) {
    let error = &post["error"];
    let code = error["code"].as_str().unwrap_or_default();
    assert!(REASONS.contains(&code), "{story}: {post:#}");
    for name in ["message", "remedy"] {
        let text = error[name].as_str().unwrap_or_default();
        assert!(text.len() > 10 && text.ends_with('.'), "{story}: {name}: {post:#}");
    }
}

#[tokio::test]
async fn every_refusal_is_explained_and_none_makes_a_second_post() {
    let app = TestApp::start().await;
    for name in networks::all() {
        for status in [400, 401, 403, 404, 409, 413, 422] {
            let fault = json!({"on": "commit", "kind": "status", "status": status});
            let (_, post, held) = after(&app, name, fault).await;
            let story = format!("{name} answers {status}");
            if post["status"] == "published" {
                assert_eq!(held, 1, "{story}: {post:#}");
            } else {
                is_explained(&story, &post);
                assert_eq!(held, 0, "{story}: {post:#}");
            }
        }
    }
}

#[tokio::test]
async fn a_lost_answer_never_makes_a_second_post() {
    let app = TestApp::start().await;
    for name in networks::all() {
        for kind in ["drop_after_change", "reset", "error_after_change", "nonsense", "huge"] {
            let (_, post, held) = after(&app, name, json!({"on": "commit", "kind": kind})).await;
            let story = format!("{name} {kind}");
            if networks::can_be_asked(name) {
                assert_eq!(
                    (post["status"].as_str(), held),
                    (Some("published"), 1),
                    "{story}: {post:#}"
                );
                assert!(post["platform_post_id"].is_string(), "{story}: {post:#}");
            } else {
                is_explained(&story, &post);
                assert_eq!(post["error"]["code"], "outcome_unknown", "{story}: {post:#}");
                assert_eq!(held, usize::from(kind != "reset"), "{story}");
            }
        }
    }
}

#[tokio::test]
async fn a_server_in_trouble_is_settled_or_told() {
    let app = TestApp::start().await;
    for name in networks::all() {
        for status in [500, 502, 503] {
            let fault = json!({"on": "commit", "kind": "status", "status": status});
            let (_, post, held) = after(&app, name, fault).await;
            let story = format!("{name} answers {status}");
            if networks::can_be_asked(name) {
                assert_eq!(
                    (post["status"].as_str(), held),
                    (Some("published"), 1),
                    "{story}: {post:#}"
                );
            } else {
                is_explained(&story, &post);
                assert_eq!(held, 0, "{story}: {post:#}");
            }
        }
    }
}

#[tokio::test]
async fn a_network_that_asks_to_wait_is_waited_for_as_long_as_it_says() {
    let app = TestApp::start().await;
    for name in networks::all() {
        let user = app.user().await;
        let account = user.connect(name).await;
        let fault = json!([{"on": "commit", "kind": "status", "status": 429, "ms": 60_000}]);
        user.faults(name, account, fault).await;
        let id = user.publish(networks::post(name, account)).await["id"].clone();
        let path = format!("/api/v1/posts/{id}");
        let asked = app.clock.now();
        let waiting = app
            // A step before the public call may have a wait of its own.
            .eventually_in_time("the post waits", Duration::from_millis(250), || async {
                let post = user.get(&path).await.body["post"].clone();
                (post["error"]["code"] == "platform_rate_limited").then_some(post)
            })
            .await;
        let turn = waiting["next_attempt_at"].as_str().expect("a time");
        // Some never say it.
        let untold = networks::connector(name).spec().default_wait;
        let wait = untold.map_or(60, |wait| i64::try_from(wait.as_secs()).unwrap());
        // It was told some time between the question and now: on a busy machine many turns of the clock lie between.
        let after = |told: i64, seconds: i64| to_rfc3339(told + (wait + seconds) * 1_000);
        let expected = after(asked, -2)..=after(app.clock.now(), 10);
        assert!(expected.contains(&turn.to_owned()), "{name}: {waiting:#}");
        app.pass_time(Duration::from_secs(wait.unsigned_abs())).await;
        let post = networks::ended(&app, &user, &id).await;
        assert_eq!(post["status"], "published", "{name}: {post:#}");
        assert_eq!(user.on_network(name, account).await.len(), 1, "{name}");
        let ledger =
            user.get(&format!("{path}/attempts")).await.expect(200).body["attempts"].clone();
        let outcomes: Vec<&str> =
            ledger.as_array().unwrap().iter().map(|one| one["outcome"].as_str().unwrap()).collect();
        assert_eq!(outcomes, ["rate_limited", "published"], "{name}");
    }
}

#[tokio::test]
async fn a_token_that_ends_on_the_way_is_refreshed_or_the_account_must_be_connected_again() {
    let app = TestApp::start().await;
    for name in networks::all() {
        let fault = json!({"on": "commit", "kind": "token_expired"});
        let (user, post, held) = after(&app, name, fault).await;
        if post["status"] == "published" {
            assert_eq!(held, 1, "{name}: {post:#}");
            continue;
        }
        is_explained(name, &post);
        assert_eq!(held, 0, "{name}: {post:#}");
        let accounts = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
        assert_eq!(accounts[0]["status"], "reconnect_required", "{name}: {post:#}");
        let events = user.get("/api/v1/events").await.expect(200).body["events"].clone();
        let told = |event: &Value| event["type"] == "account.disconnected";
        assert!(events.as_array().unwrap().iter().any(told), "{name}: {events:#}");
    }
}
