//! Posts that a network took and drops later: the post says since when it is missing, an event says so once, and nothing
//! invites to send it again. One look proves nothing.

use std::time::Duration;

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

use super::{HOUR, MEASURED, idle, posts, published};

/// The networks whose posts have no numbers and are looked at all the same.
const WATCHED: [&str; 2] = ["discord", "google_business"];

async fn shown(user: &User, id: &Value) -> Value {
    user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone()
}

async fn removals(user: &User) -> Vec<Value> {
    let page = user.get("/api/v1/events?type=post.removed").await.expect(200).body;
    page["events"].as_array().unwrap().clone()
}

/// Publishes, and lets the network do this with the post.
async fn played(app: &TestApp, user: &User, platform: &str, later: &Value) -> (i64, Value) {
    let account = user.connect(platform).await;
    let remote = networks::newest_account(app, platform).await;
    app.simulator.behave(platform, &remote, &json!({ "later": later })).await;
    let post = published(app, user, platform, account).await;
    assert_eq!(shown(user, &post).await["removed_at"], Value::Null, "{platform}");
    (account, post)
}

/// Lets time pass until the post is said to be removed, once, after the second look; it stays published.
async fn is_removed(app: &TestApp, user: &User, story: &str, (account, post): (i64, &Value)) {
    app.pass_time(Duration::from_secs(2 * HOUR)).await;
    app.wait_until_idle().await;
    assert_eq!(shown(user, post).await["removed_at"], Value::Null, "{story}: one look");
    app.pass_time(Duration::from_secs(7 * HOUR)).await;
    let row = app
        .eventually_in_time(story, Duration::from_secs(60), || async {
            let row = shown(user, post).await;
            row["removed_at"].is_string().then_some(row)
        })
        .await;
    assert_eq!(row["status"], "published", "{story}: {row:#}");
    assert_eq!(row["error"], Value::Null, "{story}: {row:#}");
    let told = removals(user).await;
    assert_eq!(told.len(), 1, "{story}: {told:#?}");
    assert_eq!(told[0]["data"]["post"]["id"], *post, "{story}: {told:#?}");
    assert_eq!(posts(user, account).await[0]["status"], "deleted", "{story}");
}

#[tokio::test]
async fn a_post_that_the_network_drops_later_says_so() {
    for platform in MEASURED.into_iter().chain(WATCHED) {
        let (app, user) = idle().await;
        app.start_workers();
        let gone = json!([{"after_ms": 1_800_000, "set": "gone"}]);
        let (account, post) = played(&app, &user, platform, &gone).await;
        is_removed(&app, &user, platform, (account, &post)).await;
    }
}

/// Some networks say what they have decided hours after they took a post.
#[tokio::test]
async fn a_post_that_the_network_rejects_after_it_was_public_says_so() {
    for (platform, word) in
        [("youtube", "rejected"), ("youtube", "failed"), ("google_business", "REJECTED")]
    {
        let (app, user) = idle().await;
        app.start_workers();
        let rejected = json!([{"after_ms": 1_800_000, "set": {"state": word}}]);
        let (account, post) = played(&app, &user, platform, &rejected).await;
        let story = format!("{platform}, {word}");
        is_removed(&app, &user, &story, (account, &post)).await;
    }
}

/// What is there and has no numbers is no matter of numbers: nothing is said of it.
#[tokio::test]
async fn a_post_without_numbers_that_is_there_stays_as_it_is() {
    for platform in WATCHED {
        let (app, user) = idle().await;
        app.start_workers();
        let (account, post) = played(&app, &user, platform, &json!([])).await;
        for _ in 0..6 {
            app.pass_time(Duration::from_secs(12 * HOUR)).await;
            app.wait_until_idle().await;
        }
        assert_eq!(shown(&user, &post).await["removed_at"], Value::Null, "{platform}");
        let row = posts(&user, account).await[0].clone();
        assert_eq!(
            (&row["status"], &row["read_error"]),
            (&json!("live"), &Value::Null),
            "{platform}: {row:#}"
        );
        assert!(removals(&user).await.is_empty(), "{platform}");
    }
}

/// A webhook that was moved to another channel finds no message of before: that says nothing of them.
#[tokio::test]
async fn messages_of_a_webhook_that_was_moved_are_not_removed() {
    let (app, user) = idle().await;
    app.start_workers();
    let (_, post) = played(&app, &user, "discord", &json!([])).await;
    let remote = networks::newest_account(&app, "discord").await;
    let unknown = json!({"message": "Unknown Channel", "code": 10_003});
    let moved = json!({"answers": [{"on": "message", "status": 404, "body": unknown}]});
    app.simulator.behave("discord", &remote, &moved).await;
    for _ in 0..3 {
        app.pass_time(Duration::from_secs(8 * HOUR)).await;
        app.wait_until_idle().await;
    }
    assert_eq!(shown(&user, &post).await["removed_at"], Value::Null);
    assert!(removals(&user).await.is_empty());
}

#[tokio::test]
async fn a_post_that_was_away_for_a_while_is_not_removed() {
    let (app, user) = idle().await;
    app.start_workers();
    let away = json!([
        {"after_ms": 1_800_000, "set": "gone"},
        {"after_ms": 3 * 3_600_000, "set": "restored"},
    ]);
    let (account, post) = played(&app, &user, "mastodon", &away).await;
    app.pass_time(Duration::from_secs(2 * HOUR)).await;
    app.wait_until_idle().await;
    app.pass_time(Duration::from_secs(7 * HOUR)).await;
    app.eventually_in_time("it is read", Duration::from_secs(60), || async {
        let all = posts(&user, account).await;
        all.into_iter().find(|one| !one["fetched_at"].is_null())
    })
    .await;
    assert_eq!(shown(&user, &post).await["removed_at"], Value::Null);
    assert!(removals(&user).await.is_empty());
}
