//! What networks do wrong, and what comes of it: classified attempts, no second post, and a worker that lives.

use std::time::Duration;

use fanfare_tests::{TestApp, User};
use serde_json::{Value, json};

/// Lets time pass until a post has ended.
async fn ended(app: &TestApp, user: &User, id: i64) -> Value {
    app.eventually("the post ends", || async {
        app.pass(Duration::from_secs(20)).await;
        let post = user.get(&format!("/api/v1/posts/{id}")).await.body["post"].clone();
        let over = post["status"] == "published" || post["status"] == "failed";
        over.then_some(post)
    })
    .await
}

async fn after(fault: Value, platform: &str) -> (TestApp, User, i64, Value) {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect(platform).await;
    user.faults(platform, account, json!([fault])).await;
    let post = user.publish(json!({"account_id": account, "caption": "Only once"})).await;
    let post = ended(&app, &user, post["id"].as_i64().unwrap()).await;
    (app, user, account, post)
}

#[tokio::test]
async fn a_lost_answer_never_makes_a_second_post() {
    for platform in ["bluesky", "threads", "wordpress"] {
        for kind in ["drop_after_change", "reset", "error_after_change"] {
            let (_app, user, account, post) =
                after(json!({"on": "commit", "kind": kind}), platform).await;
            assert_eq!(post["status"], "published", "{platform} {kind}: {post:#}");
            let held = user.on_network(platform, account).await;
            assert_eq!(held.len(), 1, "{platform} {kind}: {held:#?}");
        }
    }
}

#[tokio::test]
async fn where_nothing_can_be_asked_a_person_decides() {
    for platform in ["discord", "telegram"] {
        let (app, user, account, post) =
            after(json!({"on": "commit", "kind": "drop_after_change"}), platform).await;
        assert_eq!(post["status"], "failed", "{platform}: {post:#}");
        assert_eq!(post["error"]["code"], "outcome_unknown");
        assert_eq!(post["error"]["retry_safe"], false);
        assert_eq!(user.on_network(platform, account).await.len(), 1);
        let retry = format!("/api/v1/posts/{}/retry", post["id"]);
        user.post(&retry, json!({})).await.refused(409, "duplicate_risk");
        let _ = user.post(&retry, json!({"acknowledge_duplicate_risk": true})).await.expect(200);
        let post = ended(&app, &user, post["id"].as_i64().unwrap()).await;
        assert_eq!(post["status"], "published", "{platform}: {post:#}");
    }
}

#[tokio::test]
async fn a_passing_fault_costs_an_attempt_and_no_more() {
    for platform in ["bluesky", "discord", "telegram", "threads", "wordpress"] {
        let fault = json!({"on": "commit", "kind": "status", "status": 429});
        let (_app, user, account, post) = after(fault, platform).await;
        assert_eq!(post["status"], "published", "{platform}: {post:#}");
        assert_eq!(user.on_network(platform, account).await.len(), 1);
        let path = format!("/api/v1/posts/{}/attempts", post["id"]);
        let ledger = user.get(&path).await.expect(200).body["attempts"].clone();
        let outcomes: Vec<&str> =
            ledger.as_array().unwrap().iter().map(|one| one["outcome"].as_str().unwrap()).collect();
        assert_eq!(outcomes, ["rate_limited", "published"], "{platform}");
    }
}

#[tokio::test]
async fn nonsense_is_a_lost_answer() {
    for kind in ["nonsense", "huge"] {
        let (_app, user, account, post) =
            after(json!({"on": "commit", "kind": kind}), "bluesky").await;
        assert_eq!(post["status"], "published", "{kind}: {post:#}");
        assert_eq!(user.on_network("bluesky", account).await.len(), 1);
    }
}

#[tokio::test]
async fn an_expired_token_is_refreshed_or_the_account_must_be_connected_again() {
    let fault = json!({"on": "commit", "kind": "token_expired"});
    let (_app, user, account, post) = after(fault.clone(), "bluesky").await;
    assert_eq!(post["status"], "published", "{post:#}");
    assert_eq!(user.on_network("bluesky", account).await.len(), 1);
    // Threads refreshes a token only while it lives; a bot's token is never refreshed.
    for platform in ["threads", "telegram"] {
        let (_app, user, account, post) = after(fault.clone(), platform).await;
        assert_eq!(post["status"], "failed", "{platform}: {post:#}");
        assert!(user.on_network(platform, account).await.is_empty());
        let accounts = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
        assert_eq!(accounts[0]["status"], "reconnect_required", "{platform}");
        let events = user.get("/api/v1/events").await.expect(200).body["events"].clone();
        let told = |event: &Value| event["type"] == "account.disconnected";
        assert!(events.as_array().unwrap().iter().any(told), "{platform}: {events:#}");
    }
}

#[tokio::test]
async fn a_post_that_could_not_start_in_time_never_goes_out_late() {
    let app = TestApp::with(fanfare_tests::Options { workers: false, ..Default::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let post = user.publish(json!({"account_id": account, "caption": "Too late"})).await;
    app.advance(Duration::from_secs(25 * 3_600));
    app.work();
    let post = app.settled(&user, post["id"].as_i64().unwrap(), &["published", "failed"]).await;
    assert_eq!((&post["status"], &post["error"]["code"]), (&json!("failed"), &json!("missed")));
    assert!(user.on_network("bluesky", account).await.is_empty());
}
