//! Documents that callers build on, as snapshots: a change of the contract shows in the diff. `INSTA_UPDATE=always`
//! writes them.

use fanfare_tests::{Options, TestApp, contract};
use serde_json::json;

/// `docs/openapi.json` is what the service serves, for readers and for generators of clients.
#[tokio::test]
async fn the_openapi_document() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let document = app.without_key().get("/openapi.json").await.expect(200).body;
    let text = serde_json::to_string_pretty(&document).unwrap();
    let text = text.replace(&app.origin, "http://127.0.0.1:8080") + "\n";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.json");
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        std::fs::write(file, &text).unwrap();
    }
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    let changed = kept.lines().zip(text.lines()).find(|(kept, made)| kept != made);
    assert!(kept == text, "docs/openapi.json is out of date, from here on: {changed:?}");
}

#[tokio::test]
async fn a_post_and_its_refusal() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let post = json!({"account_id": account, "caption": "Snapshot", "scheduled_at": "2099-01-01T10:00:00+01:00"});
    let made = user.publish(post).await;
    insta::assert_json_snapshot!(made, {
        ".workspace_id" => "[uuid]", ".created_at" => "[time]", ".updated_at" => "[time]",
    });
    let bad = json!({"account_id": account, "capton": "x", "scheduled_at": "2099-01-01T10:00:00"});
    let refused = user.post("/api/v1/posts", bad).await.body;
    insta::assert_json_snapshot!(refused, { ".request_id" => "[id]", ".doc_url" => "[url]" });
}

/// Ids, times, addresses and names that differ from run to run.
macro_rules! snapshot {
    ($app:expr, $body:expr) => {{
        let text = $body.to_string().replace(&$app.origin, "{origin}");
        let body: serde_json::Value = serde_json::from_str(&text).unwrap();
        insta::assert_json_snapshot!(body, {
            ".**.workspace_id" => "[uuid]", ".**.created_at" => "[time]", ".**.updated_at" => "[time]",
            ".**.started_at" => "[time]", ".**.ended_at" => "[time]", ".**.published_at" => "[time]",
            ".**.scheduled_at" => "[time]", ".**.token_expires_at" => "[time]",
            ".**.next_try_at" => "[time]", ".**.last_used_at" => "[time]",
            ".**.request_id" => "[id]", ".**.username" => "[name]", ".**.did" => "[did]",
            ".**.display_name" => "[name]", ".**.email" => "[email]", ".**.prefix" => "[prefix]",
            ".**.worker" => "[worker]", ".**.remote_id" => "[id]", ".**.platform_post_id" => "[id]",
            ".**.platform_post_url" => "[url]", ".**.secret" => "[secret]", ".**.event_id" => "[uuid]",
            ".**.sandbox_page_url" => "[url]", ".**.url" => "[url]", ".user.id" => "[uuid]", ".user.name" => "[name]", ".key.id" => "[uuid]",
            ".default_workspace.id" => "[uuid]", ".workspaces[].id" => "[uuid]",
            ".default_workspace.name" => "[name]", ".workspaces[].name" => "[name]",
            ".webhook.id" => "[uuid]", ".webhooks[].id" => "[uuid]", ".events[].id" => "[uuid]",
            ".posts[].workspace.id" => "[uuid]", ".posts[].workspace.name" => "[name]",
            ".deliveries[].id" => "[uuid]", ".activity[].id" => "[uuid]",
        });
    }};
}

#[tokio::test]
async fn who_am_i_and_what_is_there() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    snapshot!(app, user.get("/api/v1/whoami").await.expect(200).body);
    snapshot!(app, user.get("/api/v1/accounts").await.expect(200).body);
    snapshot!(app, user.get("/api/v1/connect/bluesky").await.expect(200).body);
    snapshot!(app, user.get(&format!("/api/v1/accounts/{account}/schema")).await.expect(200).body);
    snapshot!(app, app.without_key().get("/api/v1/accounts").await.expect(401).body);
}

#[tokio::test]
async fn a_post_from_draft_to_ledger() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let hook = json!({"url": "https://203.0.113.7/hook", "events": ["post.deleted"]});
    snapshot!(app, user.post("/api/v1/webhooks", hook).await.expect(201).body);
    let account = user.connect("bluesky").await;
    let draft = json!({"account_id": account, "caption": "", "status": "draft"});
    let id = user.publish(draft).await["id"].clone();
    snapshot!(app, user.get(&format!("/api/v1/posts/{id}/missing")).await.expect(200).body);
    let pause = user.put(&format!("/api/v1/posts/{id}/status"), json!({"status": "paused"})).await;
    snapshot!(app, pause.expect(409).body);
    let items = json!({"posts": [
        {"account_id": account, "caption": "One of two"}, {"account_id": 999_999, "caption": "Nobody's"},
    ]});
    let batch = user.post("/api/v1/posts/batch", items).await.expect(200).body;
    let id = batch["posts"][0]["post"]["id"].as_i64().unwrap();
    snapshot!(app, batch);
    app.wait_for_status(&user, id, &["published"]).await;
    snapshot!(app, user.get(&format!("/api/v1/posts/{id}/attempts")).await.expect(200).body);
    snapshot!(app, user.get("/api/v1/events").await.expect(200).body);
    snapshot!(app, user.get("/api/v1/activity").await.expect(200).body);
}

/// Refusals of a request that is wrong in itself, whatever there is in the workspace.
const ILL_FORMED: [&str; 5] =
    ["unknown_field", "field_required", "invalid_json", "invalid_timestamp", "not_found"];

#[tokio::test]
async fn every_example_is_a_request_that_is_understood() {
    // Networks' own addresses lead to the simulated ones: no example leaves this machine.
    let app = TestApp::with(Options { stand_ins: true, ..Options::default() }).await;
    let user = app.user().await;
    let mut wrong = Vec::new();
    for example in fanfare_api::examples(&app.origin) {
        let method = example.method.parse().unwrap();
        let answer = user.send(method, &example.address, &[], example.body.as_ref()).await;
        let code = answer.body["code"].as_str().unwrap_or_default();
        let is_form = [405, 413, 415, 500].contains(&answer.status) || ILL_FORMED.contains(&code);
        if is_form {
            wrong.push(format!("{} {}: {}", example.method, example.address, answer.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_example_of_a_reply_is_one() {
    for example in fanfare_api::examples("https://service.example") {
        assert!(!example.replies.is_empty(), "{}", example.name);
        let method = example.method.parse().unwrap();
        for (status, body) in &example.replies {
            contract::check(&method, &example.address, *status, body);
        }
    }
}

#[test]
fn every_example_of_a_command_is_a_command() {
    let commands = fanfare_cli::commands();
    for example in fanfare_api::examples("https://service.example") {
        let known = commands.iter().find(|(id, _)| *id == example.name);
        let (_, words) = known.unwrap_or_else(|| panic!("no command: {}", example.name));
        let line = example.command.rsplit("| ").next().unwrap();
        let is_it =
            line == format!("fanfare {words}") || line.starts_with(&format!("fanfare {words} "));
        assert!(is_it, "{line} is to begin with fanfare {words}");
    }
}

#[tokio::test]
async fn the_reference_is_searched_and_read_an_operation_at_a_time() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let page = async |path: &str| app.without_key().get(path).await;
    let found = page("/docs?q=dismiss+suggested").await.expect(200).text;
    assert!(found.contains("id=\"dismiss_suggestion\"") && !found.contains("id=\"create_post\""));
    let one = page("/docs/create_post").await.expect(200);
    assert!(one.text.contains("Reply 201") && one.header("content-type").starts_with("text/html"));
    let text = page("/docs/create_post.md").await.expect(200);
    assert!(text.text.starts_with("# create_post") && text.text.contains("caption_too_long"));
    assert!(text.header("content-type").starts_with("text/markdown"));
    let _ = page("/docs/nothing").await.expect(404);
    let _ = page("/docs/errors").await.expect(200);
}
