//! Accounts show a copy of the picture that their network gives.

use std::time::{Duration, SystemTime};

use fanfare_publishing::media::orphans;
use fanfare_tests::{Options, TestApp, User};
use serde_json::{Value, json};

async fn shown(user: &User, account: i64) -> Value {
    let listed = user.get("/api/v1/accounts").await.expect(200).body;
    let mut all = listed["accounts"].as_array().unwrap().iter();
    all.find(|one| one["id"] == account).unwrap()["profile_picture_url"].clone()
}

async fn copied(app: &TestApp, user: &User, account: i64) -> String {
    app.eventually("the picture is copied", || async {
        shown(user, account).await.as_str().map(str::to_owned)
    })
    .await
}

/// Networks that name a picture where they tell whose credentials they are.
const PICTURED: [&str; 12] = [
    "devto",
    "facebook",
    "hashnode",
    "instagram",
    "lemmy",
    "linkedin",
    "mastodon",
    "pinterest",
    "threads",
    "tiktok",
    "wordpress",
    "x",
];

#[tokio::test]
async fn pictures_are_copied_and_served_by_us() {
    let app = TestApp::start().await;
    let user = app.user().await;
    for platform in PICTURED {
        let new = json!({"platform": platform});
        let made = user.post("/api/v1/sandbox/accounts", new).await.expect(201).body;
        let account = made["account"]["id"].as_i64().unwrap();
        let url = copied(&app, &user, account).await;
        assert!(url.contains("/profiles/"), "{platform}: {url}");
        let (status, headers, bytes) = user.fetch(&json!(url), &[]).await;
        assert_eq!(status, 200, "{platform}: {url}");
        assert_eq!(headers["content-type"], "image/png", "{platform}");
        assert!(bytes.starts_with(b"\x89PNG"), "{platform}");
    }
    let listed = user.get("/api/v1/accounts").await.expect(200).body;
    let accounts = listed["accounts"].as_array().unwrap();
    assert_eq!(accounts.len(), PICTURED.len());
    assert!(accounts.iter().all(|one| one["profile_picture_url"].is_string()), "{listed}");
}

#[tokio::test]
async fn a_network_without_pictures_has_null_and_copies_go_with_their_account() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let telegram = user.connect("telegram").await;
    let account = user.connect("mastodon").await;
    let url = copied(&app, &user, account).await;
    assert_eq!(shown(&user, telegram).await, Value::Null);
    let later = SystemTime::now() + Duration::from_secs(3_600);
    assert_eq!(orphans::remove_orphans(&app.domain, later).await.unwrap(), 0, "it is in use");
    let _ = user.delete(&format!("/api/v1/accounts/{account}")).await.expect(200);
    assert_eq!(orphans::remove_orphans(&app.domain, later).await.unwrap(), 1);
    assert_eq!(user.fetch(&json!(url), &[]).await.0, 404);
}

#[tokio::test]
async fn without_workers_an_account_is_connected_all_the_same() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("mastodon").await;
    assert_eq!(shown(&user, account).await, Value::Null);
}
