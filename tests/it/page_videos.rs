//! Videos on a page: they are published when the network says so, a draft is told as one, and a failure after the call is
//! told however late it comes.

use fanfare_tests::{Picture, TestApp, User, networks};
use serde_json::{Value, json};

const MINUTE: u32 = 60_000;

/// What becomes of a video after its call was answered.
const LATER: [(&str, u32); 5] = [
    ("published", 0),
    ("published", 20 * MINUTE),
    ("draft", 0),
    ("error", 1_000),
    ("error", 20 * MINUTE),
];

async fn publish(app: &TestApp, user: &User, account: i64, shape: &str) -> Value {
    let file = Picture::lasting().video(shape);
    Picture::make(std::slice::from_ref(&file)).await;
    let body = json!({"account_id": account, "caption": "Watch", "media_urls": [file]});
    networks::publish(app, user, body).await
}

async fn kinds(user: &User, account: i64) -> Vec<Value> {
    let held = user.on_network("facebook", account).await;
    held.into_iter().map(|post| post["kind"].clone()).collect()
}

/// An upright video as a video of the feed would be a draft.
#[tokio::test]
async fn an_upright_video_is_a_reel() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("facebook").await;
    let post = publish(&app, &user, account, "film").await;
    assert_eq!(post["status"], "published", "{post:#}");
    assert_eq!(kinds(&user, account).await, ["reel"]);
}

#[tokio::test]
async fn a_video_is_what_the_network_says_of_it_after_its_call() {
    let app = TestApp::start().await;
    for shape in ["square", "wide"] {
        for (state, after_ms) in LATER {
            let story = format!("{shape}, {state} after {after_ms} ms");
            let user = app.user().await;
            let account = user.connect("facebook").await;
            let later = json!({"state": state, "after_ms": after_ms});
            let fault = json!({"on": "commit", "kind": "delay", "ms": 0, "later": later});
            user.faults("facebook", account, json!([fault])).await;
            let post = publish(&app, &user, account, shape).await;
            if state == "published" {
                assert_eq!(post["status"], "published", "{story}: {post:#}");
                assert_eq!(kinds(&user, account).await, ["video"], "{story}");
                continue;
            }
            assert_eq!(post["status"], "failed", "{story}: {post:#}");
            assert!(kinds(&user, account).await.is_empty(), "{story}");
            is_told(&story, state, &post["error"]);
            if state == "error" {
                // Nothing came of it, so that it starts anew.
                let path = format!("/api/v1/posts/{}/retry", post["id"]);
                let _ = user.post(&path, json!({})).await.expect(200);
                let post = networks::ended(&app, &user, &post["id"]).await;
                assert_eq!(post["status"], "published", "{story}: {post:#}");
                assert_eq!(kinds(&user, account).await, ["video"], "{story}");
            }
        }
    }
}

fn is_told(story: &str, state: &str, error: &Value) {
    let says = |field: &str, part: &str| error[field].as_str().unwrap().contains(part);
    if state == "draft" {
        assert!(says("message", "draft"), "{story}: {error:#}");
        assert!(says("remedy", "Meta Business Suite"), "{story}: {error:#}");
        assert_eq!(error["code"], "content_rejected", "{story}: {error:#}");
    } else {
        assert_eq!(error["code"], "media_rejected", "{story}: {error:#}");
        assert_eq!(error["retry_safe"], true, "{story}: {error:#}");
        let said = error["platform_error"]["message"].as_str().unwrap();
        assert!(said.contains("could not be encoded"), "{story}: {error:#}");
    }
}
