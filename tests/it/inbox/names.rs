//! A page's video, reel or single photo has two names: that of the object, which the call answers, and that of the post in the
//! feed, by which webhooks and lists call it. Comments find the post by each, and none is kept twice.

use std::time::Duration;

use fanfare_tests::{Picture, TestApp, User, networks};
use serde_json::{Value, json};

use super::{comment, pro, unlisted::read, write};

/// Posts that have two names: the type, and the file.
const KINDS: [(&str, &str); 3] = [("feed", "square"), ("reel", "film"), ("feed", "image/png")];

fn file(kind: &str) -> String {
    let place = Picture::lasting();
    if kind.contains('/') { place.file(kind, 0) } else { place.video(kind) }
}

async fn post_of(
    app: &TestApp,
    user: &User,
    account: i64,
    (post_type, kind): (&str, &str),
) -> Value {
    let file = file(kind);
    Picture::make(std::slice::from_ref(&file)).await;
    let body = json!({
        "account_id": account, "post_type": post_type, "caption": "Look", "media_urls": [file],
    });
    networks::publish(app, user, body).await
}

async fn comments_on(user: &User, post: &Value) -> Vec<Value> {
    let path = format!("/api/v1/inbox/comments?post_id={post}");
    let page = user.get(&path).await.expect(200).body;
    page["comments"].as_array().unwrap().iter().map(|one| one["text"].clone()).collect()
}

/// Has somebody comment once with a webhook and once without, and reads the inbox twice.
async fn play(kind: (&str, &str), late_ms: u32) {
    let story = format!("{kind:?}, the second name {late_ms} ms late");
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let account = user.connect("facebook").await;
    let remote = networks::newest_account(&app, "facebook").await;
    let ids = json!({"post": "photo", "late_ms": late_ms});
    app.simulator.behave("facebook", &remote, &json!({ "ids": ids })).await;
    let post = post_of(&app, &user, account, kind).await;
    assert_eq!(post["status"], "published", "{story}: {post:#}");
    let of_post = |text: &str| json!({"account_id": account, "kind": "comment", "text": text, "post_id": post["id"].to_string()});
    write(&user, "facebook", of_post("By webhook")).await;
    let told = comment(&app, &user, account, "By webhook").await;
    assert_eq!(told["post_id"], post["id"], "{story}: {told:#}");
    assert_ne!(told["platform_post_id"], post["platform_post_id"], "{story}: it has two names");
    let silent = json!({"ids": ids, "hooks": {"drop": true}});
    app.simulator.behave("facebook", &remote, &silent).await;
    write(&user, "facebook", of_post("By list")).await;
    read(&app, &user, account).await;
    let listed = comment(&app, &user, account, "By list").await;
    assert_eq!(listed["post_id"], post["id"], "{story}: {listed:#}");
    read(&app, &user, account).await;
    let mut texts = comments_on(&user, &post["id"]).await;
    texts.sort_by_key(Value::to_string);
    assert_eq!(texts, ["By list", "By webhook"], "{story}");
}

#[tokio::test]
async fn comments_find_a_post_by_each_of_its_names() {
    for kind in KINDS {
        play(kind, 0).await;
    }
}

#[tokio::test]
async fn the_second_name_of_a_video_may_come_late() {
    play(KINDS[0], 10_000).await;
}

/// Facebook may never tell the second name: the post is published all the same.
#[tokio::test]
async fn a_video_without_a_second_name_is_published() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let account = user.connect("facebook").await;
    let remote = networks::newest_account(&app, "facebook").await;
    let never = json!({"ids": {"late_ms": 86_400_000}});
    app.simulator.behave("facebook", &remote, &never).await;
    let post = post_of(&app, &user, account, KINDS[1]).await;
    assert_eq!(post["status"], "published", "{post:#}");
}

/// Facebook may tell the second name of a video only after it was called published: it is asked again as its numbers are read.
#[tokio::test]
async fn a_second_name_that_comes_after_the_video_was_published_is_known_to_inbox_and_numbers() {
    for (kind, late_ms) in [(KINDS[0], 300_000), (KINDS[1], 1_800_000)] {
        let story = format!("{kind:?}, {late_ms} ms late");
        let app = TestApp::start().await;
        let user = pro(&app).await;
        let account = user.connect("facebook").await;
        let remote = networks::newest_account(&app, "facebook").await;
        let ids = json!({"post": "photo", "late_ms": late_ms});
        app.simulator.behave("facebook", &remote, &json!({ "ids": ids })).await;
        let post = post_of(&app, &user, account, kind).await;
        assert_eq!(post["status"], "published", "{story}: {post:#}");
        let of_post = |text: &str| json!({"account_id": account, "kind": "comment", "text": text, "post_id": post["id"].to_string()});
        write(&user, "facebook", of_post("Early")).await;
        let early = comment(&app, &user, account, "Early").await;
        assert_eq!(early["post_id"], Value::Null, "{story}: nobody knows the name yet: {early:#}");
        app.pass_time(Duration::from_secs(3_700)).await;
        app.wait_until_idle().await;
        write(&user, "facebook", of_post("Later")).await;
        let later = comment(&app, &user, account, "Later").await;
        assert_eq!(later["post_id"], post["id"], "{story}: {later:#}");
        // The list shows the early one once more.
        read(&app, &user, account).await;
        let mut texts = comments_on(&user, &post["id"]).await;
        texts.sort_by_key(Value::to_string);
        assert_eq!(texts, ["Early", "Later"], "{story}");
        // Its numbers are listed once, also after the page's own list was read.
        app.pass_time(Duration::from_secs(48 * 3_600)).await;
        app.wait_until_idle().await;
        let path = format!("/api/v1/analytics/posts?account_id={account}");
        let listed = user.get(&path).await.expect(200).body["posts"].clone();
        assert_eq!(listed.as_array().unwrap().len(), 1, "{story}: {listed:#}");
        assert_eq!(listed[0]["post_id"], post["id"], "{story}: {listed:#}");
    }
}
