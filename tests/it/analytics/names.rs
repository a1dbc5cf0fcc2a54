//! Every number that can be set on a simulated network, under every name, and where analytics shows it.

use std::time::Duration;

use fanfare_tests::{Picture, User, networks};
use serde_json::json;

use super::{HOUR, account, after_syncs, dates, day, idle, posts, set};

/// A name, and the names under which its number is shown: of days and of posts the columns, after a dot the figures of the
/// network's own dashboard.
type Shown = (&'static str, &'static [&'static str]);

/// The numbers of days.
const DAYS: [(&str, &[Shown]); 7] = [
    (
        "instagram",
        &[
            ("reach", &["reach"]),
            ("views", &["views"]),
            ("likes", &["likes", "engagements"]),
            ("comments", &["comments", "engagements"]),
            ("shares", &["shares", "engagements"]),
            ("saves", &["saves", "engagements"]),
            ("engagements", &["engagements"]),
            ("clicks", &["clicks"]),
            ("profile_link_taps", &["clicks"]),
            ("accounts_engaged", &[".accounts_engaged"]),
            ("total_interactions", &[".total_interactions"]),
        ],
    ),
    (
        "facebook",
        &[
            ("reach", &["reach"]),
            ("views", &["views"]),
            ("engagements", &["engagements"]),
            ("post_engagements", &["engagements"]),
            ("profile_views", &["profile_views"]),
            ("page_views", &["profile_views"]),
            ("follower_delta", &["follower_delta"]),
        ],
    ),
    (
        "threads",
        &[
            ("views", &["views"]),
            ("profile_views", &["views"]),
            ("likes", &["likes"]),
            ("comments", &["comments"]),
            ("shares", &["shares"]),
            ("engagements", &["engagements"]),
            ("clicks", &["clicks"]),
            ("link_clicks", &["clicks"]),
        ],
    ),
    (
        "linkedin",
        &[
            ("reach", &["reach"]),
            ("unique_impressions", &["reach"]),
            ("views", &["views"]),
            ("likes", &["likes"]),
            ("comments", &["comments"]),
            ("shares", &["shares"]),
            ("engagements", &["engagements"]),
            ("clicks", &["clicks"]),
            ("follower_delta", &["follower_delta"]),
            ("page_views", &[".page_views"]),
        ],
    ),
    (
        "youtube",
        &[
            ("views", &["views"]),
            ("likes", &["likes"]),
            ("comments", &["comments"]),
            ("shares", &["shares"]),
            ("engagements", &["engagements"]),
            ("follower_delta", &["follower_delta"]),
            ("watch_minutes", &[".watch_minutes"]),
            ("engaged_views", &[".engaged_views"]),
        ],
    ),
    (
        "pinterest",
        &[
            ("views", &["views"]),
            ("saves", &["saves"]),
            ("clicks", &["clicks"]),
            ("engagements", &["engagements"]),
            ("pinterest_engagements", &[".engagements"]),
        ],
    ),
    (
        "google_business",
        &[
            ("views", &["views"]),
            ("clicks", &["clicks", "engagements"]),
            ("engagements", &["engagements"]),
            ("search_views", &["views"]),
            ("map_views", &["views"]),
            ("mobile_search_views", &["views"]),
            ("mobile_map_views", &["views"]),
            ("calls", &["clicks"]),
            ("website_clicks", &["clicks"]),
            ("directions", &["clicks"]),
            ("bookings", &["clicks"]),
            ("messaging_clicks", &[".messaging_clicks"]),
            ("food_menu_clicks", &[".food_menu_clicks"]),
        ],
    ),
];

/// The numbers of posts, each shown under its own name.
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
    ("tiktok", &["likes", "comments", "shares", "plays"]),
    ("x", &["likes", "comments", "impressions", "saves", "reposts", "quotes"]),
    ("youtube", &["likes", "comments", "plays"]),
];

/// The numbers of accounts as they are now, beside the days.
const NOW: [(&str, &[&str]); 6] = [
    ("facebook", &["followers", "fan_count", "reach_7", "reach_28", "reach_30"]),
    ("instagram", &["followers", "reach_7", "reach_28", "reach_30"]),
    ("linkedin", &["followers"]),
    ("pinterest", &["followers"]),
    ("threads", &["followers"]),
    ("youtube", &["followers"]),
];

/// Names that no network has of days, and names that some networks have.
const NAMES: [&str; 25] = [
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
    "followers",
    "follower_delta",
    "engagements",
    "engagement_rate",
    "profile_views",
    "likess",
    "view",
    "Likes",
    "pageviews",
    "calls",
    "watch_minutes",
    "follows",
    "reach_7",
    "",
];

/// Names that are no columns, though they can be set: parts of sums.
const PARTS: [(&str, &[&str]); 4] = [
    ("facebook", &["follows", "unfollows"]),
    ("threads", &["reposts", "quotes"]),
    ("youtube", &["subscribers_gained", "subscribers_lost"]),
    ("pinterest", &["pin_clicks", "outbound_clicks"]),
];

/// An account of a kind that has days.
async fn with_days(user: &User, platform: &str) -> i64 {
    let mut new = json!({ "platform": platform });
    if platform == "linkedin" {
        new["kind"] = json!("page");
    }
    let made = user.post("/api/v1/sandbox/accounts", new).await.expect(201).body;
    made["account"]["id"].as_i64().unwrap()
}

#[tokio::test]
async fn every_number_of_a_day_is_shown_where_its_name_says() {
    let (app, user) = idle().await;
    let mut accounts = Vec::new();
    for (platform, names) in DAYS {
        let id = with_days(&user, platform).await;
        let days = dates(&user, id).await;
        for (place, (name, _)) in names.iter().enumerate() {
            let metrics = json!({ *name: 11 + place });
            set(&user, platform, id, json!({"date": days[5 + place]}), metrics).await;
        }
        accounts.push((platform, names, id, days));
    }
    app.start_workers();
    after_syncs(&app, &user, accounts.len()).await;
    for (platform, names, id, days) in accounts {
        let figures = account(&user, id).await["display_metrics"].clone();
        for (place, (name, shown)) in names.iter().enumerate() {
            let read = day(&user, id, &days[5 + place]).await;
            for column in *shown {
                let is = match column.strip_prefix('.') {
                    None => read[*column].clone(),
                    Some(key) => {
                        let mut figures = figures.as_array().unwrap().iter();
                        figures.find(|one| one["key"] == key).unwrap()["value"].clone()
                    }
                };
                assert_eq!(is, json!(11 + place), "{platform}: {name} as {column}: {read:#}");
            }
        }
    }
}

/// Parts of sums and of differences: which are set, and the columns and figures that show them.
#[tokio::test]
async fn parts_are_shown_in_what_they_are_parts_of() {
    let (app, user) = idle().await;
    let cases = [
        ("facebook", json!({"follows": 9, "unfollows": 4}), json!({"follower_delta": 5})),
        ("threads", json!({"reposts": 2, "quotes": 3}), json!({"shares": 5, "engagements": 5})),
        (
            "youtube",
            json!({"subscribers_gained": 3, "subscribers_lost": 5}),
            json!({"follower_delta": -2, ".subscribers_gained": 3, ".subscribers_lost": 5}),
        ),
        (
            "youtube",
            json!({"watch_minutes": 30, "views": 60}),
            json!({"views": 60, ".watch_minutes": 30, ".average_view_seconds": 30}),
        ),
        (
            "pinterest",
            json!({"pin_clicks": 4, "outbound_clicks": 6}),
            json!({"clicks": 10, "engagements": 10, ".pin_clicks": 4, ".outbound_clicks": 6}),
        ),
    ];
    let mut accounts = Vec::new();
    for (platform, metrics, shown) in cases {
        let id = with_days(&user, platform).await;
        let date = dates(&user, id).await[5].clone();
        set(&user, platform, id, json!({ "date": date }), metrics).await;
        accounts.push((platform, id, date, shown));
    }
    app.start_workers();
    after_syncs(&app, &user, accounts.len()).await;
    for (platform, id, date, shown) in accounts {
        let read = day(&user, id, &date).await;
        let figures = account(&user, id).await["display_metrics"].clone();
        for (name, wanted) in shown.as_object().unwrap() {
            let is = match name.strip_prefix('.') {
                None => read[name].clone(),
                Some(key) => {
                    let mut figures = figures.as_array().unwrap().iter();
                    figures.find(|one| one["key"] == key).unwrap()["value"].clone()
                }
            };
            assert_eq!(is, *wanted, "{platform} {name}: {read:#} {figures:#}");
        }
    }
}

#[tokio::test]
async fn every_number_of_an_account_as_it_is_now_is_shown() {
    let (app, user) = idle().await;
    let mut accounts = Vec::new();
    for (platform, names) in NOW {
        let id = with_days(&user, platform).await;
        set(&user, platform, id, json!({}), json!({"followers": 4_321})).await;
        for name in names.iter().filter(|name| name.starts_with("reach_")) {
            set(&user, platform, id, json!({}), json!({ *name: 55 })).await;
        }
        accounts.push((platform, id));
    }
    app.start_workers();
    after_syncs(&app, &user, accounts.len()).await;
    for (platform, id) in accounts {
        let shown = account(&user, id).await["summary"].clone();
        assert_eq!(shown["followers_end"], 4_321, "{platform}: {shown:#}");
    }
}

/// What the service says that can be set, which is all that stories set.
#[tokio::test]
async fn no_number_can_be_set_that_no_story_reads() {
    let (app, user) = idle().await;
    app.start_workers();
    for platform in networks::all() {
        let id = with_days(&user, platform).await;
        let post = networks::publish(&app, &user, networks::post(platform, id)).await;
        assert_eq!(post["status"], "published", "{platform}: {post:#}");
        let subjects = [
            (false, json!({"date": &app.at(-5 * 86_400)[..10]})),
            (true, json!({"post_id": post["id"]})),
        ];
        for (is_post, of) in subjects {
            let mut body = json!({"account_id": id, "metrics": {"zzzzzzzzzz": 1}});
            body.as_object_mut().unwrap().extend(of.as_object().unwrap().clone());
            let path = format!("/api/v1/sandbox/{platform}/metrics");
            let refused = user.put(&path, body).await.refused(400, "invalid_field").body;
            let remedy = refused["validation_errors"][0]["remedy"].as_str().unwrap().to_owned();
            let Some((_, listed)) = remedy.split_once(" are ") else {
                assert_eq!(remedy, "Leave it out.", "{platform}");
                continue;
            };
            for name in listed.trim_end_matches('.').split(", ") {
                assert!(has(platform, is_post, name), "{platform} {name}: no story reads it");
            }
        }
    }
}

/// Reels count how often they were played, and posts of others do not.
#[tokio::test]
async fn plays_of_reels_are_shown() {
    let (app, user) = idle().await;
    app.start_workers();
    for platform in ["instagram", "facebook"] {
        let id = user.connect(platform).await;
        let file = Picture::lasting().file("video/mp4", 0);
        let body = json!({
            "account_id": id, "caption": "Look", "post_type": "reel", "media_urls": [file],
        });
        let post = networks::publish(&app, &user, body).await;
        assert_eq!(post["status"], "published", "{platform}: {post:#}");
        set(&user, platform, id, json!({"post_id": post["id"]}), json!({"plays": 31})).await;
        app.pass_time(Duration::from_secs(HOUR + 60)).await;
        let read = app
            .eventually_in_time("the reel is read", Duration::from_secs(60), || async {
                posts(&user, id).await.into_iter().find(|post| !post["fetched_at"].is_null())
            })
            .await;
        assert_eq!(read["plays"], 31, "{platform}: {read:#}");
    }
}

#[tokio::test]
async fn numbers_of_a_post_that_is_not_public_are_refused() {
    let (app, user) = idle().await;
    app.start_workers();
    for platform in networks::all() {
        let id = user.connect(platform).await;
        let mut later = networks::post(platform, id);
        later["scheduled_at"] = json!(app.at(3_600));
        let later = user.publish(later).await["id"].clone();
        for post in [later, json!(987_654), json!("nothing")] {
            let body = json!({"account_id": id, "post_id": post, "metrics": {}});
            let path = format!("/api/v1/sandbox/{platform}/metrics");
            let refused = user.put(&path, body).await.refused(400, "invalid_field").body;
            assert_eq!(refused["validation_errors"][0]["field"], "post_id", "{platform}");
        }
    }
}

#[tokio::test]
async fn every_number_of_a_post_is_shown_under_its_name() {
    let (app, user) = idle().await;
    app.start_workers();
    for (platform, names) in POSTS {
        for (place, name) in names.iter().enumerate() {
            let id = user.connect(platform).await;
            let post = user.publish(networks::post(platform, id)).await;
            app.wait_until_published(&user, &post).await;
            let metrics = json!({ *name: 21 + place });
            set(&user, platform, id, json!({"post_id": post["id"]}), metrics).await;
            app.pass_time(Duration::from_secs(HOUR + 60)).await;
            let what = format!("{name} of the post on {platform}");
            let read = app
                .eventually_in_time(&what, Duration::from_secs(60), || async {
                    posts(&user, id).await.into_iter().find(|post| !post["fetched_at"].is_null())
                })
                .await;
            assert_eq!(read[*name], json!(21 + place), "{platform} {name}: {read:#}");
        }
    }
}

/// Returns true if a network has a number of this name, of days or of posts.
fn has(platform: &str, is_post: bool, name: &str) -> bool {
    let parts = PARTS.iter().find(|(of, _)| *of == platform);
    let is_part = parts.is_some_and(|(_, parts)| parts.contains(&name));
    if is_post {
        let views = ["tiktok", "youtube"].contains(&platform) && name == "views";
        // Plays are those of reels.
        let plays = ["instagram", "facebook"].contains(&platform) && name == "plays";
        let clicks = platform == "pinterest" && ["pin_clicks", "outbound_clicks"].contains(&name);
        let known = POSTS.iter().find(|(of, _)| *of == platform);
        let known = known.is_some_and(|(_, names)| names.contains(&name));
        return known || views || plays || clicks;
    }
    let known = DAYS.iter().find(|(of, _)| *of == platform);
    is_part || known.is_some_and(|(_, names)| names.iter().any(|(known, _)| *known == name))
}

#[tokio::test]
async fn a_number_that_a_network_does_not_have_is_refused_and_nothing_is_set() {
    let (app, user) = idle().await;
    app.start_workers();
    for platform in networks::all() {
        let id = user.connect(platform).await;
        let post = user.publish(networks::post(platform, id)).await;
        app.wait_until_published(&user, &post).await;
        let path = format!("/api/v1/sandbox/{platform}/metrics");
        let day = app.at(-5 * 86_400)[..10].to_owned();
        for (is_post, of) in [(false, json!({"date": day})), (true, json!({"post_id": post["id"]}))]
        {
            for name in NAMES {
                let mut body = json!({"account_id": id, "metrics": { name: 1 }});
                body.as_object_mut().unwrap().extend(of.as_object().unwrap().clone());
                let answer = user.put(&path, body).await;
                if has(platform, is_post, name) {
                    let _ = answer.expect(200);
                    continue;
                }
                let refused = answer.refused(400, "invalid_field");
                let broken = &refused.body["validation_errors"][0];
                assert_eq!(broken["field"], format!("metrics.{name}"), "{platform} {of}: {broken}");
                assert!(broken["remedy"].as_str().is_some_and(|text| !text.is_empty()), "{broken}");
            }
        }
    }
    let id = user.connect("instagram").await;
    let path = "/api/v1/sandbox/instagram/metrics";
    for (of, field) in [
        (json!({"date": "2026-11-24", "post_id": "7"}), "date"),
        (json!({"date": "2026-13-01"}), "date"),
        (json!({"date": "yesterday"}), "date"),
    ] {
        let mut body = json!({"account_id": id, "metrics": {"likes": 1}});
        body.as_object_mut().unwrap().extend(of.as_object().unwrap().clone());
        let refused = user.put(path, body).await.refused(400, "invalid_field").body;
        assert_eq!(refused["validation_errors"][0]["field"], field, "{of}");
    }
    for (metrics, is_taken) in [
        (json!({"clicks": 3, "profile_link_taps": 4}), false),
        (json!({"engagements": 3, "likes": 4}), false),
        (json!({"likes": 4, "saves": 3}), true),
    ] {
        let body = json!({"account_id": id, "date": "2026-11-24", "metrics": metrics});
        let status = user.put(path, body).await.status;
        assert_eq!(status == 200, is_taken, "{metrics}: {status}");
    }
    let now = json!({"account_id": id, "metrics": {"followers": 5, "reach_28": 9}});
    let _ = user.put(path, now).await.expect(200);
    let day = json!({"account_id": id, "date": "2026-11-24", "metrics": {"followers": 5}});
    let refused = user.put(path, day).await.refused(400, "invalid_field").body;
    let remedy = refused["validation_errors"][0]["remedy"].as_str().unwrap().to_owned();
    assert!(remedy.contains("`date`"), "{remedy}");
}
