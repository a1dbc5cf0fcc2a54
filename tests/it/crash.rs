//! Workers die at every named place, and others take over: nothing is lost, nothing is sent twice.

use std::{process::Command, time::Duration};

use fanfare_tests::{Options, TestApp, User};
use fanfare_workers::failpoint;
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::worker::Worker;

/// What is published in these stories, by class: the platform and whether the post has something to prepare.
const CLASSES: &[&str] = &["bluesky", "threads", "wordpress", "discord", "telegram"];

/// Lets the lease and the deadline of whatever the dead worker held pass: the fleet's clock is the database's, so the
/// rows are moved instead.
async fn let_leases_lapse(app: &TestApp) {
    let sql = "UPDATE posts SET due_at = due_at - 600000, rung_at = NULL, sending_at = sending_at - 600000, \
         sending_until = sending_until - 600000 WHERE due_at IS NOT NULL";
    app.domain.db.write.execute_unprepared(sql).await.expect("the rows move");
}

async fn post_on(app: &TestApp, user: &User, platform: &str) -> (i64, i64) {
    let account = user.connect(platform).await;
    let post = user.publish(json!({"account_id": account, "caption": "Exactly once"})).await;
    let _ = app;
    (account, post["id"].as_i64().unwrap())
}

/// Kills a worker at `failpoint` and has another take over; what became of the post.
async fn survive(
    app: &TestApp,
    user: &User,
    platform: &str,
    failpoint: &str,
) -> (Value, usize, bool) {
    if failpoint.starts_with("reconcile") {
        // A reconcile needs a lost answer first.
        let mut first = Worker::start(app, Some("commit_called"));
        let (account, id) = post_on(app, user, platform).await;
        first.arrived().await;
        drop(first);
        let_leases_lapse(app).await;
        return take_over(app, user, platform, account, id, failpoint).await;
    }
    let (account, id) = post_on(app, user, platform).await;
    take_over(app, user, platform, account, id, failpoint).await
}

async fn take_over(
    app: &TestApp,
    user: &User,
    platform: &str,
    account: i64,
    id: i64,
    failpoint: &str,
) -> (Value, usize, bool) {
    let mut dying = Worker::start(app, Some(failpoint));
    // A failpoint that is not on this post's way is passed by; then the post simply ends.
    let arrived = tokio::select! {
        () = dying.arrived() => true,
        _ = app.settled(user, id, &["published", "failed"]) => false,
    };
    drop(dying);
    let_leases_lapse(app).await;
    let _second = Worker::start(app, None);
    let post = app
        .eventually("another worker ends it", || async {
            let_leases_lapse_of_waiting(app).await;
            let post = user.get(&format!("/api/v1/posts/{id}")).await.body["post"].clone();
            (post["status"] == "published" || post["status"] == "failed").then_some(post)
        })
        .await;
    (post, user.on_network(platform, account).await.len(), arrived)
}

/// Waits of the protocol (the end of a deadline, a container) pass too; a held lease does not.
async fn let_leases_lapse_of_waiting(app: &TestApp) {
    let sql = "UPDATE posts SET due_at = 1, rung_at = NULL, sending_until = sending_until - 600000 \
         WHERE due_at IS NOT NULL AND laps = 0";
    app.domain.db.write.execute_unprepared(sql).await.expect("the rows move");
}

/// One class, every failpoint.
async fn every_failpoint(platform: &str) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let blind = ["discord", "telegram"].contains(&platform);
    let mut reached = Vec::new();
    for failpoint in failpoint::ALL {
        let (post, held, arrived) = survive(&app, &user, platform, failpoint).await;
        if arrived {
            reached.push(*failpoint);
        }
        let story = format!("{platform} killed at {failpoint}: {post:#}");
        let unsure =
            blind && (failpoint.starts_with("commit") || failpoint.starts_with("reconcile"));
        if unsure && (arrived || failpoint.starts_with("reconcile")) {
            assert_eq!(post["error"]["code"], "outcome_unknown", "{story}");
            assert!(held <= 1, "{story}");
        } else {
            assert_eq!(post["status"], "published", "{story}");
            assert_eq!(held, 1, "{story}");
        }
    }
    // A text has nothing to prepare or to read back, except on Threads, which walks through every step there is.
    let settled = ["claimed", "commit_armed", "commit_called", "recorded"];
    let asked = ["reconcile_armed", "reconcile_called"];
    let expected = match platform {
        "threads" => failpoint::ALL.to_vec(),
        _ if blind => settled.to_vec(),
        _ => [&settled[..], &asked[..]].concat(),
    };
    for name in expected {
        assert!(reached.contains(&name), "{platform} never reached {name}: {reached:?}");
    }
}

#[tokio::test]
async fn a_worker_killed_anywhere_on_a_key_network() {
    every_failpoint(CLASSES[0]).await;
}

#[tokio::test]
async fn a_worker_killed_anywhere_on_a_handle_network() {
    every_failpoint(CLASSES[1]).await;
}

#[tokio::test]
async fn a_worker_killed_anywhere_on_a_search_network() {
    every_failpoint(CLASSES[2]).await;
}

#[tokio::test]
async fn a_worker_killed_anywhere_on_a_blind_network() {
    every_failpoint(CLASSES[3]).await;
    every_failpoint(CLASSES[4]).await;
}

#[tokio::test]
async fn a_worker_told_to_stop_ends_well() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let mut worker = Worker::start(&app, None);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let told = Command::new("kill").args(["-TERM", &worker.id().to_string()]).status();
    assert!(told.expect("kill runs").success());
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    let ended = loop {
        if let Some(ended) = worker.ended() {
            break ended;
        }
        assert!(tokio::time::Instant::now() < deadline, "the worker does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(ended.code(), Some(0));
}
