//! Posts that a network took and drops later: the post says since when it is missing, an event says so once, and nothing
//! invites to send it again. One look proves nothing.

use std::time::Duration;

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

use super::{HOUR, idle, posts};

/// The networks whose posts are looked at again for their numbers.
const NETWORKS: [&str; 13] = [
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

async fn shown(user: &User, id: &Value) -> Value {
    user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone()
}

async fn removals(user: &User) -> Vec<Value> {
    let page = user.get("/api/v1/events?type=post.removed").await.expect(200).body;
    page["events"].as_array().unwrap().clone()
}

/// Publishes, and lets the network do this with the post.
async fn published(app: &TestApp, user: &User, platform: &str, later: &Value) -> (i64, Value) {
    let account = user.connect(platform).await;
    let remote = networks::newest_account(app, platform).await;
    app.simulator.behave(platform, &remote, &json!({ "later": later })).await;
    let post = networks::publish(app, user, networks::post(platform, account)).await;
    assert_eq!(post["status"], "published", "{platform}: {post:#}");
    assert_eq!(post["removed_at"], Value::Null, "{platform}: {post:#}");
    (account, post["id"].clone())
}

#[tokio::test]
async fn a_post_that_the_network_drops_later_says_so() {
    for platform in NETWORKS {
        let (app, user) = idle().await;
        app.start_workers();
        let gone = json!([{"after_ms": 1_800_000, "set": "gone"}]);
        let (account, post) = published(&app, &user, platform, &gone).await;
        app.pass_time(Duration::from_secs(2 * HOUR)).await;
        app.eventually_in_time("it is missing once", Duration::from_secs(60), || async {
            let calls = user.on_network(platform, account).await;
            calls.is_empty().then_some(())
        })
        .await;
        app.wait_until_idle().await;
        assert_eq!(shown(&user, &post).await["removed_at"], Value::Null, "{platform}: one look");
        app.pass_time(Duration::from_secs(7 * HOUR)).await;
        let row = app
            .eventually_in_time("it is removed", Duration::from_secs(60), || async {
                let row = shown(&user, &post).await;
                row["removed_at"].is_string().then_some(row)
            })
            .await;
        assert_eq!(row["status"], "published", "{platform}: {row:#}");
        assert_eq!(row["error"], Value::Null, "{platform}: {row:#}");
        let told = removals(&user).await;
        assert_eq!(told.len(), 1, "{platform}: {told:#?}");
        assert_eq!(told[0]["data"]["post"]["id"], post, "{platform}: {told:#?}");
        assert_eq!(posts(&user, account).await[0]["status"], "deleted", "{platform}");
    }
}

#[tokio::test]
async fn a_post_that_was_away_for_a_while_is_not_removed() {
    let (app, user) = idle().await;
    app.start_workers();
    let away = json!([
        {"after_ms": 1_800_000, "set": "gone"},
        {"after_ms": 3 * 3_600_000, "set": "restored"},
    ]);
    let (account, post) = published(&app, &user, "mastodon", &away).await;
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
