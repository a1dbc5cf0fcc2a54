//! One post whose numbers are refused never costs those of the others, nor the account's days.

use std::time::Duration;

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

use super::{HOUR, MEASURED, account, idle, posts, published, set};

/// The number of a post that each of them has.
fn number(platform: &str) -> &'static str {
    if platform == "pinterest" { "saves" } else { "likes" }
}

/// The way in which one post of a network is refused. DEV tells the numbers of all articles in one list, which is refused as
/// a whole or not at all; it may leave one out.
fn refusal(platform: &str) -> &'static str {
    if platform == "devto" { "refused" } else { "permission" }
}

/// Publishes posts; their ids.
async fn several(app: &TestApp, user: &User, platform: &str, id: i64, count: usize) -> Vec<Value> {
    let mut made = Vec::new();
    for _ in 0..count {
        made.push(published(app, user, platform, id).await);
    }
    made
}

/// Lets time pass until so many posts have their number.
async fn after_readings(app: &TestApp, user: &User, platform: &str, id: i64, count: usize) {
    let what = format!("{count} posts of {platform} are read");
    app.eventually_in_time(&what, Duration::from_secs(300), || async {
        let known = posts(user, id).await.into_iter();
        let known = known.filter(|post| post[number(platform)] == 5).count();
        (known >= count).then_some(())
    })
    .await;
}

#[tokio::test]
async fn one_refused_post_among_nine_good_ones_costs_nothing_but_itself() {
    let (app, user) = idle().await;
    app.start_workers();
    for platform in MEASURED {
        let id = user.connect(platform).await;
        let made = several(&app, &user, platform, id, 10).await;
        for (place, post) in made.iter().enumerate() {
            let value = if place == 4 { json!(refusal(platform)) } else { json!(5) };
            let metrics = json!({ number(platform): value });
            set(&user, platform, id, json!({ "post_id": post }), metrics).await;
        }
        app.pass_time(Duration::from_secs(HOUR)).await;
        after_readings(&app, &user, platform, id, 9).await;
        let refused = posts(&user, id).await.into_iter().find(|post| post["post_id"] == made[4]);
        let refused = refused.unwrap();
        let why = refused["unmeasured"][number(platform)].as_str();
        assert!(
            matches!(why, Some("refused" | "permission" | "platform")),
            "{platform}: {refused:#}"
        );
        let shown = account(&user, id).await;
        assert!(shown["status"] != "stale", "{platform}: {shown:#}");
        let accounts = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
        let mut accounts = accounts.as_array().unwrap().iter();
        let account = accounts.find(|account| account["id"] == id).unwrap();
        assert_eq!(account["status"], "connected", "{platform}: {account:#}");
    }
}

#[tokio::test]
async fn a_refusal_that_names_nothing_is_kept_with_its_post() {
    let (app, user) = idle().await;
    app.start_workers();
    for (platform, operation) in
        [("mastodon", "status"), ("lemmy", "post"), ("bluesky", "posts"), ("x", "posts")]
    {
        let id = user.connect(platform).await;
        let made = several(&app, &user, platform, id, 3).await;
        for post in &made {
            let metrics = json!({ number(platform): 5 });
            set(&user, platform, id, json!({ "post_id": post }), metrics).await;
        }
        // What is asked for as a whole is refused as a whole, and then post by post.
        let refused = json!({"on": operation, "times": 3, "status": 400, "body": {"error": "no"}});
        let remote_id = networks::newest_account(&app, platform).await;
        app.simulator.behave(platform, &remote_id, &json!({ "answers": [refused] })).await;
        app.pass_time(Duration::from_secs(HOUR)).await;
        let what = format!("a refusal is kept on {platform}");
        let troubled = app
            .eventually_in_time(&what, Duration::from_secs(300), || async {
                let troubled = posts(&user, id).await.into_iter().filter(|post| {
                    let error = &post["read_error"];
                    ["message", "since", "code"].iter().all(|name| error[*name].is_string())
                });
                let troubled: Vec<_> = troubled.collect();
                (!troubled.is_empty()).then_some(troubled)
            })
            .await;
        for post in &troubled {
            assert_eq!(post["unmeasured"][number(platform)], "refused", "{platform}: {post:#}");
        }
        // At its next age it is read, and nothing is left of the refusal.
        after_readings(&app, &user, platform, id, 3).await;
        let left = posts(&user, id).await.into_iter().filter(|post| !post["read_error"].is_null());
        assert_eq!(left.count(), 0, "{platform}");
    }
}

#[tokio::test]
async fn the_activity_list_says_once_a_day_how_many_posts_cannot_be_read() {
    let (app, user) = idle().await;
    app.start_workers();
    let id = user.connect("mastodon").await;
    let _ = several(&app, &user, "mastodon", id, 3).await;
    let said = json!({"error": "This post is not for you"});
    let refused = json!({"on": "status", "times": 100_000, "status": 400, "body": said});
    let remote_id = networks::newest_account(&app, "mastodon").await;
    app.simulator.behave("mastodon", &remote_id, &json!({ "answers": [refused] })).await;
    let listed = || async {
        let path = "/api/v1/activity?type=analytics.posts_refused";
        user.get(path).await.expect(200).body["activity"].as_array().unwrap().clone()
    };
    for days in 1..=2 {
        let entries = app
            .eventually_in_time("the day's entry is there", Duration::from_secs(900), || async {
                Some(listed().await).filter(|entries| entries.len() >= days)
            })
            .await;
        assert_eq!(entries.len(), days, "{entries:#?}");
        let message = entries[0]["message"].as_str().unwrap();
        assert!(message.contains("3 posts") && message.contains("not for you"), "{message}");
        assert_eq!(entries[0]["account_id"], id);
    }
}
