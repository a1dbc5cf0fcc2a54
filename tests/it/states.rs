//! The states of a post, and every change that is refused.

use std::time::Duration;

use fanfare_tests::{Options, TestApp, User};
use serde_json::{Value, json};

async fn quiet() -> (TestApp, User, i64) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    (app, user, account)
}

fn path(post: &Value, rest: &str) -> String {
    format!("/api/v1/posts/{}{rest}", post["id"])
}

#[tokio::test]
async fn pause_and_go_on() {
    let (app, user, account) = quiet().await;
    let post = user
        .publish(json!({"account_id": account, "caption": "a", "scheduled_at": app.at(600)}))
        .await;
    let status = path(&post, "/status");
    let paused = user.put(&status, json!({"status": "paused"})).await.expect(200);
    assert_eq!(paused.body["post"]["status"], "paused");
    user.put(&status, json!({"status": "paused"})).await.expect(200);
    let on = user.put(&status, json!({"status": "scheduled"})).await.expect(200);
    assert_eq!(
        (&on.body["post"]["status"], &on.body["post"]["scheduled_at"]),
        (&json!("scheduled"), &post["scheduled_at"])
    );
    let _ = user.put(&status, json!({"status": "paused"})).await.expect(200);
    app.advance(Duration::from_secs(601));
    user.put(&status, json!({"status": "scheduled"})).await.refused(400, "field_required");
    let at = app.at(60);
    let later =
        user.put(&status, json!({"status": "scheduled", "scheduled_at": at})).await.expect(200);
    assert_eq!(later.body["post"]["scheduled_at"], at);
}

#[tokio::test]
async fn a_draft_needs_a_time_and_a_body_to_be_scheduled() {
    let (app, user, account) = quiet().await;
    let post = user.publish(json!({"account_id": account, "status": "draft"})).await;
    assert_eq!((&post["status"], &post["scheduled_at"]), (&json!("draft"), &Value::Null));
    let missing = user.get(&path(&post, "/missing")).await.expect(200);
    assert_eq!(missing.body["ready"], false);
    assert_eq!(missing.body["missing"][0]["code"], "caption_required");
    let status = path(&post, "/status");
    user.put(&status, json!({"status": "scheduled"})).await.refused(400, "field_required");
    let at = json!({"status": "scheduled", "scheduled_at": app.at(60)});
    user.put(&status, at.clone()).await.refused(400, "caption_required");
    user.put(&status, json!({"status": "paused"})).await.refused(409, "invalid_transition");
    let _ = user.patch(&path(&post, ""), json!({"caption": "now complete"})).await.expect(200);
    let missing = user.get(&path(&post, "/missing")).await.expect(200);
    assert_eq!(missing.body["ready"], true, "{}", missing.text);
    let _ = user.put(&status, at).await.expect(200);
}

#[tokio::test]
async fn what_is_published_stays_as_it_is() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let post = user.publish(json!({"account_id": account, "caption": "out"})).await;
    app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published"]).await;
    for status in ["paused", "scheduled", "draft"] {
        let answer = user.put(&path(&post, "/status"), json!({ "status": status })).await;
        assert_eq!(answer.body["allowed"], json!([]));
        answer.refused(409, "invalid_transition");
    }
    user.patch(&path(&post, ""), json!({"caption": "x"})).await.refused(409, "invalid_transition");
    user.delete(&path(&post, "")).await.refused(409, "invalid_transition");
    user.post(&path(&post, "/retry"), json!({})).await.refused(409, "invalid_transition");
    let _ = user.put(&path(&post, "/release-id"), json!({"release_id": "r1"})).await.expect(200);
}

#[tokio::test]
async fn an_edit_before_the_time_is_what_goes_out() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let post = user
        .publish(json!({"account_id": account, "caption": "stale", "scheduled_at": app.at(60)}))
        .await;
    let _ = user.patch(&path(&post, ""), json!({"caption": "fresh"})).await.expect(200);
    user.patch(&path(&post, ""), json!({"account_id": 5})).await.refused(400, "immutable_field");
    app.advance(Duration::from_secs(60));
    app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published"]).await;
    assert_eq!(user.on_network("bluesky", account).await[0]["text"], "fresh");
}

#[tokio::test]
async fn deleting_one_and_deleting_a_group() {
    let (app, user, account) = quiet().await;
    let new = |caption: &str| json!({"account_id": account, "caption": caption, "group": "g1", "scheduled_at": app.at(600)});
    let (one, two) = (user.publish(new("1")).await, user.publish(new("2")).await);
    let gone = user.delete(&path(&one, "")).await.expect(200);
    assert_eq!(gone.body, json!({"deleted": true, "id": one["id"]}));
    user.get(&path(&one, "")).await.refused(404, "post_not_found");
    user.delete("/api/v1/posts/group/g1").await.refused(400, "confirm_required");
    let gone = user.delete("/api/v1/posts/group/g1?confirm=true").await.expect(200);
    assert_eq!(gone.body, json!({"deleted": [two["id"]], "kept": []}));
    user.delete("/api/v1/posts/group/g1?confirm=true").await.refused(404, "group_not_found");
}
