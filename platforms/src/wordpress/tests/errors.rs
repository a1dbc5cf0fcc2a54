use std::time::Duration;

use serde_json::json;

use super::{account, secrets};
use crate::{
    ErrorKind,
    tests::test_server::{Network, reply},
    wordpress::error::parse_error,
};

#[tokio::test]
async fn each_answer_of_failure_says_what_to_do() {
    let session = Network::start(|_| (200, json!({}))).await.session(account(), secrets());
    let cases = [
        (401, "rest_not_logged_in", ErrorKind::Reconnect),
        (401, "incorrect_password", ErrorKind::Reconnect),
        (401, "invalid_username", ErrorKind::Reconnect),
        (403, "rest_cannot_create", ErrorKind::Reconnect),
        (403, "rest_forbidden", ErrorKind::Reconnect),
        (403, "", ErrorKind::PermissionMissing),
        (413, "", ErrorKind::MediaRejected),
        (400, "rest_upload_unknown_error", ErrorKind::MediaRejected),
        (500, "rest_upload_sideload_error", ErrorKind::MediaRejected),
        (400, "rest_invalid_param", ErrorKind::Rejected),
        (404, "rest_no_route", ErrorKind::TargetGone),
        (301, "", ErrorKind::TargetGone),
        (429, "", ErrorKind::RateLimited),
        (408, "", ErrorKind::Ambiguous),
        (500, "internal_server_error", ErrorKind::Server),
        (503, "", ErrorKind::Server),
    ];
    for (status, code, kind) in cases {
        let error =
            parse_error(&session, &reply(status, &[], &json!({"code": code, "message": "Sorry."})));
        assert_eq!(error.kind, kind, "{status} {code}");
        let said = error.reply.unwrap();
        assert_eq!((said.status, said.message.as_deref()), (status, Some("Sorry.")));
    }
}

#[tokio::test]
async fn a_page_instead_of_json_is_read_by_its_status() {
    let session = Network::start(|_| (200, json!({}))).await.session(account(), secrets());
    let mut page = reply(403, &[], &json!({}));
    page.body = "<html>Forbidden</html>".into();
    let error = parse_error(&session, &page);
    assert_eq!(error.kind, ErrorKind::PermissionMissing);
    assert!(error.remedy.is_some_and(|remedy| remedy.contains("firewall")));
}

#[tokio::test]
async fn waits_are_kept_and_secrets_are_not() {
    let session = Network::start(|_| (200, json!({}))).await.session(account(), secrets());
    let body = json!({"code": "x", "message": "abcd efgh ijkl is wrong"});
    let error = parse_error(&session, &reply(429, &[("retry-after", "9")], &body));
    assert_eq!(error.retry_after, Some(Duration::from_secs(9)));
    assert!(!format!("{error:?}").contains("abcd efgh"));
}
