//! Files that are kept as long as somebody needs them, and go when nobody does.

use std::time::{Duration, SystemTime};

use fanfare_domain::{access::PlanTier, media::orphans, media::retention};
use fanfare_entities::subscription;
use fanfare_tests::{Options, Picture, TestApp, User, files};
use sea_orm::{EntityTrait, sea_query::Expr};
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

async fn delete(user: &User, file: &Value) -> fanfare_tests::Answer {
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
    assert_eq!(retention::review(&app.domain).await.unwrap(), 0);
    app.advance(Duration::from_secs(DAY));
    assert_eq!(retention::review(&app.domain).await.unwrap(), 1);
    assert!(!is_served(&user, &unused).await && is_served(&user, &used).await);
    // Looked at again and again, and kept as long as the post waits.
    for _ in 0..3 {
        app.advance(Duration::from_secs(30 * DAY));
        assert_eq!(retention::review(&app.domain).await.unwrap(), 0);
    }
    let path = format!("/api/v1/posts/{}", post["id"]);
    user.patch(&path, json!({"media_urls": []})).await.expect(200);
    app.advance(Duration::from_secs(8 * DAY));
    assert_eq!(retention::review(&app.domain).await.unwrap(), 1);
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
    assert_eq!(retention::review(&app.domain).await.unwrap(), 0);
    assert!(is_served(&user, &file).await);
    app.advance(Duration::from_secs(DAY));
    assert_eq!(retention::review(&app.domain).await.unwrap(), 1);
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
    app.settled(&user, post["id"].as_i64().unwrap(), &["published"]).await;
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
    let mut elsewhere = app.domain.store.writer("w/0123456789abcdef.jpg").unwrap();
    elsewhere.write(b"made by us").await.unwrap();
    elsewhere.finish().await.unwrap();
    let (hour, now) = (Duration::from_secs(3_600), SystemTime::now());
    assert_eq!(orphans::sweep(&app.domain, now - hour).await.unwrap(), 0, "it is too young");
    assert_eq!(orphans::sweep(&app.domain, now + hour).await.unwrap(), 1);
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
