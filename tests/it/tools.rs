//! Tools of agents: arguments in whatever form clients send them, and results of a size that agents can take.

use std::collections::BTreeSet;

use fanfare_tests::{ApiReply, Options, TestApp, User};
use reqwest::Method;
use serde_json::{Value, json};

const ACCEPT: (&str, &str) = ("Accept", "application/json, text/event-stream");

/// The longest result, in bytes.
const LONGEST: usize = 40_000;

async fn quiet() -> (TestApp, User, i64) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    (app, user, account)
}

async fn send(user: &User, path: &str, message: &Value) -> ApiReply {
    user.send(Method::POST, path, &[ACCEPT], Some(message)).await
}

async fn ask(user: &User, method: &str, params: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    send(user, "/mcp", &message).await.expect(200).body
}

pub(crate) async fn call(user: &User, tool: &str, arguments: Value) -> Value {
    let answer = ask(user, "tools/call", json!({"name": tool, "arguments": arguments})).await;
    assert!(answer["error"].is_null(), "{tool}: {answer}");
    answer["result"].clone()
}

async fn good(user: &User, tool: &str, arguments: Value) -> Value {
    let result = call(user, tool, arguments).await;
    assert_ne!(result["isError"], true, "{tool}: {result}");
    result["structuredContent"].clone()
}

async fn refused(user: &User, tool: &str, arguments: Value) -> Value {
    let result = call(user, tool, arguments).await;
    assert_eq!(result["isError"], true, "{tool}: {result}");
    result["structuredContent"].clone()
}

async fn tools(user: &User, path: &str) -> Vec<Value> {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let listed = send(user, path, &message).await.expect(200).body;
    listed["result"]["tools"].as_array().unwrap().clone()
}

/// Applies the fixes of a refusal to the arguments that were sent.
fn patched(arguments: &Value, refusal: &Value) -> Value {
    let mut next = arguments.clone();
    let broken = refusal["validation_errors"].as_array().unwrap();
    for fix in broken.iter().flat_map(|one| one["fix"].as_array().into_iter().flatten()) {
        let at = |name: &str| {
            let (parent, field) = fix[name].as_str().unwrap().rsplit_once('/').unwrap();
            (parent.to_owned(), field.to_owned())
        };
        let value = match fix["op"].as_str().unwrap() {
            op @ ("move" | "remove") => {
                let (parent, field) = at(if op == "move" { "from" } else { "path" });
                let holder = next.pointer_mut(&parent).unwrap().as_object_mut().unwrap();
                let taken = holder.remove(&field).expect("what a fix takes is there");
                if op == "remove" {
                    continue;
                }
                taken
            }
            _ => fix["value"].clone(),
        };
        let (parent, field) = at("path");
        next.pointer_mut(&parent).unwrap()[field] = value;
    }
    next
}

#[tokio::test]
async fn no_tool_drops_an_argument_that_it_does_not_know() {
    let (_app, user, _) = quiet().await;
    let mut all = tools(&user, "/mcp?tools=all").await;
    all.extend(tools(&user, "/mcp").await);
    let names: BTreeSet<String> =
        all.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert!(names.len() > 80, "{}", names.len());
    for name in &names {
        let result = call(&user, name, json!({"zzz_unknown": 1})).await;
        assert_eq!(result["isError"], true, "{name}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("zzz_unknown"), "{name}: {text}");
    }
    // A key belongs to changes alone.
    for tool in all.iter().filter(|tool| tool["annotations"]["readOnlyHint"] == true) {
        let properties = &tool["inputSchema"]["properties"];
        assert!(properties.get("idempotency_key").is_none(), "{tool}");
    }
    let sent = json!({"idempotency_key": "k"});
    let refusal = refused(&user, "list_posts", sent.clone()).await;
    let _ = good(&user, "list_posts", patched(&sent, &refusal)).await;
}

#[tokio::test]
async fn a_key_makes_a_change_safe_to_repeat_wherever_it_stands() {
    let (app, user, account) = quiet().await;
    let new = json!({"account_id": account, "caption": "Once", "scheduled_at": app.at(600)});
    let with_key = |key: &str| {
        let mut new = new.clone();
        new["idempotency_key"] = key.into();
        new
    };
    let beside = json!({"operation": "create_post", "arguments": new, "idempotency_key": "k"});
    let among = json!({"operation": "create_post", "arguments": with_key("k")});
    let both =
        json!({"operation": "create_post", "arguments": with_key("k"), "idempotency_key": "k"});
    let mut ids = BTreeSet::new();
    for arguments in [beside.clone(), beside, among, both] {
        let made = good(&user, "change_operation", arguments).await;
        ids.insert(made["post"]["id"].as_i64().unwrap());
    }
    let made = good(&user, "create_post", with_key("k")).await;
    ids.insert(made["post"]["id"].as_i64().unwrap());
    assert_eq!(ids.len(), 1, "{ids:?}");
    let two =
        json!({"operation": "create_post", "arguments": with_key("a"), "idempotency_key": "b"});
    assert_eq!(refused(&user, "change_operation", two).await["code"], "conflicting_fields");
}

#[tokio::test]
async fn a_misplaced_argument_is_refused_with_the_fix_that_moves_it() {
    let (app, user, account) = quiet().await;
    for sent in [
        json!({"operation": "create_post", "account_id": account, "caption": "A", "scheduled_at": app.at(600)}),
        json!({"operation": "create_post", "caption": "A", "arguments": {"account_id": account, "scheduled_at": app.at(600)}}),
        json!({"operation": "create_post", "arguments": {"account_id": account, "captoin": "A", "scheduled_at": app.at(600)}}),
        json!({"operation": "create_post", "arguments": {"account_id": account, "caption": "A", "dry_run": "true"}}),
    ] {
        let refusal = refused(&user, "change_operation", sent.clone()).await;
        let _ = good(&user, "change_operation", patched(&sent, &refusal)).await;
    }
    for (tool, sent) in [
        ("get_post", json!({"di": 1})),
        ("list_posts", json!({"limmit": 5})),
        ("find_operation", json!({"qeury": "posts"})),
    ] {
        let refusal = refused(&user, tool, sent.clone()).await;
        let corrected = patched(&sent, &refusal);
        let again = call(&user, tool, corrected.clone()).await;
        let code = &again["structuredContent"]["code"];
        assert!(again["isError"] != true || code == "post_not_found", "{corrected}: {again}");
    }
}

#[tokio::test]
async fn arguments_are_read_in_the_forms_that_clients_send() {
    let (_app, user, _) = quiet().await;
    for arguments in [json!({}), json!("{}"), json!(" {} "), Value::Null] {
        let who = call(&user, "whoami", arguments.clone()).await;
        assert!(who["structuredContent"]["user"].is_object(), "{arguments}: {who}");
    }
    for arguments in [
        json!({"limit": 3.0}),
        json!({"limit": "3"}),
        json!("{\"limit\": 3.0}"),
        json!({"limit": 3, "cursor": ""}),
    ] {
        let _ = good(&user, "list_posts", arguments).await;
    }
    let inner = json!({"operation": "list_posts", "arguments": "{\"limit\": 3.0}"});
    let _ = good(&user, "read_operation", inner).await;
    for (limit, kind) in [
        (json!(2.5), "a number with a fraction"),
        (json!(true), "true or false"),
        (json!([1]), "a list"),
    ] {
        let refusal = refused(&user, "list_posts", json!({"limit": limit})).await;
        let message = refusal["error"].as_str().unwrap();
        assert!(message.contains(kind) && !message.contains("a text"), "{limit}: {message}");
    }
    for params in [
        json!({"name": "whoami", "arguments": []}),
        json!({"name": "whoami", "arguments": [1]}),
        json!({"name": "whoami", "arguments": 5}),
        json!({"name": "whoami", "arguments": "no"}),
        json!({"name": 5}),
        json!({"arguments": {}}),
    ] {
        let answer = ask(&user, "tools/call", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
    let answer = ask(&user, "resources/read", json!({"uri": 5})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = ask(&user, "prompts/get", json!({"name": "plan_week", "arguments": 5})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = ask(&user, "nothing/of/this/name", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let batch = send(&user, "/mcp", &json!([ping])).await.refused(400, "invalid_json");
    assert!(batch.body["error"].as_str().unwrap().contains("batches"), "{}", batch.text);
}

#[tokio::test]
async fn a_whole_number_is_an_integer_in_query_and_body() {
    let (_app, user, account) = quiet().await;
    for query in ["limit=3.0", "limit=3e0", &format!("account_id={account}.0")] {
        let _ = user.get(&format!("/api/v1/posts?{query}")).await.expect(200);
    }
    let body = format!("{{\"account_id\": {account}.0, \"caption\": \"A\", \"dry_run\": true}}");
    let made = user.send_raw(Method::POST, "/api/v1/posts", "application/json", body.into_bytes());
    let _ = made.await.expect(200);
    user.get("/api/v1/posts?limit=2.5").await.refused(400, "invalid_field");
}

#[tokio::test]
async fn a_change_answers_with_every_id_however_large_its_posts_are() {
    let (_app, user, _) = quiet().await;
    let account = user.connect("wordpress").await;
    let long = "A long paragraph of an article. ".repeat(1_000);
    let item = || json!({"account_id": account, "caption": long, "status": "draft"});
    let batch =
        json!({"posts": (0..25).map(|_| item()).collect::<Vec<_>>(), "idempotency_key": "all"});
    let made = good(&user, "create_posts_batch", batch.clone()).await;
    let ids = |made: &Value| -> Vec<i64> {
        let posts = made["posts"].as_array().unwrap().iter();
        posts.map(|item| item["post"]["id"].as_i64().unwrap()).collect()
    };
    let first = ids(&made);
    assert_eq!(first.len(), 25);
    assert!(made.to_string().len() <= LONGEST, "{}", made.to_string().len());
    for item in made["posts"].as_array().unwrap() {
        assert_eq!(item["post"]["status"], "draft");
        assert_eq!(item["post"]["truncated"], json!(["caption"]), "{item}");
    }
    assert_eq!(ids(&good(&user, "create_posts_batch", batch).await), first);
    let shown = good(&user, "get_post", json!({"id": first[0]})).await;
    assert_eq!(shown["post"]["caption"], long, "one of them fits whole");
    // Pages are shorter, and their cursors lead through all.
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = good(&user, "list_posts", json!({"limit": 25, "cursor": cursor})).await;
        assert!(page.to_string().len() <= LONGEST, "{}", page.to_string().len());
        let posts = page["posts"].as_array().unwrap();
        assert!(!posts.is_empty(), "{page}");
        seen.extend(posts.iter().map(|post| post["id"].as_i64().unwrap()));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    seen.reverse();
    let mut sorted = first.clone();
    sorted.sort_unstable();
    assert_eq!(seen, sorted);
}

#[tokio::test]
async fn every_reading_tool_can_be_asked_for_less() {
    let (_app, user, account) = quiet().await;
    let _ = user.publish(json!({"account_id": account, "caption": "A", "status": "draft"})).await;
    let all = tools(&user, "/mcp?tools=read").await;
    assert!(all.len() > 30);
    for tool in &all {
        assert!(tool["inputSchema"]["properties"]["fields"].is_object(), "{}", tool["name"]);
    }
    let listed = good(&user, "list_posts", json!({"fields": "status, caption"})).await;
    let post = listed["posts"][0].as_object().unwrap();
    assert_eq!(post.keys().map(String::as_str).collect::<Vec<_>>(), ["caption", "id", "status"]);
    let refusal = refused(&user, "list_posts", json!({"fields": "stauts"})).await;
    assert_eq!(refusal["code"], "invalid_field");
    let whole = good(&user, "list_platforms", json!({})).await;
    assert_eq!(whole["platforms"].as_array().unwrap().len(), fanfare_tests::networks::all().len());
    assert!(whole.to_string().len() <= LONGEST);
    let one = good(&user, "list_platforms", json!({"platform": "x"})).await;
    assert_eq!(one["platforms"].as_array().unwrap().len(), 1);
    assert!(
        one["platforms"][0]["settings_schema"].is_object()
            || one["platforms"][0].get("truncated").is_none(),
        "{one}"
    );
}
