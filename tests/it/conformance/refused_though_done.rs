//! Refusals of publishing calls that were carried out, and of calls that were not: as many posts are called published as
//! the network holds, and a retry never makes a second one.

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

/// A refusal: the network, the status, and the body in its words.
type Row = (&'static str, u16, &'static str);

/// Refusals that say neither that text, files or a limit are wrong nor that the caller is unknown, as they were reported
/// of the networks or stand in their tables of errors.
const ROWS: &[Row] = &[
    // Seen with a published container: threads-go 1.9.3.
    (
        "threads",
        400,
        r#"{"error":{"message":"Application does not have permission for this action","type":"OAuthException","code":10}}"#,
    ),
    (
        "threads",
        403,
        r#"{"error":{"message":"Application does not have permission for this action","type":"OAuthException","code":10}}"#,
    ),
    (
        "threads",
        400,
        r#"{"error":{"message":"Invalid parameter","type":"OAuthException","code":100}}"#,
    ),
    (
        "threads",
        400,
        r#"{"error":{"message":"An unknown error occurred","type":"OAuthException","code":1}}"#,
    ),
    // Seen with a published container: postiz-app, pull request 1681.
    (
        "instagram",
        400,
        r#"{"error":{"message":"Application request limit reached","type":"OAuthException","code":4,"error_subcode":2207051,"error_user_msg":"This action is blocked."}}"#,
    ),
    (
        "instagram",
        400,
        r#"{"error":{"message":"(#10) Application does not have permission for this action","type":"OAuthException","code":10}}"#,
    ),
    ("instagram", 400, r#"{"error":{"message":"Fatal","type":"OAuthException","code":-1}}"#),
    // Seen with comments that were made: brightbean-studio, pull request 140.
    (
        "facebook",
        400,
        r#"{"error":{"message":"The action failed","type":"OAuthException","code":20,"error_subcode":1772107}}"#,
    ),
    (
        "facebook",
        403,
        r#"{"error":{"message":"(#200) Permissions error","type":"OAuthException","code":200}}"#,
    ),
    (
        "facebook",
        400,
        r#"{"error":{"message":"An unexpected error has occurred","type":"OAuthException","code":2}}"#,
    ),
    (
        "x",
        403,
        r#"{"title":"Forbidden","detail":"You are not permitted to perform this action.","type":"about:blank","status":403}"#,
    ),
    (
        "x",
        400,
        r#"{"title":"Invalid Request","detail":"One or more parameters to your request was invalid.","type":"https://api.twitter.com/2/problems/invalid-request"}"#,
    ),
    (
        "linkedin",
        403,
        r#"{"status":403,"serviceErrorCode":100,"code":"ACCESS_DENIED","message":"Not allowed"}"#,
    ),
    ("linkedin", 400, r#"{"status":400,"message":"Bad request"}"#),
    ("pinterest", 403, r#"{"code":29,"message":"You are not permitted to access that resource."}"#),
    ("pinterest", 400, r#"{"code":1,"message":"Invalid request"}"#),
    ("mastodon", 400, r#"{"error":"Bad request"}"#),
    ("bluesky", 400, r#"{"error":"InvalidRequest","message":"Something"}"#),
    ("lemmy", 400, r#"{"error":"unknown"}"#),
    ("wordpress", 403, "<h1>Forbidden</h1>"),
    ("wordpress", 400, r#"{"code":"rest_unknown","message":"Something."}"#),
    ("devto", 400, r#"{"error":"bad request","status":400}"#),
    ("devto", 403, r#"{"error":"forbidden","status":403}"#),
    (
        "hashnode",
        400,
        r#"{"errors":[{"message":"Something went wrong","extensions":{"code":"UNKNOWN"}}]}"#,
    ),
    ("slack", 400, r#"{"ok":false,"error":"unknown_error"}"#),
    ("telegram", 400, r#"{"ok":false,"error_code":400,"description":"Bad Request: something"}"#),
    ("discord", 400, r#"{"message":"Something","code":0}"#),
    ("discord", 403, r#"{"message":"Something","code":0}"#),
];

/// A post whose publishing call is refused, after its change or without it.
async fn refused(app: &TestApp, (name, status, body): Row, kind: &str) -> (User, i64, Value) {
    let user = app.user().await;
    let account = user.connect(name).await;
    let fault = json!({"on": "commit", "kind": kind, "status": status, "body": body});
    user.faults(name, account, json!([fault])).await;
    let post = networks::publish(app, &user, networks::post(name, account)).await;
    (user, account, post)
}

/// Checks that a post is called what it came to, and that trying it again as its error allows makes no second one.
async fn is_told_truly(app: &TestApp, row: Row, kind: &str) {
    let story = format!("{} {} {} {kind}", row.0, row.1, row.2);
    let (user, account, post) = refused(app, row, kind).await;
    let held = user.on_network(row.0, account).await.len();
    assert!(held <= 1, "{story}: {post:#}");
    if post["status"] == "published" {
        assert_eq!(held, 1, "{story}: {post:#}");
        return;
    }
    assert_eq!(post["status"], "failed", "{story}: {post:#}");
    if post["error"]["code"] == "outcome_unknown" {
        assert_eq!(post["error"]["retry_safe"], false, "{story}: {post:#}");
        let is_asked = networks::can_be_asked(row.0);
        assert!(!is_asked, "{story}: the network could tell: {post:#}");
        return;
    }
    assert_eq!(held, 0, "{story}: {post:#}");
    assert_eq!(post["error"]["retry_safe"], true, "{story}: {post:#}");
    let said = post["error"]["platform_error"]["status"].as_u64();
    assert_eq!(said, Some(u64::from(row.1)), "{story}: {post:#}");
    let _ = user.post(&format!("/api/v1/posts/{}/retry", post["id"]), json!({})).await.expect(200);
    let post = networks::ended(app, &user, &post["id"]).await;
    let held = user.on_network(row.0, account).await.len();
    assert_eq!((post["status"].as_str(), held), (Some("published"), 1), "{story}: {post:#}");
}

#[tokio::test]
async fn a_refusal_that_decides_nothing_is_looked_up() {
    let app = TestApp::start().await;
    for row in ROWS {
        for kind in ["status", "error_after_change"] {
            Box::pin(is_told_truly(&app, *row, kind)).await;
        }
    }
}
