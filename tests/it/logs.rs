//! One request id, followed through the logs of the real binary from the call to the webhook; and what logs never hold.

mod models;

use fanfare_tests::{Picture, Receiver, User};
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Dir, Service, eventually};

const CAPTION: &str = "Nobody finds this caption in a log";

/// The log lines of a post, in their order.
const STAGES: &[&str] = &[
    "answered",
    "a post was claimed",
    "a step begins",
    "request answered",
    "the platform answered",
    "an attempt to publish a post ended",
    "a delivery was claimed",
    "a webhook took a delivery",
];

async fn publish(user: &User, account: i64, request: &str) -> i64 {
    let body = json!({"account_id": account, "caption": CAPTION});
    let headers = [("X-Request-Id", request)];
    let made = user.send(Method::POST, "/api/v1/posts", &headers, Some(&body)).await.expect(201);
    assert_eq!(made.header("x-request-id"), request);
    made.body["post"]["id"].as_i64().unwrap()
}

/// The log lines of a file at another address.
const COPY_STAGES: &[&str] = &[
    "the copy of a file was claimed",
    "the copy of a file ended",
    "the analysis of a file was claimed",
    "a file was analysed",
];

fn read(lines: &[String]) -> Vec<Value> {
    let parse = |line: &String| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
    lines.iter().map(parse).collect()
}

/// Waits until this was logged for a request, and returns everything logged.
async fn logged(service: &Service, request: &str, message: &str, times: usize) -> Vec<Value> {
    eventually(message, || async {
        let lines = read(&service.logged());
        let found =
            lines.iter().filter(|line| line["request.id"] == request && line["message"] == message);
        (found.count() >= times).then_some(lines)
    })
    .await
}

#[tokio::test]
async fn one_request_id_from_the_call_to_the_webhook() {
    let dir = Dir::new();
    let variables = [("FANFARE_LOG", "warn,fanfare=debug"), ("FANFARE_LOG_FORMAT", "json")];
    let service = Service::on_stack(&dir, &variables).await;
    let (user, receiver) = (service.user(), Receiver::start().await);
    let hook = json!({"url": receiver.url, "events": ["post.published", "post.failed"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body;
    let account = user.connect("bluesky").await;

    let id = publish(&user, account, "story-followed").await;
    let lines = logged(&service, "story-followed", "a webhook took a delivery", 1).await;
    let mine: Vec<&Value> =
        lines.iter().filter(|line| line["request.id"] == "story-followed").collect();
    for stage in STAGES {
        assert!(mine.iter().any(|line| line["message"] == *stage), "{stage}: {mine:#?}");
    }
    // apalis tells of the job before its row, and with it the request, is known.
    let apalis = |line: &&Value| line["target"].as_str().is_some_and(|t| t.starts_with("apalis"));
    let post = id.to_string();
    for line in lines.iter().filter(|line| line["post.id"] == post.as_str() && !apalis(line)) {
        assert_eq!(line["request.id"], "story-followed", "{line:#}");
    }

    let refuse = json!([{"on": "commit", "kind": "status", "status": 400, "times": 1}]);
    user.faults("bluesky", account, refuse).await;
    publish(&user, account, "story-refused").await;
    let refused = "the platform refused or did not answer";
    let lines = logged(&service, "story-refused", refused, 1).await;
    let line = lines.iter().find(|line| line["message"] == refused).unwrap();
    assert_eq!((&line["status"], &line["platform"]), (&json!(400), &json!("bluesky")), "{line:#}");
    logged(&service, "story-refused", "a webhook took a delivery", 1).await;

    let everything = service.logged().join("\n");
    let secret = hook.pointer("/webhook/secret").or(hook.get("secret")).and_then(Value::as_str);
    for secret in [CAPTION, &user.key, &user.key[4..], secret.expect("the secret, once")] {
        assert!(!everything.contains(secret), "{secret} stands in the log");
    }
    assert!(!everything.to_lowercase().contains("bearer "), "an authorization stands in the log");
}

#[tokio::test]
async fn one_request_id_from_the_call_to_the_copy_of_a_file_and_its_analysis() {
    let dir = Dir::new();
    let variables = [("FANFARE_LOG", "warn,fanfare=debug"), ("FANFARE_LOG_FORMAT", "json")];
    let service = Service::on_stack(&dir, &variables).await;
    let (user, picture) = (service.user(), Picture::serve().await);
    let body = json!({"url": picture.url});
    let headers = [("X-Request-Id", "story-copied")];
    let path = "/api/v1/media/upload-from-url";
    user.send(Method::POST, path, &headers, Some(&body)).await.expect(201);
    let lines = logged(&service, "story-copied", "a file was analysed", 1).await;
    let mine: Vec<&Value> =
        lines.iter().filter(|line| line["request.id"] == "story-copied").collect();
    for stage in COPY_STAGES.iter().chain(&["request answered"]) {
        assert!(mine.iter().any(|line| line["message"] == *stage), "{stage}: {mine:#?}");
    }
    let of_worker = |line: &&&Value| line["target"].as_str().unwrap_or("").contains("workers");
    let named = |line: &&Value| line["asset.id"].is_string();
    assert!(mine.iter().filter(of_worker).all(named), "{mine:#?}");
}
