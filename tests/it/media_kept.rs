//! Files that are kept as long as somebody needs them, and go when nobody does.

use std::time::{Duration, SystemTime};

use fanfare_core::access::PlanTier;
use fanfare_entities::{media_analysis, media_variant, media_wait, subscription};
use fanfare_publishing::{media::orphans, media::retention};
use fanfare_tests::{
    Options, Picture, TestApp, User, files,
    served::{TempDir, film, gated_tools},
};
use futures_util::TryStreamExt;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, sea_query::Expr};
use serde_json::{Value, json};

const DAY: u64 = 24 * 3_600;

async fn app() -> TestApp {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    app.user().await;
    app
}

async fn starter(app: &TestApp) {
    subscription::Entity::update_many()
        .col_expr(subscription::Column::PlanTier, Expr::value(PlanTier::Starter))
        .exec(&app.domain.db.write)
        .await
        .unwrap();
}

async fn is_served(user: &User, file: &Value) -> bool {
    user.fetch(&file["public_url"], &[]).await.0 == 200
}

async fn delete(user: &User, file: &Value) -> fanfare_tests::ApiReply {
    user.delete(&format!("/api/v1/media/{}", file["id"].as_str().unwrap())).await
}

#[tokio::test]
async fn a_file_that_nobody_needs_goes_when_the_plan_says_so() {
    let app = app().await;
    let user = app.user().await;
    starter(&app).await;
    let account = user.connect("bluesky").await;
    let (unused, used) = (
        user.upload("unused.gif", "image/gif", &files::gif()).await,
        user.upload("used.png", "image/png", &files::png()).await,
    );
    let far = json!({"account_id": account, "caption": "Later", "media_url": used["public_url"],
        "scheduled_at": app.at(400 * 86_400)});
    let post = user.publish(far).await;
    app.advance(Duration::from_secs(29 * DAY));
    assert_eq!(retention::delete_unused(&app.domain).await.unwrap(), 0);
    app.advance(Duration::from_secs(DAY));
    assert_eq!(retention::delete_unused(&app.domain).await.unwrap(), 1);
    assert!(!is_served(&user, &unused).await && is_served(&user, &used).await);
    // Looked at again and again, and kept as long as the post waits.
    for _ in 0..3 {
        app.advance(Duration::from_secs(30 * DAY));
        assert_eq!(retention::delete_unused(&app.domain).await.unwrap(), 0);
    }
    let path = format!("/api/v1/posts/{}", post["id"]);
    user.patch(&path, json!({"media_urls": []})).await.expect(200);
    app.advance(Duration::from_secs(8 * DAY));
    assert_eq!(retention::delete_unused(&app.domain).await.unwrap(), 1);
    assert!(!is_served(&user, &used).await);
}

#[tokio::test]
async fn a_larger_plan_keeps_files_longer() {
    let app = app().await;
    let user = app.user().await;
    starter(&app).await;
    let file = user.upload("a.gif", "image/gif", &files::gif()).await;
    subscription::Entity::update_many()
        .col_expr(subscription::Column::PlanTier, Expr::value(PlanTier::Pro))
        .exec(&app.domain.db.write)
        .await
        .unwrap();
    app.advance(Duration::from_secs(59 * DAY));
    assert_eq!(retention::delete_unused(&app.domain).await.unwrap(), 0);
    assert!(is_served(&user, &file).await);
    app.advance(Duration::from_secs(DAY));
    assert_eq!(retention::delete_unused(&app.domain).await.unwrap(), 1);
}

#[tokio::test]
async fn a_file_that_a_waiting_post_needs_cannot_be_deleted() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let file = user.upload("a.png", "image/png", &files::png()).await;
    let body = json!({"account_id": account, "caption": "Soon", "media_url": file["public_url"], "status": "draft"});
    let post = user.publish(body).await;
    let path = format!("/api/v1/posts/{}", post["id"]);
    let refused = delete(&user, &file).await.refused(409, "media_in_use");
    assert_eq!(refused.body["posts"], json!([post["id"]]));
    let _ = user
        .put(&format!("{path}/status"), json!({"status": "scheduled", "scheduled_at": app.at(0)}))
        .await
        .expect(200);
    app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published"]).await;
    let _ = delete(&user, &file).await.expect(200);
    assert!(!is_served(&user, &file).await);
    let gone = json!({"account_id": account, "caption": "Again", "media_url": file["public_url"]});
    user.post("/api/v1/posts", gone).await.refused(400, "invalid_field");
    delete(&user, &file).await.refused(404, "media_not_found");
}

#[tokio::test]
async fn a_deleted_post_and_other_media_free_a_file() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let file = user.upload("a.png", "image/png", &files::png()).await;
    let draft = json!({"account_id": account, "caption": "x", "media_url": file["public_url"], "status": "draft"});
    let (one, two) = (user.publish(draft.clone()).await, user.publish(draft).await);
    let _ = user.delete(&format!("/api/v1/posts/{}", one["id"])).await.expect(200);
    delete(&user, &file).await.refused(409, "media_in_use");
    let other = json!({"media_url": Picture::serve().await.url});
    let _ = user.patch(&format!("/api/v1/posts/{}", two["id"]), other).await.expect(200);
    let _ = delete(&user, &file).await.expect(200);
}

#[tokio::test]
async fn bytes_without_a_row_are_found_and_others_left_alone() {
    let app = app().await;
    let user = app.user().await;
    let file = user.upload("a.png", "image/png", &files::png()).await;
    let mut writer = app.domain.store.writer("assets/w/0123456789abcdef.mp4").unwrap();
    writer.write(&files::mp4(10_000)).await.unwrap();
    writer.finish().await.unwrap();
    let made =
        app.domain.store.put("made/w", "image/jpeg", b"for a file that is gone").await.unwrap();
    let mut elsewhere = app.domain.store.writer("w/0123456789abcdef.jpg").unwrap();
    elsewhere.write(b"made by us").await.unwrap();
    elsewhere.finish().await.unwrap();
    let (hour, now) = (Duration::from_secs(3_600), SystemTime::now());
    assert_eq!(
        orphans::remove_orphans(&app.domain, now - hour).await.unwrap(),
        0,
        "it is too young"
    );
    assert_eq!(orphans::remove_orphans(&app.domain, now + hour).await.unwrap(), 2);
    assert!(app.domain.store.stat(&made).await.is_err());
    assert!(app.domain.store.stat("assets/w/0123456789abcdef.mp4").await.is_err());
    assert!(app.domain.store.stat("w/0123456789abcdef.jpg").await.is_ok());
    assert!(is_served(&user, &file).await);
}

#[tokio::test]
async fn a_file_whose_bytes_were_lost_is_not_shared_from() {
    let app = app().await;
    let user = app.user().await;
    let lost = user.upload("a.png", "image/png", &files::png()).await;
    std::fs::remove_dir_all(app.dir().join("media/assets")).unwrap();
    assert!(!is_served(&user, &lost).await);
    let again = user.upload("a.png", "image/png", &files::png()).await;
    assert!(is_served(&user, &again).await);
}

/// Keys of what was made out of files, in the store.
async fn made(app: &TestApp) -> Vec<String> {
    let found = app.domain.store.walk("made").unwrap();
    let mut found: Vec<String> = found.map_ok(|file| file.path).try_collect().await.unwrap();
    found.sort();
    found
}

/// Rows about files: analyses and variants.
async fn rows_about(app: &TestApp) -> (u64, u64) {
    let db = &app.domain.db.read;
    (
        media_analysis::Entity::find().count(db).await.unwrap(),
        media_variant::Entity::find().count(db).await.unwrap(),
    )
}

/// Posts a WebM film, which threads takes as MP4 only; the post, and its file.
async fn film_post(
    app: &TestApp,
    user: &User,
    place: &TempDir,
    rate: u32,
    at: &str,
) -> (Value, Value) {
    let size = format!("size=64x48:rate={rate}:duration=1");
    let webm = film(&place.0, &size, &["-c:v", "libvpx", "-deadline", "realtime", "a.webm"]);
    let file = user.upload("a.webm", "video/webm", &webm).await;
    let account = user.connect("threads").await;
    let new = json!({"account_id": account, "caption": "Film", "media_url": file["public_url"],
        "scheduled_at": at});
    let before = media_variant::Entity::find().count(&app.domain.db.read).await.unwrap();
    let post = user.publish(new).await;
    app.eventually("the film is converted", || async {
        let ready = media_variant::Column::Status.eq("ready");
        let found = media_variant::Entity::find().filter(ready);
        let ready = found.count(&app.domain.db.read).await.unwrap();
        (ready > before).then_some(())
    })
    .await;
    (post, file)
}

#[tokio::test]
async fn what_was_made_of_a_file_goes_with_it_and_never_what_a_waiting_post_needs() {
    let (place, app) = (TempDir::new(), TestApp::start().await);
    let user = app.user().await;
    starter(&app).await;
    let (gone, first) = film_post(&app, &user, &place, 10, &app.at(10 * 86_400)).await;
    assert_eq!(rows_about(&app).await, (1, 1));
    let made_first = made(&app).await;
    assert_eq!(made_first.len(), 2, "a frame, and an MP4");
    let (kept, second) = film_post(&app, &user, &place, 12, &app.at(400 * 86_400)).await;
    let made_second: Vec<String> =
        made(&app).await.into_iter().filter(|path| !made_first.contains(path)).collect();
    assert_eq!((rows_about(&app).await, made_second.len()), ((2, 2), 2));
    delete(&user, &first).await.refused(409, "media_in_use");

    // On request.
    let _ = user.delete(&format!("/api/v1/posts/{}", gone["id"])).await.expect(200);
    let _ = delete(&user, &first).await.expect(200);
    assert_eq!((rows_about(&app).await, made(&app).await), ((1, 1), made_second.clone()));
    assert!(!is_served(&user, &first).await);
    for path in &made_second {
        let url = json!(format!("{}/media/{path}", app.origin));
        assert_eq!(user.fetch(&url, &[]).await.0, 200, "the network can fetch {path}");
    }

    // After their time: the post still waits.
    app.advance(Duration::from_secs(31 * DAY));
    retention::delete_unused(&app.domain).await.unwrap();
    let far = SystemTime::now() + Duration::from_secs(2 * DAY);
    assert_eq!(orphans::remove_orphans(&app.domain, far).await.unwrap(), 0);
    assert_eq!((rows_about(&app).await, made(&app).await), ((1, 1), made_second));
    let path = format!("/api/v1/posts/{}", kept["id"]);
    user.patch(&path, json!({"media_urls": [], "caption": "No film"})).await.expect(200);
    app.advance(Duration::from_secs(31 * DAY));
    retention::delete_unused(&app.domain).await.unwrap();
    app.eventually("all of it is gone", || async {
        (rows_about(&app).await == (0, 0) && made(&app).await.is_empty()).then_some(())
    })
    .await;
    assert!(!is_served(&user, &second).await);
    assert_eq!(media_wait::Entity::find().count(&app.domain.db.read).await.unwrap(), 0);
}

#[tokio::test]
async fn what_is_made_of_a_file_while_it_is_deleted_is_not_kept() {
    let place = TempDir::new();
    let tools = fanfare_media::Tools::find(Some(&gated_tools(&place.0)), None);
    let app = TestApp::with(Options { tools, ..Options::default() }).await;
    let user = app.user().await;
    let film = film(&place.0, "size=64x48:rate=10:duration=1", &["-c:v", "libx264", "a.mp4"]);
    let file = user.upload("a.mp4", "video/mp4", &film).await;
    app.eventually("it is being analysed", || async { place.pid("ffprobe") }).await;
    let _ = delete(&user, &file).await.expect(200);
    place.open("probe");
    let other = user.upload("b.mp4", "video/mp4", &film).await;
    app.eventually("the next one is analysed", || async {
        let list = user.get("/api/v1/media").await.expect(200).body;
        (list["media"][0]["width"] == 64).then_some(())
    })
    .await;
    app.eventually("the first one's frame is gone", || async {
        (made(&app).await.len() == 1).then_some(())
    })
    .await;
    assert_eq!(rows_about(&app).await, (1, 0));
    assert!(is_served(&user, &other).await);
}
