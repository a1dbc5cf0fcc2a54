//! What a network says of an earlier post, as it refuses the same words, is a rumour: the post that it names may be a
//! ghost, or another one.

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

/// Refusals of the same words: the network, the status, and the body in its words. LinkedIn has named posts that were
/// never there, a new one at each try (composio, 2710).
const ROWS: [(&str, u16, &str); 4] = [
    (
        "linkedin",
        422,
        r#"{"status":422,"code":"DUPLICATE_POST","message":"Content is a duplicate of urn:li:share:7399999999999999999"}"#,
    ),
    (
        "x",
        403,
        r#"{"title":"Forbidden","detail":"You are not allowed to create a Tweet with duplicate content.","type":"about:blank","status":403}"#,
    ),
    (
        "facebook",
        400,
        r#"{"error":{"message":"Duplicate status message","type":"OAuthException","code":506}}"#,
    ),
    (
        "devto",
        422,
        r#"{"error":"Validation failed: Title has already been used in the last five minutes","status":422}"#,
    ),
];

async fn publish(app: &TestApp, name: &str, faults: Value) -> (User, i64, Value) {
    let user = app.user().await;
    let account = user.connect(name).await;
    user.faults(name, account, faults).await;
    let post = networks::publish(app, &user, networks::post(name, account)).await;
    (user, account, post)
}

#[tokio::test]
async fn a_ghost_is_never_taken_for_a_post() {
    let app = TestApp::start().await;
    for (name, status, body) in ROWS {
        let refusal = json!({"on": "commit", "kind": "status", "status": status, "body": body});
        let (user, account, post) = publish(&app, name, json!([refusal])).await;
        assert_eq!(post["status"], "failed", "{name}: {post:#}");
        assert_eq!(post["error"]["code"], "duplicate_content", "{name}: {post:#}");
        assert_eq!(user.on_network(name, account).await.len(), 0, "{name}");
        // After a call without an answer it may be that one's; what the network shows decides, not what it said.
        let lost = json!({"on": "commit", "kind": "reset"});
        let (user, account, post) = publish(&app, name, json!([lost, refusal])).await;
        assert_eq!(user.on_network(name, account).await.len(), 0, "{name}");
        assert_eq!(post["status"], "failed", "{name}: {post:#}");
        assert_eq!(post["error"]["code"], "outcome_unknown", "{name}: {post:#}");
        assert_eq!(post["error"]["retry_safe"], false, "{name}: {post:#}");
    }
}

#[tokio::test]
async fn another_ones_post_is_never_taken_for_ours() {
    let app = TestApp::start().await;
    for (name, status, body) in ROWS {
        let user = app.user().await;
        let account = user.connect(name).await;
        let remote_id = networks::newest_account(&app, name).await;
        let draft = networks::post(name, account);
        let words = draft["caption"].as_str().unwrap().to_owned();
        app.simulator.post_by_hand(name, &remote_id, &words, &networks::needed_media(name)).await;
        let refusal = json!({"on": "commit", "kind": "status", "status": status, "body": body});
        user.faults(name, account, json!([refusal])).await;
        let post = networks::publish(&app, &user, draft).await;
        assert_eq!(post["status"], "failed", "{name}: {post:#}");
        assert_eq!(post["error"]["code"], "duplicate_content", "{name}: {post:#}");
        assert_eq!(user.on_network(name, account).await.len(), 1, "{name}");
    }
}
