//! Agents reach every operation over MCP, by the rules of the API.

use std::collections::HashSet;

use fanfare_domain::access::Scope;
use fanfare_tests::{ApiReply, Options, RawConnection, TestApp, User};
use reqwest::Method;
use serde_json::{Value, json};

const ACCEPT: (&str, &str) = ("Accept", "application/json, text/event-stream");

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

async fn ask_at(user: &User, path: &str, method: &str, params: Value) -> ApiReply {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    user.send(Method::POST, path, &[ACCEPT], Some(&message)).await
}

async fn ask(user: &User, method: &str, params: Value) -> Value {
    ask_at(user, "/mcp", method, params).await.expect(200).body
}

async fn call(user: &User, tool: &str, arguments: Value) -> Value {
    let answer = ask(user, "tools/call", json!({"name": tool, "arguments": arguments})).await;
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

async fn tools(user: &User, path: &str) -> Vec<Value> {
    let answer = ask_at(user, path, "tools/list", json!({})).await.expect(200).body;
    answer["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> HashSet<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn both_eras_of_clients_are_served_without_sessions() {
    let app = quiet().await;
    let user = app.user().await;
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let answer = ask(&user, "initialize", hello).await;
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "fanfare");
        assert!(answer["result"]["instructions"].as_str().unwrap().contains("whoami"));
    }
    let meta = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": meta});
    let headers = [ACCEPT, ("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")];
    let answer = user.send(Method::POST, "/api/mcp", &headers, Some(&message)).await.expect(200);
    assert!(answer.body["result"]["tools"].is_array(), "{}", answer.text);
}

#[tokio::test]
async fn the_default_list_is_short_and_every_operation_can_be_reached() {
    let app = quiet().await;
    let user = app.user().await;
    let core = tools(&user, "/mcp").await;
    assert!(core.len() <= 36, "{} tools", core.len());
    let size = serde_json::to_string(&core).unwrap().len();
    assert!(size <= 40 * 1_024, "{size} bytes");
    for name in [
        "start_signup",
        "get_signup_session",
        "create_media_drop",
        "list_media",
        "create_signed_upload",
        "create_post",
        "submit_product_feedback",
        "submit_agent_feedback",
        "find_operation",
    ] {
        assert!(names(&core).contains(name), "{name} is missing");
    }
    for tool in &core {
        let hints = &tool["annotations"];
        for hint in ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
        {
            assert!(!hints[hint].is_null(), "{} lacks {hint}", tool["name"]);
        }
    }
    let all = tools(&user, "/mcp?tools=all").await;
    let document: Value = app.without_key().get("/openapi.json").await.expect(200).body;
    let operations = document["paths"].as_object().unwrap().iter();
    let operations = operations.filter(|(path, _)| path.starts_with("/api/v1/"));
    for operation in operations.flat_map(|(_, methods)| methods.as_object().unwrap().values()) {
        let name = operation["operationId"].as_str().unwrap();
        assert!(names(&all).contains(name), "{name} has no tool");
    }
    let read = tools(&user, "/mcp?tools=read").await;
    assert!(read.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    let media = tools(&user, "/mcp?tools=media,brands").await;
    assert!(names(&media).contains("list_brands") && !names(&media).contains("create_post"));
}

#[tokio::test]
async fn a_tool_call_is_a_request_of_the_api() {
    let app = quiet().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let who = call(&user, "whoami", json!({})).await;
    assert_eq!(who["structuredContent"], user.get("/api/v1/whoami").await.expect(200).body);
    let new = json!({
        "account_id": account, "caption": "From an agent", "scheduled_at": app.at(600), "idempotency_key": "once",
    });
    let made = call(&user, "create_post", new.clone()).await;
    assert_ne!(made["isError"], true, "{made}");
    let post = made["structuredContent"]["post"].clone();
    let again = call(&user, "create_post", new).await;
    assert_eq!(again["structuredContent"]["post"]["id"], post["id"]);
    let id = post["id"].clone();
    let changed = call(&user, "update_post", json!({"id": id, "caption": "Changed"})).await;
    assert_eq!(changed["structuredContent"]["post"]["caption"], "Changed");
    let listed = call(&user, "list_posts", json!({"status": "scheduled", "limit": 5})).await;
    assert_eq!(listed["structuredContent"]["posts"].as_array().unwrap().len(), 1);
    let found =
        call(&user, "find_operation", json!({"query": "rotate the secret of a webhook"})).await;
    assert_eq!(found["structuredContent"]["operations"][0]["operation"], "rotate_webhook_secret");
    let run = json!({"operation": "get_post", "arguments": {"id": id}});
    let read = call(&user, "read_operation", run).await;
    assert_eq!(read["structuredContent"]["post"]["id"], post["id"]);
    let run = json!({"operation": "delete_post", "arguments": {"id": id}});
    let gone = call(&user, "change_operation", run).await;
    assert_eq!(gone["structuredContent"]["deleted"], true);
}

#[tokio::test]
async fn a_refusal_says_what_to_do_and_scopes_hold() {
    let app = quiet().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let refused = call(&user, "create_post", json!({"account_id": account, "captoin": "x"})).await;
    assert_eq!(refused["isError"], true);
    assert!(refused["structuredContent"]["validation_errors"].is_array(), "{refused}");
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Remedy: ") && text.contains("(request req_"), "{text}");
    let absent = call(&user, "get_post", json!({"id": 999_999})).await;
    assert_eq!(absent["structuredContent"]["code"], "post_not_found");
    let person = app.person("reader@example.com").await;
    let reader = app.key(person, None, &[Scope::PostsRead]).await;
    assert!(!names(&tools(&reader, "/mcp?tools=all").await).contains("create_post"));
    let refused = call(&reader, "create_post", json!({"account_id": 1})).await;
    assert_eq!(refused["structuredContent"]["code"], "insufficient_scope");
    for (tool, arguments) in [
        ("no_such_tool", json!({})),
        ("read_operation", json!({"operation": "create_post"})),
        ("read_operation", json!({"operation": "nothing"})),
        ("change_operation", json!({"operation": "get_post", "arguments": 7})),
    ] {
        let answer = ask(&user, "tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert_eq!(answer["error"]["code"], -32602, "{tool}: {answer}");
    }
}

#[tokio::test]
async fn nobody_comes_in_without_a_key_but_to_sign_up_or_to_look() {
    let app = quiet().await;
    let nobody = app.without_key();
    for method in ["initialize", "tools/list", "tools/call"] {
        let answer = ask_at(&nobody, "/mcp", method, json!({})).await;
        assert!(answer.header("www-authenticate").starts_with("Bearer"), "{}", answer.text);
        answer.refused(401, "missing_api_key");
    }
    let card = nobody.get("/mcp").await.expect(200).body;
    assert_eq!(card["name"], "fanfare");
    assert_eq!(nobody.get("/.well-known/mcp/server-card.json").await.expect(200).body, card);
    assert_eq!(
        names(&tools(&nobody, "/mcp/signup").await),
        HashSet::from(["start_signup", "get_signup_session"])
    );
    let denied =
        ask_at(&nobody, "/mcp/signup", "tools/call", json!({"name": "whoami", "arguments": {}}))
            .await;
    assert_eq!(denied.expect(200).body["error"]["code"], -32602);
    assert_eq!(nobody.delete("/mcp").await.status, 401);
    let user = app.user().await;
    let stream = user.send(Method::GET, "/mcp", &[("Accept", "text/event-stream")], None).await;
    assert_eq!(stream.status, 405);
    assert_eq!(user.delete("/mcp").await.status, 405);
}

#[tokio::test]
async fn foreign_hosts_and_pages_and_messages_that_are_none_are_refused() {
    let app = quiet().await;
    let user = app.user().await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    for (header, value, status) in [
        ("Host", "rebound.example", 421),
        ("Origin", "https://evil.example", 403),
        ("Origin", "null", 403),
    ] {
        let answer = user.send(Method::POST, "/mcp", &[ACCEPT, (header, value)], Some(&list)).await;
        assert_eq!(answer.status, status, "{header}: {value}");
    }
    let large = vec![b'['; 1 << 20];
    let bodies = ["", "{", "[]", "\"x\"", "{}", "{\"jsonrpc\":\"2.0\"}"]
        .map(|body| body.as_bytes().to_vec());
    for body in bodies.into_iter().chain([large, vec![0xff; 64]]) {
        let answer = user.send_raw(Method::POST, "/mcp", "application/json", body).await;
        answer.refused(400, "invalid_json");
    }
    let larger = vec![b' '; (1 << 20) + 1];
    let answer = user.send_raw(Method::POST, "/mcp", "application/json", larger).await;
    answer.refused(413, "payload_too_large");
    let _ = ask(&user, "tools/list", json!({})).await;
}

#[tokio::test]
async fn documents_and_prompts_can_be_read() {
    let app = quiet().await;
    let user = app.user().await;
    let listed = ask(&user, "resources/list", json!({})).await;
    for resource in listed["result"]["resources"].as_array().unwrap() {
        let read = ask(&user, "resources/read", json!({"uri": resource["uri"]})).await;
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(text.len() > 100, "{resource}");
    }
    let absent = ask(&user, "resources/read", json!({"uri": "fanfare://nothing"})).await;
    assert!(absent["error"]["code"].is_i64());
    let prompt = json!({"name": "connect_account", "arguments": {"platform": "mastodon"}});
    let prompt = ask(&user, "prompts/get", prompt).await;
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("my account on mastodon"), "{text}");
}

#[tokio::test]
async fn arguments_of_other_types_are_refused_one_by_one() {
    let app = quiet().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let wrong =
        json!({"account_id": account, "caption": {"a": 1}, "media_urls": 5, "dry_run": "perhaps"});
    let refused = call(&user, "create_post", wrong).await;
    let broken = refused["structuredContent"]["validation_errors"].as_array().unwrap();
    let fields: HashSet<_> = broken.iter().map(|one| one["field"].as_str().unwrap()).collect();
    assert!(fields.is_superset(&HashSet::from(["caption", "dry_run"])), "{refused}");
    let fixable = json!({"account_id": account, "captoin": "x", "dry_run": "true"});
    let refused = call(&user, "create_post", fixable).await;
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Fix (JSON Patch on the arguments): [{"), "{text}");
    for arguments in [json!([]), json!("x"), json!(5)] {
        let answer =
            ask_at(&user, "/mcp", "tools/call", json!({"name": "whoami", "arguments": arguments}));
        let answer = answer.await;
        assert!(answer.status < 500 && answer.body["result"].is_null(), "{}", answer.text);
    }
    let text = "x".repeat(900_000);
    let long = call(&user, "create_post", json!({"account_id": account, "caption": text})).await;
    assert_eq!(long["structuredContent"]["code"], "caption_too_long");
}

#[tokio::test]
async fn clients_that_stay_silent_or_go_away_hinder_nobody() {
    let app = quiet().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let head = |length: usize| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n",
            app.origin.trim_start_matches("http://"),
            user.key
        )
    };
    let mut silent = Vec::new();
    for _ in 0..200 {
        let mut client = RawConnection::connect(&app).await;
        client.send(head(1_000).as_bytes()).await;
        silent.push(client);
    }
    let arguments = json!({
        "account_id": account, "caption": "Once", "scheduled_at": app.at(600), "idempotency_key": "gone",
    });
    let params = json!({"name": "create_post", "arguments": arguments});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let message = message.to_string();
    let mut gone = RawConnection::connect(&app).await;
    gone.send(format!("{}{message}", head(message.len())).as_bytes()).await;
    drop(gone);
    // The first call may have been carried out, may be on its way, or may never have begun.
    let made = app
        .eventually("the call is repeated", || async {
            let again = call(&user, "create_post", arguments.clone()).await;
            again["structuredContent"]["post"]["id"].as_i64()
        })
        .await;
    let posts = user.get("/api/v1/posts").await.expect(200).body;
    let ids: Vec<_> = posts["posts"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [&json!(made)], "{posts}");
    drop(silent);
}
