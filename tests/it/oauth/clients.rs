//! The requests of seven clients, in the shapes in which they send them: each finds its way from a refusal to a token.

use fanfare_tests::{Options, TestApp, Visitor, served::FileServer};
use serde_json::{Value, json};
use url::Url;

use super::{
    CHALLENGE, VERIFIER, authorize, bearer, decide, get, parameter, post_form, post_json, text,
};

/// The behaviour of a client.
struct Shape {
    name: &'static str,
    /// Its registration; none if its id is the address of a document.
    registers: Option<Value>,
    /// The address to which it has the person sent back.
    redirect_uri: &'static str,
    /// Its additional parameters of the authorization endpoint; `{mcp}` is the resource.
    authorize: &'static [(&'static str, &'static str)],
    /// Its additional parameters of the token endpoint.
    token: &'static [(&'static str, &'static str)],
}

fn shapes() -> Vec<Shape> {
    const STATE: &str = "Mk1xc0R4QmZzTk5rT1pWQ0tQdGJXcTZ2S3d4bUZsTVg";
    vec![
        Shape {
            name: "Claude Code",
            registers: Some(json!({
                "client_name": "Claude Code (fanfare)",
                "redirect_uris": ["http://localhost:59174/callback"],
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "token_endpoint_auth_method": "none",
                "scope": "accounts:read accounts:write posts:read posts:write media:write analytics:read",
            })),
            redirect_uri: "http://localhost:59174/callback",
            authorize: &[
                ("state", STATE),
                (
                    "scope",
                    "accounts:read accounts:write posts:read posts:write media:write analytics:read",
                ),
                ("resource", "{mcp}"),
            ],
            token: &[("resource", "{mcp}")],
        },
        Shape {
            name: "claude.ai",
            registers: Some(json!({
                "client_name": "Claude",
                "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"],
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "token_endpoint_auth_method": "none",
                "scope": "accounts:read accounts:write posts:read posts:write media:write analytics:read",
            })),
            redirect_uri: "https://claude.ai/api/mcp/auth_callback",
            authorize: &[
                ("scope", "accounts:read posts:read posts:write"),
                ("state", STATE),
                ("resource", "{mcp}"),
            ],
            token: &[("resource", "{mcp}")],
        },
        Shape {
            name: "VS Code",
            registers: Some(json!({
                "client_name": "Visual Studio Code",
                "client_uri": "https://code.visualstudio.com",
                "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
                "response_types": ["code"],
                "redirect_uris": [
                    "https://insiders.vscode.dev/redirect", "https://vscode.dev/redirect",
                    "http://127.0.0.1/", "http://127.0.0.1:33418/",
                ],
                "scope": "accounts:read posts:read posts:write",
                "token_endpoint_auth_method": "none",
                "application_type": "native",
            })),
            redirect_uri: "http://127.0.0.1:40123/",
            authorize: &[
                ("scope", "accounts:read posts:read posts:write"),
                ("state", STATE),
                ("prompt", "select_account"),
            ],
            token: &[],
        },
        Shape {
            name: "Cursor",
            registers: Some(json!({
                "client_name": "Cursor",
                "redirect_uris": ["cursor://anysphere.cursor-mcp/oauth/callback"],
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "token_endpoint_auth_method": "none",
            })),
            redirect_uri: "cursor://anysphere.cursor-mcp/oauth/callback",
            authorize: &[("state", "eyJpZCI6ImZhbmZhcmUifQ=="), ("resource", "{mcp}")],
            token: &[("resource", "{mcp}")],
        },
        Shape {
            name: "ChatGPT",
            registers: Some(json!({
                "client_name": "ChatGPT",
                "redirect_uris": ["https://chatgpt.com/connector_platform_oauth_redirect"],
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "token_endpoint_auth_method": "client_secret_post",
                "scope": "accounts:read posts:write offline_access",
            })),
            redirect_uri: "https://chatgpt.com/connector_platform_oauth_redirect",
            authorize: &[
                ("scope", "accounts:read posts:write offline_access"),
                ("state", "oauth_s_68e3"),
                ("resource", "{mcp}"),
            ],
            token: &[("client_secret", ""), ("resource", "{mcp}")],
        },
        Shape {
            name: "mcp-remote",
            registers: Some(json!({
                "redirect_uris": ["http://localhost:3334/oauth/callback"],
                "token_endpoint_auth_method": "none",
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "client_name": "MCP CLI Proxy",
                "client_uri": "https://github.com/modelcontextprotocol/mcp-cli",
                "software_id": "2e6dc280-f3c3-4e01-99a7-8181dbd1d23d",
                "software_version": "0.1.30",
            })),
            redirect_uri: "http://localhost:3334/oauth/callback",
            authorize: &[("state", "0b9c2d1e-6d0c-4d4e-8a6b-0a5b8f2f8b11"), ("resource", "{mcp}")],
            token: &[("resource", "{mcp}")],
        },
        Shape {
            // The official SDK with the address of a document as its id.
            name: "official SDK",
            registers: None,
            redirect_uri: "http://127.0.0.1:8090/callback",
            authorize: &[
                ("scope", "accounts:read posts:read"),
                ("state", STATE),
                ("resource", "{mcp}"),
            ],
            token: &[("resource", "{mcp}")],
        },
    ]
}

#[tokio::test]
async fn seven_of_seven_clients_get_a_token() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let mut let_in = Vec::new();
    for shape in shapes() {
        let_in.push(walk(&app, &mut ada, &shape).await);
    }
    assert_eq!(let_in.len(), 7);
}

/// From the refusal to a token, as the client goes.
async fn walk(app: &TestApp, ada: &mut Visitor, shape: &Shape) -> String {
    let resource = get(&app.origin, "/.well-known/oauth-protected-resource/mcp").await.expect(200);
    let issuer = resource["authorization_servers"][0].as_str().unwrap().to_owned();
    let server = get(&issuer, "/.well-known/oauth-authorization-server").await.expect(200);
    assert_eq!(text(&server, "issuer"), issuer);
    let path = |name: &str| text(&server, name).parse::<Url>().unwrap().path().to_owned();
    let mcp = text(&resource, "resource").to_owned();
    let document = FileServer::templated("client.json", "application/json", &json!({
        "client_id": "{url}", "client_name": shape.name, "redirect_uris": ["http://127.0.0.1/callback"],
        "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none",
    }).to_string()).await;
    let client = match &shape.registers {
        Some(asked) => {
            let made = post_json(&issuer, &path("registration_endpoint"), asked).await.expect(201);
            assert_eq!(made["redirect_uris"], asked["redirect_uris"], "{}", shape.name);
            text(&made, "client_id").to_owned()
        }
        None => document.url.clone(),
    };
    let mut fields = vec![
        ("response_type", "code"),
        ("client_id", client.as_str()),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("redirect_uri", shape.redirect_uri),
    ];
    let fill = |value: &'static str| if value == "{mcp}" { mcp.as_str() } else { value };
    fields.extend(shape.authorize.iter().map(|(name, value)| (*name, fill(value))));
    let back = decide(ada, &authorize(&fields), "allow").await;
    assert!(back.as_str().starts_with(shape.redirect_uri), "{}: {back}", shape.name);
    assert_eq!(parameter(&back, "iss"), issuer);
    let state = shape.authorize.iter().find(|(name, _)| *name == "state").unwrap().1;
    assert_eq!(parameter(&back, "state"), state, "{}", shape.name);
    let code = parameter(&back, "code");
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("client_id", client.as_str()),
        ("code", code.as_str()),
        ("code_verifier", VERIFIER),
        ("redirect_uri", shape.redirect_uri),
    ];
    fields.extend(shape.token.iter().map(|(name, value)| (*name, fill(value))));
    let tokens = post_form(&issuer, &path("token_endpoint"), &fields).await.expect(200);
    if !shape.authorize.iter().any(|(name, _)| *name == "resource") {
        let _ = bearer(app, &tokens).get("/api/v1/whoami").await.expect(200);
    }
    let mut fields = vec![
        ("grant_type", "refresh_token"),
        ("refresh_token", text(&tokens, "refresh_token")),
        ("client_id", client.as_str()),
    ];
    fields.extend(shape.token.iter().map(|(name, value)| (*name, fill(value))));
    let next = post_form(&issuer, &path("token_endpoint"), &fields).await.expect(200);
    text(&next, "access_token").to_owned()
}

#[tokio::test]
async fn a_document_is_kept_while_it_is_fresh_and_a_bad_one_for_a_minute() {
    use std::time::Duration;
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let document =
        json!({"client_id": "{url}", "client_name": "Kept", "redirect_uris": [super::REDIRECT]});
    let served = FileServer::templated("c.json", "application/json", &document.to_string()).await;
    let page = authorize(&super::usual(&served.url));
    let _ = ada.get(&page).await.expect(200);
    let url = served.url.clone();
    served.stop().await;
    app.advance(Duration::from_secs(3_599));
    assert!(ada.get(&page).await.expect(200).html.contains("Kept"));
    app.advance(Duration::from_secs(2));
    let _ = ada.get(&page).await.expect(400);
    let back =
        FileServer::at(&url, "application/json", document.to_string().replace("{url}", &url)).await;
    app.advance(Duration::from_secs(58));
    let _ = ada.get(&page).await.expect(400);
    app.advance(Duration::from_secs(3));
    let _ = ada.get(&page).await.expect(200);
    drop(back);
}

#[tokio::test]
async fn documents_are_fetched_only_so_often() {
    let app =
        TestApp::with(Options { workers: false, limits_factor: 1.0, ..Options::default() }).await;
    let mut visitor = Visitor::nobody(&app);
    for n in 0..10 {
        let page = authorize(&super::usual(&format!("http://127.0.0.1:1/{n}")).clone());
        assert_eq!(visitor.get(&page).await.status, 400);
    }
    assert_eq!(visitor.get(&authorize(&super::usual("http://127.0.0.1:1/x"))).await.status, 429);
    assert_eq!(
        visitor.get(&authorize(&super::usual("http://127.0.0.1:1/0"))).await.status,
        400,
        "this one is known"
    );
}
