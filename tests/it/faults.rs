//! A person's decision after a lost answer, and posts that are never sent late. What holds of every network is told in
//! `conformance`.

use std::time::Duration;

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

async fn after(fault: Value, platform: &str) -> (TestApp, User, i64, Value) {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect(platform).await;
    user.faults(platform, account, json!([fault])).await;
    let post = networks::publish(&app, &user, networks::post(platform, account)).await;
    (app, user, account, post)
}

#[tokio::test]
async fn where_nothing_can_be_asked_a_person_decides() {
    for platform in networks::that_can_be_asked(false) {
        let (app, user, account, post) =
            after(json!({"on": "commit", "kind": "drop_after_change"}), platform).await;
        assert_eq!(post["status"], "failed", "{platform}: {post:#}");
        assert_eq!(post["error"]["code"], "outcome_unknown");
        assert_eq!(post["error"]["retry_safe"], false);
        assert_eq!(user.on_network(platform, account).await.len(), 1);
        let retry = format!("/api/v1/posts/{}/retry", post["id"]);
        user.post(&retry, json!({})).await.refused(409, "duplicate_risk");
        let _ = user.post(&retry, json!({"acknowledge_duplicate_risk": true})).await.expect(200);
        let post = networks::ended(&app, &user, &post["id"]).await;
        // A network that refuses a repetition has something like it, and nobody can look whether that is this post.
        let held = user.on_network(platform, account).await.len();
        let is_refused = post["error"]["code"] == "outcome_unknown" && held == 1;
        assert!(is_refused || (post["status"] == "published" && held == 2), "{platform}: {post:#}");
    }
}

#[tokio::test]
async fn a_post_that_could_not_start_in_time_never_goes_out_late() {
    let app = TestApp::with(fanfare_tests::Options { workers: false, ..Default::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let post = user.publish(json!({"account_id": account, "caption": "Too late"})).await;
    app.advance(Duration::from_secs(25 * 3_600));
    app.start_workers();
    let post =
        app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published", "failed"]).await;
    assert_eq!((&post["status"], &post["error"]["code"]), (&json!("failed"), &json!("missed")));
    assert!(user.on_network("bluesky", account).await.is_empty());
}
