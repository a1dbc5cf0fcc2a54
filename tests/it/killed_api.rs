//! The service is killed at any moment of a write, and the same request is sent again.

use std::time::Duration;

use fanfare_tests::User;
use serde_json::json;

use crate::service::{Dir, Service};

#[tokio::test]
async fn a_kill_between_commit_and_reply_changes_nothing() {
    let dir = Dir::new();
    let mut service = Service::start(&dir, true, &[]);
    let key = service.key.clone().expect("the first start prints a key");
    let account = User::new(&service.origin, key.clone()).connect("bluesky").await;
    for round in 0..6u64 {
        let body = json!({
            "account_id": account, "caption": format!("round {round}"), "scheduled_at": "2099-01-01T00:00:00Z",
        });
        let name = format!("round-{round}");
        let url = format!("{}/api/v1/posts", service.origin);
        let first = reqwest::Client::new().post(url).bearer_auth(&key);
        let first = first.header("Idempotency-Key", &name).json(&body).send();
        // The request is cut off somewhere between its arrival and its answer.
        let _ = tokio::time::timeout(Duration::from_millis(2 + round * 4), first).await;
        drop(service);
        service = Service::start(&dir, false, &[]);
        let user = User::new(&service.origin, key.clone());
        let again = user.post_keyed("/api/v1/posts", &name, &body).await;
        // Answered: the post was made, by one of the two. In progress: the dead process still holds the key, which
        // lapses after a minute, and because its answer would stand beside its post, there is no post.
        let made = usize::from(again.status == 201);
        if made == 0 {
            again.refused(409, "idempotency_in_progress");
        }
        let posts = user.get("/api/v1/posts?limit=100").await.expect(200).body["posts"].clone();
        let same = |post: &&serde_json::Value| post["caption"] == body["caption"];
        assert_eq!(posts.as_array().unwrap().iter().filter(same).count(), made, "{posts:#}");
    }
}
