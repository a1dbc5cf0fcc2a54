use std::time::Duration;

use serde_json::json;

use super::{account, secrets};
use crate::{
    Kind,
    bluesky::error::parse_error,
    tests::test_server::{Network, at, reply},
};

#[tokio::test]
async fn each_answer_of_failure_says_what_to_do() {
    let session = Network::start(|_| (200, json!({}))).await.session(account(), secrets());
    let cases = [
        (400, "ExpiredToken", Kind::TokenExpired),
        (400, "InvalidToken", Kind::TokenExpired),
        (401, "AuthMissing", Kind::TokenExpired),
        (401, "AuthenticationRequired", Kind::Reconnect),
        (400, "AccountTakedown", Kind::Reconnect),
        (400, "AccountDeactivated", Kind::Reconnect),
        (401, "AuthFactorTokenRequired", Kind::InvalidCredentials),
        (429, "RateLimitExceeded", Kind::RateLimited),
        (400, "BlobTooLarge", Kind::MediaRejected),
        (413, "PayloadTooLarge", Kind::MediaRejected),
        (400, "InvalidRequest", Kind::Rejected),
        (400, "InvalidRecord", Kind::Rejected),
        (403, "Forbidden", Kind::Misconfigured),
        (404, "XRPCNotSupported", Kind::Misconfigured),
        (501, "MethodNotImplemented", Kind::Misconfigured),
        (302, "", Kind::Misconfigured),
        (408, "", Kind::Server),
        (500, "InternalServerError", Kind::Server),
        (502, "UpstreamFailure", Kind::Server),
        (503, "", Kind::Server),
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
