//! Answers that something is not found: they disconnect an account if it is the account itself that is gone.

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

/// The words of Meta for what it does not find; Instagram's answered so for things that it had just made
/// (<https://github.com/gitroomhq/postiz-app/pull/1562>).
const NODE: &str = r#"{"error":{"message":"Unsupported get request. Object with ID '1' does not exist, cannot be loaded due to missing permissions, or does not support this operation","type":"GraphMethodException","code":100,"error_subcode":33}}"#;

async fn status_of(user: &User, account: i64) -> Value {
    let accounts = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
    let mine = accounts.as_array().unwrap().iter().find(|one| one["id"] == account);
    mine.expect("the account")["status"].clone()
}

#[tokio::test]
async fn an_account_that_is_gone_itself_is_disconnected() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("instagram").await;
    let fault = |phase: &str| json!({"on": phase, "kind": "status", "status": 400, "body": NODE, "times": 1_000});
    user.faults("instagram", account, json!([fault("prepare"), fault("read")])).await;
    let post = networks::publish(&app, &user, networks::post("instagram", account)).await;
    assert_eq!(post["status"], "failed", "{post:#}");
    assert_eq!(post["error"]["code"], "account_disconnected", "{post:#}");
    assert_eq!(status_of(&user, account).await, "reconnect_required");
}
