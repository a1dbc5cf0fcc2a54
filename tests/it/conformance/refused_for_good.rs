//! Refusals that name what stopped a post: it fails with them at once, without the network being searched for it.

use fanfare_tests::{TestApp, networks};
use serde_json::{Value, json};

/// A refusal: the network, the status, and the body in its words.
type Row = (&'static str, u16, &'static str);

/// What the vendors' tables of errors say of texts, files, limits, and forms that are not valid.
const ROWS: &[Row] = &[
    // Lexicons of com.atproto.repo: InvalidSwap of applyWrites, InvalidRequest of every call.
    ("bluesky", 400, r#"{"error":"InvalidRequest","message":"Invalid app.bsky.feed.post record"}"#),
    ("bluesky", 400, r#"{"error":"InvalidSwap","message":"Commit was at bafy"}"#),
    ("bluesky", 403, r#"{"error":"Forbidden","message":"Forbidden"}"#),
    // https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
    ("discord", 400, r#"{"message":"Invalid Form Body","code":50035}"#),
    ("discord", 400, r#"{"message":"Cannot send an empty message","code":50006}"#),
    ("discord", 400, r#"{"message":"Invalid file uploaded","code":50046}"#),
    ("discord", 400, r#"{"message":"A tag is required to create a forum post","code":40067}"#),
    ("discord", 403, r#"{"message":"Missing Access","code":50001}"#),
    ("discord", 403, r#"{"message":"Missing Permissions","code":50013}"#),
    ("discord", 400, r#"{"message":"Unknown Channel","code":10003}"#),
    // https://github.com/TelegramBotAPI/errors
    (
        "telegram",
        400,
        r#"{"ok":false,"error_code":400,"description":"Bad Request: message is too long"}"#,
    ),
    (
        "telegram",
        400,
        r#"{"ok":false,"error_code":400,"description":"Bad Request: message thread not found"}"#,
    ),
    ("telegram", 400, r#"{"ok":false,"error_code":400,"description":"Bad Request: TOPIC_CLOSED"}"#),
    (
        "telegram",
        400,
        r#"{"ok":false,"error_code":400,"description":"Bad Request: can't parse entities: unclosed tag"}"#,
    ),
    (
        "telegram",
        400,
        r#"{"ok":false,"error_code":400,"description":"Bad Request: BUTTON_URL_INVALID"}"#,
    ),
    // https://docs.slack.dev/reference/methods/chat.postMessage
    ("slack", 200, r#"{"ok":false,"error":"invalid_arguments"}"#),
    ("slack", 200, r#"{"ok":false,"error":"metadata_too_large"}"#),
    ("slack", 200, r#"{"ok":false,"error":"restricted_action_thread_locked"}"#),
    ("slack", 200, r#"{"ok":false,"error":"too_many_attachments"}"#),
    // https://docs.joinmastodon.org/methods/statuses/#422
    ("mastodon", 422, r#"{"error":"Validation failed: Text can't be blank"}"#),
    ("mastodon", 422, r#"{"error":"Cannot attach more than 4 files"}"#),
    ("lemmy", 400, r#"{"error":"invalid_post_title"}"#),
    ("lemmy", 400, r#"{"error":"invalid_body_field"}"#),
    ("lemmy", 400, r#"{"error":"honeypot_failed"}"#),
    ("lemmy", 400, r#"{"error":"language_not_allowed"}"#),
    ("lemmy", 400, r#"{"error":"alt_text_length_overflow"}"#),
    // https://developers.forem.com/api/v1
    (
        "devto",
        422,
        r#"{"error":"Validation failed: Tag list exceed the maximum of 4 tags","status":422}"#,
    ),
    ("devto", 400, r#"{"error":"param is missing or the value is empty: article","status":400}"#),
    (
        "hashnode",
        200,
        r#"{"errors":[{"message":"Publication does not have an active Pro plan","extensions":{"code":"FORBIDDEN"}}],"data":null}"#,
    ),
    (
        "hashnode",
        200,
        r#"{"errors":[{"message":"Publication not found","extensions":{"code":"NOT_FOUND"}}],"data":null}"#,
    ),
    (
        "hashnode",
        400,
        r#"{"errors":[{"message":"Syntax Error: Unexpected Name","extensions":{"code":"GRAPHQL_PARSE_FAILED"}}],"data":null}"#,
    ),
    // https://developer.wordpress.org/reference/classes/wp_rest_posts_controller/create_item/
    (
        "wordpress",
        400,
        r#"{"code":"rest_invalid_param","message":"Invalid parameter(s): date","data":{"status":400}}"#,
    ),
    (
        "wordpress",
        400,
        r#"{"code":"empty_content","message":"Content, title, and excerpt are empty.","data":{"status":400}}"#,
    ),
    (
        "wordpress",
        404,
        r#"{"code":"rest_no_route","message":"No route was found matching the URL and request method.","data":{"status":404}}"#,
    ),
    // https://learn.microsoft.com/en-us/linkedin/shared/api-guide/concepts/error-handling
    (
        "linkedin",
        422,
        r#"{"status":422,"code":"FIELD_LENGTH_TOO_LONG","message":"ERROR :: /commentary :: text length exceeded"}"#,
    ),
    (
        "linkedin",
        400,
        r#"{"status":400,"code":"ILLEGAL_ARGUMENT","message":"Request body could not be converted to data map"}"#,
    ),
    (
        "linkedin",
        400,
        r#"{"status":400,"code":"VERSION_MISSING","message":"A version must be present."}"#,
    ),
    (
        "linkedin",
        426,
        r#"{"status":426,"code":"NONEXISTENT_VERSION","message":"Requested version is not active"}"#,
    ),
    // https://docs.x.com/x-api/fundamentals/response-codes-and-errors
    (
        "x",
        403,
        r#"{"title":"Forbidden","detail":"Your Tweet text is too long. You are not permitted to perform this action.","type":"about:blank","status":403}"#,
    ),
    (
        "x",
        400,
        r#"{"title":"Invalid Request","detail":"One or more parameters to your request was invalid.","type":"https://api.x.com/2/problems/invalid-request","errors":[{"parameters":{},"message":"$.nothing: is not defined in the schema"}]}"#,
    ),
    // https://developers.facebook.com/docs/graph-api/guides/error-handling
    (
        "facebook",
        400,
        r#"{"error":{"message":"(#100) Param link must be a URL","type":"OAuthException","code":100}}"#,
    ),
    (
        "facebook",
        400,
        r#"{"error":{"message":"Missing or invalid image file","type":"OAuthException","code":324}}"#,
    ),
    (
        "facebook",
        400,
        r#"{"error":{"message":"The url you supplied is invalid","type":"OAuthException","code":1500}}"#,
    ),
    // https://cloud.google.com/apis/design/errors
    (
        "google_business",
        400,
        r#"{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}"#,
    ),
];

/// Publishes a post whose publishing call is refused, while the clocks stand still.
async fn refused(app: &TestApp, (name, status, body): Row) -> Value {
    let user = app.user().await;
    let account = user.connect(name).await;
    // Some networks refuse with 200.
    let fault = match status {
        200 => json!({"on": "commit", "kind": "status", "status": 400, "body": body}),
        status => json!({"on": "commit", "kind": "status", "status": status, "body": body}),
    };
    user.faults(name, account, json!([fault])).await;
    let post = user.publish(networks::post(name, account)).await;
    app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published", "failed"]).await
}

#[tokio::test]
async fn a_refusal_that_names_its_cause_is_believed_at_once() {
    let app = TestApp::start().await;
    for row in ROWS {
        let post = refused(&app, *row).await;
        let story = format!("{} {} {}", row.0, row.1, row.2);
        assert_eq!(post["status"], "failed", "{story}: {post:#}");
        assert_ne!(post["error"]["code"], "outcome_unknown", "{story}: {post:#}");
        assert_eq!(post["error"]["retry_safe"], true, "{story}: {post:#}");
        assert!(post["error"]["platform_error"]["status"].is_number(), "{story}: {post:#}");
    }
}
