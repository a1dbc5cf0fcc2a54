//! The table of errors.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    ErrorKind,
    instagram::error::{failed_container, is_not_ready, parse_error},
    tests::test_server::reply,
};

fn graph(code: u64, subcode: Option<u64>, message: &str) -> Value {
    json!({"error": {"message": message, "code": code, "error_subcode": subcode}})
}

#[test]
fn each_error_says_what_to_do() {
    let table = [
        (400, graph(190, Some(463), "Session has expired"), ErrorKind::TokenExpired),
        (400, graph(190, Some(460), "password"), ErrorKind::Reconnect),
        (400, graph(100, Some(33), "does not exist"), ErrorKind::Reconnect),
        (400, graph(100, None, "The user is not an Instagram Business"), ErrorKind::Reconnect),
        (400, graph(102, None, "Session"), ErrorKind::Reconnect),
        (403, graph(10, None, "Permission"), ErrorKind::PermissionMissing),
        (400, graph(1, None, "Unknown"), ErrorKind::Transient),
        (400, graph(9_007, Some(2_207_027), "Not ready"), ErrorKind::Transient),
        (400, graph(1, Some(2_207_003), "Timeout"), ErrorKind::Transient),
        (400, graph(4, None, "Limit"), ErrorKind::RateLimited),
        (400, graph(80_002, None, "Limit"), ErrorKind::RateLimited),
        (400, graph(4, Some(2_207_051), "Spam"), ErrorKind::Rejected),
        (400, graph(9, Some(2_207_042), "Quota"), ErrorKind::QuotaExhausted),
        (400, graph(9, None, "Quota"), ErrorKind::QuotaExhausted),
        (400, graph(100, Some(2_207_010), "Caption"), ErrorKind::Rejected),
        (400, graph(36_003, Some(2_207_009), "Ratio"), ErrorKind::MediaRejected),
        (400, graph(36_001, None, "Resolution"), ErrorKind::MediaRejected),
        (400, graph(9_004, Some(2_207_052), "Fetch"), ErrorKind::MediaRejected),
        (400, graph(100, Some(2_207_026), "Video"), ErrorKind::MediaRejected),
        (400, graph(100, Some(2_207_036), "Tags"), ErrorKind::Rejected),
        (400, graph(100, Some(2_207_008), "Gone"), ErrorKind::Transient),
        (400, graph(25, Some(2_207_050), "Restricted"), ErrorKind::Restricted),
        (400, graph(100, Some(2_207_081), "Trial"), ErrorKind::Rejected),
        (500, graph(2, None, "Service"), ErrorKind::Server),
    ];
    for (status, body, kind) in table {
        assert_eq!(parse_error(&reply(status, &[], &body)).kind, kind, "{status} {body}");
    }
}

#[test]
fn a_quota_is_looked_at_again_in_an_hour() {
    let error = parse_error(&reply(400, &[], &graph(9, Some(2_207_042), "Quota")));
    assert_eq!(error.retry_after, Some(Duration::from_secs(3_600)));
    assert!(is_not_ready(&parse_error(&reply(400, &[], &graph(9_007, Some(2_207_027), "x")))));
    assert!(!is_not_ready(&error));
}

#[test]
fn reasons_of_dead_containers_are_sorted() {
    let table = [
        ("Error: Media upload has failed with error code 2207026", ErrorKind::MediaRejected),
        ("Error: Media upload has failed with error code 2207003", ErrorKind::Transient),
        ("Error: something else", ErrorKind::MediaRejected),
        ("EXPIRED", ErrorKind::Transient),
    ];
    for (said, kind) in table {
        let error = failed_container(said);
        assert_eq!((error.kind, error.reply.unwrap().message.as_deref()), (kind, Some(said)));
    }
}
