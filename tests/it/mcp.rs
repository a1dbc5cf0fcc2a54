//! Agents reach every operation over MCP, by the rules of the API.

use std::{collections::HashSet, time::Duration};

use fanfare_core::access::Scope;
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
    assert!(size <= 40 << 10, "{size} bytes");
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
        let when = tool["description"].as_str().unwrap();
        assert!(when.contains("Use it") || names_a_runner(tool), "{when}");
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

fn names_a_runner(tool: &Value) -> bool {
    ["find_operation", "read_operation", "change_operation"]
        .iter()
        .any(|name| tool["name"] == *name)
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
    assert!(text.contains("Remedy: ") && text.contains("request req_"), "{text}");
    let absent = call(&user, "get_post", json!({"id": 999_999})).await;
    assert_eq!(absent["structuredContent"]["code"], "post_not_found");
    let person = app.person("reader@example.com").await;
    let reader = app.key(person, None, &[Scope::PostsRead]).await;
    assert!(!names(&tools(&reader, "/mcp?tools=all").await).contains("create_post"));
    let refused = call(&reader, "create_post", json!({"account_id": 1})).await;
    assert_eq!(refused["structuredContent"]["code"], "insufficient_scope");
    for (tool, arguments) in [
        ("no_such_tool", json!({})),
        ("change_operation", json!({"operation": "get_post", "arguments": 7})),
    ] {
        let answer = ask(&user, "tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert_eq!(answer["error"]["code"], -32602, "{tool}: {answer}");
    }
}

#[tokio::test]
async fn refusals_speak_of_tools_and_name_what_is_near() {
    let app = quiet().await;
    let user = app.user().await;
    for (tool, arguments, words) in [
        ("read_operation", json!({"operation": "create_post"}), "Run it with change_operation"),
        ("read_operation", json!({"operation": "get_posts"}), "get_post"),
        ("read_operation", json!({"operation": "list_acounts"}), "list_accounts"),
        ("change_operation", json!({"operation": "post_create"}), "create_post"),
        ("change_operation", json!({"operation": "zzz"}), "find_operation"),
        ("get_post", json!({"id": 999_999}), "list_posts"),
        ("create_post", json!({"account_id": 999_999, "caption": "x"}), "`list_accounts`"),
        (
            "read_operation",
            json!({"operation": "get_brand", "arguments": {"id": "0190c5a2-0000-7000-8000-000000000000"}}),
            "`list_brands`",
        ),
    ] {
        let refused = call(&user, tool, arguments.clone()).await;
        assert_eq!(refused["isError"], true, "{tool} {arguments}: {refused}");
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(words), "{tool} {arguments}: {text}");
        let said = format!(
            "{} {}",
            refused["structuredContent"]["error"], refused["structuredContent"]["remedy"]
        );
        assert!(!said.contains("/api/v1/") && !said.contains("openapi.json"), "{said}");
        assert!(text.contains("/docs/errors#"), "{text}");
    }
    let unknown = ask(&user, "tools/call", json!({"name": "create_pots", "arguments": {}})).await;
    assert!(unknown["error"]["message"].as_str().unwrap().contains("create_post"), "{unknown}");
    // A fix of a runner points into its arguments.
    let account = user.connect("bluesky").await;
    let sent = json!({"operation": "create_post", "arguments": {"account_id": account, "captoin": "x", "dry_run": true}});
    let refused = call(&user, "change_operation", sent).await;
    let fix = &refused["structuredContent"]["validation_errors"][0]["fix"][0];
    assert_eq!(
        (&fix["from"], &fix["path"]),
        (&json!("/arguments/captoin"), &json!("/arguments/caption"))
    );
    // Where it stands is in the text too.
    let later = user
        .publish(json!({"account_id": account, "caption": "x", "scheduled_at": app.at(600)}))
        .await;
    let refused = call(
        &user,
        "change_operation",
        json!({"operation": "retry_post", "arguments": {"id": later["id"]}}),
    )
    .await;
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Status: scheduled") && text.contains("Allowed: "), "{text}");
    // Without an id there is nothing to look for.
    for (tool, name) in [("get_post", "id"), ("get_platform_schema", "id")] {
        let refused = call(&user, tool, json!({})).await;
        let told = &refused["structuredContent"];
        assert_eq!(
            (&told["code"], &told["validation_errors"][0]["field"]),
            (&json!("field_required"), &json!(name)),
            "{told}"
        );
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
        let contents = &read["result"]["contents"][0];
        let text = contents["text"].as_str().unwrap();
        assert!((100..300_000).contains(&text.len()), "{resource}: {}", text.len());
        assert_eq!(contents["mimeType"], resource["mimeType"], "{resource}");
        if contents["mimeType"] == "application/json" {
            assert!(serde_json::from_str::<Value>(text).is_ok(), "{resource}");
        }
        if resource["uri"] == "fanfare://docs/errors" {
            assert!(text.contains("## outcome_unknown") && text.contains("## caption_too_long"));
        }
    }
    let templates = ask(&user, "resources/templates/list", json!({})).await;
    assert!(templates.to_string().contains("fanfare://openapi/operations/{operation}"));
    let one = json!({"uri": "fanfare://openapi/operations/create_post"});
    let one = ask(&user, "resources/read", one).await;
    let one = one["result"]["contents"][0]["text"].as_str().unwrap();
    let one: Value = serde_json::from_str(one).unwrap();
    assert_eq!(one["paths"].as_object().unwrap().len(), 1);
    assert_eq!(one["paths"]["/api/v1/posts"]["post"]["operationId"], "create_post");
    assert!(one["paths"]["/api/v1/posts"]["get"].is_null());
    assert!(one["components"]["schemas"]["Post"].is_object());
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
    // The first call may have been carried out, may be on its way, or may never have begun; then it may have left its
    // key reserved, for as long as a reservation lasts.
    let made = app
        .eventually_in_time("the call is repeated", Duration::from_secs(5), || async {
            let again = call(&user, "create_post", arguments.clone()).await;
            again["structuredContent"]["post"]["id"].as_i64()
        })
        .await;
    let posts = user.get("/api/v1/posts").await.expect(200).body;
    let ids: Vec<_> = posts["posts"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [&json!(made)], "{posts}");
    drop(silent);
}

#[tokio::test]
async fn behind_a_proxy_a_sign_up_counts_for_its_sender_by_every_door() {
    let trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let options = Options { workers: false, limits_factor: 1.0, ..Options::default() };
    let app = TestApp::with(Options { trusted_proxies, ..options }).await;
    let nobody = User::new(&app.origin, String::new());
    let new = |nth: u32| json!({"email": format!("ada{nth}@example.com"), "name": "Ada"});
    let by_tool = async |from: &str, nth: u32, key: Option<&str>| {
        let mut arguments = new(nth);
        if let Some(key) = key {
            arguments["idempotency_key"] = key.into();
        }
        let params = json!({"name": "start_signup", "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let headers = [ACCEPT, ("X-Forwarded-For", from)];
        let sent = nobody.send(Method::POST, "/mcp/signup", &headers, Some(&message)).await;
        sent.expect(200).body["result"]["structuredContent"].clone()
    };
    let by_rest = async |from: &str, nth: u32, key: Option<&str>| {
        let mut headers = vec![("X-Forwarded-For", from)];
        headers.extend(key.map(|key| ("Idempotency-Key", key)));
        nobody.send(Method::POST, "/api/v1/signup", &headers, Some(&new(nth))).await.body
    };
    // Seven people behind one proxy, one each: more than one address has in an hour.
    for nth in 0..7 {
        let said = by_tool(&format!("203.0.113.{nth}"), nth, None).await;
        assert!(said["session_id"].is_string(), "{said}");
    }
    // One sender by both doors: five in an hour, whichever.
    let sender = "198.51.100.7";
    for nth in 10..15 {
        let said = if nth % 2 == 0 {
            by_tool(sender, nth, None).await
        } else {
            by_rest(sender, nth, None).await
        };
        assert!(said["session_id"].is_string(), "{said}");
    }
    assert_eq!(by_tool(sender, 20, None).await["code"], "rate_limited");
    assert_eq!(by_rest(sender, 20, None).await["code"], "rate_limited");
    // A key belongs to its sender, by both doors.
    let first = by_rest("192.0.2.1", 30, Some("k")).await;
    assert_eq!(by_tool("192.0.2.1", 30, Some("k")).await["session_id"], first["session_id"]);
    assert_ne!(by_tool("192.0.2.2", 30, Some("k")).await["session_id"], first["session_id"]);
}
