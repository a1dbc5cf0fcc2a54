//! The states of a post, and every change that is refused.

use std::time::Duration;

use fanfare_tests::{Options, TestApp, User};
use sea_orm::ConnectionTrait;
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

/// Puts a post into a state as a worker leaves it, with this error.
async fn leave(app: &TestApp, id: &Value, columns: &str, code: &str) {
    let error = json!({
        "code": code, "message": "m", "retryable": true, "retry_safe": code != "outcome_unknown",
        "remedy": "Retry the post later.", "platform_error": null,
    });
    let risk = code == "outcome_unknown";
    let sql = format!(
        "UPDATE posts SET {columns}, error = '{error}', duplicate_risk = {risk} WHERE id = {id}"
    );
    let _ = app.domain.db.write.execute_unprepared(&sql).await.unwrap();
}

#[tokio::test]
async fn whatever_an_error_leads_to_can_be_done_in_that_state() {
    let (app, user, account) = quiet().await;
    let later = app.domain.clock.now() + 5_000;
    let waiting = format!("status = 'scheduled', due_at = {later}, next_attempt_at = {later}");
    let asked =
        format!("status = 'publishing', due_at = {later}, sending_at = 1, sending_until = 2");
    let part = format!(
        "status = 'processing', due_at = {later}, next_attempt_at = {later}, partly_public = true"
    );
    let gone = "status = 'failed', due_at = NULL";
    let rest = "status = 'failed', due_at = NULL, partly_public = true";
    for code in fanfare_publishing::posts::POST_FAILURES.iter().map(|failure| failure.name) {
        for columns in [waiting.as_str(), &asked, &part, gone, rest] {
            let new = json!({"account_id": account, "caption": "a", "scheduled_at": app.at(600)});
            let id = user.publish(new).await["id"].clone();
            leave(&app, &id, columns, code).await;
            let path = format!("/api/v1/posts/{id}");
            let post = user.get(&path).await.expect(200).body["post"].clone();
            let error = &post["error"];
            let doc_url = error["doc_url"].as_str().unwrap();
            assert!(doc_url.starts_with(&format!("{}/docs/errors#", app.origin)), "{doc_url}");
            let is_over = post["status"] == "failed";
            assert_eq!(post["next_attempt_at"].is_null(), is_over, "{columns}: {post:#}");
            let next = error["next"].as_array().unwrap();
            assert!(!next.is_empty(), "{code}, {columns}: {error:#}");
            for step in next {
                let method = step["method"].as_str().unwrap().parse().unwrap();
                let to = step["path"].as_str().unwrap().replace("wait=25", "wait=0");
                let done = user.send(method, &to, &[], step.get("body")).await;
                assert!(done.status < 300, "{code}, {columns}, {step}: {}", done.text);
            }
            if columns == asked {
                let words = error["message"].as_str().unwrap();
                assert!(words.contains("asking Bluesky whether the post was published"), "{words}");
                assert_eq!(
                    (&error["retryable"], &error["retry_safe"]),
                    (&json!(false), &json!(false))
                );
            }
        }
    }
}

#[tokio::test]
async fn a_refused_post_is_changed_sent_again_and_published() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("mastodon").await;
    let refusal = json!([{"on": "commit", "kind": "status", "status": 422, "times": 1}]);
    user.faults("mastodon", account, refusal).await;
    let post = user.publish(json!({"account_id": account, "caption": "Refused"})).await;
    let failed = app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["failed"]).await;
    assert_eq!(failed["error"]["code"], "content_rejected", "{failed:#}");
    let changed = user.patch(&path(&post, ""), json!({"caption": "Taken"})).await.expect(200).body;
    assert_eq!(
        (&changed["post"]["status"], &changed["post"]["caption"]),
        (&json!("failed"), &json!("Taken"))
    );
    let _ = user.put(&path(&post, "/status"), json!({"status": "scheduled"})).await.expect(200);
    app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published"]).await;
    let held = user.on_network("mastodon", account).await;
    assert_eq!(held.len(), 1, "{held:?}");
}

#[tokio::test]
async fn while_a_lost_answer_is_looked_for_nothing_invites_to_publish_again() {
    let mut asked = 0;
    for platform in fanfare_tests::networks::that_can_be_asked(true) {
        let app = TestApp::start().await;
        let user = app.user().await;
        let account = user.connect(platform).await;
        let lost = json!([{"on": "commit", "kind": "drop_after_change", "times": 1}]);
        user.faults(platform, account, lost).await;
        let body = fanfare_tests::networks::post(platform, account);
        let id = user.publish(body).await["id"].clone();
        for moment in 0.. {
            assert!(moment < 600, "{platform}: it never ends");
            let post =
                user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone();
            if ["published", "failed"].iter().any(|end| post["status"] == *end) {
                assert_eq!(post["status"], "published", "{platform}: {post:#}");
                break;
            }
            let error = &post["error"];
            if !error.is_null() && post["status"] != "scheduled" {
                asked += 1;
                assert_eq!(error["retry_safe"], false, "{platform}: {post:#}");
                assert!(post["next_attempt_at"].is_string(), "{platform}: {post:#}");
                let next = error["next"].as_array().unwrap();
                assert!(next.iter().all(|step| step["method"] == "GET"), "{platform}: {error:#}");
            }
            app.step(Duration::from_millis(500)).await;
        }
    }
    assert!(asked > 0);
}
