//! What callers build on, as snapshots: a change of the contract shows in the diff. `INSTA_UPDATE=always` writes them.

use fanfare_tests::{Options, TestApp};
use serde_json::json;

#[tokio::test]
async fn the_openapi_document() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let mut document = app.nobody().get("/openapi.json").await.expect(200).body;
    document["servers"] = json!("where it was asked");
    let text = serde_json::to_string_pretty(&document).unwrap().replace(&app.origin, "{origin}");
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn a_post_and_its_refusal() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let post = json!({"account_id": account, "caption": "Snapshot", "scheduled_at": "2099-01-01T10:00:00+01:00"});
    let made = user.publish(post).await;
    insta::assert_json_snapshot!(made, {
        ".workspace_id" => "[uuid]", ".created_at" => "[time]", ".updated_at" => "[time]",
    });
    let bad = json!({"account_id": account, "capton": "x", "scheduled_at": "2099-01-01T10:00:00"});
    let refused = user.post("/api/v1/posts", bad).await.body;
    insta::assert_json_snapshot!(refused, { ".request_id" => "[id]", ".doc_url" => "[url]" });
}
