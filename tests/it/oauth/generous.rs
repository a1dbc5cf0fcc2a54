//! What honest clients send and a provider has to take (RFC 6749, 7591, 8252, 8707, MCP), and where a person is not led
//! without having been asked (RFC 9700).

use fanfare_tests::{Options, TestApp, Visitor};
use serde_json::json;
use url::Url;

use super::{
    REDIRECT, VERIFIER, authorize, bearer, decide, parameter, post_form, post_json, redeem_at,
    register, text, usual,
};

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

#[tokio::test]
async fn scopes_that_are_all_unknown_count_as_none() {
    let app = quiet().await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let habits = [
        "openid email profile",
        "openid",
        "mcp:tools",
        "offline_access",
        "everything",
        "POSTS:READ",
        "posts:read,posts:write",
        "posts:*",
        " ",
    ];
    for habit in habits {
        let asked = json!({"client_name": "Bridge", "redirect_uris": [REDIRECT], "scope": habit});
        let made = post_json(&app.origin, "/api/oauth/register", &asked).await.expect(201);
        assert_eq!(text(&made, "scope").split(' ').count(), 6, "{habit}");
        let client = text(&made, "client_id").to_owned();
        let mut fields = usual(&client);
        fields.push(("scope", habit));
        let page = ada.get(&authorize(&fields)).await.expect(200);
        assert_eq!(super::values(&page.html, "scope").len(), 6, "{habit}");
    }
    let asked = json!({"redirect_uris": [REDIRECT], "scope": "openid posts:read"});
    let made = post_json(&app.origin, "/api/oauth/register", &asked).await.expect(201);
    assert_eq!(text(&made, "scope"), "posts:read");
    let client = text(&made, "client_id").to_owned();
    // The client's own are the usual ones of the client.
    let mut fields = usual(&client);
    fields.push(("scope", "openid"));
    let page = ada.get(&authorize(&fields)).await.expect(200);
    assert_eq!(super::values(&page.html, "scope"), ["posts:read"]);
}

#[tokio::test]
async fn a_port_of_the_own_machine_is_the_programs_affair() {
    let app = quiet().await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    for (registered, asked, fits) in [
        ("http://127.0.0.1/cb", "http://127.0.0.1:54321/cb", true),
        ("http://127.0.0.1:7777/cb", "http://127.0.0.1:54321/cb", true),
        ("http://127.0.0.1:7777/cb", "http://127.0.0.1/cb", true),
        ("http://[::1]:7777/cb", "http://[::1]:1/cb", true),
        ("http://localhost:7777/cb?x=1", "http://localhost:2/cb?x=1", true),
        ("http://localhost:7777/cb", "http://127.0.0.1:7777/cb", false),
        ("http://127.0.0.1:7777/cb", "http://127.0.0.1:7777/CB", false),
        ("http://127.0.0.1:7777/cb", "http://127.0.0.1:7777/cb?x=1", false),
        ("https://tool.example:8443/cb", "https://tool.example/cb", false),
    ] {
        let made = json!({"redirect_uris": [registered]});
        let made = post_json(&app.origin, "/api/oauth/register", &made).await.expect(201);
        let client = text(&made, "client_id").to_owned();
        let mut fields = usual(&client);
        fields[2].1 = asked;
        let page = authorize(&fields);
        if !fits {
            let _ = ada.get(&page).await.expect(400);
            continue;
        }
        let back = decide(&mut ada, &page, "allow").await;
        assert!(back.as_str().starts_with(asked), "{back}");
        let code = parameter(&back, "code");
        let _ = redeem_at(&app.origin, &client, asked, &code).await.expect(200);
    }
}

#[tokio::test]
async fn an_address_with_two_readings_is_not_registered() {
    let app = TestApp::with(Options { workers: false, limits_factor: 10.0, ..Options::default() });
    let app = app.await;
    for bad in [
        "https:///cb",
        "https:h/cb",
        "https://@h/cb",
        "https://h/%2a",
        "https://h/cb/../x",
        "https://0x7f.1/cb",
        "https://h:/cb",
        "h:/cb",
        "https://h:443/cb",
        "https://H.example/cb",
        "https:/h/cb",
        "https://h/./cb",
        "http://0x7f.1/cb",
        "http://127.1:7/cb",
    ] {
        let asked = json!({"redirect_uris": [bad]});
        let said = post_json(&app.origin, "/api/oauth/register", &asked).await;
        said.refused(400, "invalid_redirect_uri");
    }
    let long = format!("https://h.example/{}", "x".repeat(1_900));
    let many = json!({"redirect_uris": [long.clone() + "1", long.clone() + "2", long + "3"]});
    let said = post_json(&app.origin, "/api/oauth/register", &many).await;
    said.refused(400, "invalid_redirect_uri");
    for good in [
        "https://h.example",
        "https://h.example/",
        "https://h.example/cb?x=1",
        "http://127.0.0.1:80/cb",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "com.example.app:/cb",
    ] {
        let asked = json!({"redirect_uris": [good]});
        let _ = post_json(&app.origin, "/api/oauth/register", &asked).await.expect(201);
    }
}

#[tokio::test]
async fn a_resource_may_repeat_and_end_with_a_slash() {
    let app = quiet().await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let base = app.origin.clone();
    let at = |path: &str| format!("{base}{path}");
    for (resources, opens_api) in [
        (vec![at("/mcp/")], false),
        (vec![at("/mcp"), at("/mcp/")], false),
        (vec![at("/api/v1/")], true),
        (vec![at("/mcp"), at("/api/v1")], true),
        (vec![at(""), at("/mcp")], true),
        (vec![at("/")], true),
    ] {
        let mut fields = usual(&client);
        fields.extend(resources.iter().map(|one| ("resource", one.as_str())));
        let back = decide(&mut ada, &authorize(&fields), "allow").await;
        let code = parameter(&back, "code");
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("client_id", client.as_str()),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        fields.extend(resources.iter().map(|one| ("resource", one.as_str())));
        let tokens = post_form(&app.origin, "/api/oauth/token", &fields).await.expect(200);
        let opened = bearer(&app, &tokens).get("/api/v1/whoami").await.status;
        assert_eq!(opened, if opens_api { 200 } else { 401 }, "{resources:?}");
    }
}

#[tokio::test]
async fn nobody_is_led_to_another_site_without_a_log_in_or_a_click() {
    let app = quiet().await;
    let asked = json!({"redirect_uris": [REDIRECT, "http://127.0.0.1/cb", "com.example.app:/cb"]});
    let made = post_json(&app.origin, "/api/oauth/register", &asked).await.expect(201);
    let client = text(&made, "client_id").to_owned();
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    for flaw in [("prompt", "none"), ("response_type", "token"), ("code_challenge", "")] {
        for (to, leads) in
            [(REDIRECT, false), ("com.example.app:/cb", false), ("http://127.0.0.1:7/cb", true)]
        {
            let mut fields = usual(&client);
            fields[2].1 = to;
            fields.retain(|(name, _)| *name != flaw.0);
            fields.push(flaw);
            let said = Visitor::nobody(&app).get(&authorize(&fields)).await;
            if leads {
                let back: Url = said.expect(303).location.parse().unwrap();
                assert!(back.as_str().starts_with(to) && !parameter(&back, "error").is_empty());
                continue;
            }
            let page = said.expect(400);
            assert!(page.location.is_empty() && page.html.contains("Go back to"), "{}", page.html);
            assert!(page.html.contains(&format!("href=\"{to}?")), "{}", page.html);
            // Whoever has logged in is sent back.
            let back = ada.get(&authorize(&fields)).await.expect(303).location;
            assert!(back.starts_with(to), "{back}");
        }
    }
}

#[tokio::test]
async fn letting_a_tool_in_needs_a_fresh_password() {
    let app = quiet().await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    app.advance(std::time::Duration::from_secs(2 * 3_600));
    let page = authorize(&usual(&client));
    let shown = ada.get(&page).await.expect(200);
    assert!(shown.html.contains("name=\"password\""), "{}", shown.html);
    let fields = |password: Option<&str>| {
        let mut fields = vec![
            ("csrf", shown.hidden("csrf")),
            ("decision", "allow".to_owned()),
            ("scope", "posts:read".to_owned()),
            ("workspace_id", super::checked(&shown.html, "workspace_id")),
        ];
        fields.extend(password.map(|password| ("password", password.to_owned())));
        fields
    };
    for password in [None, Some("a wrong password")] {
        let refused = ada.send(&page, &fields(password)).await.expect(400);
        assert!(refused.html.contains("name=\"password\""), "{}", refused.html);
    }
    // Nobody needs a password to refuse.
    let mut denied = fields(None);
    denied[1].1 = "deny".to_owned();
    assert!(ada.send(&page, &denied).await.expect(303).location.contains("access_denied"));
    let allowed = ada.send(&page, &fields(Some(fanfare_tests::visitor::PASSWORD))).await;
    assert!(allowed.expect(303).location.contains("code="));
}
