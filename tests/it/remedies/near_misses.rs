//! What callers of other services send, and the hint that each gets.

use std::collections::BTreeSet;

use fanfare_core::input::closest_name;
use fanfare_tests::{Options, TestApp};
use serde_json::{Value, json};

use super::{fixes, patched};
use crate::{
    command_output::{run, said},
    tools::call,
};

/// Returns a hint as the doors word it: over HTTP, as a tool's result, on the command line.
fn at_doors(hint: &str) -> [String; 3] {
    let flag = |name: &str| format!("--{}", name.replace('_', "-"));
    let bare = hint.replace('`', "");
    let same = || bare.clone();
    match hint {
        "create_posts_batch" => {
            ["POST /api/v1/posts/batch".to_owned(), same(), "fanfare posts create-batch".to_owned()]
        }
        "create_sandbox_account" => [
            "POST /api/v1/sandbox/accounts".to_owned(),
            same(),
            "fanfare sandbox create-account".to_owned(),
        ],
        "`Idempotency-Key`" => {
            [same(), "idempotency_key".to_owned(), "--idempotency-key".to_owned()]
        }
        "`Authorization" => {
            [same(), "connect this server again".to_owned(), "--api-key".to_owned()]
        }
        "`url`" => [same(), same(), same()],
        _ => match bare.split_once('.') {
            Some((outer, inner)) => [same(), same(), format!("{inner} in {}", flag(outer))],
            None if hint.starts_with('`') => [same(), same(), flag(&bare)],
            None => [same(), same(), same()],
        },
    }
}

/// Returns the flag with which somebody sends a field at a shell.
fn as_flag(name: &str, value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("--{}={text}", name.replace('_', "-"))
}

/// Fields of new posts that are not ours: the name, its value, and words of the remedy that it must have.
fn fields() -> Vec<(&'static str, Value, &'static str)> {
    let mut rows = Vec::new();
    for name in ["text", "body", "message", "content", "post_text", "tweet", "copy"] {
        rows.push((name, json!("Hello"), "`caption`"));
    }
    for name in ["account_ids", "accounts", "profile_ids", "channel_ids", "platforms", "networks"] {
        rows.push((name, json!([1, 2]), "create_posts_batch"));
    }
    for name in [
        "title",
        "link",
        "first_comment",
        "privacy",
        "visibility",
        "board_id",
        "hashtags",
        "location",
    ] {
        rows.push((name, json!("x"), "`settings`"));
    }
    for name in ["alt_text", "alt_texts", "media_alt_texts"] {
        rows.push((name, json!("x"), "settings.media_alt_texts"));
    }
    rows.push(("poll", json!({"options": ["Yes", "No"], "duration_minutes": 60}), "settings.poll"));
    rows.push(("poll_options", json!(["Yes", "No"]), "settings.poll"));
    for name in ["thread", "tweets", "segments", "chain", "thread_posts"] {
        rows.push((name, json!(["a", "b"]), "`metadata`"));
    }
    rows.push(("x_thread_tweets", json!(["a", "b"]), "metadata.x_thread_tweets"));
    for name in
        ["media_id", "media_ids", "asset_id", "asset_ids", "file_id", "file_ids", "upload_id"]
    {
        rows.push((name, json!("0190c5a2-0000-7000-8000-000000000000"), "`url`"));
    }
    for name in ["image_url", "image", "photo_url", "video_url", "file_url", "picture"] {
        rows.push((name, json!("https://example.com/a.png"), "`media_url`"));
    }
    for name in ["images", "image_urls", "media", "photos", "files", "attachments"] {
        rows.push((name, json!(["https://example.com/a.png"]), "`media_urls`"));
    }
    for name in [
        "schedule_time",
        "scheduled_for",
        "publish_at",
        "post_at",
        "send_at",
        "scheduled_time",
        "publish_date",
    ] {
        rows.push((name, json!("2031-01-01T00:00:00Z"), "`scheduled_at`"));
    }
    for name in ["schedule", "date", "when"] {
        rows.push((name, json!("2031-01-01T00:00:00Z"), "`scheduled_at`"));
    }
    for name in ["now", "publish_now", "immediately"] {
        rows.push((name, json!(true), "leave this field out"));
    }
    for name in ["tz", "time_zone"] {
        rows.push((name, json!("Europe/Berlin"), "`timezone`"));
    }
    for name in ["type", "kind", "format"] {
        rows.push((name, json!("feed"), "`post_type`"));
    }
    for name in ["draft", "is_draft"] {
        rows.push((name, json!(true), "status draft"));
    }
    rows.push(("sandbox", json!(true), "create_sandbox_account"));
    rows.push(("validate_only", json!(true), "`dry_run`"));
    rows.push(("labels", json!(["a"]), "`group`"));
    rows.push(("idempotency_key", json!("a"), "`Idempotency-Key`"));
    rows.push(("api_key", json!("a"), "`Authorization"));
    rows
}

#[tokio::test]
async fn what_other_services_call_it_leads_to_what_it_is_called_here() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("x").await;
    let rows = fields();
    assert!(rows.len() >= 60, "{}", rows.len());
    for (name, value, hint) in rows {
        let mut body = json!({"account_id": account, "caption": "Hi", "dry_run": true});
        let target = hint.trim_matches('`');
        if let Some(fields) = body.as_object_mut() {
            fields.remove(target);
            fields.insert(name.to_owned(), value);
        }
        let refused = user.post("/api/v1/posts", body.clone()).await.expect(400);
        let broken = refused.body["validation_errors"].as_array().unwrap().iter();
        let told = broken.clone().find(|one| one["field"] == name);
        let told = told.unwrap_or_else(|| panic!("{name}: {}", refused.text));
        assert_eq!(told["code"], "unknown_field", "{name}: {told}");
        let [rest, ..] = at_doors(hint);
        assert!(
            told["remedy"].as_str().unwrap().replace('`', "").contains(&rest),
            "{name}: {told}"
        );
        // What means the same has a fix, and nothing else has one.
        let is_same = hint.starts_with('`') && told["remedy"] == format!("Send it as {hint}.");
        let is_inside = ["poll", "x_thread_tweets"].contains(&name);
        assert_eq!(
            !fixes(&refused.body).is_empty(),
            is_same || is_inside,
            "{name}: {}",
            refused.text
        );
        if is_same {
            let corrected = patched(&body, &fixes(&refused.body));
            assert_eq!(corrected[target], body[name], "{name}: {corrected}");
        }
    }
}

#[tokio::test]
async fn agents_get_the_same_hints_in_the_words_of_tools() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("x").await;
    for (name, value, hint) in fields() {
        // A key is an argument of every change here.
        if name == "idempotency_key" {
            continue;
        }
        let mut body = json!({"account_id": account, "caption": "Hi", "dry_run": true});
        let target = hint.trim_matches('`');
        if let Some(fields) = body.as_object_mut() {
            fields.remove(target);
            fields.insert(name.to_owned(), value);
        }
        let refused = call(&user, "create_post", body.clone()).await;
        let refusal = &refused["structuredContent"];
        let broken = refusal["validation_errors"].as_array().unwrap();
        let told = broken.iter().find(|one| one["field"] == name);
        let told = told.unwrap_or_else(|| panic!("{name}: {refused}"));
        let remedy = told["remedy"].as_str().unwrap().replace('`', "");
        let [_, tool, _] = at_doors(hint);
        assert!(remedy.contains(&tool) && !remedy.contains("/api/v1"), "{name}: {told}");
        let text = refused["content"][0]["text"].as_str().unwrap().replace('`', "");
        assert!(text.contains(&tool), "{name}: {text}");
        if told["remedy"] == format!("Send it as {hint}.") && !hint.contains('.') {
            let corrected = patched(&body, &fixes(refusal));
            assert_eq!(corrected[target], body[name], "{name}: {corrected}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_at_a_shell_gets_the_same_hints_in_the_words_of_commands() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("x").await.to_string();
    for (name, value, hint) in fields() {
        // These are flags of every command.
        if ["idempotency_key", "api_key"].contains(&name) {
            continue;
        }
        let flag = as_flag(name, &value);
        let line = ["posts", "create", "--account-id", &account, "--caption", "Hi", &flag];
        let told = said(&run(&user, &line).await).replace('`', "");
        let [_, _, command] = at_doors(hint);
        assert!(told.contains(&command), "{flag}: no {command:?} in {told}");
        assert!(!told.contains("/api/v1"), "{flag}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_stand_for_something_else_say_for_what() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    for (platform, field, value, hint) in [
        ("x", "post_type", json!("poll"), "settings.poll"),
        ("mastodon", "post_type", json!("poll"), "settings.poll"),
        ("bluesky", "post_type", json!("poll"), "no polls"),
        ("x", "post_type", json!("thread"), "metadata.x_thread_tweets"),
        ("threads", "post_type", json!("thread"), "metadata.threads_thread_posts"),
        ("bluesky", "post_type", json!("thread"), "metadata.bluesky_thread_posts"),
        ("mastodon", "post_type", json!("thread"), "no chains"),
        ("x", "media_url", json!("0190c5a2-0000-7000-8000-000000000000"), "`url` of the file"),
        (
            "linkedin",
            "media_url",
            json!("0190c5a2-0000-7000-8000-000000000000"),
            "`url` of the file",
        ),
    ] {
        let account = user.connect(platform).await;
        let body =
            json!({"account_id": account, "caption": "Hi", "dry_run": true, field: value.clone()});
        let refused = user.post("/api/v1/posts", body).await.expect(400);
        let remedy = refused.body["validation_errors"][0]["remedy"].as_str().unwrap().to_owned();
        assert!(remedy.contains(hint), "{platform}: {}", refused.text);
        let sent =
            json!({"account_id": account, "caption": "Hi", "dry_run": true, field: value.clone()});
        let tool = call(&user, "create_post", sent).await;
        let told = tool["structuredContent"]["validation_errors"][0]["remedy"].as_str().unwrap();
        assert!(told.contains(hint), "{platform}: {tool}");
        let (id, flag) = (account.to_string(), as_flag(field, &value));
        let line = ["posts", "create", "--account-id", &id, "--caption=Hi", "--dry-run", &flag];
        // A path is the address of a file here, which is looked for first.
        if field != "media_url" {
            let told = said(&run(&user, &line).await).replace('`', "");
            let [_, _, command] = at_doors(hint);
            assert!(told.contains(&command), "{platform}: no {command:?} in {told}");
        }
    }
}

#[tokio::test]
async fn a_text_that_is_too_long_becomes_a_chain_where_there_are_chains() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    // The longest texts are those of the networks' documentation.
    for (platform, kind, key, most) in [
        ("x", "x_thread", "x_thread_tweets", 280),
        ("threads", "threads_thread", "threads_thread_posts", 500),
    ] {
        let account = user.connect(platform).await;
        let text: String = (1..=30).map(|n| format!("This is the sentence number {n}. ")).collect();
        for post_type in [Value::Null, json!("feed")] {
            let mut body = json!({"account_id": account, "caption": text, "dry_run": true});
            if post_type.is_string() {
                body["post_type"] = post_type;
            }
            let refused =
                user.post("/api/v1/posts", body.clone()).await.refused(400, "caption_too_long");
            let broken = &refused.body["validation_errors"][0];
            assert!(
                broken["remedy"].as_str().unwrap().starts_with("Publish it as"),
                "{}",
                refused.text
            );
            assert_eq!((&broken["limit"], broken["unit"].is_string()), (&json!(most), true));
            let corrected = patched(&body, &fixes(&refused.body));
            assert_eq!(corrected["post_type"], kind);
            let parts: Vec<&str> = corrected["metadata"][key]
                .as_array()
                .unwrap()
                .iter()
                .map(|part| part.as_str().unwrap())
                .collect();
            assert_eq!(parts.join(" "), text.trim(), "nothing of the text is lost");
            assert!(
                parts.iter().all(|part| part.ends_with('.') && part.len() <= most),
                "{parts:?}"
            );
            user.post("/api/v1/posts", corrected).await.expect(200);
        }
        let schema = user.get(&format!("/api/v1/accounts/{account}/schema")).await.expect(200).body;
        let named = schema["post_type_details"].as_array().unwrap().iter();
        assert!(
            named
                .clone()
                .all(|one| one["description"].as_str().is_some_and(|text| !text.is_empty()))
        );
        assert!(named.clone().any(|one| one["name"] == kind), "{schema:#}");
        assert_eq!(schema["metadata"]["properties"][key]["type"], "array", "{schema:#}");
    }
    // A word that cannot be split, and an address where a chain takes none, leave it to the person.
    let account = user.connect("x").await;
    for text in
        ["x".repeat(300), format!("Look at https://example.com/ now. {}", "And more. ".repeat(40))]
    {
        let body = json!({"account_id": account, "caption": text, "dry_run": true});
        let refused = user.post("/api/v1/posts", body).await.refused(400, "caption_too_long");
        assert_eq!(fixes(&refused.body), Vec::<Value>::new(), "{}", refused.text);
    }
}

/// Adds the choices of every enumeration in a document.
fn enumerations(value: &Value, found: &mut Vec<BTreeSet<String>>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::Array(choices)) = fields.get("enum") {
                found.push(choices.iter().filter_map(Value::as_str).map(str::to_owned).collect());
            }
            fields.values().for_each(|inner| enumerations(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| enumerations(inner, found)),
        _ => {}
    }
}

#[tokio::test]
async fn no_name_of_an_enumeration_is_taken_for_another_one() {
    // A service that runs knows its words.
    let _app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let document: Value = serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap();
    let mut all = Vec::new();
    enumerations(&document, &mut all);
    let all: BTreeSet<BTreeSet<String>> = all.into_iter().collect();
    let words: BTreeSet<&str> = all.iter().flatten().map(String::as_str).collect();
    assert!(words.contains("account.disconnected") && words.len() > 300, "{}", words.len());
    let plain = |word: &str| word.trim_end_matches('s').to_lowercase().replace(['.', '-'], "_");
    for choices in &all {
        for word in &words {
            let meant = closest_name(word, choices.iter().map(String::as_str));
            let is_same = meant.is_none_or(|meant| plain(meant) == plain(word));
            assert!(is_same, "{word} would become {meant:?} of {choices:?}");
        }
    }
}
