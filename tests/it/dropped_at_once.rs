//! A video that a page on LinkedIn accepted and could not publish is told as failed; what cannot be read counts as accepted.

use fanfare_tests::{Picture, TestApp, User, networks};
use serde_json::{Value, json};

async fn page(user: &User) -> i64 {
    let body = json!({"platform": "linkedin", "kind": "page"});
    let made = user.post("/api/v1/sandbox/accounts", body).await.expect(201).body;
    made["account"]["id"].as_i64().unwrap()
}

/// Publishes a video on a page whose network does this with it.
async fn play(behaviour: &Value) -> Value {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = page(&user).await;
    let remote = networks::newest_account(&app, "linkedin").await;
    app.simulator.behave("linkedin", &remote, behaviour).await;
    let file = Picture::lasting().video("square");
    Picture::make(std::slice::from_ref(&file)).await;
    let body = json!({"account_id": account, "caption": "Watch", "media_urls": [file]});
    networks::publish(&app, &user, body).await
}

#[tokio::test]
async fn a_video_of_a_page_is_what_linkedin_says_of_it_after_its_call() {
    for (state, status) in
        [("PUBLISHED", "published"), ("PUBLISH_FAILED", "failed"), ("PROCESSING", "published")]
    {
        let post = play(&json!({"later": [{"after_ms": 0, "set": {"state": state}}]})).await;
        assert_eq!(post["status"], status, "{state}: {post:#}");
        if status == "failed" {
            assert_eq!(post["error"]["code"], "media_rejected", "{post:#}");
            let message = post["error"]["message"].as_str().unwrap();
            assert!(message.contains("could not publish it"), "{message}");
        }
    }
}

#[tokio::test]
async fn a_video_that_linkedin_does_not_let_us_read_is_published() {
    let refused =
        json!({"on": "read post", "status": 403, "body": {"status": 403, "message": "no"}});
    let post = play(&json!({"answers": [refused]})).await;
    assert_eq!(post["status"], "published", "{post:#}");
}
