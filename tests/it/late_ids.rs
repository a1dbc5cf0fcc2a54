//! What a network says of a post only after it was taken: an id that comes after moderation, a video that is never listed.

use std::time::Duration;

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

async fn shown(user: &User, id: &Value) -> Value {
    user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone()
}

async fn numbers(user: &User, account: i64) -> Vec<Value> {
    let path = format!("/api/v1/analytics/posts?account_id={account}");
    user.get(&path).await.expect(200).body["posts"].as_array().unwrap().clone()
}

async fn of_type(user: &User, event_type: &str) -> Vec<Value> {
    let path = format!("/api/v1/events?type={event_type}");
    user.get(&path).await.expect(200).body["events"].as_array().unwrap().clone()
}

/// Publishes on TikTok, which has this audience for the post and tells its id so late.
async fn on_tiktok(app: &TestApp, user: &User, level: &str, late_ms: u32) -> (i64, Value) {
    let account = user.connect("tiktok").await;
    let remote = networks::newest_account(app, "tiktok").await;
    let late = json!({"ids": {"late_ms": late_ms}});
    app.simulator.behave("tiktok", &remote, &late).await;
    let mut body = networks::post("tiktok", account);
    body["settings"]["privacy_level"] = json!(level);
    let post = networks::publish(app, user, body).await;
    assert_eq!(post["status"], "published", "{level}: {post:#}");
    (account, post)
}

fn is_number(id: &Value) -> bool {
    id.as_str().is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Moderation may take longer than anybody waits; the id comes after it
/// (<https://developers.tiktok.com/doc/content-posting-api-reference-get-video-status>).
#[tokio::test]
async fn a_late_id_is_stored_and_the_post_is_read_under_it() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let (account, post) = on_tiktok(&app, &user, "PUBLIC_TO_EVERYONE", 1_800_000).await;
    let publish_id = post["platform_post_id"].clone();
    assert!(!is_number(&publish_id), "{post:#}");
    assert_eq!(post["warnings"][0]["code"], "visibility_differs", "{post:#}");
    app.pass_time(Duration::from_secs(3_700)).await;
    let row = app
        .eventually_in_time("its own id is stored", Duration::from_secs(60), || async {
            Some(shown(&user, &post["id"]).await)
                .filter(|row| row["platform_post_id"] != publish_id)
        })
        .await;
    let held = user.on_network("tiktok", account).await;
    assert_eq!(row["platform_post_id"], held[0]["id"], "{row:#}");
    let address = row["platform_post_url"].as_str().unwrap();
    assert!(address.ends_with(&format!("/{}", held[0]["id"].as_str().unwrap())), "{address}");
    assert_eq!(row["warnings"], shown_without_warnings(), "everybody sees it: {row:#}");
    assert_eq!(row["status"], "published");
    let told = of_type(&user, "post.updated").await;
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!(told[0]["data"]["post"]["platform_post_id"], held[0]["id"]);
    // It is read under that id, and nothing takes it for two, or for gone.
    let metrics = json!({"account_id": account, "post_id": post["id"], "metrics": {"likes": 5}});
    let _ = user.put("/api/v1/sandbox/tiktok/metrics", metrics).await.expect(200);
    app.pass_time(Duration::from_secs(48 * 3_600)).await;
    let read = app
        .eventually_in_time("its numbers are read", Duration::from_secs(60), || async {
            numbers(&user, account).await.into_iter().find(|one| one["likes"] == 5)
        })
        .await;
    assert_eq!(read["post_id"], post["id"], "{read:#}");
    assert_eq!(numbers(&user, account).await.len(), 1);
    assert!(of_type(&user, "post.removed").await.is_empty());
}

fn shown_without_warnings() -> Value {
    json!([])
}

/// A private post never gets an id of its own. It costs no reading of the others, and is not taken for removed.
#[tokio::test]
async fn a_private_post_keeps_the_id_of_its_publishing_and_costs_nobody_anything() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let (account, private) = on_tiktok(&app, &user, "SELF_ONLY", 0).await;
    let body = networks::post("tiktok", account);
    let public = networks::publish(&app, &user, body).await;
    assert!(is_number(&public["platform_post_id"]), "{public:#}");
    for _ in 0..3 {
        app.pass_time(Duration::from_secs(8 * 3_600)).await;
        app.wait_until_idle().await;
    }
    let row = shown(&user, &private["id"]).await;
    assert_eq!(row["platform_post_id"], private["platform_post_id"], "{row:#}");
    assert_eq!(row["removed_at"], Value::Null, "{row:#}");
    let all = numbers(&user, account).await;
    let of = |post: &Value| all.iter().find(|one| one["post_id"] == post["id"]).unwrap().clone();
    assert_eq!(of(&private)["unmeasured"]["likes"], "platform", "{all:#?}");
    assert_eq!(of(&private)["read_error"], Value::Null, "{all:#?}");
    assert!(of(&public)["fetched_at"].is_string(), "{all:#?}");
    assert!(of_type(&user, "post.removed").await.is_empty());
}

/// A video that YouTube took and does not list after ten minutes is not called published: nobody is known to see it.
#[tokio::test]
async fn a_video_that_is_not_listed_is_not_called_published() {
    let app = TestApp::start().await;
    let user = app.user().await;
    for (times, status) in [(10, "published"), (100_000, "failed")] {
        let account = user.connect("youtube").await;
        let remote = networks::newest_account(&app, "youtube").await;
        let unlisted =
            json!({"on": "videos", "times": times, "status": 200, "body": {"items": []}});
        app.simulator.behave("youtube", &remote, &json!({ "answers": [unlisted] })).await;
        let post = networks::publish(&app, &user, networks::post("youtube", account)).await;
        assert_eq!(post["status"], status, "{times}: {post:#}");
        assert_eq!(user.on_network("youtube", account).await.len(), 1, "{times}");
        if status == "failed" {
            assert_eq!(post["error"]["code"], "outcome_unknown", "{post:#}");
            assert_eq!(post["error"]["retry_safe"], false, "{post:#}");
            let said = post["error"]["message"].as_str().unwrap();
            assert!(said.contains("does not list the video"), "{said}");
        }
    }
}
