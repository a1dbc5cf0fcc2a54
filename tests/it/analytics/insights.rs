//! Insights, and the profile of an account.

use std::time::Duration;

use fanfare_core::access::PlanTier;
use fanfare_tests::{TestApp, User};
use serde_json::{Value, json};

use super::{HOUR, after_syncs, idle, posts, set};

/// Publishes a post on Threads that is read after an hour with these numbers.
async fn read_at_an_hour(app: &TestApp, user: &User, id: i64, numbers: Value) -> Value {
    let post = user.publish(json!({"account_id": id, "caption": "Read me"})).await;
    app.wait_until_published(user, &post).await;
    set(user, "threads", id, json!({"post_id": post["id"]}), numbers).await;
    app.pass_time(Duration::from_secs(HOUR + 60)).await;
    app.eventually("the post is read", || async {
        let read = posts(user, id).await;
        read.iter()
            .any(|one| one["post_id"] == post["id"] && !one["fetched_at"].is_null())
            .then_some(())
    })
    .await;
    post
}

#[tokio::test]
async fn a_post_is_compared_with_those_before_it() {
    let (app, user) = idle().await;
    let id = user.connect("threads").await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    for likes in [8, 9, 10, 11, 12] {
        let _ = read_at_an_hour(&app, &user, id, json!({"views": 100, "likes": likes})).await;
    }
    let none = user.get("/api/v1/analytics/insights").await.expect(200).body;
    assert_eq!(none["insights"], json!([]), "fewer than five before");
    let post = read_at_an_hour(&app, &user, id, json!({"views": 200, "likes": 20})).await;
    let path =
        format!("/api/v1/analytics/insights?account_id={id}&post_id={}&checkpoint=1h", post["id"]);
    let found = user.get(&path).await.expect(200).body["insights"].clone();
    assert_eq!(found.as_array().unwrap().len(), 1);
    let insight = &found[0];
    assert_eq!(
        (&insight["performance_tier"], &insight["title"]),
        (&json!("great"), &json!("Off to a fast start"))
    );
    assert_eq!((&insight["confidence"], &insight["impact_score"]), (&json!(0.2), &json!(10.0)));
    assert_eq!(insight["metrics"], json!({"views": 200, "engagements": 20}));
    assert_eq!(
        insight["baseline"],
        json!({"views": 100.0, "engagements": 10.0, "posts": 5, "format": "text"})
    );
    let events = user.get("/api/v1/events?limit=100").await.expect(200).body["events"].clone();
    let made = events.as_array().unwrap().iter().filter(|event| event["type"] == "insight.created");
    assert_eq!(made.count(), 1);
    let wrong = user.get("/api/v1/analytics/insights?checkpoint=2h").await.expect(400).body;
    assert_eq!(wrong["validation_errors"][0]["field"], "checkpoint");
}

#[tokio::test]
async fn below_pro_nothing_is_derived_or_shown() {
    let (app, user) = idle().await;
    let id = user.connect("threads").await;
    let accounts = user.get("/api/v1/accounts").await.expect(200).body;
    let workspace = accounts["accounts"][0]["workspace_id"].as_str().unwrap().parse().unwrap();
    let workspace = fanfare_core::WorkspaceId(workspace);
    fanfare_people::users::set_plan(&app.domain, workspace, PlanTier::Starter, Some(true))
        .await
        .unwrap();
    for path in [
        format!("/api/v1/accounts/{id}/performance-profile"),
        "/api/v1/analytics/insights".to_owned(),
        "/api/v1/suggestions".to_owned(),
    ] {
        let refused = user.get(&path).await.refused(403, "feature_not_available");
        assert_eq!(refused.body["required_plan"], "pro");
    }
    let _ = user.get("/api/v1/analytics/posts").await.expect(200);
}

#[tokio::test]
async fn a_profile_needs_eight_posts_and_a_base() {
    let (app, user) = idle().await;
    let id = user.connect("instagram").await;
    let telegram = user.connect("telegram").await;
    for days in 4..12 {
        let made = json!({"account_id": id, "text": "Hello", "created_at": app.at(-86_400 * days), "media_urls": ["https://example.org/a.jpg"]});
        let made = user.post("/api/v1/sandbox/instagram/posts", made).await.expect(201).body;
        let numbers =
            if days == 11 { json!({"likes": 5}) } else { json!({"reach": 100, "likes": days}) };
        set(&user, "instagram", id, json!({"post_id": made["id"]}), numbers).await;
    }
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let path = format!("/api/v1/accounts/{id}/performance-profile");
    let shown = user.get(&path).await.expect(200).body;
    assert_eq!(shown, json!({"performance_profile": null, "reason": "insufficient_data"}));
    let shown = user
        .get(&format!("/api/v1/accounts/{telegram}/performance-profile"))
        .await
        .expect(200)
        .body;
    assert_eq!(shown["reason"], "platform_not_measurable");
    let made = json!({"account_id": id, "text": "Hello", "created_at": app.at(-86_400 * 50), "media_urls": ["https://example.org/a.jpg"]});
    let made = user.post("/api/v1/sandbox/instagram/posts", made).await.expect(201).body;
    set(&user, "instagram", id, json!({"post_id": made["id"]}), json!({"reach": 100, "likes": 11}))
        .await;
    super::next_day(&app).await;
    after_syncs(&app, &user, 2).await;
    let shown = user.get(&path).await.expect(200).body;
    let profile = &shown["performance_profile"];
    assert_eq!((&shown["reason"], &profile["sample_size"]), (&Value::Null, &json!(8)));
    // 4 + 5 + … + 10 and 11, by 8.
    assert_eq!(
        (&profile["engagement_rate_avg"], &profile["engagement_rate_trend"]),
        (&json!(7.5), &json!("unknown"))
    );
    assert_eq!(
        profile["stats"]["top_formats"][0],
        json!({"format": "image", "posts": 8, "engagement_rate": 7.5, "lift": 1.0})
    );
    assert_eq!(profile["stats"]["caption_length_bands"]["short"]["posts"], 8);
    assert!((3..=6).contains(&profile["bullets"].as_array().unwrap().len()));
}
