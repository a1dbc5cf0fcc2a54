//! Posts at their ages.

use std::time::Duration;

use fanfare_tests::{Options, TestApp};
use serde_json::{Value, json};

use super::{HOUR, after_syncs, idle, next_day, posts, set};

#[tokio::test]
async fn a_post_is_read_at_its_ages_and_the_networks_number_stands() {
    let (app, user) = idle().await;
    let id = user.connect("threads").await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let post = user.publish(json!({"account_id": id, "caption": "Count me"})).await;
    app.wait_until_published(&user, &post).await;
    set(
        &user,
        "threads",
        id,
        json!({"post_id": post["id"]}),
        json!({"likes": 5, "views": 100, "shares": 0}),
    )
    .await;
    app.pass_time(Duration::from_secs(HOUR + 60)).await;
    let read = app
        .eventually("the post is read", || async {
            posts(&user, id).await.into_iter().find(|post| !post["fetched_at"].is_null())
        })
        .await;
    assert_eq!((&read["post_id"], &read["source"]), (&post["id"], &json!("fanfare")));
    assert_eq!(
        (&read["likes"], &read["shares"], &read["reposts"]),
        (&json!(5), &json!(0), &Value::Null)
    );
    assert_eq!(
        (&read["engagement_rate"], &read["engagement_rate_basis"]),
        (&json!(5.0), &json!("views"))
    );
    assert_eq!(
        (&read["unmeasured"]["reposts"], &read["unmeasured"]["reach"]),
        (&json!("pending"), &json!("platform"))
    );
    assert_eq!((&read["status"], &read["final"]), (&json!("live"), &json!(false)));
    set(&user, "threads", id, json!({"post_id": post["id"]}), json!({"likes": 3, "views": null}))
        .await;
    app.pass_time(Duration::from_secs(2 * HOUR)).await;
    app.eventually("a later lower number stands", || async {
        (posts(&user, id).await[0]["likes"] == 3).then_some(())
    })
    .await;
    assert_eq!(posts(&user, id).await[0]["views"], 100, "null never replaces a number");
}

#[tokio::test]
async fn a_post_that_is_not_found_twice_is_deleted_and_keeps_its_numbers() {
    let (app, user) = idle().await;
    let id = user.connect("threads").await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let post = user.publish(json!({"account_id": id, "caption": "Soon gone"})).await;
    app.wait_until_published(&user, &post).await;
    set(&user, "threads", id, json!({"post_id": post["id"]}), json!({"likes": 5})).await;
    app.pass_time(Duration::from_secs(HOUR + 60)).await;
    app.eventually("the post is read", || async {
        posts(&user, id).await.first().filter(|post| post["likes"] == 5).map(|_| ())
    })
    .await;
    let gone = format!("/api/v1/sandbox/threads/posts/{}?account_id={id}", post["id"]);
    let _ = user.delete(&gone).await.expect(200);
    app.pass_time(Duration::from_secs(2 * HOUR)).await;
    app.wait_until_idle().await;
    assert_eq!(posts(&user, id).await[0]["status"], "live", "once is not enough");
    app.pass_time(Duration::from_secs(6 * HOUR + 60)).await;
    app.eventually("the post counts as deleted", || async {
        (posts(&user, id).await[0]["status"] == "deleted").then_some(())
    })
    .await;
    assert_eq!(posts(&user, id).await[0]["likes"], 5);
}

#[tokio::test]
async fn posts_made_elsewhere_are_listed_only_here() {
    let (app, user) = idle().await;
    let id = user.connect("instagram").await;
    let made = json!({"account_id": id, "text": "From the app", "created_at": app.at(-86_400), "media_urls": ["https://example.org/a.jpg"]});
    let made = user.post("/api/v1/sandbox/instagram/posts", made).await.expect(201).body;
    set(&user, "instagram", id, json!({"post_id": made["id"]}), json!({"reach": 10, "likes": 1}))
        .await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let read = posts(&user, id).await;
    assert_eq!(read.len(), 1);
    assert_eq!((&read[0]["source"], &read[0]["post_id"]), (&json!("external"), &Value::Null));
    assert_eq!((&read[0]["caption"], &read[0]["likes"]), (&json!("From the app"), &json!(1)));
    assert_eq!(read[0]["engagement_rate"], 10.0);
    let listed = user.get("/api/v1/posts").await.expect(200).body;
    assert_eq!(listed["posts"], json!([]));
}

#[tokio::test]
async fn too_few_viewers_are_no_error() {
    let (app, user) = idle().await;
    let id = user.connect("instagram").await;
    let made = json!({"account_id": id, "text": "Quiet", "created_at": app.at(-7_200), "media_urls": ["https://example.org/a.jpg"]});
    let made = user.post("/api/v1/sandbox/instagram/posts", made).await.expect(201).body;
    set(
        &user,
        "instagram",
        id,
        json!({"post_id": made["id"]}),
        json!({"likes": "too_few_viewers"}),
    )
    .await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let read = &posts(&user, id).await[0];
    assert_eq!(
        (&read["likes"], &read["unmeasured"]["likes"]),
        (&Value::Null, &json!("too_few_viewers"))
    );
    assert_eq!(super::account(&user, id).await["status"], "ok");
}

#[tokio::test]
async fn a_story_expires_after_a_day_and_keeps_its_numbers() {
    let (app, user) = idle().await;
    let id = user.connect("instagram").await;
    let made = json!({"account_id": id, "text": "", "post_type": "story", "created_at": app.at(-3_700), "media_urls": ["https://example.org/a.jpg"]});
    let made = user.post("/api/v1/sandbox/instagram/posts", made).await.expect(201).body;
    set(&user, "instagram", id, json!({"post_id": made["id"]}), json!({"views": 40})).await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    app.pass_time(Duration::from_secs(23 * HOUR)).await;
    app.eventually_in_time("the story is over", Duration::from_secs(600), || async {
        (posts(&user, id).await[0]["status"] == "expired").then_some(())
    })
    .await;
    let read = &posts(&user, id).await[0];
    assert_eq!(
        (&read["views"], &read["unmeasured"]["reach"], &read["final"]),
        (&json!(40), &json!("expired"), &json!(true))
    );
}

#[tokio::test]
async fn a_page_of_posts_has_a_total() {
    let (app, user) = idle().await;
    let id = user.connect("threads").await;
    for days in 1..=5 {
        let made = json!({"account_id": id, "text": format!("Post {days}"), "created_at": app.at(-86_400 * days)});
        let _ = user.post("/api/v1/sandbox/threads/posts", made).await.expect(201);
    }
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let page = user.get("/api/v1/analytics/posts?limit=2&offset=1").await.expect(200).body;
    assert_eq!(
        (&page["total"], &page["limit"], &page["offset"]),
        (&json!(5), &json!(2), &json!(1))
    );
    let captions: Vec<_> =
        page["posts"].as_array().unwrap().iter().map(|post| &post["caption"]).collect();
    assert_eq!(captions, [&json!("Post 2"), &json!("Post 3")]);
    for query in
        ["limit=0", "limit=201", "offset=10001", "from=yesterday", "from=2026-01-02&to=2026-01-01"]
    {
        let path = format!("/api/v1/analytics/posts?{query}");
        let refused = user.get(&path).await.expect(400).body;
        assert_eq!(refused["validation_errors"][0]["code"], "invalid_field", "{query}");
    }
    next_day(&app).await;
}

#[tokio::test]
async fn on_simulated_networks_hours_may_be_seconds() {
    let options = Options { workers: false, sandbox_time_factor: 3_600.0, ..Options::default() };
    let app = TestApp::with(options).await;
    let user = app.user().await;
    let id = user.connect("threads").await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let post = user.publish(json!({"account_id": id, "caption": "Quick"})).await;
    app.wait_until_published(&user, &post).await;
    set(&user, "threads", id, json!({"post_id": post["id"]}), json!({"likes": 5})).await;
    app.pass_time(Duration::from_secs(30)).await;
    app.eventually("the post is read after hours of a second", || async {
        posts(&user, id).await.first().filter(|post| post["likes"] == 5).map(|_| ())
    })
    .await;
}
