//! What an event of each type holds. Every reply of `GET /events` and every body of a webhook is checked against the
//! document, which says it for each type; here events of many types are made, and the stories of the others read theirs.

use std::time::Duration;

use fanfare_core::events::TYPES;
use fanfare_tests::{ReceivedRequest, Receiver, TestApp, networks};
use serde_json::{Value, json};

use crate::{business, films, inbox};

/// Types whose events other stories make and read: they take hours or weeks, a connection that is lost, a second account
/// or a test of a webhook.
const ELSEWHERE: [&str; 6] = [
    "account.reconnected",
    "account.token_expiring",
    "insight.created",
    "post.removed",
    "post_set.partial",
    "webhook.test",
];

#[tokio::test]
async fn each_type_holds_what_the_document_says() {
    let app = TestApp::start().await;
    let user = inbox::pro(&app).await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url, "events": ["*"]});
    let _ = user.post("/api/v1/webhooks", hook).await.expect(201);
    let name = json!({"platform": "bluesky", "username": "evening.example"});
    let made = user.post("/api/v1/sandbox/accounts", name).await.expect(201).body;
    let account = made["account"]["id"].as_i64().unwrap();
    let draft = json!({"account_id": account, "caption": "Draft", "status": "draft"});
    let draft = user.publish(draft).await["id"].clone();
    let path = format!("/api/v1/posts/{draft}");
    let _ = user.patch(&path, json!({"caption": "Changed"})).await.expect(200);
    let _ = user.delete(&path).await.expect(200);
    let set = json!({"targets": [{"account_id": account}], "caption": "Draft", "status": "draft"});
    let set = user.post("/api/v1/post-sets", set).await.expect(201).body["post_set"]["id"].clone();
    let path = format!("/api/v1/post-sets/{}", set.as_str().unwrap());
    let _ = user.patch(&path, json!({"caption": "Changed"})).await.expect(200);
    let _ = user.delete(&path).await.expect(200);
    for refused in [true, false] {
        let one = [json!({"account_id": account})];
        if refused {
            let fault = json!([{"on": "commit", "kind": "status", "status": 400}]);
            user.faults("bluesky", account, fault).await;
        }
        let post = networks::publish(&app, &user, networks::post("bluesky", account)).await;
        assert_eq!(post["status"], if refused { "failed" } else { "published" }, "{post:#}");
        if refused {
            let fault = json!([{"on": "commit", "kind": "status", "status": 400}]);
            user.faults("bluesky", account, fault).await;
        }
        let set = json!({"targets": one, "caption": format!("A set, refused: {refused}")});
        let set = user.post("/api/v1/post-sets", set).await.expect(201).body["post_set"].clone();
        let post = networks::ended(&app, &user, &set["targets"][0]["post_id"]).await;
        assert_eq!(post["status"], if refused { "failed" } else { "published" }, "{post:#}");
    }
    let _ = user.delete(&format!("/api/v1/accounts/{account}")).await.expect(200);
    for messages in [true, false] {
        let _ = inbox::lost::answerable(&app, &user, "facebook", messages).await;
    }
    let profile = business::profile(&app, &user).await;
    business::review(&user, profile, "Fine", 5).await;
    business::read(&app, &user).await;
    for word in ["A cat", "A cat [[end internal_error No.]]"] {
        let film = json!({"prompt": word, "provider": "xai"});
        let film =
            user.post("/api/v1/ai/generate-video", film).await.expect(202).body["job"].clone();
        let _ = films::ended(&app, &user, &film).await;
    }
    for wanted in TYPES.iter().filter(|name| !ELSEWHERE.contains(name)) {
        // The client of the stories checks each of these replies.
        app.eventually_in_time(wanted, Duration::from_secs(60), || async {
            let page = user.get(&format!("/api/v1/events?type={wanted}")).await.expect(200).body;
            let events = page["events"].as_array().unwrap().clone();
            events.iter().any(|event| event["type"] == *wanted).then_some(())
        })
        .await;
    }
    let sent: Vec<Value> = receiver.received().iter().map(ReceivedRequest::body).collect();
    assert!(!sent.is_empty());
}
