//! Refused sets: all faults at once, each at the place where its value was given.

use serde_json::{Value, json};

use super::{made, on, path, set_events, with_accounts};

/// Returns the places, codes and targets of the faults of a refusal.
fn faults(refusal: &Value) -> Vec<(String, String, Value)> {
    let one = |fault: &Value| {
        let text = |name: &str| fault[name].as_str().unwrap().to_owned();
        (text("field"), text("code"), fault["targets"].clone())
    };
    refusal["validation_errors"].as_array().unwrap().iter().map(one).collect()
}

fn fault(field: &str, code: &str, targets: Value) -> (String, String, Value) {
    (field.to_owned(), code.to_owned(), targets)
}

#[tokio::test]
async fn every_fault_of_every_target_is_named_and_nothing_is_made() {
    let (_app, user, accounts) = with_accounts(&["bluesky", "mastodon", "lemmy"]).await;
    let body = json!({
        "targets": [
            {"account_id": accounts[0]},
            {"account_id": accounts[0], "caption": "again"},
            {"account_id": accounts[1], "captoin": "typo"},
            {"account_id": accounts[2]},
            {},
            {"account_id": 999_999},
            {"username": "somebody"},
            {"account_id": accounts[1], "workspace_client_id": "0197a1de-0000-7000-8000-000000000000"},
            5,
        ],
        "caption": "x".repeat(301),
    });
    let refused = user.post("/api/v1/post-sets", body).await.refused(400, "targets_refused").body;
    let found = faults(&refused);
    for wanted in [
        fault("caption", "caption_too_long", json!([0])),
        fault("targets[1]", "duplicate_target", Value::Null),
        fault("targets[2].captoin", "unknown_field", Value::Null),
        fault("targets[3].settings.community", "setting_required", Value::Null),
        fault("targets[4].account_id", "field_required", Value::Null),
        fault("targets[5].account_id", "account_not_found", Value::Null),
        fault("targets[6].platform", "field_required", Value::Null),
        fault("targets[7].workspace_client_id", "conflicting_fields", Value::Null),
        fault("targets[8]", "invalid_field", Value::Null),
    ] {
        assert!(found.contains(&wanted), "{wanted:?} {found:#?}");
    }
    assert_eq!(user.get("/api/v1/posts").await.body["posts"], json!([]));
    assert_eq!(set_events(&user).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_fault_of_the_set_itself_refuses_it_in_both_modes() {
    let (_app, user, accounts) = with_accounts(&["bluesky"]).await;
    for mode in ["all_or_nothing", "valid_only"] {
        for (field, value, code, place) in [
            ("settings", json!({"no_such": 1}), "unknown_field", "settings.no_such"),
            (
                "per_platform",
                json!({"bluesky": {"captoin": "x"}}),
                "unknown_field",
                "per_platform.bluesky.captoin",
            ),
            (
                "per_platform",
                json!({"blusky": {"caption": "x"}}),
                "unknown_field",
                "per_platform.blusky",
            ),
            ("scheduled_at", json!("2001-01-01T00:00:00Z"), "scheduled_in_past", "scheduled_at"),
            ("captoin", json!("x"), "unknown_field", "captoin"),
        ] {
            let mut body = json!({"targets": on(&accounts), "caption": "fine", "mode": mode});
            body[field] = value;
            let refused = user.post("/api/v1/post-sets", body).await.refused(400, code).body;
            assert_eq!(faults(&refused)[0].0, place, "{refused}");
        }
    }
    let none = json!({"targets": [], "caption": "x"});
    user.post("/api/v1/post-sets", none).await.refused(400, "invalid_field");
    let many: Vec<_> = (0..51).map(|_| json!({"account_id": accounts[0]})).collect();
    let many = json!({"targets": many, "caption": "x"});
    user.post("/api/v1/post-sets", many).await.refused(400, "invalid_field");
}

#[tokio::test]
async fn valid_only_leaves_the_refused_ones_out() {
    let (_app, user, accounts) = with_accounts(&["bluesky", "mastodon", "lemmy"]).await;
    let mut body = json!({"targets": on(&accounts), "caption": "Hello", "status": "scheduled"});
    let refused =
        user.post("/api/v1/post-sets", body.clone()).await.refused(400, "targets_refused");
    assert_eq!(refused.body["valid_targets"], 2);
    let next = &refused.body["next"][0];
    assert_eq!(
        (&next["operation"], &next["body"]["mode"]),
        (&json!("create_post_set"), &json!("valid_only"))
    );
    body["mode"] = json!("valid_only");
    let reply = user.post("/api/v1/post-sets", body.clone()).await.expect(201).body;
    assert_eq!(reply["post_set"]["counts"], json!({"scheduled": 2}));
    let left = &reply["refused"][0];
    assert_eq!(
        (&left["index"], &left["account_id"], &left["code"]),
        (&json!(2), &json!(accounts[2]), &json!("setting_required"))
    );
    body["targets"] = on(&accounts[2..]);
    user.post("/api/v1/post-sets", body).await.refused(400, "targets_refused");
}

#[tokio::test]
async fn fixes_can_be_applied_blindly() {
    let (_app, user, accounts) = with_accounts(&["devto", "mastodon"]).await;
    let mut body = json!({
        "targets": [
            {"account_id": accounts[0]},
            {"account_id": accounts[1], "setings": {"language": "en"}},
            {"account_id": accounts[0]},
        ],
        "caption": "First line\n\nand more", "status": "draft",
    });
    let refused =
        user.post("/api/v1/post-sets", body.clone()).await.refused(400, "targets_refused");
    for fault in refused.body["validation_errors"].as_array().unwrap() {
        fault["fix"].as_array().into_iter().flatten().for_each(|fix| patch(&mut body, fix));
    }
    let set = made(&user, body.clone()).await;
    assert_eq!(set["targets"].as_array().unwrap().len(), 2, "{body}");
    assert_eq!(body["caption"], "First line\n\nand more");
}

/// Applies an operation of JSON Patch.
fn patch(body: &mut Value, fix: &Value) {
    let path = |name: &str| fix[name].as_str().unwrap().rsplit_once('/').unwrap();
    let take =
        |body: &mut Value, (parent, name): (&str, &str)| match body.pointer_mut(parent).unwrap() {
            Value::Array(list) => list.remove(name.parse().unwrap()),
            fields => fields.as_object_mut().unwrap().remove(name).unwrap(),
        };
    let value = match fix["op"].as_str().unwrap() {
        "remove" => return drop(take(body, path("path"))),
        "move" => take(body, path("from")),
        _ => fix["value"].clone(),
    };
    let (parent, name) = path("path");
    body.pointer_mut(parent).unwrap()[name] = value;
}

#[tokio::test]
async fn strangers_and_malformed_ids_find_no_set() {
    let (app, user, accounts) = with_accounts(&["bluesky"]).await;
    let set =
        made(&user, json!({"targets": on(&accounts), "caption": "x", "status": "draft"})).await;
    let other = app.user().await;
    for place in [path(&set), "/api/v1/post-sets/7".to_owned()] {
        other.get(&place).await.refused(404, "post_set_not_found");
        other.delete(&place).await.refused(404, "post_set_not_found");
        other.patch(&place, json!({"caption": "y"})).await.refused(404, "post_set_not_found");
    }
    assert_eq!(other.get("/api/v1/post-sets").await.body["post_sets"], json!([]));
    let theirs = json!({"targets": on(&accounts), "caption": "x"});
    let refused =
        other.post("/api/v1/post-sets", theirs).await.refused(400, "targets_refused").body;
    assert_eq!(faults(&refused)[0].1, "account_not_found");
}
