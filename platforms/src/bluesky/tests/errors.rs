use std::time::Duration;

use serde_json::json;

use super::{account, secrets};
use crate::{
    ErrorKind,
    bluesky::error::parse_error,
    tests::test_server::{Network, at, reply},
};

#[tokio::test]
async fn each_answer_of_failure_says_what_to_do() {
    let session = Network::start(|_| (200, json!({}))).await.session(account(), secrets());
    let cases = [
        (400, "ExpiredToken", ErrorKind::TokenExpired),
        (400, "InvalidToken", ErrorKind::TokenExpired),
        (401, "AuthMissing", ErrorKind::TokenExpired),
        (401, "AuthenticationRequired", ErrorKind::Reconnect),
        (400, "AccountTakedown", ErrorKind::Reconnect),
        (400, "AccountDeactivated", ErrorKind::Reconnect),
        (401, "AuthFactorTokenRequired", ErrorKind::InvalidCredentials),
        (429, "RateLimitExceeded", ErrorKind::RateLimited),
        (400, "BlobTooLarge", ErrorKind::MediaRejected),
        (413, "PayloadTooLarge", ErrorKind::MediaRejected),
        (400, "InvalidRequest", ErrorKind::Rejected),
        (400, "InvalidRecord", ErrorKind::Rejected),
        (403, "Forbidden", ErrorKind::PermissionMissing),
        (404, "XRPCNotSupported", ErrorKind::TargetGone),
        (501, "MethodNotImplemented", ErrorKind::TargetGone),
        (302, "", ErrorKind::TargetGone),
        (408, "", ErrorKind::Server),
        (500, "InternalServerError", ErrorKind::Server),
        (502, "UpstreamFailure", ErrorKind::Server),
        (503, "", ErrorKind::Server),
    ];
    for (status, code, kind) in cases {
        let body = json!({"error": code, "message": "in the network's words"});
        let error = parse_error(&session, &reply(status, &[], &body));
        assert_eq!(error.kind, kind, "{status} {code}");
        let said = error.reply.unwrap();
        assert_eq!((said.status, said.code.as_deref()), (status, Some(code)));
        assert_eq!(said.message.as_deref(), Some("in the network's words"));
    }
}

#[tokio::test]
async fn the_wait_is_taken_from_the_header_that_names_it() {
    let session = Network::start(|_| (200, json!({}))).await.session(account(), secrets());
    let wait = |headers: &[(&'static str, &str)]| {
        parse_error(&session, &reply(429, headers, &json!({}))).retry_after
    };
    let reset = (at(90).timestamp()).to_string();
    assert_eq!(wait(&[("ratelimit-reset", &reset)]), Some(Duration::from_secs(90)));
    let both = [("ratelimit-reset", reset.as_str()), ("retry-after", "7")];
    assert_eq!(wait(&both), Some(Duration::from_secs(7)));
    let past = at(-5).timestamp().to_string();
    assert_eq!(wait(&[("ratelimit-reset", &past)]), Some(Duration::ZERO));
    assert_eq!(wait(&[]), None);
}

#[tokio::test]
async fn a_secret_that_comes_back_is_not_told() {
    let session = Network::start(|_| (200, json!({}))).await.session(account(), secrets());
    let body = json!({"error": "InvalidRequest", "message": "bad token access-token"});
    let error = parse_error(&session, &reply(400, &[], &body));
    let shown = format!("{error:?} {error}");
    assert!(!shown.contains("access-token") && shown.contains("[redacted]"), "{shown}");
}
