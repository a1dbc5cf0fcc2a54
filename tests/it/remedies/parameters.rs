//! What a refusal, a warning and a failure say as data, so that a program can word it in any language.

use fanfare_tests::{Options, TestApp, networks};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use super::quiet;

/// Returns the one violation of this code.
fn violation<'a>(refused: &'a Value, code: &str) -> &'a Value {
    let mut all = refused["validation_errors"].as_array().unwrap().iter();
    all.find(|one| one["code"] == code).unwrap_or_else(|| panic!("{code}: {refused:#}"))
}

#[tokio::test]
async fn whatever_counts_something_names_limit_actual_unit_and_place() {
    let (app, user) = quiet().await;
    let later = app.at(3_600);
    let account = |platform: &'static str| {
        let user = user.clone();
        async move { user.connect(platform).await }
    };
    let mut pictures = Vec::new();
    for name in ["a.png", "b.png", "c.png", "d.png", "e.png"] {
        let bytes = fanfare_tests::files::plain_png(300, 200);
        pictures.push(user.upload(name, "image/png", &bytes).await["public_url"].clone());
    }
    let hashtags: String = (0..31).map(|n| format!("#tag{n} ")).collect();
    let links: String = (0..6).map(|n| format!("https://example.org/{n} ")).collect();
    let (bluesky, instagram, threads, x, devto, slack, pinterest) = (
        account("bluesky").await,
        account("instagram").await,
        account("threads").await,
        account("x").await,
        account("devto").await,
        account("slack").await,
        account("pinterest").await,
    );
    let post = |account: i64, fields: Value| {
        let mut body = json!({"account_id": account, "caption": "Hello", "scheduled_at": later, "dry_run": true});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        body
    };
    let long = |length: usize| "x".repeat(length);
    let pin = json!({"board": "1", "link": format!("https://example.org/{}", long(2_100))});
    // The limits are those of the networks: `platforms.md` and the vendors' own pages.
    let table = [
        (
            post(bluesky, json!({"caption": long(301)})),
            "caption_too_long",
            (300, 301, "graphemes"),
            None,
        ),
        (post(bluesky, json!({"media_urls": pictures})), "too_many_media", (4, 5, "files"), None),
        (
            post(instagram, json!({"caption": hashtags, "media_urls": [pictures[0]]})),
            "caption_too_many_hashtags",
            (30, 31, "hashtags"),
            None,
        ),
        (post(threads, json!({"caption": links})), "caption_too_many_links", (5, 6, "links"), None),
        (
            post(
                x,
                json!({"post_type": "x_thread", "metadata": {"x_thread_tweets": ["First", long(281)]}}),
            ),
            "thread_segment_too_long",
            (280, 281, "characters (as X weighs them)"),
            Some(1),
        ),
        (
            post(devto, json!({"settings": {"tags": ["a", "b", "c", "d", "e"]}})),
            "setting_invalid",
            (4, 5, "entries"),
            None,
        ),
        (
            post(
                bluesky,
                json!({"media_urls": [pictures[0]], "settings": {"media_alt_texts": ["a", "b"]}}),
            ),
            "setting_invalid",
            (1, 2, "texts"),
            None,
        ),
        (
            post(slack, json!({"settings": {"markdown": true}, "caption": long(12_001)})),
            "caption_too_long",
            (12_000, 12_001, "characters"),
            None,
        ),
        (
            post(pinterest, json!({"settings": pin, "media_urls": [pictures[0]]})),
            "setting_invalid",
            (2_048, 2_120, "characters"),
            None,
        ),
    ];
    for (body, code, (limit, actual, unit), index) in table {
        let refused = user.post("/api/v1/posts", body).await.expect(400).body;
        let one = violation(&refused, code);
        assert_eq!(
            (&one["limit"], &one["actual"], &one["unit"]),
            (&json!(limit), &json!(actual), &json!(unit)),
            "{one:#}"
        );
        assert_eq!(one["index"], index.map_or(Value::Null, |place: usize| json!(place)), "{one:#}");
    }
    let many: Vec<_> = (0..26).map(|_| post(bluesky, json!({}))).collect();
    let refused = user.post("/api/v1/posts/batch", json!({ "posts": many })).await.expect(400).body;
    let one = violation(&refused, "too_many_items");
    assert_eq!(
        (&one["limit"], &one["actual"], &one["unit"]),
        (&json!(25), &json!(26), &json!("posts"))
    );
    let named = json!({"platform": "bluesky", "username": long(101)});
    let refused = user.post("/api/v1/sandbox/accounts", named).await.expect(400).body;
    let one = violation(&refused, "invalid_field");
    assert_eq!(
        (&one["limit"], &one["actual"], &one["unit"]),
        (&json!(100), &json!(101), &json!("characters"))
    );

    // A warning says it in the same fields.
    let texts = json!({"settings": {"board": "1", "media_alt_texts": ["a", "b"]}, "media_urls": [pictures[0], pictures[1]]});
    let boards = user
        .post(
            "/api/v1/platforms/trigger",
            json!({"account_id": pinterest, "tool": "pinterest.boards"}),
        )
        .await;
    let mut body = post(pinterest, texts);
    body["settings"]["board"] = boards.body["result"]["boards"][0]["id"].clone();
    let checked = user.post("/api/v1/posts", body).await.expect(200).body;
    let mut warnings = checked["warnings"].as_array().unwrap().iter();
    let one = warnings.find(|one| one["field"] == "settings.media_alt_texts").unwrap();
    assert_eq!(
        (&one["limit"], &one["actual"], &one["unit"]),
        (&json!(1), &json!(2), &json!("texts"))
    );
    assert_eq!(
        (&one["code"], &one["parameters"]["platform"]),
        (&json!("partly_ignored"), &json!("pinterest"))
    );
}

#[tokio::test]
async fn a_warning_has_its_topic_and_what_it_names_as_data() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let mastodon = user.connect("mastodon").await;
    let settings = json!({"ai_generated": true});
    let body = json!({"account_id": mastodon, "caption": "x", "settings": settings, "scheduled_at": app.at(600)});
    let made = user.post("/api/v1/posts", body).await.expect(201).body;
    let told = &made["warnings"][0];
    assert_eq!(
        (&told["code"], &told["field"]),
        (&json!("no_effect"), &json!("settings.ai_generated"))
    );
    assert_eq!(told["parameters"], json!({"platform": "mastodon"}), "{told}");
    // Warnings that an earlier version stored had no code.
    let id = &made["post"]["id"];
    let stored = r#"[{"field": "settings.title", "message": "It has no effect."}]"#;
    let sql = format!("UPDATE posts SET warnings = '{stored}' WHERE id = {id}");
    let _ = app.domain.db.write.execute_unprepared(&sql).await.unwrap();
    let shown = user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body;
    assert_eq!(shown["post"]["warnings"][0]["code"], "no_effect", "{shown}");
}

/// Calls `visit` with every `doc_url` in a value.
fn doc_urls(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("doc_url").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|inner| doc_urls(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| doc_urls(inner, found)),
        // What a tool answers is JSON in a text.
        Value::String(text) if text.contains("doc_url") => {
            if let Ok(inner) = serde_json::from_str(text) {
                doc_urls(&inner, found);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn every_address_of_an_explanation_is_whole() {
    let app = TestApp::with(Options::default()).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    user.faults("bluesky", account, json!([{"kind": "status", "status": 400}])).await;
    let failed = networks::publish(&app, &user, networks::post("bluesky", account)).await;
    let events = user.get("/api/v1/events?limit=100").await.expect(200).body;
    let refused = user.post("/api/v1/posts", json!({"account_id": account})).await.expect(400).body;
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "create_post", "arguments": {"account_id": account}},
    });
    let accept = [("Accept", "application/json, text/event-stream")];
    let tool = user.send(reqwest::Method::POST, "/mcp", &accept, Some(&call)).await;
    for (door, said) in [
        ("a post", failed),
        ("an event", events),
        ("a refusal", refused),
        ("a tool", if tool.body.is_null() { json!(tool.text) } else { tool.body }),
    ] {
        let mut found = Vec::new();
        doc_urls(&said, &mut found);
        assert!(!found.is_empty(), "{door}: {said:#}");
        for url in found {
            assert!(url.starts_with(&format!("{}/docs/", app.origin)), "{door}: {url}");
        }
    }
}
