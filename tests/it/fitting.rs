//! Media is looked at when it comes and made to fit, long before its post goes out.

use std::time::Duration;

use fanfare_core::failpoint;
use fanfare_tests::{
    Options, TestApp, User,
    served::{FileServer, TempDir, film, gated_tools},
};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::worker::Worker;

const WEBM: &[&str] = &["-c:v", "libvpx", "-b:v", "200k", "-deadline", "realtime", "film.webm"];
const MP4: &[&str] = &[
    "-c:v",
    "libx264",
    "-preset",
    "ultrafast",
    "-pix_fmt",
    "yuv420p",
    "-movflags",
    "+faststart",
    "film.mp4",
];

/// A service whose tools wait for the gates of a place.
async fn gated(place: &TempDir) -> TestApp {
    let tools = fanfare_media::Tools::find(Some(&gated_tools(&place.0)), None);
    TestApp::with(Options { tools, ..Options::default() }).await
}

async fn post_of(user: &User, id: i64) -> Value {
    user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone()
}

async fn missing(user: &User, id: i64) -> Value {
    user.get(&format!("/api/v1/posts/{id}/missing")).await.expect(200).body
}

/// Waits until the first file of a post has been analysed; its record.
async fn analysed(app: &TestApp, user: &User, id: i64) -> Value {
    app.eventually("the file is analysed", || async {
        let file = post_of(user, id).await["media"][0].clone();
        (file["analysis"] != "pending").then_some(file)
    })
    .await
}

async fn variants(app: &TestApp, status: &str) -> usize {
    let sql = format!("SELECT id FROM media_variants WHERE status = '{status}'");
    app.domain
        .db
        .read
        .query_all_raw(fanfare_core::db::statement(&app.domain.db.read, sql, []))
        .await
        .expect("the database answers")
        .len()
}

fn id(post: &Value) -> i64 {
    post["id"].as_i64().expect("an id")
}

#[tokio::test]
async fn a_film_too_long_fails_hours_before_its_time_and_says_what_to_do() {
    let place = TempDir::new();
    let app = gated(&place).await;
    let user = app.user().await;
    let account = user.connect("threads").await;
    let long = film(&place.0, "size=64x48:rate=1:duration=301", MP4);
    let file = FileServer::file("film.mp4", "video/mp4", long).await;
    let new = json!({"account_id": account, "caption": "Long", "media_url": file.url,
        "scheduled_at": app.at(6 * 3_600)});
    let post = user.publish(new).await;
    assert_eq!(post["media"][0]["analysis"], "pending", "what is not known yet is accepted");
    assert_eq!(missing(&user, id(&post)).await["ready"], true);
    place.open("probe");
    let failed = app.wait_for_status(&user, id(&post), &["failed"]).await;
    assert_eq!(failed["error"]["code"], "media_rejected");
    assert_eq!(failed["error"]["remedy"], "Shorten the video to 300 s.");
    let broken = &failed["error"]["violation"];
    assert_eq!((&broken["code"], &broken["index"]), (&json!("video_too_long"), &json!(0)));
    assert_eq!(
        (&broken["limit"], &broken["actual"], &broken["unit"]),
        (&json!(300_000), &json!(301_000), &json!("milliseconds")),
        "{broken:#}"
    );
    assert_eq!(failed["error"]["retryable"], false);
    assert_eq!(failed["media"][0]["duration_ms"], 301_000);
    let lacks = missing(&user, id(&post)).await;
    assert_eq!(lacks["missing"][0]["code"], "video_too_long", "{lacks:#}");
    assert_eq!(lacks["missing"][0]["kind"], "media");
    let url = failed["media_urls"][0].clone();
    let again = json!({"account_id": account, "caption": "Again", "media_url": url});
    let refused = user.post("/api/v1/posts", again.clone()).await.refused(400, "video_too_long");
    assert_eq!(refused.body["validation_errors"][0]["limit"], 300_000);
    let dry = json!({"account_id": account, "caption": "Dry", "media_url": url, "dry_run": true});
    let _ = user.post("/api/v1/posts", dry).await.refused(400, "video_too_long");
    let path = format!("/api/v1/posts/{}/retry", id(&post));
    let _ = user.post(&path, json!({})).await.refused(400, "video_too_long");
    assert!(user.on_network("threads", account).await.is_empty());
}

#[tokio::test]
async fn a_post_leaves_on_time_behind_a_two_minute_conversion() {
    let place = TempDir::new();
    place.open("probe");
    let app = gated(&place).await;
    let user = app.user().await;
    let account = user.connect("threads").await;
    let webm = film(&place.0, "size=64x48:rate=10:duration=1", WEBM);
    let file = FileServer::file("film.webm", "video/webm", webm).await;
    let body = |caption: &str, url: &str, at: String| json!({"account_id": account, "caption": caption, "media_url": url, "scheduled_at": at});
    let first = user.publish(body("Slow", &file.url, app.at(20 * 60))).await;
    app.eventually("the conversion has begun", || async {
        (variants(&app, "pending").await == 1).then_some(())
    })
    .await;
    app.pass_time(Duration::from_secs(120)).await;
    assert_eq!(post_of(&user, id(&first)).await["status"], "scheduled");
    place.open("encode");
    app.eventually("the conversion is done", || async {
        (variants(&app, "ready").await == 1).then_some(())
    })
    .await;
    // The address at the third party would be fetched again, and what it holds then be another file.
    let stored = first["media"][0]["url"].as_str().unwrap();
    let second = user.publish(body("Again", stored, app.at(19 * 60))).await;
    app.pass_time(Duration::from_secs(18 * 60)).await;
    for post in [&first, &second] {
        let published = app
            .eventually_in_time("it is published", Duration::from_secs(1), || async {
                let post = post_of(&user, id(post)).await;
                assert_ne!(post["status"], "failed", "{post:#}");
                (post["status"] == "published").then_some(post)
            })
            .await;
        let path = format!("/api/v1/posts/{}/attempts", id(&published));
        let ledger = user.get(&path).await.expect(200).body["attempts"].clone();
        let steps: Vec<Value> = ledger
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|one| one["steps"].as_array().unwrap().clone())
            .collect();
        assert_eq!(steps.iter().filter(|step| step["phase"] == "commit").count(), 1, "{ledger:#}");
    }
    assert_eq!(variants(&app, "ready").await, 1, "one is made for both, and kept");
    for shown in user.on_network("threads", account).await {
        assert!(shown["media"][0].to_string().contains("mp4"), "{shown:#}");
    }
}

#[tokio::test]
async fn a_picture_that_the_network_does_not_take_is_made_into_one_it_takes() {
    let (place, app) = (TempDir::new(), TestApp::start().await);
    let user = app.user().await;
    let (threads, bluesky) = (user.connect("threads").await, user.connect("bluesky").await);
    let webp = film(&place.0, "size=400x300:rate=1:duration=1", &["-frames:v", "1", "a.webp"]);
    let file = FileServer::file("a.webp", "image/webp", webp).await;
    let new = json!({"account_id": threads, "caption": "WebP", "media_url": file.url});
    let post = user.publish(new).await;
    let shown = analysed(&app, &user, id(&post)).await;
    assert_eq!((&shown["mime"], &shown["width"]), (&json!("image/webp"), &json!(400)));
    assert_eq!(shown["placeholder"].as_str().map(str::len), Some(28));
    app.eventually_in_time("the container is ready", Duration::from_secs(5), || async {
        let post = post_of(&user, id(&post)).await;
        assert_ne!(post["status"], "failed", "{post:#}");
        (post["status"] == "published").then_some(())
    })
    .await;
    let held = user.on_network("threads", threads).await;
    assert!(held[0]["media"][0].to_string().contains(".jpg"), "{held:#?}");
    let noise = ["-vf", "noise=alls=100:allf=t", "-frames:v", "1", "noise.png"];
    let large = film(&place.0, "size=1400x1000:rate=1:duration=1", &noise);
    assert!(large.len() > 2_000_000, "{}", large.len());
    let file = FileServer::file("noise.png", "image/png", large).await;
    let new = json!({"account_id": bluesky, "caption": "Large", "media_url": file.url});
    let post = user.publish(new).await;
    let post = app.wait_for_status(&user, id(&post), &["published", "failed"]).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let held = user.on_network("bluesky", bluesky).await;
    assert!(held[0]["media"][0].to_string().contains("image/jpeg"), "{held:#?}");
}

#[tokio::test]
async fn without_ffmpeg_films_are_told_and_what_needs_it_says_so() {
    let place = TempDir::new();
    let tools = fanfare_media::Tools::none();
    let app = TestApp::with(Options { tools, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("threads").await;
    let mut posts = Vec::new();
    for (name, mime, args) in [("film.mp4", "video/mp4", MP4), ("film.webm", "video/webm", WEBM)] {
        let bytes = film(&place.0, "size=64x48:rate=25:duration=2", args);
        let file = FileServer::file(name, mime, bytes).await;
        let new = json!({"account_id": account, "caption": name, "media_url": file.url,
            "scheduled_at": app.at(3_600)});
        posts.push(user.publish(new).await);
    }
    for post in &posts {
        let shown = analysed(&app, &user, id(post)).await;
        assert_eq!((&shown["analysis"], &shown["width"]), (&json!("ready"), &json!(64)));
        assert_eq!((&shown["duration_ms"], &shown["placeholder"]), (&json!(2_000), &Value::Null));
    }
    let failed = app.wait_for_status(&user, id(&posts[1]), &["failed"]).await;
    assert_eq!(failed["error"]["code"], "media_rejected");
    assert!(failed["error"]["remedy"].as_str().unwrap().contains("ffmpeg"), "{failed:#}");
    let lacks = missing(&user, id(&posts[1])).await;
    assert_eq!(lacks["missing"][0]["code"], "media_conversion_failed", "{lacks:#}");
    assert_eq!(post_of(&user, id(&posts[0])).await["status"], "scheduled");
    assert_eq!(missing(&user, id(&posts[0])).await["ready"], true);
}

#[tokio::test]
async fn a_damaged_file_fails_its_post_early_and_no_later_post_takes_it() {
    let (place, app) = (TempDir::new(), TestApp::start().await);
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let mut png = film(&place.0, "size=400x300:rate=1:duration=1", &["-frames:v", "1", "a.png"]);
    png.truncate(png.len() / 2);
    let file = FileServer::file("a.png", "image/png", png).await;
    let new = json!({"account_id": account, "caption": "Half", "media_url": file.url,
        "scheduled_at": app.at(6 * 3_600)});
    let made = user.post("/api/v1/posts", new).await;
    // A fast analysis is there before the post is written, which is then refused.
    let url = if made.status == 201 {
        let failed = app.wait_for_status(&user, id(&made.body["post"]), &["failed"]).await;
        assert_eq!(failed["error"]["code"], "media_rejected");
        let lacks = missing(&user, id(&failed)).await;
        assert_eq!(lacks["missing"][0]["code"], "media_unreadable", "{lacks:#}");
        failed["media_urls"][0].clone()
    } else {
        made.refused(400, "media_unreadable");
        // The address itself would be fetched again, and might be analysed after its post was written.
        user.get("/api/v1/media").await.expect(200).body["media"][0]["url"].clone()
    };
    let again = json!({"account_id": account, "caption": "Again", "media_url": url});
    let _ = user.post("/api/v1/posts", again).await.refused(400, "media_unreadable");
}

#[tokio::test]
async fn a_worker_killed_while_it_analyses_or_converts() {
    let place = TempDir::new();
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("threads").await;
    for (round, point) in failpoint::ANALYSING.iter().enumerate() {
        let picture = format!("size={}x300:rate=1:duration=1", 400 + round);
        let webp = film(&place.0, &picture, &["-frames:v", "1", "a.webp"]);
        let file = FileServer::file("a.webp", "image/webp", webp).await;
        let mut dying = Worker::start(&app, Some(point));
        let new = json!({"account_id": account, "caption": point, "media_url": file.url,
            "scheduled_at": app.at(24 * 3_600)});
        let post = user.publish(new).await;
        dying.arrived().await;
        drop(dying);
        // The post may have been looked at when its worker died.
        let held = [
            ("media_analyses", "due_at > 1"),
            ("media_variants", "due_at > 1"),
            ("posts", "lease_expirations > 0"),
        ];
        for (table, which) in held {
            let lapse = format!("UPDATE {table} SET due_at = 1 WHERE {which}");
            app.domain.db.write.execute_unprepared(&lapse).await.expect("the row moves");
        }
        let _second = Worker::start(&app, None);
        let shown = analysed(&app, &user, id(&post)).await;
        assert_eq!(shown["analysis"], "ready", "killed at {point}");
        app.eventually("the variant is made", || async {
            (variants(&app, "ready").await == round + 1).then_some(())
        })
        .await;
        assert_eq!(post_of(&user, id(&post)).await["status"], "scheduled", "killed at {point}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_of_a_worker_that_was_killed_goes_on() {
    let place = TempDir::new();
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let film = film(&place.0, "size=64x48:rate=10:duration=1", MP4);
    user.upload("a.mp4", "video/mp4", &film).await;
    let tools = gated_tools(&place.0).display().to_string();
    let worker = Worker::with(&app, &[("FANFARE_FFMPEG_DIR", &tools)]);
    let probe = app.eventually("it looks at the film", || async { place.pid("ffprobe") }).await;
    let runs = || {
        // A program that has ended and was not waited for yet is no longer one that runs.
        let state = std::fs::read_to_string(format!("/proc/{probe}/stat")).unwrap_or_default();
        let state = state.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
        !matches!(state, None | Some('Z' | 'X'))
    };
    assert!(runs());
    drop(worker);
    app.eventually("its program is gone", || async { (!runs()).then_some(()) }).await;
}
