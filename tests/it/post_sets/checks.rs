//! Creating sets: what each target gets, from which level, and what is only checked.

use serde_json::json;

use super::{made, on, path, set_events, with_accounts};

#[tokio::test]
async fn each_target_is_a_post_with_the_content_of_the_nearest_level() {
    let (app, user, accounts) = with_accounts(&["bluesky", "mastodon", "devto"]).await;
    let set = made(
        &user,
        json!({
            "targets": [
                {"account_id": accounts[0]},
                {"account_id": accounts[1].to_string(), "offset_seconds": 60},
                {"account_id": accounts[2], "caption": "For developers", "settings": {"title": "A title"}},
            ],
            "caption": "For all",
            "per_platform": {"mastodon": {"caption": "For the fediverse", "settings": {"spoiler_text": "news"}}},
            "settings": {"title": "Shared title"},
            "scheduled_at": app.at(3_600),
            "group": "launch",
        }),
    )
    .await;
    assert_eq!((&set["status"], &set["counts"]), (&json!("scheduled"), &json!({"scheduled": 3})));
    assert_eq!((&set["version"], &set["settlement"]), (&json!(1), &json!(0)));
    let targets = set["targets"].as_array().unwrap();
    let ids: Vec<i64> = targets.iter().map(|one| one["post_id"].as_i64().unwrap()).collect();
    assert!(ids.is_sorted(), "{ids:?}");
    let from = |place: usize| targets[place]["from"].clone();
    assert_eq!(from(0)["caption"], "shared");
    assert_eq!(from(1)["caption"], "platform");
    assert_eq!(from(1)["settings.spoiler_text"], "platform");
    assert_eq!(
        (from(2)["caption"].clone(), from(2)["settings.title"].clone()),
        (json!("target"), json!("target"))
    );
    assert_eq!(from(2)["post_type"], "default");
    assert_eq!(
        targets[2]["overrides"],
        json!({"caption": "For developers", "settings": {"title": "A title"}})
    );
    let texts = ["For all", "For the fediverse", "For developers"];
    for (id, text) in ids.iter().zip(texts) {
        let post = user.get(&format!("/api/v1/posts/{id}")).await.body["post"].clone();
        assert_eq!((&post["caption"], &post["post_set_id"]), (&json!(text), &set["id"]));
        assert_eq!((&post["group"], &post["version"]), (&json!("launch"), &json!(1)));
    }
    assert_eq!(targets[0]["scheduled_at"], set["scheduled_at"]);
    assert_eq!(targets[1]["scheduled_at"], app.at(3_660));
    // The same by its path, in the list, and by the group of its posts.
    let shown = user.get(&path(&set)).await.expect(200);
    assert_eq!((&shown.body["post_set"], shown.header("etag")), (&set, "\"1\""));
    let listed = user.get("/api/v1/post-sets?status=scheduled").await.body["post_sets"].clone();
    assert_eq!((&listed[0]["id"], &listed[0]["target_count"]), (&set["id"], &json!(3)));
    assert_eq!((&listed[0]["excerpt"], listed[0].get("targets")), (&json!("For all"), None));
    let of_group = user.get("/api/v1/posts?group=launch").await.body["posts"].clone();
    assert_eq!(of_group.as_array().unwrap().len(), 3);
    assert_eq!(set_events(&user).await, ["post_set.created"]);
}

#[tokio::test]
async fn a_check_writes_nothing_and_says_what_each_target_would_be() {
    let (_app, user, accounts) = with_accounts(&["bluesky", "devto"]).await;
    let body = json!({
        "targets": [{"account_id": accounts[0]}, {"account_id": accounts[1]}, {"account_id": 999_999}],
        "caption": "Shared", "mode": "valid_only", "dry_run": true,
        "settings": {"title": "For one of them"},
    });
    let reply = user.post("/api/v1/post-sets", body).await.expect(200).body;
    assert_eq!((&reply["dry_run"], &reply["valid"]), (&json!(true), &json!(false)));
    let indexes: Vec<_> =
        reply["targets"].as_array().unwrap().iter().map(|one| &one["index"]).collect();
    assert_eq!(indexes, [&json!(0), &json!(1)]);
    assert_eq!(reply["targets"][1]["post"].get("caption"), None);
    assert_eq!(reply["targets"][1]["from"]["settings.title"], "shared");
    let refused = &reply["refused"][0];
    assert_eq!(
        (&refused["index"], &refused["status"], &refused["code"]),
        (&json!(2), &json!(404), &json!("account_not_found"))
    );
    let warning = reply["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["code"] == "setting_not_applied")
        .unwrap();
    assert_eq!((&warning["field"], &warning["targets"]), (&json!("settings.title"), &json!([0])));
    assert_eq!(user.get("/api/v1/post-sets").await.body["post_sets"], json!([]));
    assert_eq!(user.get("/api/v1/posts").await.body["posts"], json!([]));
    assert_eq!(set_events(&user).await, Vec::<String>::new());
}

#[tokio::test]
async fn one_key_makes_one_set() {
    let (_app, user, accounts) = with_accounts(&["bluesky", "mastodon"]).await;
    let body = json!({"targets": on(&accounts), "caption": "Once", "status": "draft"});
    let first = user.post_keyed("/api/v1/post-sets", "set-1", &body).await.expect(201);
    let again = user.post_keyed("/api/v1/post-sets", "set-1", &body).await.expect(201);
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(again.body["post_set"]["id"], first.body["post_set"]["id"]);
    assert_eq!(again.header("etag"), "\"1\"");
    assert_eq!(user.get("/api/v1/posts").await.body["posts"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_brand_stands_for_its_connected_accounts() {
    let (app, user, _) = with_accounts(&["devto"]).await;
    let workspace = user.get("/api/v1/whoami").await.body["workspaces"][0]["id"].clone();
    let workspace = fanfare_core::WorkspaceId(workspace.as_str().unwrap().parse().unwrap());
    let brand = app.brand(workspace, &[]).await;
    let mut accounts = Vec::new();
    for platform in ["bluesky", "mastodon"] {
        let new = json!({"platform": platform, "workspace_client_id": brand});
        let made = user.post("/api/v1/sandbox/accounts", new).await.expect(201);
        accounts.push(made.body["account"]["id"].as_i64().unwrap());
    }
    let set = made(
        &user,
        json!({
            "targets": [
                {"workspace_client_id": brand.to_string(), "caption": "For the brand"},
                {"account_id": accounts[1]},
            ],
            "caption": "Shared", "status": "draft",
        }),
    )
    .await;
    // The account that is named by itself, too, is taken once, with what it has there.
    let targets: Vec<_> = set["targets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["account_id"].as_i64().unwrap(), one["from"]["caption"].clone()))
        .collect();
    assert_eq!(targets, [(accounts[0], json!("target")), (accounts[1], json!("shared"))]);
    let narrow = json!({"targets": [{"workspace_client_id": brand.to_string(), "platforms": ["devto"]}], "caption": "x"});
    let refused = user.post("/api/v1/post-sets", narrow).await.refused(400, "targets_refused").body;
    assert_eq!(refused["validation_errors"][0]["code"], "no_accounts");
}
