//! The table of errors.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    Kind,
    instagram::error::{broken, is_not_ready, parse_error},
    tests::test_server::reply,
};

fn graph(code: u64, subcode: Option<u64>, message: &str) -> Value {
    json!({"error": {"message": message, "code": code, "error_subcode": subcode}})
}

#[test]
fn each_error_says_what_to_do() {
    let table = [
        (400, graph(190, Some(463), "Session has expired"), Kind::TokenExpired),
        (400, graph(190, Some(460), "password"), Kind::Reconnect),
        (400, graph(100, Some(33), "does not exist"), Kind::Reconnect),
        (400, graph(100, None, "The user is not an Instagram Business"), Kind::Reconnect),
        (400, graph(102, None, "Session"), Kind::Reconnect),
        (403, graph(10, None, "Permission"), Kind::Misconfigured),
        (400, graph(1, None, "Unknown"), Kind::Transient),
        (400, graph(9_007, Some(2_207_027), "Not ready"), Kind::Transient),
        (400, graph(1, Some(2_207_003), "Timeout"), Kind::Transient),
        (400, graph(4, None, "Limit"), Kind::RateLimited),
        (400, graph(80_002, None, "Limit"), Kind::RateLimited),
        (400, graph(4, Some(2_207_051), "Spam"), Kind::Rejected),
        (400, graph(9, Some(2_207_042), "Quota"), Kind::QuotaExhausted),
        (400, graph(9, None, "Quota"), Kind::QuotaExhausted),
        (400, graph(100, Some(2_207_010), "Caption"), Kind::Rejected),
        (400, graph(36_003, Some(2_207_009), "Ratio"), Kind::MediaRejected),
        (400, graph(36_001, None, "Resolution"), Kind::MediaRejected),
        (400, graph(9_004, Some(2_207_052), "Fetch"), Kind::MediaRejected),
        (400, graph(100, Some(2_207_026), "Video"), Kind::MediaRejected),
        (400, graph(100, Some(2_207_036), "Tags"), Kind::Rejected),
        (400, graph(100, Some(2_207_008), "Gone"), Kind::Transient),
        (400, graph(25, Some(2_207_050), "Restricted"), Kind::Misconfigured),
        (400, graph(100, Some(2_207_081), "Trial"), Kind::Misconfigured),
        (500, graph(2, None, "Service"), Kind::Server),
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
        ("Error: Media upload has failed with error code 2207026", Kind::MediaRejected),
        ("Error: Media upload has failed with error code 2207003", Kind::Transient),
        ("Error: something else", Kind::MediaRejected),
        ("EXPIRED", Kind::Transient),
    ];
    for (said, kind) in table {
        let error = broken(said);
        assert_eq!((error.kind, error.reply.unwrap().message.as_deref()), (kind, Some(said)));
    }
}
