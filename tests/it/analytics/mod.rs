//! Numbers are read, kept and shown: what is not known is null with a reason, and the network's word stands.

mod accounts;
mod edits;
mod insights;
mod kinds;
mod names;
mod networks;
mod objects;
mod posts;
mod readings;
mod refusals;
mod removed;
mod shares;
pub mod suggestions;

use std::time::Duration;

use fanfare_tests::{Options, TestApp, User, networks as on};
use serde_json::{Value, json};

/// The networks whose posts have numbers.
pub const MEASURED: [&str; 13] = [
    "bluesky",
    "devto",
    "facebook",
    "hashnode",
    "instagram",
    "lemmy",
    "linkedin",
    "mastodon",
    "pinterest",
    "threads",
    "tiktok",
    "x",
    "youtube",
];

pub const HOUR: u64 = 3_600;
pub const DAY: u64 = 24 * HOUR;

/// A service whose workers do not run yet: what is set before they do is there at the first reading.
pub async fn idle() -> (TestApp, User) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    (app, user)
}

/// Sets numbers; `of` names a day or a post.
pub async fn set(user: &User, platform: &str, account: i64, of: Value, metrics: Value) {
    let mut body = json!({"account_id": account, "metrics": metrics});
    if let (Some(body), Some(of)) = (body.as_object_mut(), of.as_object()) {
        body.extend(of.clone());
    }
    let path = format!("/api/v1/sandbox/{platform}/metrics");
    let _ = user.put(&path, body).await.expect(200);
}

/// The numbers of an account.
pub async fn account(user: &User, id: i64) -> Value {
    let path = format!("/api/v1/analytics/accounts?account_id={id}");
    user.get(&path).await.expect(200).body["accounts"][0].clone()
}

/// The dates of the days that are shown, oldest first; the last is today.
pub async fn dates(user: &User, id: i64) -> Vec<String> {
    let shown = account(user, id).await;
    let days = shown["snapshots"].as_array().unwrap().iter();
    days.map(|day| day["date"].as_str().unwrap().to_owned()).collect()
}

/// A day of an account.
pub async fn day(user: &User, id: i64, date: &str) -> Value {
    let shown = account(user, id).await;
    let days = shown["snapshots"].as_array().unwrap().clone();
    days.into_iter().find(|day| day["date"] == date).unwrap()
}

/// The numbers of an account's posts, newest first.
pub async fn posts(user: &User, id: i64) -> Vec<Value> {
    let path = format!("/api/v1/analytics/posts?account_id={id}");
    user.get(&path).await.expect(200).body["posts"].as_array().unwrap().clone()
}

/// Returns the number of times an account's daily reading has ended.
pub async fn synced(user: &User) -> Vec<Value> {
    let events = user.get("/api/v1/events?limit=100").await.expect(200).body["events"].clone();
    let events = events.as_array().unwrap().clone();
    events.into_iter().filter(|event| event["type"] == "analytics.synced").collect()
}

/// Waits until that many daily readings have ended.
pub async fn after_syncs(app: &TestApp, user: &User, count: usize) {
    app.eventually("a daily reading ends", || async {
        (synced(user).await.len() >= count).then_some(())
    })
    .await;
}

/// Publishes a post on an account; its id.
pub async fn published(app: &TestApp, user: &User, platform: &str, account: i64) -> Value {
    let post = on::publish(app, user, on::post(platform, account)).await;
    assert_eq!(post["status"], "published", "{platform}: {post:#}");
    post["id"].clone()
}

/// Lets the next daily reading come: it begins within 20 hours of the end of the network's day.
pub async fn next_day(app: &TestApp) {
    app.pass_time(Duration::from_secs(44 * HOUR)).await;
}
