//! Several posts at once: each on its own.

use fanfare_tests::{Options, TestApp};
use serde_json::{Value, json};

#[tokio::test]
async fn what_is_right_is_made_and_what_is_wrong_is_named() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let posts = json!([
        {"account_id": account, "caption": "one"},
        {"account_id": account, "caption": "x".repeat(301)},
        {"account_id": account, "captoin": "three"},
        {"account_id": 999_999, "caption": "four"},
        {"account_id": account, "caption": "five"},
    ]);
    let answer = user.post("/api/v1/posts/batch", json!({ "posts": posts })).await.expect(200);
    let places = |name: &str| -> Vec<i64> {
        let list = answer.body[name].as_array().unwrap();
        list.iter().map(|one| one["index"].as_i64().unwrap()).collect()
    };
    assert_eq!((places("posts"), places("errors")), (vec![0, 4], vec![1, 2, 3]));
    let error = |place: usize| answer.body["errors"][place].clone();
    assert_eq!(
        (error(0)["status"].clone(), error(0)["code"].clone()),
        (json!(400), json!("caption_too_long"))
    );
    assert_eq!(error(2)["status"], 404);
    let many: Vec<Value> =
        (0..26).map(|n| json!({"account_id": account, "caption": n.to_string()})).collect();
    user.post("/api/v1/posts/batch", json!({ "posts": many })).await.refused(400, "too_many_items");
    let held = user.get("/api/v1/posts?limit=100").await.body["posts"].as_array().unwrap().len();
    assert_eq!(held, 2);
}

#[tokio::test]
async fn a_retry_replays_what_succeeded_and_runs_again_what_failed() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let good = json!({"account_id": account, "caption": "good"});
    let bad = json!({"account_id": account, "caption": "x".repeat(301)});
    let first = json!({"posts": [good, bad]});
    let answer = user.post_keyed("/api/v1/posts/batch", "batch-1", &first).await.expect(200);
    let id = answer.body["posts"][0]["post"]["id"].clone();
    let mended = json!({"posts": [good, {"account_id": account, "caption": "mended"}]});
    let answer = user.post_keyed("/api/v1/posts/batch", "batch-1", &mended).await.expect(200);
    assert_eq!(answer.body["posts"][0]["post"]["id"], id);
    assert_eq!(answer.body["posts"].as_array().unwrap().len(), 2);
    let again = user.post_keyed("/api/v1/posts/batch", "batch-1", &mended).await.expect(200);
    assert_eq!(again.header("idempotent-replayed"), "true");
    let changed = json!({"posts": [{"account_id": account, "caption": "another"}]});
    let answer = user.post_keyed("/api/v1/posts/batch", "batch-1", &changed).await.expect(200);
    assert_eq!(answer.body["errors"][0]["code"], "idempotency_mismatch");
    let held = user.get("/api/v1/posts").await.body["posts"].as_array().unwrap().len();
    assert_eq!(held, 2);
}
