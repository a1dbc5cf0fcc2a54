//! The same mistakes through the other doors: fixes of tools applied to their arguments, fixes of commands typed as they
//! stand.

use fanfare_api::routes::ROUTES;
use fanfare_tests::User;
use serde_json::{Map, Value, json};

use super::{Valid, fixes, mistakes::mistakes, patched, quiet, valid};
use crate::{
    command_output::{run, said},
    tools::call,
};

/// Returns the arguments of a tool that stand in the path of a request.
fn in_path(valid: &Valid) -> Map<String, Value> {
    let route = ROUTES.iter().find(|route| route.name == valid.operation).unwrap();
    let steps = route.path.split('/').zip(valid.path.split('/'));
    let named = steps.filter_map(|(known, given)| {
        let name = known.strip_prefix('{')?.strip_suffix('}')?;
        Some((name.to_owned(), given.parse::<i64>().map_or_else(|_| json!(given), Value::from)))
    });
    named.collect()
}

async fn by_runner(user: &User, arguments: &Value) -> Value {
    let result = call(user, "change_operation", arguments.clone()).await;
    if let Some(key) = result["structuredContent"]["api_key"]["id"].as_str() {
        // A plan has a number of keys.
        let _ = user.delete(&format!("/api/v1/keys/{key}")).await.expect(200);
    }
    result
}

#[tokio::test]
async fn fixes_of_tools_applied_blindly_correct_what_can_be_corrected() {
    let (app, user) = quiet().await;
    let (mut all, mut missed) = (0, Vec::new());
    for valid in valid(&app, &user).await {
        for broken in mistakes(&valid.body) {
            let mut sent = in_path(&valid);
            sent.extend(broken.body.as_object().unwrap().clone());
            let sent = json!({"operation": valid.operation, "arguments": sent});
            let refused = by_runner(&user, &sent).await;
            if refused["isError"] != true {
                continue;
            }
            all += 1;
            let corrected = patched(&sent, &fixes(&refused["structuredContent"]));
            let again = by_runner(&user, &corrected).await;
            if again["isError"] == true {
                missed.push(format!("{}: {sent} -> {}", valid.operation, again["content"]));
            }
        }
    }
    assert!(all >= 80, "{all}");
    assert!(missed.is_empty(), "{} of {all}:\n{}", missed.len(), missed.join("\n"));
}

/// Returns the place of a field as a command names it: `--caption`, or `title in --settings`.
fn place(named: &str) -> String {
    let (inner, flag) = named.split_once(" in ").map_or(("", named), |(inner, flag)| (inner, flag));
    let outer = flag.trim_start_matches("--").replace('-', "_");
    if inner.is_empty() { format!("/{outer}") } else { format!("/{outer}/{inner}") }
}

/// Returns a line about a fix as JSON Patch.
fn read(line: &str) -> Value {
    if let Some(named) = line.strip_prefix("leave out ") {
        return json!({"op": "remove", "path": place(named)});
    }
    if let Some((to, from)) = line.split_once(" in place of ") {
        return json!({"op": "move", "from": place(from), "path": place(to)});
    }
    let parts = if line.starts_with("--") { line.split_once('=') } else { line.split_once(": ") };
    let (named, value) = parts.unwrap_or_else(|| panic!("{line}"));
    let bare = value.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(value);
    let value: Value = serde_json::from_str(bare).unwrap_or_else(|_| bare.into());
    json!({"op": "add", "path": place(named), "value": value})
}

#[tokio::test(flavor = "multi_thread")]
async fn fixes_of_commands_typed_as_they_stand_correct_what_can_be_corrected() {
    let (app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    let file = app.dir().join("body.json");
    let right = json!({
        "account_id": account, "caption": "Right", "scheduled_at": app.at(7_200), "status": "scheduled",
        "post_type": "feed", "dry_run": true, "settings": {"languages": ["en"]},
    });
    let sent = async |body: &Value| {
        std::fs::write(&file, body.to_string()).unwrap();
        run(&user, &["posts", "create", "--input", file.to_str().unwrap()]).await
    };
    let (mut seen, mut missed) = (Vec::new(), Vec::new());
    for broken in mistakes(&right) {
        // Once for each class: a command takes its time to start.
        if seen.contains(&broken.class) {
            continue;
        }
        let refused = sent(&broken.body).await;
        if refused.status.success() {
            continue;
        }
        seen.push(broken.class);
        let told = said(&refused);
        let fixes: Vec<_> =
            told.lines().filter_map(|line| line.strip_prefix("fix: ")).map(read).collect();
        let again = sent(&patched(&broken.body, &fixes)).await;
        if !again.status.success() {
            missed.push(format!("{}: {told}\n-> {}", broken.class, said(&again)));
        }
    }
    assert!(seen.len() >= 8, "{seen:?}");
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
