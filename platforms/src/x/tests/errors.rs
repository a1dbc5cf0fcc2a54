//! The table of errors.

use std::time::Duration;

use serde_json::{Value, json};

use super::session;
use crate::{
    ErrorKind,
    tests::test_server::{Network, at, reply},
    x::error::parse_error,
};

fn problem(title: &str, detail: &str, kind: &str) -> Value {
    json!({"title": title, "detail": detail, "type": kind})
}

#[tokio::test]
async fn each_error_says_what_to_do() {
    let network = Network::start(|_| (200, json!({}))).await;
    let session = session(&network);
    let forbidden = |detail: &str| problem("Forbidden", detail, "about:blank");
    let base = "https://api.twitter.com/2/problems";
    let client = problem(
        "Client Forbidden",
        "Attach your app to a project",
        &format!("{base}/client-forbidden"),
    );
    let capped = problem("UsageCapExceeded", "Usage cap exceeded", &format!("{base}/usage-capped"));
    let invalid =
        json!({"errors": [{"message": "Your media IDs are invalid."}], "title": "Invalid Request"});
    let table = [
        (401, problem("Unauthorized", "Unauthorized", "about:blank"), ErrorKind::TokenExpired),
        (
            403,
            problem("Unsupported Authentication", "Unsupported Authentication", "x"),
            ErrorKind::TokenExpired,
        ),
        (402, json!({"title": "CreditsDepleted"}), ErrorKind::Misconfigured),
        (429, capped, ErrorKind::Misconfigured),
        (
            403,
            forbidden("not allowed to create a Tweet with duplicate content"),
            ErrorKind::Duplicate,
        ),
        (
            403,
            forbidden("not allowed to post a video longer than 2 minutes"),
            ErrorKind::MediaRejected,
        ),
        (403, forbidden("Your account is suspended"), ErrorKind::Restricted),
        (403, forbidden("invalid URL"), ErrorKind::Rejected),
        (
            403,
            forbidden("You are not permitted to perform this action."),
            ErrorKind::PermissionMissing,
        ),
        (403, client, ErrorKind::Misconfigured),
        (400, invalid, ErrorKind::MediaRejected),
        (400, json!({"errors": [{"message": "text is wrong"}]}), ErrorKind::Rejected),
        (429, json!({}), ErrorKind::RateLimited),
        (500, json!({}), ErrorKind::Server),
        (503, json!("html"), ErrorKind::Server),
    ];
    for (status, body, kind) in table {
        let error = parse_error(&session, &reply(status, &[], &body));
        assert_eq!(error.kind, kind, "{status} {body}");
        assert!(error.message.ends_with('.'), "{error}");
    }
}

#[tokio::test]
async fn the_limit_that_is_used_up_says_when_to_come_back() {
    let network = Network::start(|_| (200, json!({}))).await;
    let session = session(&network);
    let (soon, day) = (at(60).timestamp().to_string(), at(7_200).timestamp().to_string());
    let short = [("x-rate-limit-reset", soon.as_str())];
    let error = parse_error(&session, &reply(429, &short, &json!({})));
    assert_eq!(
        (error.kind, error.retry_after),
        (ErrorKind::RateLimited, Some(Duration::from_secs(60)))
    );
    let long = [
        ("x-rate-limit-reset", soon.as_str()),
        ("x-user-limit-24hour-remaining", "12"),
        ("x-app-limit-24hour-remaining", "0"),
        ("x-app-limit-24hour-reset", day.as_str()),
    ];
    let error = parse_error(&session, &reply(429, &long, &json!({})));
    let expected = (ErrorKind::QuotaExhausted, Some(Duration::from_secs(7_200)));
    assert_eq!((error.kind, error.retry_after), expected);
}

#[tokio::test]
async fn a_repeated_token_is_not_kept() {
    let network = Network::start(|_| (200, json!({}))).await;
    let body = problem("Forbidden", "access-1 may not do this", "about:blank");
    let error = parse_error(&session(&network), &reply(403, &[], &body));
    assert!(!format!("{error:?}").contains("access-1"));
}
