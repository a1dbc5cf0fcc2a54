//! Answers that something is not found. It concerns the thing that was asked for, which may not be there yet: only an answer
//! about the account itself disconnects it.

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

/// The words of Meta for what it does not find; Instagram's answered so for things that it had just made
/// (<https://github.com/gitroomhq/postiz-app/pull/1562>).
const NODE: &str = r#"{"error":{"message":"Unsupported get request. Object with ID '1' does not exist, cannot be loaded due to missing permissions, or does not support this operation","type":"GraphMethodException","code":100,"error_subcode":33}}"#;

/// Meta's words for an alias that does not exist (<https://developers.facebook.com/docs/graph-api/guides/error-handling>).
const ALIAS: &str = r#"{"error":{"message":"(#803) Some of the aliases you requested do not exist: 1","type":"OAuthException","code":803}}"#;

const META: [&str; 3] = ["facebook", "instagram", "threads"];

/// More calls than a post makes before it is given up.
const ALWAYS: u32 = 1_000;

async fn status_of(user: &User, account: i64) -> Value {
    let accounts = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
    let mine = accounts.as_array().unwrap().iter().find(|one| one["id"] == account);
    mine.expect("the account")["status"].clone()
}

/// An answer that something is not found: the network, its status and words, the calls that it answers.
#[derive(Debug, Clone, Copy)]
struct NotFound {
    platform: &'static str,
    status: u16,
    body: Option<&'static str>,
    on: &'static str,
    times: u32,
}

impl NotFound {
    /// Publishes a post whose calls are answered so. Returns what is wrong if it is not called what it came to, or if the
    /// account, of which the network says nothing, does not stay connected.
    async fn fault(self, app: &TestApp) -> Option<String> {
        let user = app.user().await;
        let account = user.connect(self.platform).await;
        let fault = json!({
            "on": self.on, "kind": "status", "status": self.status, "body": self.body, "times": self.times,
        });
        user.faults(self.platform, account, json!([fault])).await;
        let post = networks::publish(app, &user, networks::post(self.platform, account)).await;
        let held = user.on_network(self.platform, account).await.len();
        let status = status_of(&user, account).await;
        let told =
            format!("{self:?}: {status}, {}, {held} there, {}", post["status"], post["error"]);
        let is_true = if status != "connected" {
            false
        } else if post["status"] == "published" {
            held == 1
        } else if post["error"]["code"] == "outcome_unknown" {
            post["error"]["retry_safe"] == false
        } else {
            held == 0 && post["error"]["retry_safe"] == true && !self.passes(&post)
        };
        (!is_true).then_some(told)
    }

    /// Returns true if the post should have waited: the answer may be about something that was made a moment ago. A target
    /// that is not there is no such thing.
    fn passes(self, post: &Value) -> bool {
        let names_the_target = ["target_not_found", "content_rejected"]
            .iter()
            .any(|code| post["error"]["code"] == *code);
        self.times == 1 && (META.contains(&self.platform) || !names_the_target)
    }
}

/// Answers of every network, to the calls of each phase.
fn answers(times: u32) -> Vec<NotFound> {
    let of = |platform| {
        ["prepare", "commit", "confirm"].into_iter().flat_map(move |on| {
            let plain = NotFound { platform, status: 404, body: None, on, times };
            let said = |body| NotFound { status: 400, body: Some(body), ..plain };
            let meta = META.contains(&platform).then(|| [NODE, ALIAS].map(said));
            // A second status for the same once is enough.
            let gone = (times == 1).then_some(NotFound { status: 410, ..plain });
            [plain].into_iter().chain(gone).chain(meta.into_iter().flatten())
        })
    };
    networks::all().into_iter().flat_map(of).collect()
}

async fn are_of_the_thing_alone(answers: Vec<NotFound>) {
    let app = TestApp::start().await;
    let mut faults = Vec::new();
    for answer in answers {
        faults.extend(Box::pin(answer.fault(&app)).await);
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[tokio::test]
async fn what_is_not_found_once_is_not_there_yet() {
    are_of_the_thing_alone(answers(1)).await;
}

#[tokio::test]
async fn what_is_not_found_thrice_disconnects_nobody() {
    are_of_the_thing_alone(answers(3)).await;
}

#[tokio::test]
async fn what_is_never_found_disconnects_nobody() {
    // Trying again takes hours; one answer of each kind will do.
    let kinds = answers(ALWAYS).into_iter().filter(|answer| match answer.on {
        "confirm" => answer.status == 404,
        _ => answer.body == Some(NODE),
    });
    are_of_the_thing_alone(kinds.collect()).await;
}

#[tokio::test]
async fn an_account_that_is_gone_itself_is_disconnected() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("instagram").await;
    let fault = |phase: &str| json!({"on": phase, "kind": "status", "status": 400, "body": NODE, "times": ALWAYS});
    user.faults("instagram", account, json!([fault("prepare"), fault("read")])).await;
    let post = networks::publish(&app, &user, networks::post("instagram", account)).await;
    assert_eq!(post["status"], "failed", "{post:#}");
    assert_eq!(post["error"]["code"], "account_disconnected", "{post:#}");
    assert_eq!(status_of(&user, account).await, "reconnect_required");
}
