//! Agents over MCP with a token: found by a refusal, let in for `/mcp`, and asked for more where it lacks a scope.

use fanfare_tests::{Options, TestApp, Visitor};
use serde_json::{Value, json};

use super::{Said, authorize, decide, parameter, read, redeem, register, text, usual};

async fn ask(app: &TestApp, path: &str, token: Option<&str>, method: &str, params: Value) -> Said {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut request = fanfare_tests::local_client()
        .post(format!("{}{path}", app.origin))
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2025-11-25")
        .json(&message);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    read(request.send().await.unwrap()).await
}

fn names(listed: &Value) -> Vec<String> {
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    tools.iter().map(|tool| text(tool, "name").to_owned()).collect()
}

#[tokio::test]
async fn an_agent_is_led_in_and_asks_for_more_where_it_lacks_a_scope() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    for path in ["/mcp", "/api/mcp"] {
        let refused = ask(&app, path, None, "tools/list", json!({})).await;
        assert_eq!(refused.status, 401);
        let challenge = refused.header("www-authenticate");
        let document = format!("{}/.well-known/oauth-protected-resource{path}", app.origin);
        assert!(challenge.contains(&format!("resource_metadata=\"{document}\"")), "{challenge}");
        assert!(challenge.contains("scope=\"accounts:read accounts:write "), "{challenge}");
        assert!(!challenge.contains("error="), "{challenge}");
        let bad = ask(&app, path, Some("fat_nonsense"), "tools/list", json!({})).await;
        assert!(bad.header("www-authenticate").contains("error=\"invalid_token\""));
    }
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let mcp = format!("{}/mcp", app.origin);
    let mut asked = usual(&client);
    asked.extend([("resource", mcp.as_str()), ("scope", "accounts:read")]);
    let back = decide(&mut ada, &authorize(&asked), "allow").await;
    let tokens = redeem(&app.origin, &client, &parameter(&back, "code")).await.expect(200);
    let token = Some(text(&tokens, "access_token"));
    let listed =
        names(&ask(&app, "/mcp?tools=all", token, "tools/list", json!({})).await.expect(200));
    for shown in ["whoami", "list_accounts", "create_post"] {
        assert!(listed.iter().any(|name| name == shown), "{shown} in {listed:?}");
    }
    assert!(
        !listed.iter().any(|name| name.contains("api_key") || name.contains("oauth")),
        "{listed:?}"
    );
    let call = async |name: &str, arguments: Value| {
        ask(&app, "/mcp", token, "tools/call", json!({"name": name, "arguments": arguments})).await
    };
    let who = call("whoami", json!({})).await.expect(200);
    assert_eq!(who["result"]["structuredContent"]["key"]["type"], "oauth", "{who}");
    let _ = call("list_accounts", json!({})).await.expect(200);
    let refused = call("list_posts", json!({})).await;
    assert_eq!((refused.status, &refused.body["code"]), (403, &json!("insufficient_scope")));
    let challenge = refused.header("www-authenticate");
    assert!(
        challenge.contains("error=\"insufficient_scope\", scope=\"posts:read\""),
        "{challenge}"
    );
    assert!(challenge.contains("/oauth-protected-resource/mcp\""), "{challenge}");
    let elsewhere = ask(&app, "/api/mcp", token, "tools/list", json!({})).await;
    assert_eq!(elsewhere.status, 401, "the token is for /mcp alone");
    fanfare_people::oauth_provider::revoke(&app.domain, &client, text(&tokens, "refresh_token"))
        .await
        .unwrap();
    assert_eq!(call("whoami", json!({})).await.status, 401);
}

#[tokio::test]
async fn the_short_list_holds_nothing_that_the_challenge_does_not_lead_to() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let refused = ask(&app, "/mcp", None, "tools/list", json!({})).await;
    let challenge = refused.header("www-authenticate").to_owned();
    let scopes =
        challenge.split("scope=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let mcp = format!("{}/mcp", app.origin);
    let mut asked = usual(&client);
    asked.retain(|(name, _)| *name != "scope");
    asked.extend([("resource", mcp.as_str()), ("scope", scopes)]);
    let back = decide(&mut ada, &authorize(&asked), "allow").await;
    let tokens = redeem(&app.origin, &client, &parameter(&back, "code")).await.expect(200);
    let token = Some(text(&tokens, "access_token"));
    let listed = names(&ask(&app, "/mcp", token, "tools/list", json!({})).await.expect(200));
    assert!(listed.len() > 20, "{listed:?}");
    let document = app.without_key().get("/openapi.json").await.expect(200).body;
    let operations = document["paths"].as_object().unwrap().values();
    let operations: Vec<&Value> =
        operations.flat_map(|path| path.as_object().unwrap().values()).collect();
    for name in listed {
        let Some(operation) = operations.iter().find(|one| one["operationId"] == *name) else {
            assert!(name.ends_with("_operation"), "{name}");
            continue;
        };
        let needed = operation["x-scope"].as_str();
        let is_granted = needed.is_none_or(|needed| scopes.split(' ').any(|scope| scope == needed));
        assert!(is_granted, "{name} needs {needed:?}");
    }
}
