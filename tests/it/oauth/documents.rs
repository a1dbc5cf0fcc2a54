//! Documents that clients read without a token, and the answers without one.

use fanfare_tests::{Options, TestApp};
use reqwest::Method;
use serde_json::json;

use super::{get, read, text};

const SERVER: &str = "/.well-known/oauth-authorization-server";

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

#[tokio::test]
async fn the_documents_lead_from_a_refusal_to_every_endpoint() {
    let app = quiet().await;
    let refused = get(&app.origin, "/api/v1/accounts").await;
    assert_eq!(refused.status, 401);
    let document = format!("{}/.well-known/oauth-protected-resource", app.origin);
    let wanted = format!(r#"Bearer realm="fanfare", resource_metadata="{document}""#);
    assert_eq!(refused.header("www-authenticate"), wanted);
    let resource = get(&app.origin, "/.well-known/oauth-protected-resource").await.expect(200);
    assert_eq!(resource["resource"], json!(app.origin));
    assert_eq!(resource["authorization_servers"], json!([app.origin]));
    assert_eq!(resource["bearer_methods_supported"], json!(["header"]));
    assert_eq!(resource["scopes_supported"].as_array().unwrap().len(), 6);
    for path in ["/mcp", "/api/mcp"] {
        let at = format!("/.well-known/oauth-protected-resource{path}");
        let resource = get(&app.origin, &at).await.expect(200);
        assert_eq!(resource["resource"], json!(format!("{}{path}", app.origin)));
    }
    let server = get(&app.origin, SERVER).await.expect(200);
    assert_eq!(server["issuer"], json!(app.origin));
    for (name, path) in [
        ("authorization_endpoint", "authorize"),
        ("token_endpoint", "token"),
        ("registration_endpoint", "register"),
        ("revocation_endpoint", "revoke"),
    ] {
        assert_eq!(text(&server, name), format!("{}/api/oauth/{path}", app.origin));
    }
    for (name, wanted) in [
        ("response_types_supported", json!(["code"])),
        ("response_modes_supported", json!(["query"])),
        ("grant_types_supported", json!(["authorization_code", "refresh_token"])),
        ("token_endpoint_auth_methods_supported", json!(["none"])),
        ("revocation_endpoint_auth_methods_supported", json!(["none"])),
        ("code_challenge_methods_supported", json!(["S256"])),
        ("authorization_response_iss_parameter_supported", json!(true)),
        ("client_id_metadata_document_supported", json!(true)),
    ] {
        assert_eq!(server[name], wanted, "{name}");
    }
    assert_eq!(server["scopes_supported"].as_array().unwrap().len(), 8);
    for other in ["openid-configuration", "oauth-authorization-server/mcp", "jwks.json"] {
        let missing = get(&app.origin, &format!("/.well-known/{other}")).await.expect(404);
        assert_eq!(missing["code"], "not_found");
    }
}

#[tokio::test]
async fn on_this_computer_all_names_of_it_are_one() {
    let app = quiet().await;
    let port = app.origin.rsplit(':').next().unwrap();
    for (host, wanted) in [
        (format!("localhost:{port}"), format!("http://localhost:{port}")),
        (format!("[::1]:{port}"), format!("http://[::1]:{port}")),
        ("evil.example".to_owned(), app.origin.clone()),
        ("localhost:1".to_owned(), app.origin.clone()),
        ("localhost/evil".to_owned(), app.origin.clone()),
    ] {
        let http = fanfare_tests::local_client();
        let ask = async |path: &str| {
            let request = http.get(format!("{}{path}", app.origin)).header("Host", &host);
            read(request.send().await.unwrap()).await
        };
        let server = ask(SERVER).await;
        if host.contains('/') {
            assert_ne!(server.status, 500, "{host}");
            continue;
        }
        assert_eq!(server.expect(200)["issuer"], json!(wanted), "{host}");
        let refused = ask("/api/v1/accounts").await;
        assert!(refused.header("www-authenticate").contains(&wanted), "{host}");
    }
}

#[tokio::test]
async fn scripts_of_other_sites_use_what_needs_no_cookie() {
    let app = quiet().await;
    let http = fanfare_tests::local_client();
    let ask = async |method: Method, path: &str| {
        let request = http.request(method, format!("{}{path}", app.origin));
        let request = request
            .header("Origin", "https://inspector.example")
            .header("Access-Control-Request-Method", "POST");
        request.send().await.unwrap()
    };
    for path in [
        "/api/v1/posts",
        "/mcp",
        SERVER,
        "/openapi.json",
        "/api/oauth/register",
        "/api/oauth/token",
        "/api/oauth/revoke",
    ] {
        let preflight = ask(Method::OPTIONS, path).await;
        assert_eq!(preflight.status(), 204, "{path}");
        assert_eq!(preflight.headers()["access-control-allow-origin"], "*", "{path}");
        let sent = preflight.headers()["access-control-allow-headers"].to_str().unwrap();
        assert!(sent.contains("Authorization") && sent.contains("MCP-Protocol-Version"), "{sent}");
        assert!(preflight.headers().get("access-control-allow-credentials").is_none());
        let answered = ask(Method::GET, path).await;
        assert_eq!(answered.headers()["access-control-allow-origin"], "*", "{path}");
        let shown = answered.headers()["access-control-expose-headers"].to_str().unwrap();
        assert!(shown.contains("WWW-Authenticate") && shown.contains("Retry-After"), "{shown}");
    }
    for path in ["/api/oauth/authorize", "/login", "/dashboard/api", "/oauth/code"] {
        for method in [Method::OPTIONS, Method::GET] {
            let answered = ask(method, path).await;
            assert!(answered.headers().get("access-control-allow-origin").is_none(), "{path}");
        }
    }
}

#[tokio::test]
async fn a_bad_token_is_told_from_none() {
    let app = quiet().await;
    let good = fanfare_people::keys::generate("fat_");
    for bad in [good.as_str(), "fat_x", "frt_x", "fan_x", "anything"] {
        let stranger = fanfare_tests::User::new(&app.origin, bad.to_owned());
        let refused = stranger.get("/api/v1/accounts").await.refused(401, "invalid_api_key");
        assert!(
            refused.header("www-authenticate").ends_with(r#", error="invalid_token""#),
            "{bad}"
        );
    }
    let in_query = get(&app.origin, &format!("/api/v1/accounts?access_token={good}")).await;
    assert_eq!(in_query.expect(401)["code"], "missing_api_key");
}
