//! Files that people send: copied when they arrive, served for an hour at a time, gone with what they came with.

use std::time::Duration;

use fanfare_entities::inbox_file;
use fanfare_tests::{Options, TestApp, User, files, served::FileServer};
use sea_orm::{EntityTrait, PaginatorTrait};
use serde_json::{Value, json};

use super::{account_with_post, pro, write};

/// Waits until the files of the only message are copied, or are known not to be.
async fn copied(app: &TestApp, user: &User, account: i64) -> Vec<Value> {
    app.eventually("the files of the message are settled", || async {
        let files = message(user, account).await?["attachments"].as_array()?.clone();
        let settled = |file: &Value| file["reason"] != "pending";
        (!files.is_empty() && files.iter().all(settled)).then_some(files)
    })
    .await
}

/// The only message of an account, if it is there.
async fn message(user: &User, account: i64) -> Option<Value> {
    let path = format!("/api/v1/inbox/conversations?account_id={account}");
    let page = user.get(&path).await.expect(200).body;
    let id = page["conversations"].get(0)?["id"].as_i64()?;
    let shown = user.get(&format!("/api/v1/inbox/conversations/{id}")).await.expect(200).body;
    shown["messages"].get(0).cloned()
}

async fn rows(app: &TestApp) -> u64 {
    inbox_file::Entity::find().count(&app.domain.db.write).await.unwrap()
}

async fn status(user: &User, url: &str) -> u16 {
    user.fetch(&json!(url), &[]).await.0
}

/// Waits until no row and no copy is left.
async fn all_gone(app: &TestApp, user: &User, url: &str) {
    app.eventually("the copy is gone", || async { (rows(app).await == 0).then_some(()) }).await;
    assert_eq!(status(user, url).await, 404);
}

#[tokio::test]
async fn a_file_of_a_message_is_copied_and_its_address_is_good_for_an_hour() {
    for platform in ["facebook", "instagram"] {
        let app = TestApp::start().await;
        let user = pro(&app).await;
        let account = user.connect(platform).await;
        let source = FileServer::file("photo", "image/png", files::png()).await;
        let item = json!({"account_id": account, "kind": "message", "text": "Look",
            "attachments": [{"type": "image", "url": source.url}]});
        write(&user, platform, item).await;
        let file = copied(&app, &user, account).await.remove(0);
        source.stop().await;
        assert_eq!(
            (&file["type"], &file["mime"], &file["bytes"], &file["reason"]),
            (&json!("image"), &json!("image/png"), &json!(files::png().len()), &Value::Null)
        );
        let url = file["url"].as_str().unwrap();
        assert!(url.starts_with(&app.origin), "{url} is ours");
        let (found, headers, bytes) = user.fetch(&file["url"], &[]).await;
        assert_eq!((found, bytes), (200, files::png()));
        assert!(headers["cache-control"].to_str().unwrap().starts_with("private, max-age="));
        // Neither another end nor another file goes with the signature, and without one there is nothing.
        let (start, signed) = url.split_once("/media/signed/").unwrap();
        let parts: Vec<&str> = signed.splitn(3, '/').collect();
        let later = parts[0].parse::<i64>().unwrap() + 1;
        for bad in [
            format!("{start}/media/signed/{later}/{}/{}", parts[1], parts[2]),
            format!("{start}/media/signed/{}/{}/{}x", parts[0], parts[1], parts[2]),
            format!("{start}/media/signed/{}/x/{}", parts[0], parts[2]),
            format!("{start}/media/inbox/{}", parts[2]),
        ] {
            assert_eq!(status(&user, &bad).await, 404, "{bad}");
        }
        app.pass_time(Duration::from_secs(3_601)).await;
        assert_eq!(status(&user, url).await, 404, "the hour is over");
        let again = copied(&app, &user, account).await.remove(0);
        assert_eq!(user.fetch(&again["url"], &[]).await.2, files::png());
    }
}

#[tokio::test]
async fn what_is_taken_back_or_disconnected_takes_its_copy_along() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let source = FileServer::file("voice", "audio/ogg", b"OggS\0\x02\0\0 hello".to_vec()).await;
    let account = user.connect("facebook").await;
    let item = json!({"account_id": account, "kind": "message", "text": "Listen",
        "attachments": [{"type": "audio", "url": source.url}]});
    let id = write(&user, "facebook", item.clone()).await;
    let file = copied(&app, &user, account).await.remove(0);
    assert_eq!(file["mime"], "audio/ogg");
    let url = file["url"].as_str().unwrap();
    assert_eq!(status(&user, url).await, 200);
    let path = format!("/api/v1/sandbox/facebook/inbox/{id}?account_id={account}");
    assert!(user.delete(&path).await.status < 300);
    all_gone(&app, &user, url).await;
    assert_eq!(message(&user, account).await.unwrap()["attachments"], json!([]));
    // An account that is disconnected.
    let other = user.connect("facebook").await;
    let item = json!({"account_id": other, "kind": "message", "text": "Listen",
        "attachments": [{"type": "audio", "url": source.url}]});
    write(&user, "facebook", item).await;
    let file = copied(&app, &user, other).await.remove(0);
    assert!(user.delete(&format!("/api/v1/accounts/{other}")).await.status < 300);
    assert!(fanfare_ops::upkeep::clean_up(&app.domain).await.failed.is_empty());
    all_gone(&app, &user, file["url"].as_str().unwrap()).await;
}

#[tokio::test]
async fn a_file_that_cannot_be_copied_says_why() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let account = user.connect("instagram").await;
    let large = FileServer::file("film", "video/mp4", files::mp4(25_000_001)).await;
    let page =
        FileServer::file("page", "text/html", b"<!doctype html><html></html>".to_vec()).await;
    let item = json!({"account_id": account, "kind": "message", "text": "Both", "attachments": [
        {"type": "video", "url": large.url}, {"type": "file", "url": page.url}]});
    write(&user, "instagram", item).await;
    let found = copied(&app, &user, account).await;
    let reasons: Vec<_> = found.iter().map(|file| (&file["url"], &file["reason"])).collect();
    let null = &Value::Null;
    assert_eq!(reasons, [(null, &json!("too_large")), (null, &json!("unavailable"))]);
    // An address that only we can reach is not asked.
    let app = TestApp::with(Options { allow_private: false, ..Options::default() }).await;
    let user = pro(&app).await;
    let account = user.connect("instagram").await;
    let inside = FileServer::file("inside", "image/png", files::png()).await;
    let item = json!({"account_id": account, "kind": "message", "text": "Inside",
        "attachments": [{"type": "image", "url": inside.url}]});
    write(&user, "instagram", item).await;
    assert_eq!(copied(&app, &user, account).await[0]["reason"], "not_allowed");
}

#[tokio::test]
async fn a_file_that_was_sent_from_here_is_copied_too() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let (account, _) = account_with_post(&app, &user, "facebook").await;
    let item = json!({"account_id": account, "kind": "message", "text": "Your menu?"});
    write(&user, "facebook", item).await;
    let conversation = super::conversation(&app, &user, account).await;
    let menu = FileServer::file("menu.png", "image/png", files::png()).await;
    let path = format!("/api/v1/inbox/conversations/{}/reply", conversation["id"]);
    let sent = user.post(&path, json!({"media_url": menu.url})).await.expect(201).body;
    assert_eq!(sent["message"]["attachments"][0]["type"], "image");
    let file = app
        .eventually("the file that was sent is copied", || async {
            let file = message(&user, account).await?["attachments"].get(0)?.clone();
            file["url"].is_string().then_some(file)
        })
        .await;
    assert_eq!(user.fetch(&file["url"], &[]).await.2, files::png());
}
