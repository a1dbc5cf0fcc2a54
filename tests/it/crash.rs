//! Workers die at every named place, and others take over: nothing is lost, nothing is sent twice.

use std::time::Duration;

use fanfare_core::{clock::machine_now, failpoint};
use fanfare_ops::ops::fleet;
use fanfare_tests::{Options, Picture, TestApp, User};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::worker::Worker;

/// The content that a story publishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Text,
    /// A picture, to be uploaded before the post.
    Picture,
    /// A video, to be uploaded and processed before the post.
    Video,
    /// Three segments, each public by itself.
    Chain,
}

/// A network, what is published there, and the places its way leads over.
struct Case {
    platform: &'static str,
    content: Content,
    reaches: &'static [&'static str],
}

/// The failpoints that every post passes.
const SETTLED: &[&str] = &["claimed", "commit_armed", "commit_called", "recorded"];

/// The failpoints of a post that has something to prepare, on a network that can be asked.
const PREPARED: &[&str] = &[
    "claimed",
    "prepare_armed",
    "prepare_called",
    "commit_armed",
    "commit_called",
    "reconcile_armed",
    "reconcile_called",
    "recorded",
];

/// The failpoints of a text on a network that can be asked.
const ASKED: &[&str] = &[
    "claimed",
    "commit_armed",
    "commit_called",
    "reconcile_armed",
    "reconcile_called",
    "recorded",
];

impl Case {
    /// Nobody can ask this network what became of a call.
    fn is_blind(&self) -> bool {
        ["discord", "telegram"].contains(&self.platform)
    }

    /// The number of entries that a published post has on its network.
    fn entries(&self) -> usize {
        if self.content == Content::Chain { 3 } else { 1 }
    }

    /// Makes the post, due now: the account and the post.
    async fn post(&self, app: &TestApp, user: &User) -> (i64, i64) {
        let account = user.connect(self.platform).await;
        let mut body = json!({"account_id": account, "caption": "Exactly once"});
        match self.content {
            Content::Text => {}
            Content::Picture => {
                let url = Picture::serve().await.url;
                return with_file(app, user, account, (body, url)).await;
            }
            Content::Video => {
                let url = Picture::lasting().file("video/mp4", 0);
                return with_file(app, user, account, (body, url)).await;
            }
            Content::Chain => {
                body["post_type"] = json!("threads_thread");
                body["metadata"] = json!({"threads_thread_posts": ["One", "Two", "Three"]});
            }
        }
        (account, user.publish(body).await["id"].as_i64().unwrap())
    }
}

/// A file is copied and analysed by a worker before the post is due; the post waits until that worker is gone.
async fn with_file(
    app: &TestApp,
    user: &User,
    account: i64,
    (mut body, url): (Value, String),
) -> (i64, i64) {
    let copies = Worker::start(app, None);
    body["media_url"] = json!(url);
    body["scheduled_at"] = json!(app.at(3_600));
    let id = user.publish(body).await["id"].as_i64().unwrap();
    app.eventually("the file is analysed", || async {
        let post = user.get(&format!("/api/v1/posts/{id}")).await.body["post"].clone();
        (post["media"][0]["analysis"] == "ready").then_some(())
    })
    .await;
    drop(copies);
    let now = json!({"scheduled_at": app.at(0)});
    let _ = user.patch(&format!("/api/v1/posts/{id}"), now).await.expect(200);
    (account, id)
}

/// Lets the lease and the deadline of whatever the dead worker held pass: the fleet's clock is the database's, so the
/// rows are moved instead.
pub async fn let_leases_lapse(app: &TestApp) {
    let sql = format!(
        "UPDATE posts SET due_at = due_at - 600000, {} WHERE due_at IS NOT NULL",
        deadline_passed()
    );
    app.domain.db.write.execute_unprepared(&sql).await.expect("the rows move");
}

/// Returns the part of a statement that ends the deadline of a call, and the time after it in which the network may still
/// be at work. The time of the call stays: what the network made of it is known by that.
fn deadline_passed() -> String {
    let over = machine_now() - 10_001;
    format!("sending_until = CASE WHEN sending_until > {over} THEN {over} ELSE sending_until END")
}

/// Kills a worker at `failpoint` and has another take over; what became of the post, how much of it is on the network,
/// and whether the failpoint was reached.
async fn survive(app: &TestApp, user: &User, case: &Case, place: &str) -> (Value, usize, bool) {
    let (account, id) = case.post(app, user).await;
    if place.starts_with("reconcile") {
        // A reconcile needs a lost answer first.
        let mut first = Worker::start(app, Some("commit_called"));
        first.arrived().await;
        drop(first);
        let_leases_lapse(app).await;
    }
    let mut dying = Worker::start(app, Some(place));
    // A failpoint that is not on this post's way is passed by; then the post simply ends.
    let arrived = {
        let mut arrival = std::pin::pin!(dying.arrived());
        tokio::select! {
            () = &mut arrival => true,
            // At the last failpoint the post has ended a moment before the worker says that it is there.
            _ = over(app, user, id) => {
                tokio::time::timeout(Duration::from_millis(500), arrival).await.is_ok()
            }
        }
    };
    drop(dying);
    let_leases_lapse(app).await;
    let _second = Worker::start(app, None);
    let post = over(app, user, id).await;
    (post, user.on_network(case.platform, account).await.len(), arrived)
}

/// The post when it has ended; waits of the protocol are passed over.
async fn over(app: &TestApp, user: &User, id: i64) -> Value {
    app.eventually("another worker ends it", || async {
        let_waits_pass(app).await;
        let post = user.get(&format!("/api/v1/posts/{id}")).await.body["post"].clone();
        (post["status"] == "published" || post["status"] == "failed").then_some(post)
    })
    .await
}

/// Waits of the protocol (the end of a deadline, a container) pass too; a held lease does not.
async fn let_waits_pass(app: &TestApp) {
    let sql = format!(
        "UPDATE posts SET due_at = 1, absent_at = absent_at - 600000, {} \
         WHERE due_at IS NOT NULL AND lease_expirations = 0",
        deadline_passed()
    );
    app.domain.db.write.execute_unprepared(&sql).await.expect("the rows move");
}

/// One case, every failpoint of `places`.
async fn killed_at(case: &Case, places: &[&'static str]) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let mut reached = Vec::new();
    for place in places {
        let (post, held, arrived) = survive(&app, &user, case, place).await;
        if arrived {
            reached.push(*place);
        }
        let story = format!("{} killed at {place}: {post:#}", case.platform);
        let asked = place.starts_with("reconcile");
        if case.is_blind() && (asked || (place.starts_with("commit") && arrived)) {
            assert_eq!(post["error"]["code"], "outcome_unknown", "{story}");
            assert!(held <= 1, "{story}");
        } else {
            assert_eq!(post["status"], "published", "{story}");
            assert_eq!(held, case.entries(), "{story}");
        }
    }
    for name in case.reaches {
        assert!(reached.contains(name), "{} never reached {name}: {reached:?}", case.platform);
    }
}

async fn killed_anywhere(platform: &'static str, content: Content, reaches: &'static [&str]) {
    killed_at(&Case { platform, content, reaches }, failpoint::PUBLISHING).await;
}

#[tokio::test]
async fn a_worker_killed_anywhere_on_a_key_network() {
    killed_anywhere("bluesky", Content::Text, ASKED).await;
}

#[tokio::test]
async fn a_worker_killed_anywhere_on_a_handle_network() {
    // Threads walks through every step there is, with a text too.
    killed_anywhere("threads", Content::Text, failpoint::PUBLISHING).await;
}

#[tokio::test]
async fn a_worker_killed_anywhere_on_a_search_network() {
    killed_anywhere("wordpress", Content::Text, ASKED).await;
}

#[tokio::test]
async fn a_worker_killed_anywhere_on_a_blind_network() {
    killed_anywhere("discord", Content::Text, SETTLED).await;
    killed_anywhere("telegram", Content::Text, SETTLED).await;
}

#[tokio::test]
async fn a_worker_killed_anywhere_with_a_picture_to_upload() {
    killed_anywhere("bluesky", Content::Picture, PREPARED).await;
    killed_anywhere("wordpress", Content::Picture, PREPARED).await;
}

#[tokio::test]
async fn a_worker_killed_anywhere_with_a_video_to_upload() {
    const UPLOADED: &[&str] =
        &["prepare_armed:2", "prepare_called:2", "prepare_armed:3", "prepare_called:3"];
    let case = Case { platform: "bluesky", content: Content::Video, reaches: UPLOADED };
    killed_at(&case, UPLOADED).await;
    killed_anywhere("bluesky", Content::Video, PREPARED).await;
}

#[tokio::test]
async fn a_worker_killed_anywhere_in_a_chain() {
    const SECOND: &[&str] =
        &["prepare_called:2", "commit_armed:2", "commit_called:2", "recorded:4"];
    let case = Case { platform: "threads", content: Content::Chain, reaches: SECOND };
    killed_at(&case, SECOND).await;
    killed_anywhere("threads", Content::Chain, failpoint::PUBLISHING).await;
}

/// A post is sent, and one worker after the other dies with it before it can ask; the last one lives.
async fn sent_and_lost(app: &TestApp, user: &User, platform: &'static str, lost: usize) -> Value {
    let case = Case { platform, content: Content::Text, reaches: &[] };
    let (account, id) = case.post(app, user).await;
    for place in std::iter::once("commit_called").chain(std::iter::repeat_n("claimed", lost)) {
        let mut dying = Worker::start(app, Some(place));
        dying.arrived().await;
        drop(dying);
        let_leases_lapse(app).await;
    }
    let _last = Worker::start(app, None);
    let post = over(app, user, id).await;
    assert_eq!(user.on_network(platform, account).await.len(), 1, "{platform}: {post:#}");
    post
}

#[tokio::test]
async fn a_post_that_workers_do_not_survive_is_asked_about_before_it_is_given_up() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let asked = sent_and_lost(&app, &user, "wordpress", 4).await;
    assert_eq!(asked["status"], "published", "{asked:#}");
    let given_up = sent_and_lost(&app, &user, "wordpress", 6).await;
    assert_eq!(given_up["error"]["code"], "outcome_unknown", "{given_up:#}");
}

#[tokio::test]
async fn a_worker_killed_while_it_copies_a_picture() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    for place in failpoint::COPYING {
        let mut dying = Worker::start(&app, Some(place));
        let picture = Picture::serve().await;
        let body = json!({"account_id": account, "caption": "A picture", "media_url": picture.url,
            "scheduled_at": app.at(3_600)});
        let asked = tokio::spawn({
            let (user, body) = (user.clone(), body.clone());
            async move { user.post("/api/v1/posts", body).await }
        });
        dying.arrived().await;
        drop(dying);
        let lapse = "UPDATE media_assets SET due_at = 1 WHERE due_at IS NOT NULL";
        app.domain.db.write.execute_unprepared(lapse).await.expect("the row moves");
        let _second = Worker::start(&app, None);
        let post = asked.await.unwrap().expect(201).body["post"].clone();
        let url = post["media"][0]["url"].as_str().unwrap();
        let file = fanfare_tests::local_client().get(url).send().await.unwrap();
        let bytes = file.error_for_status().unwrap().bytes().await.unwrap();
        assert!(bytes.starts_with(b"\x89PNG"), "killed at {place}");
        assert!(picture.asked() <= 2, "killed at {place}");
    }
}

#[tokio::test]
async fn a_worker_killed_while_it_delivers_a_webhook() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let receiver = fanfare_tests::Receiver::start().await;
    let hook = json!({"url": receiver.url, "events": ["post.created"]});
    let _ = user.post("/api/v1/webhooks", hook).await.expect(201);
    let account = user.connect("bluesky").await;
    for (round, place) in failpoint::DELIVERING.iter().enumerate() {
        let draft = json!({"account_id": account, "caption": "A draft", "status": "draft"});
        let _ = user.publish(draft).await;
        let mut dying = Worker::start(&app, Some(place));
        dying.arrived().await;
        drop(dying);
        let lapse = "UPDATE webhook_deliveries SET due_at = 1 WHERE due_at IS NOT NULL";
        app.domain.db.write.execute_unprepared(lapse).await.expect("the row moves");
        let _second = Worker::start(&app, None);
        app.eventually("the delivery is made", || async {
            let sql = "SELECT id FROM webhook_deliveries WHERE status = 'pending'";
            let db = &app.domain.db.read;
            let open = sea_orm::Statement::from_string(db.get_database_backend(), sql);
            db.query_all_raw(open).await.unwrap().is_empty().then_some(())
        })
        .await;
        // A receiver knows a second delivery by its id.
        let heard = receiver.received();
        let ids: std::collections::BTreeSet<_> =
            heard.iter().map(|one| one.header("x-fanfare-delivery").to_owned()).collect();
        assert_eq!(ids.len(), round + 1, "killed at {place}: {heard:#?}");
    }
}

#[tokio::test]
async fn a_worker_told_to_stop_ends_well() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let mut worker = Worker::start(&app, None);
    app.eventually("it says that it is there", || async {
        (!fleet::list(&app.domain).await.unwrap().is_empty()).then_some(())
    })
    .await;
    assert_eq!(worker.stop().await.code(), Some(0));
}
