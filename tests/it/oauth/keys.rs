//! Keys, apps and grants by the API.

use std::time::Duration;

use fanfare_core::access::{PlanTier, Role, Scope};
use fanfare_people::users;
use fanfare_tests::{Options, TestApp, User, Visitor};
use reqwest::Method;
use serde_json::{Value, json};

use super::{REDIRECT, bearer, let_in, refresh, register, text};

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

/// A key that may do everything.
async fn ada(app: &TestApp) -> User {
    let id = app.person("ada@example.com").await;
    app.key(id, None, &Scope::ALL).await
}

#[tokio::test]
async fn keys_are_made_listed_and_revoked_within_what_the_caller_may() {
    let app = quiet().await;
    let ada = ada(&app).await;
    let new = json!({"name": "nightly import", "scopes": ["posts:read", "posts:write"], "expires_in_days": 30});
    let made = ada.post("/api/v1/keys", new).await.expect(201).body;
    let key = text(&made, "key").to_owned();
    assert!(key.starts_with("fan_") && key.len() == 42);
    assert_eq!(made["api_key"]["scopes"], json!(["posts:read", "posts:write"]));
    assert!(made["api_key"]["expires_at"].is_string());
    let listed = ada.get("/api/v1/keys").await.expect(200);
    assert!(!listed.text.contains(&key), "a key is shown once");
    assert_eq!(listed.body["keys"].as_array().unwrap().len(), 2);
    let bot = User::new(&app.origin, key);
    let _ = bot.get("/api/v1/posts").await.expect(200);
    bot.get("/api/v1/keys").await.refused(403, "insufficient_scope");
    app.advance(Duration::from_secs(30 * 86_400));
    bot.get("/api/v1/posts").await.refused(401, "api_key_expired");
    let made = ada.post("/api/v1/keys", json!({"name": "other"})).await.expect(201).body;
    let other = User::new(&app.origin, text(&made, "key").to_owned());
    let id = made["api_key"]["id"].as_str().unwrap();
    assert_eq!(made["api_key"]["scopes"].as_array().unwrap().len(), 6, "all but billing");
    let _ = other.get("/api/v1/keys").await.expect(200);
    let more = json!({"name": "more", "scopes": ["billing:write"]});
    let refused = other.post("/api/v1/keys", more).await.refused(403, "insufficient_scope");
    assert_eq!(refused.body["required_scope"], "billing:write");
    let gone = ada.delete(&format!("/api/v1/keys/{id}")).await.expect(200).body;
    assert_eq!((&gone["deleted"], &gone["id"]), (&json!(true), &json!(id)));
    other.get("/api/v1/keys").await.refused(401, "api_key_revoked");
    ada.delete(&format!("/api/v1/keys/{id}")).await.refused(404, "key_not_found");
    let stranger = app.user().await;
    let mine = ada.get("/api/v1/whoami").await.body["key"].clone();
    assert_eq!((&mine["type"], &mine["client_id"]), (&json!("api_key"), &Value::Null));
    let mine = text(&mine, "id").to_owned();
    stranger.delete(&format!("/api/v1/keys/{mine}")).await.refused(404, "key_not_found");
    stranger.delete("/api/v1/keys/nonsense").await.refused(404, "key_not_found");
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_key_is_said_at_once() {
    let app = quiet().await;
    let ada = ada(&app).await;
    let bad = json!({"name": " ", "scopes": ["everything"], "expires_in_days": 366});
    let refused = ada.post("/api/v1/keys", bad).await.expect(400).body;
    let fields: Vec<_> = refused["validation_errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| text(one, "field"))
        .collect();
    assert_eq!(fields, ["name", "expires_in_days", "scopes"], "{refused}");
    ada.post("/api/v1/keys", json!({"name": "x", "scopes": []}))
        .await
        .refused(400, "invalid_field");
    ada.post("/api/v1/keys", json!({"name": "x", "scope": "y"}))
        .await
        .refused(400, "unknown_field");
    ada.post("/api/v1/keys", json!({})).await.refused(400, "field_required");
}

#[tokio::test]
async fn a_key_for_one_workspace_needs_an_admin_and_stays_inside() {
    let app = quiet().await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (bob, scoped) = app.member(team, Role::Publisher).await;
    let bobs = app.key(bob, None, &Scope::ALL).await;
    let new = json!({"name": "team", "workspace_id": team});
    let refused = bobs.post("/api/v1/keys", new.clone()).await;
    let refused = refused.refused(403, "insufficient_workspace_permissions");
    assert_eq!(refused.body["required_role"], "admin");
    users::set_member(&app.domain, team, bob, Role::Admin).await.unwrap();
    let made = bobs.post("/api/v1/keys", new).await.expect(201).body;
    assert_eq!(made["api_key"]["workspace_id"], json!(team));
    // A key of one workspace makes and sees keys of that workspace alone.
    let made = scoped.post("/api/v1/keys", json!({"name": "inside"})).await.expect(201).body;
    assert_eq!(made["api_key"]["workspace_id"], json!(team));
    let elsewhere = json!({"name": "x", "workspace_id": uuid::Uuid::now_v7()});
    let refused = scoped.post("/api/v1/keys", elsewhere.clone()).await;
    refused.refused(403, "workspace_scope_mismatch");
    bobs.post("/api/v1/keys", elsewhere).await.refused(404, "workspace_not_found");
    let inside = scoped.get("/api/v1/keys").await.expect(200).body["keys"].clone();
    assert!(inside.as_array().unwrap().iter().all(|key| key["workspace_id"] == json!(team)));
    let outside = bobs.get("/api/v1/whoami").await.body["key"]["id"].as_str().unwrap().to_owned();
    scoped.delete(&format!("/api/v1/keys/{outside}")).await.refused(404, "key_not_found");
}

#[tokio::test]
async fn a_plan_allows_so_many_keys_also_at_once() {
    let app = quiet().await;
    let ada = ada(&app).await;
    let who = ada.get("/api/v1/whoami").await.expect(200).body;
    let own = who["default_workspace"]["id"].as_str().unwrap().parse().unwrap();
    let own = fanfare_core::WorkspaceId(own);
    users::set_plan(&app.domain, own, PlanTier::Starter, Some(true)).await.unwrap();
    let mut asked = tokio::task::JoinSet::new();
    for n in 0..12 {
        let ada = ada.clone();
        asked.spawn(async move {
            ada.post("/api/v1/keys", json!({"name": format!("key {n}")})).await.status
        });
    }
    let made = asked.join_all().await.into_iter().filter(|status| *status == 201).count();
    assert_eq!(made, 9, "a starter has ten, with the one that asks");
    let refused = ada.post("/api/v1/keys", json!({"name": "one more"})).await;
    let refused = refused.refused(403, "key_limit").body;
    assert_eq!((&refused["limit"], &refused["plan"]), (&json!(10), &json!("starter")));
}

#[tokio::test]
async fn a_key_that_is_asked_for_again_is_the_same_one() {
    let app = quiet().await;
    let ada = ada(&app).await;
    let send = async || {
        let body = json!({"name": "once"});
        let headers = [("Idempotency-Key", "k")];
        ada.send(Method::POST, "/api/v1/keys", &headers, Some(&body)).await.expect(201)
    };
    let (first, again) = (send().await, send().await);
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(first.body, again.body);
}

#[tokio::test]
async fn apps_are_a_persons_own() {
    let app = quiet().await;
    let ada = ada(&app).await;
    let new = json!({"client_name": "My tool", "allowed_redirect_uris": [REDIRECT], "default_scopes": ["posts:read"]});
    let made = ada.post("/api/v1/oauth/clients", new).await.expect(201).body["client"].clone();
    let id = text(&made, "client_id").to_owned();
    assert!(id.starts_with("app_") && id.len() == 28 && made.get("client_secret").is_none());
    assert_eq!((&made["grants"], &made["default_scopes"]), (&json!(0), &json!(["posts:read"])));
    let (_, mut bob) = Visitor::person(&app, "bob@example.com").await;
    let tokens = let_in(&app, &mut bob, &id).await;
    assert_eq!(text(&tokens, "scope"), "posts:read");
    let listed = ada.get("/api/v1/oauth/clients").await.expect(200).body["clients"].clone();
    assert_eq!((&listed[0]["client_id"], &listed[0]["grants"]), (&json!(id), &json!(1)));
    let path = format!("/api/v1/oauth/clients/{id}");
    let changes = json!({"client_name": "My better tool", "allowed_redirect_uris": ["https://tool.example/other"]});
    let changed = ada.patch(&path, changes).await.expect(200).body["client"].clone();
    assert_eq!(changed["client_name"], "My better tool");
    assert_eq!(changed["default_scopes"], json!(["posts:read"]), "what is left out stays");
    let page = super::authorize(&super::usual(&id));
    assert_eq!(bob.get(&page).await.status, 400, "the old address is gone");
    let stranger = app.user().await;
    assert_eq!(stranger.get("/api/v1/oauth/clients").await.body["clients"], json!([]));
    stranger.patch(&path, json!({"client_name": "x"})).await.refused(404, "client_not_found");
    stranger.delete(&path).await.refused(404, "client_not_found");
    ada.delete("/api/v1/oauth/clients/app_fanfare_cli").await.refused(404, "client_not_found");
    let _ = bearer(&app, &tokens).get("/api/v1/posts").await.expect(200);
    let gone = ada.delete(&path).await.expect(200).body;
    assert_eq!(gone, json!({"deleted": true, "id": id}));
    bearer(&app, &tokens).get("/api/v1/posts").await.refused(401, "api_key_revoked");
    refresh(&app.origin, &id, text(&tokens, "refresh_token")).await.refused(401, "invalid_client");
}

#[tokio::test]
async fn what_is_wrong_with_an_app_is_said_at_once_and_there_are_twenty() {
    let app = quiet().await;
    let ada = ada(&app).await;
    let bad = json!({"client_name": " ", "allowed_redirect_uris": ["https://a.b/cb", "http://a.b/cb"], "default_scopes": ["x"]});
    let refused = ada.post("/api/v1/oauth/clients", bad).await.expect(400).body;
    let fields: Vec<_> = refused["validation_errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| text(one, "field"))
        .collect();
    assert_eq!(fields, ["client_name", "allowed_redirect_uris[1]", "default_scopes"], "{refused}");
    let none = json!({"client_name": "x", "allowed_redirect_uris": []});
    let _ = ada.post("/api/v1/oauth/clients", none).await.expect(400);
    let null = json!({"client_name": null});
    let _ = ada.patch("/api/v1/oauth/clients/app_x", null).await.expect(400);
    let good = json!({"client_name": "x", "allowed_redirect_uris": [REDIRECT]});
    for _ in 0..20 {
        let _ = ada.post("/api/v1/oauth/clients", good.clone()).await.expect(201);
    }
    ada.post("/api/v1/oauth/clients", good).await.refused(403, "client_limit");
}

#[tokio::test]
async fn a_person_ends_what_was_let_in() {
    let app = quiet().await;
    let client = register(&app.origin).await;
    let (person, mut browser) = Visitor::person(&app, "ada@example.com").await;
    let ada = app.key(person, None, &Scope::ALL).await;
    let tokens = let_in(&app, &mut browser, &client).await;
    let tool = bearer(&app, &tokens);
    let _ = tool.get("/api/v1/posts").await.expect(200);
    let grants = ada.get("/api/v1/oauth/grants").await.expect(200).body["grants"].clone();
    assert_eq!(
        (&grants[0]["client_id"], &grants[0]["client_name"]),
        (&json!(client), &json!("A tool"))
    );
    assert_eq!(grants[0]["workspace_id"], tokens["workspace"]["id"]);
    let path = format!("/api/v1/oauth/grants/{}", text(&grants[0], "id"));
    app.user().await.delete(&path).await.refused(404, "grant_not_found");
    let _ = ada.delete(&path).await.expect(200);
    tool.get("/api/v1/posts").await.refused(401, "api_key_revoked");
    assert_eq!(ada.get("/api/v1/oauth/grants").await.body["grants"], json!([]));
    ada.delete(&path).await.refused(404, "grant_not_found");
}

#[tokio::test]
async fn a_tool_touches_neither_keys_nor_apps_nor_other_tools() {
    let app = quiet().await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let tokens = let_in(&app, &mut ada, &client).await;
    let tool = bearer(&app, &tokens);
    for (method, path) in [
        (Method::GET, "/api/v1/keys"),
        (Method::POST, "/api/v1/keys"),
        (Method::DELETE, "/api/v1/keys/x"),
        (Method::GET, "/api/v1/oauth/clients"),
        (Method::POST, "/api/v1/oauth/clients"),
        (Method::PATCH, "/api/v1/oauth/clients/x"),
        (Method::DELETE, "/api/v1/oauth/clients/x"),
        (Method::GET, "/api/v1/oauth/grants"),
        (Method::DELETE, "/api/v1/oauth/grants/x"),
    ] {
        tool.send(method, path, &[], None).await.refused(403, "api_key_required");
    }
}
