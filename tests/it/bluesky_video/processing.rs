//! The way of a video through its service.

use fanfare_platforms::VideoService;
use fanfare_tests::{Cut, Options, networks, served::TempDir, served::film};
use serde_json::json;

use super::{Stage, steps};

#[tokio::test]
async fn a_video_passes_every_state_and_is_public_once() {
    let stage = Stage::new().await;
    stage.video(json!({"seconds": 100})).await;
    let post = stage.publish("Through all states", json!({})).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let expected = ["check_video_limits", "upload_video", "await_video", "create_post"];
    assert_eq!(steps(&stage.user, &post).await, expected);
    let held = stage.held().await;
    assert_eq!((held.len(), &held[0]["media"][0]["mime"]), (1, &json!("video/mp4")));
    let ratio = &held[0]["embed"]["aspectRatio"];
    assert!(ratio["height"].as_u64() > ratio["width"].as_u64(), "it is upright: {ratio}");

    // The same bytes again are answered with the job that there is.
    let again = stage.publish("Once more", json!({})).await;
    assert_eq!(again["status"], "published", "{again:#}");
    assert_eq!(stage.held().await.len(), 2);
}

#[tokio::test]
async fn states_that_nobody_knows_are_waited_for() {
    let stage = Stage::new().await;
    let job =
        |state: &str| json!({"jobStatus": {"jobId": "1", "did": "did:plc:a", "state": state}});
    stage
        .answers(json!([
            {"on": "video job", "times": 2, "effect": "none", "status": 200, "body": job("JOB_STATE_OF_TOMORROW")},
            {"on": "video job", "times": 1, "effect": "none", "status": 200, "body": job("JOB_STATE_COMPLETED")},
        ]))
        .await;
    let post = stage.publish("Wait for it", json!({})).await;
    assert_eq!(post["status"], "published", "{post:#}");
    assert!(stage.calls("getJobStatus").await >= 4);
}

#[tokio::test]
async fn a_video_that_is_refused_fails_at_once_with_the_reason() {
    let stage = Stage::new().await;
    for (code, remedy) in [
        ("validation_failure", ""),
        ("encoding_failure", ""),
        ("pds_upload_unsupported_blob_size", "blobUploadLimit"),
    ] {
        let before = stage.calls("uploadVideo").await;
        stage.video(json!({ "fail": code })).await;
        let post = stage.publish(code, json!({})).await;
        assert_eq!(post["status"], "failed", "{code}: {post:#}");
        assert_eq!(post["error"]["code"], "media_rejected", "{code}: {post:#}");
        assert!(post["error"]["remedy"].as_str().unwrap().contains(remedy), "{post:#}");
        assert_eq!(post["error"]["platform_error"]["code"], code, "{post:#}");
        assert_eq!(stage.calls("uploadVideo").await - before, 1, "{code}");
    }
    assert!(stage.held().await.is_empty());
}

#[tokio::test]
async fn a_failure_that_may_pass_is_followed_by_new_uploads() {
    for code in ["pds_upload_failure", "generic_failure", ""] {
        let stage = Stage::new().await;
        stage.video(json!({ "fail": code })).await;
        let post = stage.publish("Never", json!({})).await;
        assert_eq!(post["error"]["code"], "platform_unavailable", "{code}: {post:#}");
        assert_eq!(stage.calls("uploadVideo").await, 6, "{code}: one, and five retries");

        let once = stage.user.publish(stage.post("At last", json!({}))).await;
        let id = once["id"].as_i64().unwrap();
        stage
            .app
            .eventually_in_time("it failed once", std::time::Duration::from_secs(1), || async {
                let path = format!("/api/v1/posts/{id}");
                let post = stage.user.get(&path).await.body["post"].clone();
                post["next_attempt_at"].is_string().then_some(())
            })
            .await;
        stage.video(json!({})).await;
        let once = networks::ended(&stage.app, &stage.user, &once["id"]).await;
        assert_eq!(once["status"], "published", "{code}: {once:#}");
        assert_eq!(stage.held().await.len(), 1);
    }
}

#[tokio::test]
async fn a_job_that_never_ends_is_given_up_after_half_an_hour_and_begun_anew() {
    let stage = Stage::new().await;
    stage.video(json!({"seconds": 2_400})).await;
    let post = stage.publish("Slow", json!({})).await;
    assert_eq!(post["status"], "published", "{post:#}");
    assert_eq!(stage.calls("uploadVideo").await, 2, "the second is answered with the first job");
    assert_eq!(stage.held().await.len(), 1);
}

#[tokio::test]
async fn an_upload_whose_answer_is_lost_is_repeated() {
    let stage = Stage::set(Options { cut: true, ..Options::default() }).await;
    let cutter = stage.app.cutter.clone().unwrap();
    for cut in [Cut::Whole, Cut::AnswerFirst, Cut::AnswerBody, Cut::Before(1)] {
        let before = stage.held().await.len();
        cutter.cut("uploadVideo", cut);
        let post = stage.publish("Once", json!({})).await;
        assert!(cutter.is_done(), "{cut:?}");
        assert_eq!(post["status"], "published", "{cut:?}: {post:#}");
        assert_eq!(stage.held().await.len(), before + 1, "{cut:?}");
    }
}

#[tokio::test]
async fn a_service_token_that_has_ended_says_nothing_about_the_account() {
    let stage = Stage::new().await;
    for operation in ["video limits", "upload video"] {
        let body = json!({"error": "JwtExpired", "message": "jwt expired"});
        let answer =
            json!([{"on": operation, "times": 1, "effect": "none", "status": 401, "body": body}]);
        stage.answers(answer).await;
        let refreshed = stage.calls("refreshSession").await;
        let post = stage.publish(operation, json!({})).await;
        assert_eq!(post["status"], "published", "{operation}: {post:#}");
        assert_eq!(stage.calls("refreshSession").await, refreshed, "{operation}");
    }
    // The account's own session is refreshed.
    stage
        .user
        .faults("bluesky", stage.account, json!([{"on": "prepare", "kind": "token_expired"}]))
        .await;
    let post = stage.publish("With fresh tokens", json!({})).await;
    assert_eq!(post["status"], "published", "{post:#}");
    assert_eq!(stage.held().await.len(), 3);
}

#[tokio::test]
async fn without_the_service_the_video_goes_to_the_accounts_server() {
    let off = Options { bluesky_video: VideoService::Off, ..Options::default() };
    let stage = Stage::set(off).await;
    let post = stage.publish("Straight there", json!({})).await;
    assert_eq!(post["status"], "published", "{post:#}");
    assert_eq!(post["warnings"][0]["code"], "video_processed_after_publishing", "{post:#}");
    assert_eq!(
        steps(&stage.user, &post).await,
        ["check_video_limits", "upload_video", "create_post"]
    );
    assert_eq!(stage.calls("app.bsky.video").await, 0);
    assert_eq!(stage.held().await[0]["media"][0]["mime"], "video/mp4");
}

#[tokio::test]
async fn another_kind_of_video_is_converted_first() {
    let (place, stage) = (TempDir::new(), Stage::new().await);
    let args = ["-c:v", "libvpx", "-deadline", "realtime", "a.webm"];
    let webm = film(&place.0, "size=64x48:rate=10:duration=1", &args);
    let file = stage.user.upload("a.webm", "video/webm", &webm).await;
    let body = json!({"account_id": stage.account, "caption": "Converted", "media_url": file["public_url"]});
    let post = networks::publish(&stage.app, &stage.user, body).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let held = stage.held().await;
    assert_eq!(held[0]["media"][0]["mime"], "video/mp4");
    assert_eq!(held[0]["embed"]["aspectRatio"], json!({"width": 64, "height": 48}));
}

#[tokio::test]
async fn a_quote_stands_beside_a_video() {
    let stage = Stage::new().await;
    let first = stage.publish("To be quoted", json!({})).await;
    let settings = json!({"quote_url": first["platform_post_url"]});
    let post = stage.publish("See this", settings).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let embed = &stage.held().await[1]["embed"];
    assert_eq!(embed["$type"], "app.bsky.embed.recordWithMedia");
    assert_eq!(embed["media"]["$type"], "app.bsky.embed.video");
    assert_eq!(embed["record"]["record"]["uri"], first["platform_post_id"]);
}
