//! From the page on which a person decides to the requests that a token opens.

use std::time::Duration;

use fanfare_core::access::Role;
use fanfare_entities::{letter, oauth_code, oauth_token};
use fanfare_people::users;
use fanfare_tests::{Options, TestApp, Visitor, visitor::PASSWORD};
use sea_orm::EntityTrait;
use serde_json::json;

use super::{
    REDIRECT, authorize, bearer, checked, decide, let_in, parameter, post_form, redeem, refresh,
    register, text, usual, values,
};

#[tokio::test]
async fn a_person_lets_a_tool_in_and_it_acts_for_that_person() {
    let app = TestApp::start().await;
    let client = register(&app.origin).await;
    app.person("ada@example.com").await;
    let mut ada = Visitor::nobody(&app);
    let page = authorize(&usual(&client));
    let sent = ada.get(&page).await.expect(303);
    assert!(sent.location.starts_with("/login?next=%2Fapi%2Foauth%2Fauthorize%3F"), "{sent:?}");
    let password = PASSWORD.into();
    fanfare_people::sign_in::set_password(&app.domain, "ada@example.com", password).await.unwrap();
    let welcome = ada.try_password_at(&sent.location, "ada@example.com", PASSWORD).await;
    assert_eq!(welcome.expect(303).location, page, "the log-in comes back");
    let shown = ada.get(&page).await.expect(200);
    for words in
        ["Let A tool in?", "nobody has checked", "tool.example", "acts as you, an Admin here"]
    {
        assert!(shown.html.contains(words), "{words} in {}", shown.html);
    }
    assert_eq!(values(&shown.html, "scope").len(), 6, "billing is asked for by name only");
    let back = decide(&mut ada, &page, "allow").await;
    assert!(back.as_str().starts_with(REDIRECT));
    assert_eq!(
        (parameter(&back, "state"), parameter(&back, "iss")),
        ("xyz".into(), app.origin.clone())
    );
    let said = redeem(&app.origin, &client, &parameter(&back, "code")).await;
    assert_eq!((said.header("cache-control"), said.header("pragma")), ("no-store", "no-cache"));
    let tokens = said.expect(200);
    assert!(text(&tokens, "access_token").starts_with("fat_"));
    assert!(text(&tokens, "refresh_token").starts_with("frt_"));
    assert_eq!((&tokens["token_type"], &tokens["expires_in"]), (&json!("Bearer"), &json!(3600)));
    assert_eq!(tokens["workspace"]["role"], "admin");
    let tool = bearer(&app, &tokens);
    let who = tool.get("/api/v1/whoami").await.expect(200).body;
    assert_eq!(who["user"]["email"], "ada@example.com");
    assert_eq!((&who["key"]["type"], &who["key"]["client_id"]), (&json!("oauth"), &json!(client)));
    assert_eq!(who["key"]["workspace_id"], tokens["workspace"]["id"]);
    let account = tool.connect("bluesky").await;
    let post = tool.publish(json!({"account_id": account, "caption": "By a tool"})).await;
    app.wait_for_status(&tool, post["id"].as_i64().unwrap(), &["published"]).await;
    // The person hears of it.
    let letters = letter::Entity::find().all(&app.domain.db.read).await.unwrap();
    assert!(letters.iter().any(|letter| letter.dedup_key.starts_with("grant:")), "{letters:?}");
    // Only digests are kept.
    let rows = oauth_token::Entity::find().all(&app.domain.db.read).await.unwrap();
    let codes = oauth_code::Entity::find().all(&app.domain.db.read).await.unwrap();
    let kept = format!("{rows:?} {codes:?}");
    for secret in
        [text(&tokens, "access_token"), text(&tokens, "refresh_token"), &parameter(&back, "code")]
    {
        assert!(!kept.contains(secret));
    }
}

#[tokio::test]
async fn whoever_says_no_or_unticks_gives_that_much() {
    let app = TestApp::start().await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let page = authorize(&usual(&client));
    let back = decide(&mut ada, &page, "deny").await;
    assert_eq!(parameter(&back, "error"), "access_denied");
    assert_eq!(
        (parameter(&back, "state"), parameter(&back, "iss")),
        ("xyz".into(), app.origin.clone())
    );
    let shown = ada.get(&page).await.expect(200);
    let fields = |scopes: &[&str]| {
        let mut fields = vec![
            ("csrf", shown.hidden("csrf")),
            ("decision", "allow".to_owned()),
            ("workspace_id", checked(&shown.html, "workspace_id")),
        ];
        fields.extend(scopes.iter().map(|scope| ("scope", (*scope).to_owned())));
        fields
    };
    let nothing = ada.send(&page, &fields(&[])).await.expect(400);
    assert!(nothing.html.contains("Nothing is ticked"));
    // A scope that was not asked for cannot be added.
    let more = ada.send(&page, &fields(&["accounts:read", "billing:write"])).await.expect(303);
    let code = parameter(&more.location.parse().unwrap(), "code");
    let tokens = redeem(&app.origin, &client, &code).await.expect(200);
    assert_eq!(text(&tokens, "scope"), "accounts:read");
    let tool = bearer(&app, &tokens);
    let _ = tool.get("/api/v1/accounts").await.expect(200);
    let refused = tool.get("/api/v1/posts").await.refused(403, "insufficient_scope");
    let challenge = refused.header("www-authenticate");
    assert!(challenge.contains(r#"error="insufficient_scope", scope="posts:read""#), "{challenge}");
    let forged = [("csrf", "guessed".to_owned()), ("decision", "allow".to_owned())];
    assert_eq!(ada.send(&page, &forged).await.status, 400);
    let mut elsewhere = fields(&["accounts:read"]);
    elsewhere[2].1 = uuid::Uuid::now_v7().to_string();
    assert_eq!(ada.send(&page, &elsewhere).await.status, 404, "a workspace of somebody else");
}

#[tokio::test]
async fn the_page_keeps_its_secrets_and_leads_anywhere() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let client = register(&app.origin).await;
    let (_, ada) = Visitor::person(&app, "ada@example.com").await;
    let page = format!("{}{}", app.origin, authorize(&usual(&client)));
    let http = fanfare_tests::local_client_builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let shown = http.get(page).header("Cookie", &ada.cookie).send().await.unwrap();
    let policy = shown.headers()["content-security-policy"].to_str().unwrap();
    assert!(
        !policy.contains("form-action") && policy.contains("frame-ancestors 'none'"),
        "{policy}"
    );
    assert!(policy.contains("default-src 'none'"), "{policy}");
    assert_eq!(shown.headers()["referrer-policy"], "no-referrer");
    assert_eq!(shown.headers()["cache-control"], "no-store");
    assert!(shown.headers().get("access-control-allow-origin").is_none());
}

#[tokio::test]
async fn a_token_is_as_good_as_its_person_is_right_now() {
    let app = TestApp::start().await;
    let client = register(&app.origin).await;
    let (owner, _) = Visitor::person(&app, "owner@example.com").await;
    let (bob, mut browser) = Visitor::person(&app, "bob@example.com").await;
    let team = app.workspace(owner).await;
    users::set_member(&app.domain, team, bob, Role::Publisher).await.unwrap();
    let mut asked = usual(&client);
    let id = team.to_string();
    asked.push(("workspace_id", &id));
    let back = decide(&mut browser, &authorize(&asked), "allow").await;
    let tokens = redeem(&app.origin, &client, &parameter(&back, "code")).await.expect(200);
    assert_eq!(
        (&tokens["workspace"]["id"], &tokens["workspace"]["role"]),
        (&json!(id), &json!("publisher"))
    );
    let tool = bearer(&app, &tokens);
    let account = tool.connect("bluesky").await;
    let draft = json!({"account_id": account, "caption": "x", "scheduled_at": app.at(3_600)});
    let _ = tool.post("/api/v1/posts", draft.clone()).await.expect(201);
    users::set_member(&app.domain, team, bob, Role::Viewer).await.unwrap();
    let refused = tool.post("/api/v1/posts", draft.clone()).await;
    refused.refused(403, "insufficient_workspace_permissions");
    let _ = tool.get("/api/v1/posts").await.expect(200);
    users::set_member(&app.domain, team, bob, Role::Publisher).await.unwrap();
    let brand = app.brand(team, &[bob]).await;
    assert_eq!(
        tool.get("/api/v1/accounts").await.expect(200).body["accounts"],
        json!([]),
        "{brand}"
    );
    // A removed member loses all at once, and cannot come back with a refresh.
    users::remove_member(&app.domain, team, bob).await.unwrap();
    tool.get("/api/v1/posts").await.refused(401, "api_key_revoked");
    refresh(&app.origin, &client, text(&tokens, "refresh_token"))
        .await
        .refused(400, "invalid_grant");
    users::set_member(&app.domain, team, bob, Role::Admin).await.unwrap();
    tool.get("/api/v1/posts").await.refused(401, "api_key_revoked");
}

#[tokio::test]
async fn a_token_ends_and_is_good_where_it_was_made_for() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let tokens = let_in(&app, &mut ada, &client).await;
    let tool = bearer(&app, &tokens);
    let _ = tool.get("/api/v1/whoami").await.expect(200);
    app.advance(Duration::from_secs(3_600));
    tool.get("/api/v1/whoami").await.refused(401, "api_key_expired");
    let next = refresh(&app.origin, &client, text(&tokens, "refresh_token")).await.expect(200);
    let _ = bearer(&app, &next).get("/api/v1/whoami").await.expect(200);
    app.advance(Duration::from_secs(30 * 86_400));
    let late = refresh(&app.origin, &client, text(&next, "refresh_token")).await;
    late.refused(400, "invalid_grant");
    // One for MCP alone opens nothing else.
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let mut asked = usual(&client);
    let mcp = format!("{}/mcp", app.origin);
    asked.push(("resource", &mcp));
    let back = decide(&mut ada, &authorize(&asked), "allow").await;
    let narrow = redeem(&app.origin, &client, &parameter(&back, "code")).await.expect(200);
    bearer(&app, &narrow).get("/api/v1/whoami").await.refused(401, "invalid_api_key");
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let api = format!("{}/api/v1", app.origin.replace("127.0.0.1", "localhost"));
    let mut asked = usual(&client);
    asked.push(("resource", &api));
    let back = decide(&mut ada, &authorize(&asked), "allow").await;
    let api = redeem(&app.origin, &client, &parameter(&back, "code")).await.expect(200);
    let _ = bearer(&app, &api).get("/api/v1/whoami").await.expect(200);
}

#[tokio::test]
async fn a_client_gives_its_tokens_back() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (client, other) = (register(&app.origin).await, register(&app.origin).await);
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let revoke = async |client: &str, token: &str| {
        let fields = [("token", token), ("client_id", client), ("token_type_hint", "anything")];
        assert_eq!(
            post_form(&app.origin, "/api/oauth/revoke", &fields).await.expect(200),
            json!({})
        );
    };
    let tokens = let_in(&app, &mut ada, &client).await;
    let tool = bearer(&app, &tokens);
    revoke(&other, text(&tokens, "access_token")).await;
    revoke(&client, "nonsense").await;
    let _ = tool.get("/api/v1/whoami").await.expect(200);
    revoke(&client, text(&tokens, "access_token")).await;
    tool.get("/api/v1/whoami").await.refused(401, "api_key_revoked");
    let next = refresh(&app.origin, &client, text(&tokens, "refresh_token")).await.expect(200);
    revoke(&client, text(&next, "refresh_token")).await;
    bearer(&app, &next).get("/api/v1/whoami").await.refused(401, "api_key_revoked");
    refresh(&app.origin, &client, text(&next, "refresh_token")).await.refused(400, "invalid_grant");
}

#[tokio::test]
async fn all_processes_know_the_same() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let second = app.second_instance().await;
    let client = register(&second).await;
    let (_, ada) = Visitor::person(&app, "ada@example.com").await;
    let back = decide(&mut ada.at(&second), &authorize(&usual(&client)), "allow").await;
    let tokens = redeem(&app.origin, &client, &parameter(&back, "code")).await.expect(200);
    let tool = fanfare_tests::User::new(&second, text(&tokens, "access_token").to_owned());
    let _ = tool.get("/api/v1/whoami").await.expect(200);
    let next = refresh(&second, &client, text(&tokens, "refresh_token")).await.expect(200);
    let _ = bearer(&app, &next).get("/api/v1/whoami").await.expect(200);
}

#[tokio::test]
async fn the_command_line_shows_its_code() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let own = format!("{}/oauth/code", app.origin);
    let mut asked = usual("app_fanfare_cli");
    asked[2].1 = &own;
    let back = decide(&mut ada, &authorize(&asked), "allow").await;
    let shown = ada.get(back.as_str()).await.expect(200);
    assert!(shown.html.contains(&parameter(&back, "code")));
    let code = parameter(&back, "code");
    let said = super::redeem_at(&app.origin, "app_fanfare_cli", &own, &code);
    assert_eq!(text(&said.await.expect(200), "scope").split(' ').count(), 8);
    for bad in ["?code=<script>", "?error=access_denied", ""] {
        let page = ada.get(&format!("/oauth/code{bad}")).await.expect(400);
        assert!(!page.html.contains("<script>"));
    }
    asked[2].1 = "http://127.0.0.1:54321/callback";
    let back = decide(&mut ada, &authorize(&asked), "allow").await;
    assert_eq!((back.port(), back.path()), (Some(54321), "/callback"));
}

#[tokio::test]
async fn a_tool_gets_advice_that_it_can_follow() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let tokens = let_in(&app, &mut ada, &client).await;
    let tool = bearer(&app, &tokens);
    app.advance(Duration::from_secs(3_600));
    let expired = tool.get("/api/v1/whoami").await.refused(401, "api_key_expired");
    let next = refresh(&app.origin, &client, text(&tokens, "refresh_token")).await.expect(200);
    let fresh = bearer(&app, &next);
    let billing = fresh.get("/api/v1/credits").await;
    let revoke = [("token", text(&next, "refresh_token")), ("client_id", &client)];
    let _ = post_form(&app.origin, "/api/oauth/revoke", &revoke).await.expect(200);
    let revoked = fresh.get("/api/v1/whoami").await.refused(401, "api_key_revoked");
    for (answer, words) in
        [(&expired, "refresh token"), (&revoked, "authorization"), (&billing, "authorization")]
    {
        let remedy = answer.body["remedy"].as_str().unwrap_or_default();
        assert!(remedy.contains(words), "{}", answer.text);
        assert!(
            !answer.text.contains("new key") && !answer.text.contains("/dashboard/api"),
            "{}",
            answer.text
        );
        assert_eq!(answer.body["retry"], "after_change", "{}", answer.text);
    }
}
