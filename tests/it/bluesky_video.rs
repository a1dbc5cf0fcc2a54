//! Videos on Bluesky: the service that processes them, its limits and failures, captions, alt texts.

mod captions;
mod chain_cuts;
mod limits;
mod processing;

use fanfare_tests::{ApiReply, Options, Picture, TestApp, User, networks};
use serde_json::{Value, json};

/// A user with an account on the simulated Bluesky.
struct Stage {
    app: TestApp,
    user: User,
    account: i64,
}

impl Stage {
    async fn set(options: Options) -> Self {
        let app = TestApp::with(options).await;
        let user = app.user().await;
        let account = user.connect("bluesky").await;
        Self { app, user, account }
    }

    async fn new() -> Self {
        Self::set(Options::default()).await
    }

    /// Says how the network takes videos from now on.
    async fn video(&self, mut settings: Value) {
        settings["account_id"] = json!(self.account);
        let _ = self.user.put("/api/v1/sandbox/bluesky/video", settings).await.expect(200);
    }

    /// Has the network answer otherwise than usual.
    async fn answers(&self, answers: Value) {
        let remote = networks::newest_account(&self.app, "bluesky").await;
        let behaviour = json!({ "answers": answers });
        self.app.simulator.behave("bluesky", &remote, &behaviour).await;
    }

    /// The body of a post with a video.
    fn post(&self, caption: &str, settings: Value) -> Value {
        let video = Picture::lasting().file("video/mp4", 0);
        json!({"account_id": self.account, "caption": caption, "media_url": video, "settings": settings})
    }

    /// Publishes a video, to whatever end.
    async fn publish(&self, caption: &str, settings: Value) -> Value {
        networks::publish(&self.app, &self.user, self.post(caption, settings)).await
    }

    /// What is on the network.
    async fn held(&self) -> Vec<Value> {
        self.user.on_network("bluesky", self.account).await
    }

    /// The number of calls of a method of the network.
    async fn calls(&self, method: &str) -> usize {
        let calls = networks::calls(&self.app, "bluesky").await;
        calls.iter().filter(|call| call.to_string().contains(method)).count()
    }

    /// Stores a file with captions; returns its address.
    async fn captions(&self, text: &str) -> Value {
        self.user.upload("captions.vtt", "text/vtt", text.as_bytes()).await["public_url"].clone()
    }

    async fn refused(&self, settings: Value, code: &str) -> ApiReply {
        let body = self.post("Not as it should be", settings);
        self.user.post("/api/v1/posts", body).await.refused(400, code)
    }
}

/// The names of the steps of a post's attempts, each once where it is repeated.
async fn steps(user: &User, post: &Value) -> Vec<String> {
    let path = format!("/api/v1/posts/{}/attempts", post["id"]);
    let attempts = user.get(&path).await.expect(200).body["attempts"].clone();
    let steps = attempts.as_array().unwrap().iter().filter_map(|one| one["steps"].as_array());
    let mut names: Vec<_> =
        steps.flatten().map(|step| step["name"].as_str().unwrap().to_owned()).collect();
    names.dedup();
    names
}

/// A file with captions.
const CAPTIONS: &str = "WEBVTT\n\n00:00.000 --> 00:02.000\nFold it in half.\n";
