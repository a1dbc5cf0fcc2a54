//! Accounts that may send no video, and what is known of that before.

use std::time::Duration;

use fanfare_tests::{Picture, networks};
use serde_json::{Value, json};

use super::Stage;

#[tokio::test]
async fn a_video_waits_for_its_limit_and_lets_other_posts_pass() {
    let stage = Stage::new().await;
    stage.video(json!({"remaining_daily_videos": 0})).await;
    let video = stage.user.publish(stage.post("Later", json!({}))).await;
    let path = format!("/api/v1/posts/{}", video["id"]);
    let shown = || async { stage.user.get(&path).await.expect(200).body["post"].clone() };
    let waiting = stage
        .app
        .eventually_in_time("it waits", Duration::from_secs(1), || async {
            Some(shown().await).filter(|post| post["next_attempt_at"].is_string())
        })
        .await;
    assert_eq!(waiting["error"]["code"], "quota_exhausted", "{waiting:#}");
    let text = json!({"account_id": stage.account, "caption": "A text meanwhile"});
    let text = networks::publish(&stage.app, &stage.user, text).await;
    assert_eq!(text["status"], "published", "{text:#}");

    stage.app.pass_time(Duration::from_secs(50 * 60)).await;
    stage.app.wait_until_idle().await;
    assert_eq!(stage.calls("getUploadLimits").await, 1, "it is asked again after an hour");
    // More looks than there are retries.
    for _ in 0..8 {
        stage.app.pass_time(Duration::from_secs(3_600)).await;
        stage.app.wait_until_idle().await;
    }
    assert!(stage.calls("getUploadLimits").await >= 8);
    assert_eq!(shown().await["status"], "scheduled");
    stage.video(json!({"remaining_daily_videos": 1})).await;
    let video = networks::ended(&stage.app, &stage.user, &video["id"]).await;
    assert_eq!(video["status"], "published", "{video:#}");
    assert_eq!(stage.held().await.len(), 2);
}

#[tokio::test]
async fn a_video_that_never_may_be_sent_fails_with_the_limit() {
    let stage = Stage::new().await;
    stage.video(json!({"can_upload": false})).await;
    let post = stage.user.publish(stage.post("Never", json!({}))).await;
    let path = format!("/api/v1/posts/{}", post["id"]);
    let post = stage
        .app
        .eventually_in_time("it fails", Duration::from_secs(1_800), || async {
            let post = stage.user.get(&path).await.expect(200).body["post"].clone();
            (post["status"] == "failed").then_some(post)
        })
        .await;
    assert_eq!(post["error"]["code"], "quota_exhausted", "{post:#}");
    assert_eq!(stage.calls("uploadVideo").await, 0);
}

#[tokio::test]
async fn an_address_that_is_not_confirmed_is_the_owners_to_confirm() {
    let stage = Stage::new().await;
    stage.video(json!({"email_confirmed": false})).await;
    let post = stage.publish("Not yet", json!({})).await;
    assert_eq!(
        (&post["status"], &post["error"]["code"]),
        (&json!("failed"), &json!("misconfigured")),
        "{post:#}"
    );
    assert!(
        post["error"]["remedy"].as_str().unwrap().contains("e-mail address at Bluesky"),
        "{post:#}"
    );
    assert_eq!(stage.calls("getUploadLimits").await, 1);
    stage.video(json!({})).await;
    let path = format!("/api/v1/posts/{}/retry", post["id"]);
    let _ = stage.user.post(&path, json!({})).await.expect(200);
    let post = networks::ended(&stage.app, &stage.user, &post["id"]).await;
    assert_eq!(post["status"], "published", "{post:#}");
}

#[tokio::test]
async fn a_forecast_says_how_many_videos_are_left() {
    let stage = Stage::new().await;
    stage.video(json!({"remaining_daily_videos": 3})).await;
    let file = Picture::lasting().file("video/mp4", 0);
    let bytes =
        fanfare_tests::local_client().get(file).send().await.unwrap().bytes().await.unwrap();
    let video = stage.user.upload("clip.mp4", "video/mp4", &bytes).await["public_url"].clone();
    let ask = |media: Value| {
        let body = json!({"account_id": stage.account, "caption": "Shall I?", "media_url": media, "dry_run": true});
        async { stage.user.post("/api/v1/posts", body).await.expect(200).body["forecast"].clone() }
    };
    assert_eq!(ask(Value::Null).await["video_quota"], Value::Null);
    assert_eq!(stage.calls("getUploadLimits").await, 0);
    let expected = json!({"remaining": 3, "resets_at": null});
    assert_eq!(ask(video.clone()).await["video_quota"], expected);
    stage.video(json!({"can_upload": false})).await;
    assert_eq!(ask(video.clone()).await["video_quota"], expected, "it is read every 15 minutes");
    assert_eq!(stage.calls("getUploadLimits").await, 1);
    stage.app.pass_time(Duration::from_secs(15 * 60)).await;
    assert_eq!(ask(video.clone()).await["video_quota"]["remaining"], 0);
    // Tokens of two hours have ended by then, and are renewed.
    stage.video(json!({"remaining_daily_videos": 2})).await;
    stage.app.pass_time(Duration::from_secs(3 * 3_600)).await;
    assert_eq!(ask(video).await["video_quota"]["remaining"], 2);
}

#[tokio::test]
async fn the_simulator_says_what_it_does_not_take() {
    let stage = Stage::new().await;
    let set = |body: Value| async { stage.user.put("/api/v1/sandbox/bluesky/video", body).await };
    let account = stage.account;
    let wrong = set(json!({"account_id": account, "fail": "bad_luck"})).await;
    let wrong = wrong.refused(400, "invalid_field");
    assert_eq!(wrong.body["validation_errors"][0]["field"], "fail", "{}", wrong.text);
    let _ = set(json!({"account_id": account, "mood": "good"})).await.refused(400, "unknown_field");
    let other = stage.user.connect("mastodon").await;
    let body = json!({"account_id": other, "can_upload": false});
    let _ =
        stage.user.put("/api/v1/sandbox/mastodon/video", body).await.refused(400, "invalid_field");
}
