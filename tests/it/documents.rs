//! Documents that callers build on, as snapshots: a change of the contract shows in the diff. `INSTA_UPDATE=always`
//! writes them.

use std::collections::BTreeMap;

use fanfare_tests::{Options, TestApp, contract};
use serde_json::{Value, json};

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

/// Returns the types of a schema that are not null.
fn types(document: &Value, schema: &Value) -> Vec<String> {
    if let Some(path) = schema["$ref"].as_str() {
        return types(document, document.pointer(path.trim_start_matches('#')).unwrap());
    }
    let choices = ["anyOf", "oneOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
    let mut all: Vec<_> = choices.flat_map(|choice| types(document, choice)).collect();
    let own = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    all.extend(own.iter().filter_map(|kind| kind.as_str().map(str::to_owned)));
    all.retain(|kind| kind != "null");
    if schema["items"].is_object() {
        return types(document, &schema["items"]);
    }
    all
}

/// Adds the type of every property that is an id, with the place it was seen at.
fn ids(
    document: &Value,
    value: &Value,
    at: &str,
    seen: &mut BTreeMap<String, BTreeMap<String, String>>,
) {
    let mut note = |name: &str, schema: &Value| {
        if let Some(name) = name.strip_suffix("_id").or(name.strip_suffix("_ids")) {
            let kind = types(document, schema).first().cloned().unwrap_or_default();
            seen.entry(name.to_owned()).or_default().entry(kind).or_insert_with(|| at.to_owned());
        }
    };
    for (name, schema) in value["properties"].as_object().into_iter().flatten() {
        note(name, schema);
    }
    if let (Some(name), true) = (value["name"].as_str(), value["schema"].is_object()) {
        note(name, &value["schema"]);
    }
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                ids(document, inner, &format!("{at}/{name}"), seen);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| ids(document, item, at, seen)),
        _ => {}
    }
}

#[tokio::test]
async fn an_id_has_one_type_everywhere() {
    let document = fanfare_api::document("https://service.example");
    let mut seen = BTreeMap::new();
    ids(&document, &document["components"]["schemas"], "", &mut seen);
    ids(&document, &document["paths"], "", &mut seen);
    for known in ["post", "account", "workspace", "review"] {
        assert!(seen.contains_key(known), "{known}");
    }
    // A list in a query is one text with commas, and a comment that somebody answers on a network has the network's id.
    let exceptions =
        [("account", "string", "find_available_slot"), ("parent", "string", "NewSandboxItem")];
    for (name, kinds) in seen {
        let odd: Vec<_> = kinds
            .iter()
            .filter(|(kind, at)| {
                !exceptions.iter().any(|(of, is, place)| {
                    *of == name && is == kind && (at.contains(place) || at.contains("/slots/next"))
                })
            })
            .collect();
        assert!(odd.len() == 1, "{name} has several types: {odd:?}");
    }
    // The id in a path is that of the object that the path leads to.
    for (path, schema) in [
        ("/api/v1/posts/{id}", "Post"),
        ("/api/v1/accounts/{id}", "Account"),
        ("/api/v1/inbox/comments/{id}", "Comment"),
        ("/api/v1/inbox/conversations/{id}", "Conversation"),
        ("/api/v1/webhooks/{id}", "Webhook"),
        ("/api/v1/brands/{id}", "Brand"),
        ("/api/v1/media/{id}", "Media"),
        ("/api/v1/ai/video-jobs/{id}", "VideoJob"),
        ("/api/v1/suggestions/{id}/dismiss", "Suggestion"),
        ("/api/v1/connect/sessions/{id}", "ConnectSession"),
    ] {
        let own = &document["components"]["schemas"][schema]["properties"]["id"];
        for operation in document["paths"][path].as_object().unwrap().values() {
            let parameters = operation["parameters"].as_array().unwrap().iter();
            let id = parameters.clone().find(|one| one["name"] == "id").unwrap();
            assert_eq!(types(&document, &id["schema"]), types(&document, own), "{path}");
        }
    }
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

/// Returns the levels of a page's headings, in their order.
fn headings(html: &str) -> Vec<u8> {
    let tags = html.split("<h").skip(1).filter_map(|rest| {
        let mut marks = rest.bytes();
        let level = marks.next().filter(u8::is_ascii_digit)? - b'0';
        marks.next().filter(|mark| matches!(mark, b'>' | b' ')).map(|_| level)
    });
    tags.collect()
}

/// Returns the addresses below `start` that a page leads to.
fn links(html: &str, start: &str) -> Vec<String> {
    let links = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    links.filter(|path| path.starts_with(start)).map(str::to_owned).collect()
}

#[tokio::test]
async fn documents_are_read_without_a_mouse_and_their_headings_do_not_jump() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let page = async |path: &str| app.without_key().get(path).await.expect(200).text;
    let mut paths = vec!["/".to_owned()];
    for path in [
        "/docs",
        "/docs?q=webhook",
        "/docs/create_post",
        "/docs/errors",
        "/docs/guides",
        "/updates",
    ] {
        paths.push(path.to_owned());
    }
    paths.extend(links(&page("/docs/guides").await, "/docs/guides/"));
    paths.extend(links(&page("/updates").await, "/updates/"));
    assert!(paths.len() > 20, "{paths:?}");
    for path in paths {
        let html = page(&path).await;
        let levels = headings(&html);
        assert_eq!(levels.first(), Some(&1), "{path}");
        let jump = levels.windows(2).find(|two| two[1] > two[0] + 1);
        assert_eq!(jump, None, "{path}: {levels:?}");
        for pre in html.split("<pre").skip(1) {
            let tag = pre.split('>').next().unwrap();
            assert!(tag.contains("tabindex=\"0\""), "{path}: <pre{tag}>");
        }
    }
}
