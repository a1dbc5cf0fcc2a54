//! Inputs that publishing tools are known to get wrong, each with its right answer: texts, times, files and pages of others.

mod checked;
mod files;
mod pages;
mod shown;

use fanfare_tests::{ApiReply, TestApp, User};
use serde_json::{Value, json};

/// Checks a post without making it; `more` are its fields beside the account.
async fn rehearse(user: &User, account: i64, more: &Value) -> ApiReply {
    let mut body = json!({"account_id": account, "dry_run": true});
    extend(&mut body, more);
    user.post("/api/v1/posts", body).await
}

/// Publishes a post; what its network then holds of it.
async fn published(
    app: &TestApp,
    user: &User,
    (platform, account): (&str, i64),
    more: &Value,
) -> Value {
    let mut body = json!({"account_id": account});
    extend(&mut body, more);
    let id = user.publish(body).await["id"].as_i64().unwrap();
    let post = app.wait_for_status(user, id, &["published", "failed"]).await;
    assert_eq!(post["status"], "published", "{more} {post:#}");
    let held = user.on_network(platform, account).await;
    let held = held.into_iter().find(|one| one["id"] == post["platform_post_id"]);
    held.unwrap_or_else(|| panic!("{platform} does not show {post:#}"))
}

fn extend(body: &mut Value, more: &Value) {
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
}
