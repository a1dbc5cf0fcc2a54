//! Every network that counts: what its simulator tells arrives under our names, and nothing else does.

use std::time::Duration;

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Map, Value, json};

use super::{HOUR, after_syncs, dates, day, idle, next_day, posts, set, synced};

/// The numbers of posts that each network has.
const POSTS: [(&str, &[&str]); 13] = [
    ("bluesky", &["likes", "comments", "reposts", "quotes", "saves"]),
    ("devto", &["likes", "comments", "views"]),
    ("facebook", &["likes", "comments", "shares", "reach", "views", "clicks"]),
    ("hashnode", &["likes", "comments", "views"]),
    ("instagram", &["likes", "comments", "reach", "saves", "shares", "reposts", "views"]),
    ("lemmy", &["likes", "comments"]),
    ("linkedin", &["likes", "comments", "reach", "impressions", "saves", "shares", "clicks"]),
    ("mastodon", &["likes", "comments", "reposts", "quotes"]),
    ("pinterest", &["likes", "comments", "impressions", "saves", "plays", "clicks"]),
    ("threads", &["likes", "comments", "shares", "reposts", "quotes", "views"]),
    ("tiktok", &["likes", "comments", "shares", "plays", "views"]),
    ("x", &["likes", "comments", "impressions", "saves", "reposts", "quotes"]),
    ("youtube", &["likes", "comments", "plays", "views"]),
];

const NAMES: [&str; 11] = [
    "likes",
    "comments",
    "reach",
    "impressions",
    "saves",
    "shares",
    "reposts",
    "quotes",
    "plays",
    "views",
    "clicks",
];

/// The numbers of a network, each with a value of its own. Where one is the other, or their sum, the parts are set.
fn numbers(platform: &str, known: &[&str]) -> Value {
    let is_set = |name: &str| match (platform, name) {
        ("tiktok" | "youtube", "plays") | ("pinterest", "clicks") => false,
        _ => known.contains(&name),
    };
    let values = NAMES.iter().enumerate().filter(|(_, name)| is_set(name));
    let values = values.map(|(place, name)| ((*name).to_owned(), json!(100 + place)));
    let mut set: Map<_, _> = values.collect();
    if platform == "pinterest" {
        set.extend([
            ("pin_clicks".to_owned(), json!(60)),
            ("outbound_clicks".to_owned(), json!(7)),
        ]);
    }
    Value::Object(set)
}

/// Returns the value that a number of the simulator becomes.
fn expected(platform: &str, known: &[&str], name: &str) -> Value {
    let set = numbers(platform, known);
    match (platform, name) {
        ("tiktok" | "youtube", "plays") => set["views"].clone(),
        ("pinterest", "clicks") => json!(67),
        _ => set[name].clone(),
    }
}

async fn read(app: &TestApp, user: &User, platform: &str, known: &[&str]) -> Value {
    let id = user.connect(platform).await;
    let post = user.publish(networks::post(platform, id)).await;
    app.wait_until_published(user, &post).await;
    set(user, platform, id, json!({"post_id": post["id"]}), numbers(platform, known)).await;
    app.pass_time(Duration::from_secs(HOUR + 60)).await;
    app.eventually_in_time(
        &format!("the post on {platform} is read"),
        Duration::from_secs(60),
        || async { posts(user, id).await.into_iter().find(|post| !post["fetched_at"].is_null()) },
    )
    .await
}

#[tokio::test]
async fn every_network_tells_the_numbers_of_posts_that_it_has() {
    let (app, user) = idle().await;
    app.start_workers();
    for (platform, known) in POSTS {
        let read = read(&app, &user, platform, known).await;
        for name in NAMES {
            if known.contains(&name) {
                assert_eq!(read[name], expected(platform, known, name), "{platform}: {name}");
            } else {
                assert_eq!(read[name], Value::Null, "{platform}: {name}");
                assert_eq!(read["unmeasured"][name], "platform", "{platform}: {name}");
            }
        }
        for name in NUMBERS {
            let has_reason = read["unmeasured"][name].is_string();
            assert_eq!(read[name].is_null(), has_reason, "{platform} {name}: {read:#}");
        }
    }
}

/// Ways in which a reading goes wrong once.
fn troubles() -> Vec<Value> {
    let status = |status: u16| json!({"on": "read", "kind": "status", "status": status});
    let kind = |kind: &str| json!({"on": "read", "kind": kind});
    let wait = json!({"on": "read", "kind": "status", "status": 429, "ms": 30_000});
    vec![wait, status(500), status(503), kind("reset"), kind("nonsense"), kind("huge")]
}

/// True once a post has all numbers of its network. Until then each is that number or unknown, and never another.
fn has_all(platform: &str, known: &[&str], trouble: &Value, post: &Value) -> bool {
    known.iter().all(|name| {
        let (is, wanted) = (&post[*name], expected(platform, known, name));
        assert!(is.is_null() || *is == wanted, "{platform} {name} after {trouble}: {post:#}");
        *is == wanted
    })
}

#[tokio::test]
async fn a_reading_that_goes_wrong_is_made_again_and_ends_at_the_networks_numbers() {
    let (app, user) = idle().await;
    app.start_workers();
    for (platform, known) in POSTS {
        for trouble in troubles() {
            let id = user.connect(platform).await;
            let post = user.publish(networks::post(platform, id)).await;
            app.wait_until_published(&user, &post).await;
            set(&user, platform, id, json!({"post_id": post["id"]}), numbers(platform, known))
                .await;
            user.faults(platform, id, json!([trouble])).await;
            app.pass_time(Duration::from_secs(HOUR + 60)).await;
            let what = format!("the post on {platform} is read after {trouble}");
            app.eventually_in_time(&what, Duration::from_secs(600), || async {
                let posts = posts(&user, id).await;
                posts.iter().any(|post| has_all(platform, known, &trouble, post)).then_some(())
            })
            .await;
            let accounts = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
            let mut accounts = accounts.as_array().unwrap().iter();
            let account = accounts.find(|account| account["id"] == id).expect("it is there");
            assert_eq!(account["status"], "connected", "{platform} after {trouble}: {account:#}");
        }
    }
}

#[tokio::test]
async fn posts_of_networks_without_numbers_say_so() {
    let (app, user) = idle().await;
    app.start_workers();
    for platform in ["telegram", "google_business", "discord"] {
        let id = user.connect(platform).await;
        let post = user.publish(networks::post(platform, id)).await;
        app.wait_until_published(&user, &post).await;
        let shown = listed(&app, &user, id).await;
        assert_eq!(shown["post_id"], post["id"]);
        assert_eq!((&shown["next_read_at"], &shown["final"]), (&Value::Null, &json!(true)));
        assert_reasons(&shown, "platform");
        app.pass_time(Duration::from_secs(2 * HOUR)).await;
        assert_eq!(posts(&user, id).await.len(), 1, "{platform}");
    }
}

#[tokio::test]
async fn the_days_of_seven_networks_are_read() {
    let (app, user) = idle().await;
    let mut accounts = Vec::new();
    for platform in ["facebook", "google_business", "pinterest", "youtube"] {
        let id = user.connect(platform).await;
        let date = dates(&user, id).await[20].clone();
        let numbers = match platform {
            "facebook" => {
                json!({"reach": 30, "views": 90, "engagements": 6, "follows": 5, "unfollows": 7, "profile_views": 2})
            }
            "google_business" => {
                json!({"map_views": 10, "search_views": 20, "calls": 3, "website_clicks": 4})
            }
            "pinterest" => json!({"views": 200, "saves": 5, "pin_clicks": 6, "outbound_clicks": 7}),
            _ => {
                json!({"views": 100, "likes": 5, "comments": 1, "shares": 2, "subscribers_gained": 4, "subscribers_lost": 1, "watch_minutes": 50})
            }
        };
        set(&user, platform, id, json!({ "date": date }), numbers).await;
        accounts.push((platform, id, date));
    }
    app.start_workers();
    after_syncs(&app, &user, 4).await;
    for (platform, id, date) in accounts {
        let read = day(&user, id, &date).await;
        let of = |names: &[&str]| names.iter().map(|name| read[*name].clone()).collect::<Vec<_>>();
        let (names, expected): (&[&str], Value) = match platform {
            "facebook" => (
                &["reach", "views", "engagements", "follower_delta", "profile_views"],
                json!([30, 90, 6, -2, 2]),
            ),
            "google_business" => {
                (&["views", "clicks", "engagements", "reach"], json!([30, 7, 7, null]))
            }
            "pinterest" => (&["views", "saves", "clicks", "engagements"], json!([200, 5, 13, 18])),
            _ => {
                (&["views", "engagements", "follower_delta", "followers"], json!([100, 8, 3, null]))
            }
        };
        assert_eq!(json!(of(names)), expected, "{platform}");
    }
}

/// The row of the only post of an account, which is listed as soon as the post is published.
async fn listed(app: &TestApp, user: &User, account: i64) -> Value {
    app.eventually("the post is listed", || async { posts(user, account).await.into_iter().next() })
        .await
}

/// The numbers of a post, all of which are null for this reason.
fn assert_reasons(row: &Value, reason: &str) {
    for name in NUMBERS {
        assert_eq!(
            (&row[name], &row["unmeasured"][name]),
            (&Value::Null, &json!(reason)),
            "{name}: {row}"
        );
    }
}

/// The numbers of a post.
const NUMBERS: [&str; 13] = [
    "likes",
    "comments",
    "reach",
    "impressions",
    "saves",
    "shares",
    "reposts",
    "quotes",
    "plays",
    "views",
    "clicks",
    "engagements",
    "engagement_rate",
];

#[tokio::test]
async fn a_post_is_listed_at_once_and_each_null_has_a_reason() {
    let (app, user) = idle().await;
    let empty = user.get("/api/v1/analytics/posts").await.expect(200).body;
    assert_eq!(empty["empty_because"], "nothing_published");
    app.start_workers();
    for (platform, _) in POSTS {
        let id = user.connect(platform).await;
        let post = user.publish(networks::post(platform, id)).await;
        app.wait_until_published(&user, &post).await;
        let shown = listed(&app, &user, id).await;
        assert_eq!(shown["fetched_at"], Value::Null, "{platform}");
        match shown["next_read_at"].is_null() {
            true => assert_reasons(&shown, "platform"),
            false => assert_reasons(&shown, "pending"),
        }
        // After a reading a number is null if and only if there is a reason.
        app.pass_time(Duration::from_secs(2 * HOUR)).await;
        app.wait_until_idle().await;
        let read = posts(&user, id).await.remove(0);
        for name in NUMBERS {
            assert_eq!(
                read[name].is_null(),
                read["unmeasured"][name].is_string(),
                "{platform} {name}: {read}"
            );
        }
    }
    let none = user.get("/api/v1/analytics/posts?to=2001-01-01").await.expect(200).body;
    assert_eq!((&none["posts"], &none["empty_because"]), (&json!([]), &json!("filtered")));
    let some = user.get("/api/v1/analytics/posts").await.expect(200).body;
    assert_eq!(some["empty_because"], Value::Null);
}

#[tokio::test]
async fn a_reading_says_which_days_it_read() {
    let (app, user) = idle().await;
    let id = user.connect("threads").await;
    let days = dates(&user, id).await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let first = synced(&user).await[0]["data"].clone();
    let yesterday = &days[days.len() - 2];
    assert_eq!(
        (first["to"].as_str(), &first["backfill"]),
        (Some(yesterday.as_str()), &json!(true))
    );
    assert!(first["from"].as_str().unwrap() <= days[0].as_str(), "{first}");
    next_day(&app).await;
    after_syncs(&app, &user, 2).await;
    let second = synced(&user).await[1]["data"].clone();
    assert_eq!(second["backfill"], false);
    assert!(second["from"].as_str() > first["from"].as_str(), "a few days back: {second}");
    assert!(second["to"].as_str() > first["to"].as_str(), "{second}");
}
