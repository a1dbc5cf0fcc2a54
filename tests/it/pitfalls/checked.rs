//! The report of a dry run: lengths as each network counts them, times as programs write them, fields as they are
//! misspelt.

use std::collections::HashMap;

use fanfare_tests::{Options, TestApp, User};
use reqwest::Method;
use serde_json::{Value, json};

use super::rehearse;

/// A post, what is said of it, and of which field and code a refusal is.
struct Row {
    platform: &'static str,
    post: Value,
    right: Result<(), (&'static str, &'static str)>,
}

const fn passes(platform: &'static str, post: Value) -> Row {
    Row { platform, post, right: Ok(()) }
}

const fn refused(
    platform: &'static str,
    post: Value,
    field: &'static str,
    code: &'static str,
) -> Row {
    Row { platform, post, right: Err((field, code)) }
}

fn caption(text: String) -> Value {
    json!({ "caption": text })
}

/// A text as long as its network takes it, and one that is one longer.
fn edge(platform: &'static str, fits: String, too_long: String) -> [Row; 2] {
    [
        passes(platform, caption(fits)),
        refused(platform, caption(too_long), "caption", "caption_too_long"),
    ]
}

/// Texts behind which 280 is reached on X, by the published rules of its counting.
const WEIGHTS: &[(&str, usize)] = &[
    ("https://en.wikipedia.org/wiki/Rust_(programming_language)", 23),
    ("詳細はhttps://example.com/abcdefghijklmnopqrstuvwxyz0123456789", 29),
    ("https://müller.de/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 23),
    ("https://a.com/x?y[]=1&z[]=2&aaaaaaaaaaaaaaaaaaaaaaa", 23),
    ("www.example.de", 23),
    ("example.io/abc", 23),
    ("visit example.co.uk now", 33),
    ("https://example.com/です", 27),
    ("(https://example.com/a)", 25),
    ("http://例え.jp/パス", 27),
    ("#tag @name", 10),
];

fn lengths() -> Vec<Row> {
    let mut rows = Vec::new();
    for (text, weight) in WEIGHTS {
        let padded = |more: usize| format!("{} {text}", "a".repeat(279 - weight + more));
        rows.extend(edge("x", padded(0), padded(1)));
    }
    for (letter, most) in
        [("👨‍👩‍👧", 140), ("🇩🇪", 140), ("3️⃣", 140), ("e\u{301}", 280), ("日", 140), ("ﬀ", 140)]
    {
        rows.extend(edge("x", letter.repeat(most), letter.repeat(most + 1)));
    }
    // Graphemes, and bytes: whichever is reached first.
    for (fits, too_long) in [
        ("👨‍👩‍👧".repeat(100), "👨‍👩‍👧".repeat(300)),
        ("🇩🇪".repeat(300), "🇩🇪".repeat(301)),
        ("日".repeat(300), "日".repeat(301)),
        ("a\r\n".repeat(150), "a\r\n".repeat(151)),
    ] {
        rows.extend(edge("bluesky", fits, too_long));
    }
    rows.extend(edge("bluesky", "a".repeat(300), "a".repeat(301)));
    rows
}

fn settings() -> Vec<Row> {
    let poll = |count: usize| {
        let options: Vec<_> = (0..count).map(|number| number.to_string()).collect();
        json!({"caption": "poll", "settings": {"poll": {"options": options, "expires_in": 3_600}}})
    };
    let tags = |tag: &str| json!({"caption": "text", "settings": {"title": "T", "tags": [tag]}});
    let markdown = |text: &str| json!({"caption": text, "settings": {"parse_mode": "MarkdownV2"}});
    vec![
        passes("mastodon", poll(2)),
        passes("mastodon", poll(4)),
        refused("mastodon", poll(5), "settings.poll.options", "setting_invalid"),
        passes("devto", tags("web")),
        refused("devto", tags("web-dev"), "settings.tags[0]", "setting_invalid"),
        refused("devto", tags("C#"), "settings.tags[0]", "setting_invalid"),
        passes("telegram", json!({"caption": "snake_case and 5 < 6 & 7"})),
        passes("telegram", markdown("*bold* \\- dash\\.")),
        refused(
            "telegram",
            markdown("snake_case_x is *bold* - dash. (x) !"),
            "caption",
            "caption_markup_invalid",
        ),
    ]
}

fn times() -> Vec<Row> {
    let at = |time: Value| json!({"caption": "x", "scheduled_at": time});
    let mut rows = vec![
        refused("bluesky", at(json!("2030-06-01T10:00:00")), "scheduled_at", "invalid_timestamp"),
        refused("bluesky", at(json!(null)), "scheduled_at", "invalid_field"),
        refused("bluesky", at(json!("")), "scheduled_at", "invalid_timestamp"),
        refused("bluesky", at(json!(1_900_000_000)), "scheduled_at", "invalid_field"),
    ];
    let taken = [
        "2030-01-15T09:00:00+0200",
        "2030-01-15T09:00Z",
        "2030-01-15T09:00:00+02",
        "2030-01-15T09:00:00.000Z",
        "2030-01-15 09:00:00+02:00",
    ];
    rows.extend(taken.map(|time| passes("bluesky", at(json!(time)))));
    rows
}

fn fields() -> Vec<Row> {
    let with = |name: &str, value: Value| json!({"caption": "x", name: value});
    vec![
        refused(
            "bluesky",
            with("scheduledAt", json!("2030-01-01T00:00:00Z")),
            "scheduledAt",
            "unknown_field",
        ),
        refused("bluesky", with("accountId", json!(1)), "accountId", "unknown_field"),
        refused("bluesky", with("caption ", json!("x")), "caption ", "unknown_field"),
        refused("bluesky", with("dry_run", json!("true")), "dry_run", "invalid_field"),
        refused("bluesky", with("media_urls", json!("x")), "media_urls", "invalid_field"),
    ]
}

#[tokio::test]
async fn a_dry_run_says_what_the_network_would() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let mut accounts = HashMap::new();
    for row in [lengths(), settings(), times(), fields()].into_iter().flatten() {
        if !accounts.contains_key(row.platform) {
            accounts.insert(row.platform, user.connect(row.platform).await);
        }
        let answer = rehearse(&user, accounts[row.platform], &row.post).await;
        let said = format!("{} {}: {}", row.platform, row.post, answer.text);
        let Err((field, code)) = row.right else {
            assert_eq!(answer.status, 200, "{said}");
            continue;
        };
        assert_eq!(answer.status, 400, "{said}");
        let broken = answer.body["validation_errors"].as_array().unwrap();
        let is_right =
            |one: &Value| one["code"] == code && one["field"].as_str().unwrap().starts_with(field);
        assert!(broken.iter().any(is_right), "{said}");
    }
}

#[tokio::test]
async fn a_local_time_is_that_of_its_zone_wherever_it_is_sent() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let local = json!({"caption": "x", "scheduled_at": "2030-06-01T10:00:00", "timezone": "America/New_York"});
    let planned = rehearse(&user, account, &local).await.expect(200);
    assert_eq!(planned.body["post"]["scheduled_at"], "2030-06-01T14:00:00.000Z");
    let later =
        json!({"account_id": account, "caption": "x", "scheduled_at": "2030-01-01T00:00:00Z"});
    let post = user.publish(later).await["id"].clone();
    let berlin = json!({"scheduled_at": "2030-06-01T12:00", "timezone": "Europe/Berlin"});
    let moved = user.patch(&format!("/api/v1/posts/{post}"), berlin).await.expect(200);
    assert_eq!(moved.body["post"]["scheduled_at"], "2030-06-01T10:00:00.000Z");
    let draft = json!({"account_id": account, "caption": "x", "status": "draft"});
    let draft = user.publish(draft).await["id"].clone();
    let path = format!("/api/v1/posts/{draft}/status");
    let without = json!({"status": "scheduled", "scheduled_at": "2030-06-01T12:00"});
    user.put(&path, without.clone()).await.refused(400, "invalid_timestamp");
    let mut zoned = without;
    zoned["timezone"] = json!("Asia/Tokyo");
    let set = user.put(&path, zoned).await.expect(200);
    assert_eq!(set.body["post"]["scheduled_at"], "2030-06-01T03:00:00.000Z");
}

#[tokio::test]
async fn a_body_that_is_no_json_in_utf8_is_refused_by_name() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let bodies: [(&[u8], &str); 5] = [
        (b"\xef\xbb\xbf{\"caption\":\"x\"}", "byte order mark"),
        (b"{\"caption\":\"\xe9\"}", "UTF-8"),
        (b"{\"caption\":\"\\ud800\"}", "JSON"),
        (b"{\"caption\":\"x\",}", "JSON"),
        (b"caption=x", "JSON"),
    ];
    for (body, reason) in bodies {
        let answer =
            user.send_raw(Method::POST, "/api/v1/posts", "application/json", body.to_vec()).await;
        let refused = answer.refused(400, "invalid_json");
        assert!(refused.body["error"].as_str().unwrap().contains(reason), "{}", refused.text);
    }
}

/// Instagram does not publish whether `#` in an address counts as a hashtag: both answers are right, an error is not.
#[tokio::test]
async fn a_text_of_which_the_rule_is_unknown_gets_a_clear_answer() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("instagram").await;
    let text = caption("https://example.com/#a0 ".repeat(31));
    let answer = rehearse(&user, account, &text).await;
    assert!([200, 400].contains(&answer.status), "{}", answer.text);
}

#[tokio::test]
async fn a_group_of_any_name_can_be_deleted() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user: User = app.user().await;
    let account = user.connect("mastodon").await;
    for (name, encoded) in [
        ("a/b", "a%2Fb"),
        ("100%", "100%25"),
        ("a?b#c", "a%3Fb%23c"),
        ("été 🎉", "%C3%A9t%C3%A9%20%F0%9F%8E%89"),
    ] {
        let draft =
            json!({"account_id": account, "caption": "x", "status": "draft", "group": name});
        let id = user.publish(draft).await["id"].clone();
        let path = format!("/api/v1/posts/group/{encoded}?confirm=true");
        assert_eq!(user.delete(&path).await.expect(200).body["deleted"], json!([id]), "{name}");
    }
}
