//! Posts without words, and things that other people made on the same account: nothing but a file of its own tells such a
//! post, so it is never published under the id of another, whenever that was made.

use std::time::Duration;

use fanfare_tests::{Picture, TestApp, User, networks};
use reqwest::Method;
use serde_json::{Value, json};

/// A post without words: the network, its type, the number of its files, and true if its result can be told from others.
type Row = (&'static str, Option<&'static str>, &'static [&'static str], bool);

const ROWS: &[Row] = &[
    ("facebook", None, &["image/png"], true),
    ("facebook", None, &["image/png", "image/png"], true),
    ("facebook", None, &["video/mp4"], true),
    ("instagram", None, &["image/jpeg"], false),
    ("instagram", None, &["image/jpeg", "image/jpeg"], false),
    ("instagram", Some("story"), &["image/jpeg"], false),
    ("instagram", Some("reel"), &["video/mp4"], false),
    ("threads", None, &["image/png"], false),
    ("x", None, &["image/png"], true),
    ("mastodon", None, &["image/png"], true),
    ("pinterest", None, &["image/png"], false),
];

/// When a person makes the other thing: long before the call, moments before, after it was lost, or much later.
const TIMES: [&str; 4] = ["long before", "just before", "in it", "after"];

struct Place<'a> {
    app: &'a TestApp,
    user: User,
    account: i64,
    remote_id: String,
    row: Row,
}

impl<'a> Place<'a> {
    async fn open(app: &'a TestApp, row: Row) -> Self {
        let user = app.user().await;
        let account = user.connect(row.0).await;
        let remote_id = networks::newest_account(app, row.0).await;
        Self { app, user, account, remote_id, row }
    }

    fn files(&self) -> Vec<String> {
        let files = self.row.2.iter().enumerate();
        files.map(|(place, mime)| Picture::lasting().file(mime, place)).collect()
    }

    /// Makes the same as the post on the network itself; returns its id.
    async fn by_hand(&self, text: &str) -> String {
        let mut body =
            json!({"remote_id": self.remote_id, "text": text, "media_urls": self.files()});
        if let Some(post_type) = self.row.1 {
            body["post_type"] = json!(post_type);
        }
        let made =
            self.app.simulator.ask(Method::POST, &format!("{}/posts", self.row.0), &body).await;
        made["id"].as_str().unwrap().to_owned()
    }

    async fn held(&self) -> usize {
        self.user.on_network(self.row.0, self.account).await.len()
    }

    /// Waits until all files of a post were looked at.
    async fn is_prepared(&self, id: &Value) {
        let path = format!("/api/v1/posts/{id}");
        self.app
            .eventually("its files are looked at", || async {
                let post = self.user.get(&path).await.body["post"].clone();
                let files = post["media"].as_array().cloned().unwrap_or_default();
                files.iter().all(|file| file["analysis"] != "pending").then_some(())
            })
            .await;
    }

    /// Waits until the network was asked to publish `count` times.
    async fn is_asked(&self, count: usize) {
        self.app
            .eventually_in_time("it is asked to publish", Duration::from_secs(1), || async {
                let calls = self.app.simulator.calls(self.row.0, &self.remote_id).await;
                let commits = calls.iter().filter(|call| call["phase"] == "commit").count();
                (commits >= count).then_some(())
            })
            .await;
    }
}

async fn play(app: &TestApp, row: Row, (text, fault, time): (&str, &str, &str)) {
    let story = format!("{row:?}, {text:?}, {fault}, {time}");
    let place = Place::open(app, row).await;
    let mut by_hand = None;
    if time == "long before" {
        by_hand = Some(place.by_hand(text).await);
        app.step(Duration::from_secs(60)).await;
    }
    Picture::make(&place.files()).await;
    let before = place.held().await;
    place.user.faults(row.0, place.account, json!([{"on": "commit", "kind": fault}])).await;
    let settings = networks::needed_settings(row.0);
    let mut body = json!({
        "account_id": place.account, "settings": settings, "media_urls": place.files(),
    });
    if let Some(post_type) = row.1 {
        body["post_type"] = json!(post_type);
    }
    if !text.is_empty() {
        body["caption"] = json!(text);
    }
    // Its files are looked at in real time, in which the networks' clock goes on alone.
    body["scheduled_at"] = json!(app.at(5));
    let post = place.user.publish(body).await;
    place.is_prepared(&post["id"]).await;
    if time == "just before" {
        app.step(Duration::from_secs(3)).await;
        by_hand = Some(place.by_hand(text).await);
    }
    if time == "in it" || time == "after" {
        place.is_asked(1).await;
        if time == "after" {
            app.step(Duration::from_secs(50)).await;
        }
        by_hand = Some(place.by_hand(text).await);
    }
    let post = networks::ended(app, &place.user, &post["id"]).await;
    let others = usize::from(time != "long before");
    let made = place.held().await - before - others;
    is_told_truly(&story, row, &post, (by_hand.as_deref(), made));
}

/// Checks that a post is called published only if it was made, and never under the id of what a person made.
fn is_told_truly(story: &str, row: Row, post: &Value, (by_hand, made): (Option<&str>, usize)) {
    assert!(made <= 1, "{story}: {made} made: {post:#}");
    if post["status"] == "published" {
        assert_eq!(made, 1, "{story}: {post:#}");
        assert_ne!(post["platform_post_id"].as_str(), by_hand, "{story}: {post:#}");
        return;
    }
    assert_eq!(post["error"]["code"], "outcome_unknown", "{story}: {post:#}");
    assert_eq!(post["error"]["retry_safe"], false, "{story}: {post:#}");
    assert!(!row.3 || by_hand.is_none(), "{story}: its files tell it: {post:#}");
}

#[tokio::test]
async fn what_a_person_made_without_words_is_never_taken_for_a_post() {
    let app = TestApp::start().await;
    for row in ROWS {
        for time in TIMES {
            for fault in ["reset", "drop_after_change"] {
                Box::pin(play(&app, *row, ("", fault, time))).await;
            }
        }
    }
}

#[tokio::test]
async fn what_a_person_made_with_the_same_words_is_never_taken_for_a_post() {
    let app = TestApp::start().await;
    for row in ROWS.iter().filter(|row| row.1 != Some("story")) {
        for time in ["just before", "in it"] {
            for fault in ["reset", "drop_after_change"] {
                let row = (row.0, row.1, row.2, false);
                Box::pin(play(&app, row, ("The words of both", fault, time))).await;
            }
        }
    }
}
