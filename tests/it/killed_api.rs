//! The service is killed in the middle of a write, and the same request is sent again.

use std::time::Duration;

use fanfare_core::failpoint;
use fanfare_tests::User;
use serde_json::json;

use crate::service::{Dir, Service};

/// Sends the request to a service that is killed at `place`, and again to the next one; what the second answered.
async fn killed_at(dir: &Dir, key: &str, account: i64, place: &str) {
    let service = Service::start(dir, false, &[("FANFARE_FAILPOINT", place)]);
    let body = json!({
        "account_id": account, "caption": format!("killed at {place}"), "scheduled_at": "2099-01-01T00:00:00Z",
    });
    let first = User::new(&service.origin, key.to_owned());
    let (sent, named) = (body.clone(), place.to_owned());
    let first = tokio::spawn(async move { first.post_keyed("/api/v1/posts", &named, &sent).await });
    let deadline = tokio::time::Instant::now() + fanfare_tests::patience();
    while !service.logged().iter().any(|line| line.contains("stopped at a failpoint")) {
        assert!(tokio::time::Instant::now() < deadline, "{place} is never reached");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(service);
    assert!(first.await.is_err(), "nobody has answered the first request");
    let service = Service::start(dir, false, &[]);
    let user = User::new(&service.origin, key.to_owned());
    let again = user.post_keyed("/api/v1/posts", place, &body).await;
    // The key of the dead process is free, and a change that it had made gets the answer it would have got.
    let replayed = if place == "change_committed" { "true" } else { "" };
    assert_eq!(again.expect(201).header("idempotent-replayed"), replayed);
    let posts = user.get("/api/v1/posts?limit=100").await.expect(200).body["posts"].clone();
    let same = |post: &&serde_json::Value| post["caption"] == body["caption"];
    assert_eq!(posts.as_array().unwrap().iter().filter(same).count(), 1, "{posts:#}");
}

#[tokio::test]
async fn a_kill_between_commit_and_reply_changes_nothing() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    let key = service.key.clone().expect("the first start prints a key");
    let account = User::new(&service.origin, key.clone()).connect("bluesky").await;
    drop(service);
    for place in failpoint::ANSWERING {
        killed_at(&dir, &key, account, place).await;
    }
}
