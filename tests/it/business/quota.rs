//! Readings take three fifths of what a network allows an app, and posts go out meanwhile.

use std::time::Duration;

use fanfare_tests::{Options, TestApp, User};
use serde_json::json;

use super::BASE;

/// The calls a minute that readings may take of the 300 that Google Business Profile allows an app.
const SHARE: usize = 180;

/// Enough locations that reading all of them takes more than the whole quota.
const LOCATIONS: usize = 70;

/// The number of times that the network was asked to be read.
async fn reads(app: &TestApp) -> usize {
    let mut count = 0;
    for account in app.simulator.accounts("google_business").await {
        let id = account["remote_id"].as_str().unwrap();
        let calls = app.simulator.calls("google_business", id).await;
        count += calls.iter().filter(|call| call["phase"] == "read").count();
    }
    count
}

/// The number of locations that were read whole.
async fn synced(user: &User) -> usize {
    let page = user.get(&format!("{BASE}/reviews?limit=1")).await.expect(200).body;
    let all = page["summary"].as_array().unwrap();
    all.iter().filter(|one| one["synced_at"].is_string()).count()
}

#[tokio::test]
async fn readings_leave_two_fifths_of_the_quota_and_keep_no_post_waiting() {
    let app = TestApp::with(Options { sandbox_limits: true, ..Options::default() }).await;
    let user = app.user().await;
    let mut accounts = Vec::new();
    for _ in 0..LOCATIONS {
        accounts.push(user.connect("google_business").await);
    }
    let before = reads(&app).await;
    // All of them are due at once, in a minute that does not end before the clock moves.
    app.pass(Duration::from_secs(61)).await;
    app.eventually("the share of readings is used up", || async {
        (reads(&app).await >= before + SHARE).then_some(())
    })
    .await;
    let post = user.publish(json!({"account_id": accounts[0], "caption": "Open today"})).await;
    let post = app.settled(&user, post["id"].as_i64().unwrap(), &["published", "failed"]).await;
    assert_eq!(post["status"], "published", "{post:#}");
    assert!(synced(&user).await < LOCATIONS, "the post waited for no reading");
    assert_eq!(reads(&app).await, before + SHARE, "no reading goes beyond its share");
}
