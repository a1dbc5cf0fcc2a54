//! Refusals at each door: over HTTP, as results of tools, on the command line. Each speaks in the words of its own door.

use fanfare_api::{Route, routes::ROUTES};
use fanfare_tests::{Options, TestApp, User};
use serde_json::{Map, Value, json};

use crate::{
    command_output::{run, said},
    tools::call,
};

/// A request that is refused: the operation, and what it is sent.
type Wrong = (&'static str, Value);

fn route(operation: &str) -> &'static Route {
    ROUTES.iter().find(|route| route.name == operation).unwrap()
}

fn in_url(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Sends a request over HTTP; returns the refusal.
async fn by_rest(user: &User, (operation, sent): &Wrong) -> Value {
    let route = route(operation);
    let (mut path, mut rest) = (route.path.to_owned(), Map::new());
    for (name, value) in sent.as_object().unwrap() {
        let place = format!("{{{name}}}");
        match path.contains(&place) {
            true => path = path.replace(&place, &in_url(value)),
            false => drop(rest.insert(name.clone(), value.clone())),
        }
    }
    let method = route.method.as_str().parse().unwrap();
    if route.method.writes() {
        let body = Value::Object(rest);
        return user.send(method, &path, &[], Some(&body)).await.body;
    }
    let query: Vec<_> =
        rest.iter().map(|(name, value)| format!("{name}={}", in_url(value))).collect();
    let path = if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
    user.send(method, &path, &[], None).await.body
}

/// Runs the command; returns what it says on standard error.
async fn by_command(user: &User, (operation, sent): &Wrong) -> String {
    let route = route(operation);
    let command = route.command();
    let mut line: Vec<String> = command.split(' ').skip(1).map(str::to_owned).collect();
    for (name, value) in sent.as_object().unwrap() {
        match route.path.contains(&format!("{{{name}}}")) {
            true => line.push(in_url(value)),
            false => match value.as_array() {
                Some(items) if items.iter().all(Value::is_string) => {
                    line.extend(
                        items
                            .iter()
                            .map(|one| format!("--{}={}", name.replace('_', "-"), in_url(one))),
                    );
                }
                _ => line.push(format!("--{}={}", name.replace('_', "-"), in_url(value))),
            },
        }
    }
    line.push("--yes".to_owned());
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let output = run(user, &line).await;
    assert!(!output.status.success(), "{line:?}");
    said(&output)
}

/// All texts of a refusal that people read.
fn texts(refusal: &Value) -> String {
    match refusal {
        Value::Object(fields) => {
            let is_text = |name: &str| ["error", "message", "remedy", "why"].contains(&name);
            let said = fields.iter().map(|(name, value)| match value {
                Value::String(text) if is_text(name) => format!("{text}\n"),
                Value::String(_) => String::new(),
                _ => texts(value),
            });
            said.collect()
        }
        Value::Array(items) => items.iter().map(texts).collect(),
        _ => String::new(),
    }
}

/// Names of operations in a text that only tools have.
fn tools_in(text: &str) -> Vec<&'static str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words: Vec<_> = text.split(|letter| !is_part(letter)).collect();
    let names = ROUTES.iter().map(|route| route.name).filter(|name| name.contains('_'));
    names.filter(|name| words.contains(name)).collect()
}

/// Calls by HTTP in a text, but for those that `fanfare api` makes.
fn calls_in(text: &str) -> bool {
    let text = text.replace("fanfare api GET /", "").replace("fanfare api POST /", "");
    let text = text.replace("fanfare api PUT /", "").replace("fanfare api PATCH /", "");
    ["GET", "POST", "PUT", "PATCH", "DELETE"]
        .iter()
        .any(|method| text.contains(&format!("{method} /api/v1")))
}

async fn wrong(app: &TestApp, user: &User) -> Vec<Wrong> {
    let (x, bluesky) = (user.connect("x").await, user.connect("bluesky").await);
    let later = json!({"account_id": bluesky, "caption": "Later", "scheduled_at": app.at(7_200)});
    let post = user.publish(later).await["id"].clone();
    let nobody = "0190c5a2-0000-7000-8000-000000000000";
    vec![
        ("get_post", json!({"id": 999_999})),
        ("update_post", json!({"id": 999_999, "caption": "x"})),
        ("delete_post", json!({"id": 999_999})),
        ("list_attempts", json!({"id": 999_999})),
        ("retry_post", json!({"id": post})),
        ("update_post_status", json!({"id": post, "status": "paused", "scheduled_at": "tomorrow"})),
        ("create_post", json!({"account_id": 999_999, "caption": "x"})),
        ("create_post", json!({"account_id": x, "caption": "word ".repeat(200)})),
        ("create_post", json!({"account_id": x, "caption": "x", "scheduled_at": app.at(-3_600)})),
        ("create_post", json!({"account_id": x, "caption": "x", "scheduled_at": "tomorrow"})),
        ("create_post", json!({"account_id": x, "caption": "x", "post_type": "poll"})),
        ("create_post", json!({"account_id": x, "caption": "x", "media_url": nobody})),
        ("create_post", json!({"account_id": bluesky, "caption": ""})),
        ("create_post", json!({"account_id": bluesky, "caption": "x", "settings": {"titel": "x"}})),
        ("get_platform_schema", json!({"id": 999_999})),
        ("list_posts", json!({"limit": 0})),
        ("list_posts", json!({"cursor": "nothing"})),
        ("get_brand", json!({"id": nobody})),
        ("create_webhook", json!({"url": "ftp://example.com", "events": ["post.unpublished"]})),
        ("delete_webhook", json!({"id": nobody})),
        ("delete_media", json!({"id": nobody})),
        ("disconnect_account", json!({"id": 999_999})),
        ("get_conversation", json!({"id": 999_999})),
        ("get_comment", json!({"id": 999_999})),
        ("create_sandbox_account", json!({"platform": "nowhere"})),
        ("get_video_job", json!({"id": nobody})),
        ("generate_captions", json!({"brief": "Brunch [[refuse]]", "platforms": ["bluesky"]})),
        (
            "generate_captions",
            json!({"brief": "Brunch", "platforms": ["bluesky"], "max_credits": 0}),
        ),
        ("generate_image", json!({"prompt": "A cat [[fail]]"})),
        ("create_api_key", json!({"name": "", "scopes": ["posts:read"]})),
        ("set_account_slots", json!({"id": bluesky, "times": ["25:00"], "days": ["monday"]})),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_speaks_in_the_words_of_its_door() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let (mut seen, mut bad) = (0, Vec::new());
    for wrong in wrong(&app, &user).await {
        if !ROUTES.iter().any(|route| route.name == wrong.0) {
            bad.push(format!("{} is no operation", wrong.0));
            continue;
        }
        let (operation, sent) = &wrong;
        let rest = by_rest(&user, &wrong).await;
        assert!(rest["code"].is_string(), "{wrong:?}: {rest}");
        let said = texts(&rest);
        if !tools_in(&said).is_empty()
            || said.contains(" --")
            || said.contains("`--")
            || said.contains("fanfare ")
        {
            bad.push(format!("REST, {operation} {sent}: {said}"));
        }
        // Not every operation is in the short list; the runner has them all.
        let runner =
            if route(operation).method.writes() { "change_operation" } else { "read_operation" };
        let tool = call(&user, runner, json!({"operation": operation, "arguments": sent})).await;
        let body = &tool["structuredContent"];
        assert_eq!(
            (&tool["isError"], &body["code"]),
            (&json!(true), &rest["code"]),
            "{wrong:?}: {tool}"
        );
        let text = format!("{}\n{}", texts(body), tool["content"][0]["text"]);
        let steps = body.to_string();
        if text.contains("/api/v1")
            || steps.contains("\"method\"")
            || text.contains(" --")
            || text.contains("fanfare ")
        {
            bad.push(format!("MCP, {operation} {sent}: {text}"));
        }
        assert!(text.contains("/docs/errors#"), "{text}");
        // A fix points into the arguments of the runner.
        for one in body["validation_errors"].as_array().into_iter().flatten() {
            for fix in one["fix"].as_array().into_iter().flatten() {
                assert!(fix["path"].as_str().unwrap().starts_with("/arguments"), "{fix}");
            }
        }
        let lines = by_command(&user, &wrong).await;
        if calls_in(&lines) || !tools_in(&lines).is_empty() || lines.contains("\"op\":") {
            bad.push(format!("CLI, {operation} {sent}: {lines}"));
        }
        let is_of_service = lines.contains(rest["code"].as_str().unwrap());
        assert!(is_of_service || lines.contains("error:"), "{wrong:?}: {lines}");
        assert!(!is_of_service || lines.contains("/docs/errors#"), "{lines}");
        seen += usize::from(is_of_service);
    }
    assert!(bad.is_empty(), "{}", bad.join("\n\n"));
    assert!(seen >= 25, "{seen} of them reached the service from the command line");
}
