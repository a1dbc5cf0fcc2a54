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
    (
        "youtube",
        403,
        r#"{"error":{"code":403,"message":"The request is not properly authorized.","errors":[{"domain":"youtube","reason":"forbidden"}]}}"#,
    ),
    (
        "youtube",
        400,
        r#"{"error":{"code":400,"message":"The request is not valid.","errors":[{"domain":"youtube","reason":"badRequest"}]}}"#,
    ),
    // The address of an upload that is complete may be forgotten.
    (
        "youtube",
        404,
        r#"{"error":{"code":404,"message":"Not Found","errors":[{"domain":"youtube","reason":"notFound"}]}}"#,
    ),
    (
        "youtube",
        410,
        r#"{"error":{"code":410,"message":"Gone","errors":[{"domain":"youtube","reason":"gone"}]}}"#,
    ),
    // The server of uploads does not speak JSON; 416 is seen for a chunk that it has: elizaOS, pull request 23972.
    ("tiktok", 416, "Content-Range does not reflect the actual upload progress"),
    ("tiktok", 403, "Forbidden: the upload URL is not valid or has expired"),
    ("tiktok", 400, "Bad Request"),
    (
        "google_business",
        409,
        r#"{"error":{"code":409,"message":"The operation was aborted.","status":"ABORTED"}}"#,
    ),
    (
        "google_business",
        403,
        r#"{"error":{"code":403,"message":"My Business API has not been used in project 1 before or it is disabled.","status":"PERMISSION_DENIED","details":[{"reason":"SERVICE_DISABLED"}]}}"#,
    ),
    (
        "google_business",
        404,
        r#"{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND"}}"#,
    ),
    ("pinterest", 404, r#"{"code":50,"message":"Not found."}"#),
    ("bluesky", 400, r#"{"error":"InvalidSwap","message":"Commit was at bafy"}"#),
    ("bluesky", 403, r#"{"error":"Forbidden","message":"Forbidden"}"#),
    ("bluesky", 404, r#"{"error":"NotFound","message":"Not found"}"#),
    // Featured image, terms and fields of plugins are set after the post is stored.
    (
        "wordpress",
        400,
        r#"{"code":"rest_invalid_featured_media","message":"Invalid featured media ID.","data":{"status":400}}"#,
    ),
    ("wordpress", 404, "<h1>Not Found</h1>"),
    // The status of a call that was made before: a unique key of the database.
    ("mastodon", 422, r#"{"error":"Duplicate record"}"#),
    ("lemmy", 404, r#"{"error":"couldnt_find_post"}"#),
    ("linkedin", 404, r#"{"status":404,"code":"NOT_FOUND","message":"Could not find entity"}"#),
    (
        "x",
        404,
        r#"{"title":"Not Found Error","detail":"Not found","type":"about:blank","status":404}"#,
    ),
    ("devto", 404, r#"{"error":"not found","status":404}"#),
    ("slack", 400, r#"{"ok":false,"error":"something_new"}"#),
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

/// A first comment is refused, after it was made or without it: Instagram answered comments that it had made with
/// 20/1772107 (brightbean-studio, pull request 140).
#[tokio::test]
async fn a_first_comment_that_was_refused_is_never_made_twice() {
    let app = TestApp::start().await;
    let body = r#"{"error":{"message":"The action failed","type":"OAuthException","code":20,"error_subcode":1772107}}"#;
    for kind in ["status", "error_after_change"] {
        let user = app.user().await;
        let account = user.connect("instagram").await;
        // The first public call is the post itself.
        let refused = json!({"on": "commit", "kind": kind, "status": 400, "body": body});
        let faults = json!([{"on": "commit", "kind": "delay", "ms": 1}, refused]);
        user.faults("instagram", account, faults).await;
        let mut draft = networks::post("instagram", account);
        draft["settings"]["first_comment"] = json!("First!");
        let post = networks::publish(&app, &user, draft).await;
        let held = user.on_network("instagram", account).await;
        assert_eq!(held.len(), 1, "{kind}: {post:#}");
        let comments = held[0]["comments"].as_array().cloned().unwrap_or_default();
        let made = comments.iter().filter(|one| one.to_string().contains("First!")).count();
        assert_eq!(made, usize::from(kind == "error_after_change"), "{kind}: {held:#?}");
    }
}
