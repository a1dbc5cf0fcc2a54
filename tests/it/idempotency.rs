//! A write that is sent again is done once.

use std::collections::BTreeSet;

use fanfare_tests::{Options, TestApp};
use futures_util::future::join_all;
use serde_json::json;

#[tokio::test]
async fn a_thousand_requests_with_one_key_make_one_post() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let body = json!({"account_id": account, "caption": "once"});
    let sends = (0..1_000).map(|_| user.post_keyed("/api/v1/posts", "one-key", &body));
    let answers = join_all(sends).await;
    let mut ids = BTreeSet::new();
    for answer in &answers {
        match answer.status {
            201 => {
                ids.insert(answer.body["post"]["id"].as_i64().unwrap());
            }
            409 => assert_eq!(answer.body["code"], "idempotency_in_progress"),
            other => panic!("{other}: {}", answer.text),
        }
    }
    let first = answers
        .iter()
        .filter(|one| one.status == 201 && one.header("idempotent-replayed").is_empty());
    assert_eq!((ids.len(), first.count()), (1, 1));
    assert_eq!(user.get("/api/v1/posts").await.body["posts"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_key_is_for_one_request() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let body = json!({"account_id": account, "caption": "once"});
    let first = user.post_keyed("/api/v1/posts", "k", &body).await.expect(201);
    let again = user.post_keyed("/api/v1/posts", "k", &body).await.expect(201);
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(first.body, again.body);
    let other = json!({"account_id": account, "caption": "twice"});
    user.post_keyed("/api/v1/posts", "k", &other).await.refused(422, "idempotency_mismatch");
    let long = "k".repeat(256);
    user.post_keyed("/api/v1/posts", &long, &body).await.refused(400, "invalid_idempotency_key");
}

#[tokio::test]
async fn an_error_is_replayed_as_it_was() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let bad = json!({"account_id": account, "caption": "x".repeat(301)});
    user.post_keyed("/api/v1/posts", "bad", &bad).await.refused(400, "caption_too_long");
    let again = user.post_keyed("/api/v1/posts", "bad", &bad).await;
    assert_eq!(again.header("idempotent-replayed"), "true");
    again.refused(400, "caption_too_long");
}
