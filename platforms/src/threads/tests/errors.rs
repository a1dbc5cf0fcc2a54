//! The table of errors.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    ErrorKind,
    tests::test_server::reply,
    threads::error::{failed_container, is_too_early, parse_error},
};

fn graph(code: u64, subcode: Option<u64>, message: &str) -> Value {
    json!({"error": {"message": message, "type": "OAuthException", "code": code, "error_subcode": subcode}})
}

#[test]
fn each_error_says_what_to_do() {
    let table = [
        (401, graph(190, Some(463), "Session has expired"), ErrorKind::TokenExpired),
        (
            401,
            graph(190, None, "Error validating access token: it has expired on Monday"),
            ErrorKind::TokenExpired,
        ),
        (401, graph(190, Some(460), "The password was changed"), ErrorKind::Reconnect),
        (400, graph(102, None, "Session"), ErrorKind::Reconnect),
        (403, graph(10, None, "Permission"), ErrorKind::PermissionMissing),
        (403, graph(200, None, "Permission"), ErrorKind::PermissionMissing),
        (400, graph(4, None, "Limit"), ErrorKind::RateLimited),
        (400, graph(17, None, "Limit"), ErrorKind::RateLimited),
        (400, graph(32, None, "Limit"), ErrorKind::RateLimited),
        (400, graph(613, None, "Limit"), ErrorKind::RateLimited),
        (429, json!({}), ErrorKind::RateLimited),
        (400, graph(4, Some(2_207_051), "Spam"), ErrorKind::Rejected),
        (400, graph(9, Some(2_207_042), "Quota"), ErrorKind::QuotaExhausted),
        (400, graph(100, None, "Invalid parameter"), ErrorKind::Rejected),
        (400, graph(100, None, "Param text THREADS_API__LINK_LIMIT_EXCEEDED"), ErrorKind::Rejected),
        (
            400,
            graph(100, Some(2_207_052), "The media could not be fetched from this URI"),
            ErrorKind::MediaRejected,
        ),
        (400, graph(1, None, "Unknown"), ErrorKind::Transient),
        (400, json!({"error": {"code": 999, "is_transient": true}}), ErrorKind::Transient),
        (400, graph(24, Some(4_279_009), "Not found"), ErrorKind::Transient),
        (400, graph(1, Some(4_279_013), "Restricted"), ErrorKind::Restricted),
        (400, json!({}), ErrorKind::Rejected),
        (401, json!({}), ErrorKind::Reconnect),
        (408, json!({}), ErrorKind::Ambiguous),
        (301, json!({}), ErrorKind::TargetGone),
        (500, graph(2, None, "Service"), ErrorKind::Server),
        (502, json!("html"), ErrorKind::Server),
    ];
    for (status, body, kind) in table {
        assert_eq!(parse_error(&reply(status, &[], &body)).kind, kind, "{status} {body}");
    }
}

#[test]
fn a_container_that_is_not_found_yet_is_recognised_by_code_and_by_subcode() {
    for body in [graph(24, Some(4_279_009), "x"), graph(4_279_009, None, "x")] {
        assert!(is_too_early(&parse_error(&reply(400, &[], &body))), "{body}");
    }
    assert!(!is_too_early(&parse_error(&reply(400, &[], &graph(100, None, "4279009")))));
}

#[test]
fn the_words_for_people_are_kept() {
    let body = json!({"error": {"message": "Invalid", "code": 100, "error_user_msg": "Too long."}});
    let shown = parse_error(&reply(400, &[], &body)).reply.unwrap();
    assert_eq!((shown.code.as_deref(), shown.message.as_deref()), (Some("100"), Some("Too long.")));
}

#[test]
fn the_waiting_time_is_found_in_either_header() {
    let wait = |headers: &[(&'static str, &str)]| {
        parse_error(&reply(400, headers, &graph(4, None, "Limit"))).retry_after
    };
    let usage = r#"{"55":[{"type":"threads","estimated_time_to_regain_access":3},{"estimated_time_to_regain_access":7}]}"#;
    assert_eq!(wait(&[("x-business-use-case-usage", usage)]), Some(Duration::from_secs(420)));
    assert_eq!(
        wait(&[("retry-after", "9"), ("x-business-use-case-usage", usage)]),
        Some(Duration::from_secs(9))
    );
    assert_eq!(wait(&[("x-app-usage", r#"{"call_count":100}"#)]), None);
}

#[test]
fn reasons_of_dead_containers_are_sorted() {
    let table = [
        ("FAILED_DOWNLOADING_VIDEO", ErrorKind::MediaRejected),
        ("FAILED_PROCESSING_AUDIO", ErrorKind::MediaRejected),
        ("INVALID_ASPEC_RATIO", ErrorKind::MediaRejected),
        ("The media could not be fetched from this URI", ErrorKind::MediaRejected),
        ("EXPIRED", ErrorKind::Transient),
        ("UNKNOWN", ErrorKind::Rejected),
    ];
    for (reason, kind) in table {
        assert_eq!(failed_container(reason).kind, kind, "{reason}");
    }
}
