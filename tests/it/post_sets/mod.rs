//! Post sets: one message for several accounts.

mod changes;
mod checks;
mod refusals;
mod settling;

use fanfare_tests::{Options, TestApp, User};
use serde_json::{Value, json};

/// Returns a service without workers, and a user with these accounts.
async fn with_accounts(platforms: &[&str]) -> (TestApp, User, Vec<i64>) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let mut accounts = Vec::new();
    for platform in platforms {
        accounts.push(user.connect(platform).await);
    }
    (app, user, accounts)
}

/// Creates a set and returns it.
async fn made(user: &User, body: Value) -> Value {
    user.post("/api/v1/post-sets", body).await.expect(201).body["post_set"].clone()
}

/// Returns the path of a set.
fn path(set: &Value) -> String {
    format!("/api/v1/post-sets/{}", set["id"].as_str().unwrap())
}

/// Returns targets on these accounts, with nothing of their own.
fn on(accounts: &[i64]) -> Value {
    accounts.iter().map(|id| json!({"account_id": id})).collect()
}

/// Returns the types of the events of sets, oldest first.
async fn set_events(user: &User) -> Vec<String> {
    let events = user.get("/api/v1/events?limit=100").await.expect(200).body["events"].clone();
    let types = events.as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap());
    types.filter(|one| one.starts_with("post_set.")).map(str::to_owned).collect()
}
