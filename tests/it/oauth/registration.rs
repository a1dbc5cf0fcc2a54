//! Clients that register themselves, and how often.

use fanfare_tests::{Options, TestApp};
use serde_json::json;

use super::{post_form, post_json, text};

#[tokio::test]
async fn a_client_registers_itself_and_gets_no_secret() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let asked = json!({
        "client_name": "A \u{202e}tool",
        "redirect_uris": ["http://127.0.0.1/cb", "com.example.tool:/cb", "https://tool.example/cb"],
        "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic",
        "scope": "posts:read openid posts:write offline_access",
        "application_type": "native",
        "logo_uri": "https://tool.example/logo.png", "software_id": "x", "jwks": {"keys": []},
    });
    let said = post_json(&app.origin, "/api/oauth/register", &asked).await;
    assert_eq!((said.header("cache-control"), said.header("pragma")), ("no-store", "no-cache"));
    let made = said.expect(201);
    assert!(text(&made, "client_id").starts_with("dyn_") && text(&made, "client_id").len() == 28);
    assert!(made["client_id_issued_at"].is_i64());
    assert_eq!(made["client_name"], "A tool");
    assert_eq!(made["redirect_uris"], asked["redirect_uris"]);
    assert_eq!(made["grant_types"], json!(["authorization_code", "refresh_token"]));
    assert_eq!(made["response_types"], json!(["code"]));
    assert_eq!(made["token_endpoint_auth_method"], "none");
    assert_eq!(made["scope"], "posts:read posts:write");
    assert_eq!(made["application_type"], "native");
    for absent in ["client_secret", "client_secret_expires_at", "logo_uri", "jwks"] {
        assert!(made.get(absent).is_none(), "{absent}");
    }
    let least = json!({"redirect_uris": ["https://tool.example/cb"]});
    let made = post_json(&app.origin, "/api/oauth/register", &least).await.expect(201);
    assert_eq!(made["client_name"], "Unnamed client");
    assert_eq!(text(&made, "scope").split(' ').count(), 6);
}

#[tokio::test]
async fn an_address_registers_and_asks_only_so_often() {
    let app =
        TestApp::with(Options { limits_factor: 1.0, workers: false, ..Options::default() }).await;
    let good = json!({"redirect_uris": ["https://tool.example/cb"]});
    for _ in 0..20 {
        let _ = post_json(&app.origin, "/api/oauth/register", &good).await.expect(201);
    }
    let said = post_json(&app.origin, "/api/oauth/register", &good).await;
    assert_ne!(said.header("retry-after"), "");
    said.refused(429, "temporarily_unavailable");
    // A registration with an error does not count.
    post_json(&app.origin, "/api/oauth/register", &json!({}))
        .await
        .refused(400, "invalid_redirect_uri");
    for path in ["/api/oauth/token", "/api/oauth/revoke"] {
        for _ in 0..60 {
            assert_ne!(post_form(&app.origin, path, &[("x", "1")]).await.status, 429);
        }
        let said = post_form(&app.origin, path, &[("x", "1")]).await;
        assert_ne!(said.header("retry-after"), "");
        said.refused(429, "temporarily_unavailable");
    }
    let mut visitor = fanfare_tests::Visitor::nobody(&app);
    for _ in 0..60 {
        assert_eq!(visitor.get("/api/oauth/authorize").await.status, 400);
    }
    assert_eq!(visitor.get("/api/oauth/authorize").await.status, 429);
}
