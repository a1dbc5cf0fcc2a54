//! Who sees and changes which part of a set, and how many targets a plan has.

use fanfare_core::access::{PlanTier, Role, Scope};
use fanfare_tests::{Options, TestApp};
use serde_json::json;

use super::{made, path};

#[tokio::test]
async fn a_seat_with_a_brand_sees_and_changes_its_targets_alone() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("sets@example.com").await;
    let workspace = app.workspace(owner).await;
    let admin = app.key(owner, Some(workspace), &Scope::ALL).await;
    let (person, locked) = app.member(workspace, Role::Publisher).await;
    let brand = app.brand(workspace, &[person]).await;
    let new = json!({"platform": "mastodon", "workspace_client_id": brand});
    let theirs = locked.post("/api/v1/sandbox/accounts", new).await.expect(201);
    let theirs = theirs.body["account"]["id"].as_i64().unwrap();
    let other = admin.connect("bluesky").await;
    let set = made(
        &admin,
        json!({"targets": [{"account_id": other}, {"account_id": theirs}], "caption": "Shared", "scheduled_at": app.at(900)}),
    )
    .await;
    let seen = locked.get(&path(&set)).await.expect(200).body["post_set"].clone();
    assert_eq!(seen["counts"], json!({"scheduled": 1}));
    assert_eq!(seen["targets"].as_array().unwrap().len(), 1);
    let listed = locked.get("/api/v1/post-sets").await.body["post_sets"].clone();
    assert_eq!(listed[0]["target_count"], 1);
    // What it changes for all becomes its target's own.
    locked.patch(&path(&set), json!({"caption": "For the brand"})).await.expect(200);
    let all = admin.get(&path(&set)).await.body["post_set"].clone();
    assert_eq!(all["caption"], "Shared");
    let froms: Vec<_> =
        all["targets"].as_array().unwrap().iter().map(|one| &one["from"]["caption"]).collect();
    assert_eq!(froms, [&json!("shared"), &json!("target")]);
    let gone = locked.delete(&path(&set)).await.expect(200).body;
    assert_eq!((gone["deleted"].as_array().unwrap().len(), &gone["kept"]), (1, &json!([])));
    locked.get(&path(&set)).await.refused(404, "post_set_not_found");
    assert_eq!(admin.get(&path(&set)).await.body["post_set"]["counts"], json!({"scheduled": 1}));
}

#[tokio::test]
async fn accounts_of_two_workspaces_make_no_set() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("two@example.com").await;
    let (one, two) = (app.workspace(owner).await, app.workspace(owner).await);
    let mut accounts = Vec::new();
    for workspace in [one, two] {
        let key = app.key(owner, Some(workspace), &Scope::ALL).await;
        accounts.push(key.connect("bluesky").await);
    }
    let free = app.key(owner, None, &Scope::ALL).await;
    let body = json!({"targets": super::on(&accounts), "caption": "x", "mode": "valid_only"});
    let refused = free.post("/api/v1/post-sets", body).await.refused(400, "mixed_workspaces").body;
    assert_eq!(refused["validation_errors"][0]["field"], "targets");
    let bound = app.key(owner, Some(one), &Scope::ALL).await;
    let body = json!({"targets": super::on(&accounts), "caption": "x"});
    let refused = bound.post("/api/v1/post-sets", body).await.refused(400, "targets_refused").body;
    assert_eq!(refused["validation_errors"][0]["code"], "account_not_found");
}

#[tokio::test]
async fn a_plan_has_so_many_targets() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("plans@example.com").await;
    let workspace = app.workspace(owner).await;
    let key = app.key(owner, Some(workspace), &Scope::ALL).await;
    let mut accounts = Vec::new();
    for _ in 0..11 {
        accounts.push(key.connect("bluesky").await);
    }
    let body = json!({"targets": super::on(&accounts), "caption": "x", "status": "draft"});
    fanfare_people::users::set_plan(&app.domain, workspace, PlanTier::Starter, Some(true))
        .await
        .unwrap();
    let refused = key.post("/api/v1/post-sets", body.clone()).await.refused(403, "plan_limit").body;
    assert_eq!((&refused["limit"], &refused["plan"]), (&json!(10), &json!("starter")));
    fanfare_people::users::set_plan(&app.domain, workspace, PlanTier::Pro, Some(true))
        .await
        .unwrap();
    key.post("/api/v1/post-sets", body).await.expect(201);
}

#[tokio::test]
async fn editors_make_drafts_and_viewers_nothing() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("roles@example.com").await;
    let workspace = app.workspace(owner).await;
    let admin = app.key(owner, Some(workspace), &Scope::ALL).await;
    let accounts = [admin.connect("bluesky").await, admin.connect("mastodon").await];
    let body =
        |status: &str| json!({"targets": super::on(&accounts), "caption": "x", "status": status});
    let (_, editor) = app.member(workspace, Role::Editor).await;
    let (_, viewer) = app.member(workspace, Role::Viewer).await;
    let code = "insufficient_workspace_permissions";
    editor.post("/api/v1/post-sets", body("scheduled")).await.refused(403, code);
    viewer.post("/api/v1/post-sets", body("draft")).await.refused(403, code);
    let set = made(&editor, body("draft")).await;
    viewer.get(&path(&set)).await.expect(200);
    editor.patch(&path(&set), json!({"caption": "y"})).await.expect(200);
    editor.patch(&path(&set), json!({"scheduled_at": app.at(900)})).await.refused(403, code);
    for (place, body) in [("status", json!({"status": "paused"}))] {
        editor.put(&format!("{}/{place}", path(&set)), body).await.refused(403, code);
    }
    editor.delete(&path(&set)).await.refused(403, code);
}
