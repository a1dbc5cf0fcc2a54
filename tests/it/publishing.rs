//! A post due at T goes out once, at T, and the ledger says how.

use std::time::Duration;

use fanfare_tests::TestApp;
use serde_json::json;

#[tokio::test]
async fn a_post_without_a_time_goes_out_at_once() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let post = user.publish(json!({"account_id": account, "caption": "Hello, world"})).await;
    let post =
        app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published", "failed"]).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let held = user.on_network("bluesky", account).await;
    assert_eq!(held.len(), 1);
    assert_eq!(held[0]["text"], "Hello, world");
    assert!(post["platform_post_id"].as_str().unwrap().starts_with("at://"));
}

#[tokio::test]
async fn a_scheduled_post_waits_for_its_time() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let new = json!({"account_id": account, "caption": "Later", "scheduled_at": app.at(60)});
    let post = user.publish(new).await;
    let id = post["id"].as_i64().unwrap();
    assert_eq!(post["status"], "scheduled");
    app.advance(Duration::from_millis(59_999));
    // Another one goes out meanwhile, so the queue was looked through.
    let other = user.connect("bluesky").await;
    let now = user.publish(json!({"account_id": other, "caption": "Now"})).await;
    app.wait_for_status(&user, now["id"].as_i64().unwrap(), &["published"]).await;
    app.wait_until_idle().await;
    let post = user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone();
    assert_eq!(post["status"], "scheduled", "none leaves early");
    app.advance(Duration::from_millis(1));
    app.wait_for_status(&user, id, &["published"]).await;
    let path = format!("/api/v1/posts/{id}/attempts");
    let ledger = user.get(&path).await.expect(200).body["attempts"].clone();
    assert_eq!(ledger.as_array().unwrap().len(), 1, "{ledger:#}");
    assert_eq!(ledger[0]["outcome"], "published");
    assert_eq!(ledger[0]["steps"].as_array().unwrap().last().unwrap()["phase"], "commit");
}

#[tokio::test]
async fn a_lost_answer_is_looked_up_and_not_sent_again() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    user.faults("bluesky", account, json!([{"on": "commit", "kind": "drop_after_change"}])).await;
    let post = user.publish(json!({"account_id": account, "caption": "Once"})).await;
    let id = post["id"].as_i64().unwrap();
    let post = app
        .eventually("the post is published", || async {
            app.advance(Duration::from_secs(1));
            let post = user.get(&format!("/api/v1/posts/{id}")).await.body["post"].clone();
            (post["status"] == "published").then_some(post)
        })
        .await;
    assert!(post["platform_post_id"].is_string());
    assert_eq!(user.on_network("bluesky", account).await.len(), 1);
}
