//! Access: scopes, roles, workspaces, brands.

use fanfare_core::{
    WorkspaceId,
    access::{PlanTier, Role, Scope},
};
use fanfare_tests::{Options, TestApp, User};
use serde_json::json;

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

#[tokio::test]
async fn a_scope_that_is_missing_is_named() {
    let app = quiet().await;
    let person = app.person("reader@example.com").await;
    let user = app.key(person, None, &[Scope::PostsRead]).await;
    let answer = user.post("/api/v1/posts", json!({})).await;
    assert_eq!(answer.body["required_scope"], "posts:write");
    answer.refused(403, "insufficient_scope");
    let _ = user.get("/api/v1/posts").await.expect(200);
}

#[tokio::test]
async fn a_role_that_is_too_low_is_named() {
    let app = quiet().await;
    let owner = app.person("owner@example.com").await;
    let workspace = app.workspace(owner).await;
    let admin = app.key(owner, Some(workspace), &Scope::ALL).await;
    let account = admin.connect("bluesky").await;
    let new = json!({"account_id": account, "caption": "a", "scheduled_at": app.at(600)});
    let post = admin.publish(new.clone()).await;
    let path = format!("/api/v1/posts/{}", post["id"]);
    for (role, create, edit, move_) in [
        (Role::Viewer, 403, 403, 403),
        (Role::Editor, 403, 200, 403),
        (Role::Publisher, 201, 200, 200),
    ] {
        let (_, user) = app.member(workspace, role).await;
        let answer = user.post("/api/v1/posts", new.clone()).await;
        assert_eq!(answer.status, create, "{}", answer.text);
        if create == 403 {
            assert_eq!(answer.body["required_role"], "publisher");
            answer.refused(403, "insufficient_workspace_permissions");
        }
        let edited = user.patch(&path, json!({"caption": "b"})).await;
        assert_eq!(edited.status, edit, "{}", edited.text);
        let moved = user.patch(&path, json!({"scheduled_at": app.at(900)})).await;
        assert_eq!(moved.status, move_, "{}", moved.text);
        let _ = user.get(&path).await.expect(200);
    }
}

#[tokio::test]
async fn a_scoped_key_reaches_its_workspace_only() {
    let app = quiet().await;
    let owner = app.person("two@example.com").await;
    let (one, two) = (app.workspace(owner).await, app.workspace(owner).await);
    let scoped = app.key(owner, Some(one), &Scope::ALL).await;
    let answer = scoped.get(&format!("/api/v1/accounts?workspace_id={two}")).await;
    assert_eq!(answer.body["error"], "API key is scoped to a different workspace");
    answer.refused(403, "workspace_scope_mismatch");
    let free = app.key(owner, None, &Scope::ALL).await;
    let _ = free.get(&format!("/api/v1/accounts?workspace_id={two}")).await.expect(200);
    let foreign = app.workspace(app.person("else@example.com").await).await;
    free.get(&format!("/api/v1/accounts?workspace_id={foreign}"))
        .await
        .refused(404, "workspace_not_found");
}

#[tokio::test]
async fn a_seat_locked_to_a_brand_sees_nothing_else() {
    let app = quiet().await;
    let owner = app.person("brands@example.com").await;
    let workspace = app.workspace(owner).await;
    let admin = app.key(owner, Some(workspace), &Scope::ALL).await;
    let (person, locked) = app.member(workspace, Role::Publisher).await;
    let brand = app.brand(workspace, &[person]).await;
    let outside = admin.connect("bluesky").await;
    let post = admin
        .publish(json!({"account_id": outside, "caption": "a", "scheduled_at": app.at(60)}))
        .await;
    let listed = locked.get("/api/v1/accounts").await.expect(200);
    assert_eq!(listed.body["accounts"], json!([]));
    locked.get(&format!("/api/v1/posts/{}", post["id"])).await.refused(404, "post_not_found");
    locked
        .post("/api/v1/sandbox/accounts", json!({"platform": "bluesky"}))
        .await
        .refused(403, "brand_required");
    let own = json!({"platform": "bluesky", "workspace_client_id": brand});
    let own = locked.post("/api/v1/sandbox/accounts", own).await.expect(201);
    assert_eq!(own.body["account"]["workspace_client_id"], json!(brand));
    let made = locked.publish(json!({"account_id": own.body["account"]["id"], "caption": "b", "scheduled_at": app.at(60)})).await;
    assert_eq!(made["workspace_client_id"], json!(brand));
}

/// Every way to an account ends where its brand is checked; the database knows brands besides.
#[tokio::test]
async fn no_way_to_an_account_takes_a_brand_that_is_not_the_workspaces() {
    use fanfare_entities::{BrandId, account};
    use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, sea_query::Expr};
    let app = quiet().await;
    let owner = app.person("brands@example.com").await;
    let (here, elsewhere) = (app.workspace(owner).await, app.workspace(owner).await);
    let (own, foreign) = (app.brand(here, &[]).await, app.brand(elsewhere, &[]).await);
    let admin = app.key(owner, Some(here), &Scope::ALL).await;
    for brand in [foreign, BrandId::fresh()] {
        let new = json!({"platform": "bluesky", "workspace_client_id": brand});
        let _ = admin.post("/api/v1/sandbox/accounts", new).await.refused(404, "brand_not_found");
        let session = json!({"sandbox": true, "workspace_client_id": brand});
        let path = "/api/v1/connect/bluesky/sessions";
        let _ = admin.post(path, session).await.refused(404, "brand_not_found");
        let credentials = json!({"identifier": "a.test", "app_password": "aaaa-bbbb-cccc-dddd"});
        let body = json!({"credentials": credentials, "workspace_client_id": brand});
        let path = "/api/v1/connect/bluesky/credentials";
        let _ = admin.post(path, body).await.refused(404, "brand_not_found");
    }
    let listed = admin.get("/api/v1/accounts").await.expect(200);
    assert_eq!(listed.body["accounts"], json!([]), "no account was stored");
    let new = json!({"platform": "bluesky", "workspace_client_id": own});
    let made = admin.post("/api/v1/sandbox/accounts", new).await.expect(201);
    let id = made.body["account"]["id"].as_i64().unwrap();
    let change = account::Entity::update_many()
        .col_expr(account::Column::BrandId, Expr::value(BrandId::fresh()))
        .filter(account::Column::Id.eq(id));
    let refused = change.exec(&app.domain.db.write).await.expect_err("a brand that is nowhere");
    assert!(refused.to_string().to_uppercase().contains("FOREIGN KEY"), "{refused}");
}

#[tokio::test]
async fn a_seat_locked_to_two_brands_sees_both_and_no_third() {
    let app = quiet().await;
    let owner = app.person("two-brands@example.com").await;
    let workspace = app.workspace(owner).await;
    let admin = app.key(owner, Some(workspace), &Scope::ALL).await;
    let (person, locked) = app.member(workspace, Role::Publisher).await;
    for (locks, status) in [(vec![person], 200), (vec![person], 200), (Vec::new(), 404)] {
        let brand = app.brand(workspace, &locks).await;
        let new = json!({"platform": "bluesky", "workspace_client_id": brand});
        let made = admin.post("/api/v1/sandbox/accounts", new).await.expect(201);
        let id = &made.body["account"]["id"];
        let post = json!({"account_id": id, "caption": "a", "scheduled_at": app.at(60)});
        let post = admin.publish(post).await["id"].clone();
        let _ = locked.get(&format!("/api/v1/posts/{post}")).await.expect(status);
    }
    let listed = locked.get("/api/v1/accounts").await.expect(200);
    assert_eq!(listed.body["accounts"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn the_api_needs_its_add_on() {
    let app = quiet().await;
    let owner = app.person("poor@example.com").await;
    let workspace = app.workspace(owner).await;
    let user = app.key(owner, Some(workspace), &Scope::ALL).await;
    fanfare_people::users::set_plan(&app.domain, workspace, PlanTier::Starter, Some(false))
        .await
        .unwrap();
    user.get("/api/v1/accounts").await.refused(403, "api_addon_required");
}

#[tokio::test]
async fn an_account_is_looked_for_in_the_workspace_that_is_named() {
    let app = quiet().await;
    let owner = app.person("both@example.com").await;
    let (one, two) = (app.workspace(owner).await, app.workspace(owner).await);
    let foreign = app.workspace(app.person("stranger@example.com").await).await;
    let (free, scoped) =
        (app.key(owner, None, &Scope::ALL).await, app.key(owner, Some(one), &Scope::ALL).await);
    let account = scoped.connect("bluesky").await;
    let ask = |user: &User, account: i64, workspace: WorkspaceId| {
        let new = json!({"account_id": account, "workspace_id": workspace, "caption": "a",
            "scheduled_at": app.at(600)});
        let user = user.clone();
        async move { user.post("/api/v1/posts", new).await }
    };
    let made = ask(&free, account, one).await.expect(201);
    assert_eq!(made.body["post"]["workspace_id"], json!(one));
    ask(&scoped, account, one).await.expect(201);
    ask(&free, account, two).await.refused(404, "account_not_found");
    ask(&free, 999_999, one).await.refused(404, "account_not_found");
    // Without the workspace nobody learns whether the account is there.
    ask(&free, account, foreign).await.refused(404, "workspace_not_found");
    ask(&free, 999_999, foreign).await.refused(404, "workspace_not_found");
    ask(&scoped, account, two).await.refused(403, "workspace_scope_mismatch");
}

#[tokio::test]
async fn a_list_by_account_looks_into_the_workspace_of_the_account() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("owner@example.com").await;
    let other = app.workspace(owner).await;
    let user = app.key(owner, None, &Scope::ALL).await;
    let made = user
        .post("/api/v1/sandbox/accounts", json!({"platform": "instagram", "workspace_id": other.0}))
        .await
        .expect(201);
    let account = made.body["account"]["id"].clone();
    let new = json!({"account_id": account, "caption": "There", "status": "draft"});
    let post = user.publish(new).await;
    let listed = user.get(&format!("/api/v1/posts?account_id={account}")).await.expect(200).body;
    assert_eq!(listed["posts"][0]["id"], post["id"], "{listed:#}");
    let analytics = format!("/api/v1/analytics/accounts?account_id={account}");
    let listed = user.get(&analytics).await.expect(200).body;
    assert_eq!(listed["accounts"][0]["account"]["id"], account, "{listed:#}");
    // An account that is not there selects nothing, and a workspace that is named decides.
    for query in [
        "account_id=999999".to_owned(),
        format!(
            "account_id={account}&workspace_id={}",
            user.get("/api/v1/whoami").await.body["default_workspace"]["id"].as_str().unwrap()
        ),
    ] {
        let none = user.get(&format!("/api/v1/posts?{query}")).await.expect(200).body;
        assert_eq!(none["posts"], json!([]), "{query}");
    }
}
