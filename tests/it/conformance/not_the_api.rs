//! Answers that are not the API's: pages of hosts and of what stands in front of them, and nothing at all. After a call that
//! publishes they leave its outcome open, and it is looked up; in place of a list they are no evidence.

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

const PAGE: &str =
    "<!doctype html><html><title>Log in</title><body>One moment, please</body></html>";

/// Answers: the status and the body.
const ANSWERS: [(u16, &str); 6] =
    [(200, PAGE), (200, ""), (202, ""), (520, PAGE), (524, "error code: 524"), (527, "")];

async fn publish(app: &TestApp, name: &str, answers: Value) -> (User, i64, Value) {
    let user = app.user().await;
    let account = user.connect(name).await;
    let remote_id = networks::newest_account(app, name).await;
    app.simulator.behave(name, &remote_id, &json!({ "answers": answers })).await;
    let post = networks::publish(app, &user, networks::post(name, account)).await;
    (user, account, post)
}

/// Checks that a post is called what it came to.
async fn is_told_truly(story: &str, name: &str, (user, account, post): &(User, i64, Value)) {
    let held = user.on_network(name, *account).await.len();
    let story = format!("{name}, {story}: {held} there, {post:#}");
    assert!(held <= 1, "{story}");
    if post["status"] == "published" {
        assert_eq!(held, 1, "{story}");
        return;
    }
    assert_eq!(post["status"], "failed", "{story}");
    if post["error"]["code"] == "outcome_unknown" {
        assert_eq!(post["error"]["retry_safe"], false, "{story}");
        return;
    }
    assert_eq!(held, 0, "{story}");
}

#[tokio::test]
async fn a_publishing_call_without_the_apis_answer_is_looked_up() {
    let app = TestApp::start().await;
    let mut turn = 0;
    for name in networks::all() {
        for effect in ["done", "none"] {
            // Each network meets three of them, and each of them meets a third of the networks.
            for (status, body) in ANSWERS.iter().cycle().skip(turn).take(3) {
                let answer = json!({
                    "on": "commit", "times": 1, "effect": effect, "status": status, "body": body,
                });
                let told = publish(&app, name, json!([answer])).await;
                is_told_truly(&format!("{status} {body:?}, {effect}"), name, &told).await;
                let unknown = told.2["error"]["code"] == "outcome_unknown";
                assert!(!unknown || !networks::can_be_asked(name), "{name}: {:#}", told.2);
            }
            turn += 3;
        }
    }
}

#[tokio::test]
async fn a_look_up_without_the_apis_answer_is_no_evidence() {
    let app = TestApp::start().await;
    for (turn, name) in networks::all().into_iter().enumerate() {
        for effect in ["done", "none"] {
            let (status, body) = ANSWERS[turn % ANSWERS.len()];
            let lost =
                json!({"on": "commit", "times": 1, "effect": effect, "status": 524, "body": PAGE});
            // Numbers and other readings meet them too.
            let page = json!({"on": "read", "times": 2, "status": status, "body": body});
            let other = json!({"on": "confirm", "times": 1, "status": status, "body": body});
            let told = publish(&app, name, json!([lost, page, other])).await;
            is_told_truly(&format!("{status} {body:?} to look-ups, {effect}"), name, &told).await;
        }
    }
}
