//! The service is killed at any moment of a write, and the same request is sent again.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use fanfare_tests::User;
use serde_json::json;

/// `fanfare up` in a process of its own.
struct Service {
    child: Child,
    origin: String,
    key: Option<String>,
}

impl Service {
    fn start(dir: &Path, is_first: bool) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fanfare"))
            .arg("up")
            .env("FANFARE_LISTEN", "127.0.0.1:0")
            .env("FANFARE_DATA_DIR", dir)
            .env("FANFARE_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a line").expect("a line");
        let origin = first.split_whitespace().nth(3).expect("an address").to_owned();
        let rest = is_first.then_some(lines).into_iter().flatten();
        let key = rest.map_while(Result::ok).find(|line| line.starts_with("fan_"));
        Self { child, origin, key }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_kill_between_commit_and_reply_changes_nothing() {
    let dir = std::env::temp_dir().join(format!("fanfare-killed-{}", std::process::id()));
    let mut service = Service::start(&dir, true);
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
        service = Service::start(&dir, false);
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
    drop(service);
    std::fs::remove_dir_all(&dir).expect("the directory is removed");
}
