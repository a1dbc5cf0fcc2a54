//! Changing sets: all open targets or none, and versions.

use fanfare_tests::User;
use reqwest::Method;
use serde_json::{Value, json};

use super::{made, on, path, set_events, with_accounts};

/// Sends a change of one version.
async fn at_version(
    user: &User,
    method: Method,
    path: &str,
    version: &str,
    body: Value,
) -> (u16, Value) {
    let request = user.send(method, path, &[("if-match", version)], Some(&body)).await;
    (request.status, request.body)
}

#[tokio::test]
async fn shared_content_changes_the_targets_that_take_it() {
    let (app, user, accounts) = with_accounts(&["bluesky", "mastodon"]).await;
    let set = made(
        &user,
        json!({
            "targets": [{"account_id": accounts[0]}, {"account_id": accounts[1], "caption": "My own"}],
            "caption": "Old", "scheduled_at": app.at(3_600),
        }),
    )
    .await;
    let text = async |place: usize| {
        let id = &set["targets"][place]["post_id"];
        let post = user.get(&format!("/api/v1/posts/{id}")).await.body["post"].clone();
        (post["caption"].clone(), post["version"].clone())
    };
    let reply = user.patch(&path(&set), json!({"caption": "New"})).await.expect(200);
    assert_eq!((&reply.body["post_set"]["version"], reply.header("etag")), (&json!(2), "\"2\""));
    assert_eq!(text(0).await, (json!("New"), json!(2)));
    assert_eq!(text(1).await, (json!("My own"), json!(1)));
    // What is changed by the post's own path becomes its own.
    let first = format!("/api/v1/posts/{}", set["targets"][0]["post_id"]);
    user.patch(&first, json!({"caption": "Mine"})).await.expect(200);
    let shown = user.get(&path(&set)).await.body["post_set"].clone();
    assert_eq!(
        (&shown["version"], &shown["targets"][0]["from"]["caption"]),
        (&json!(3), &json!("target"))
    );
    user.patch(&path(&set), json!({"caption": "Newer"})).await.expect(200);
    assert_eq!(text(0).await.0, "Mine");
    // And it can be taken from the set again.
    let target = &set["targets"][0]["post_id"];
    let inherit = json!({"targets": [{"post_id": target, "inherit": ["caption"]}]});
    user.patch(&path(&set), inherit).await.expect(200);
    assert_eq!(text(0).await.0, "Newer");
    // A change that one target cannot take changes none.
    let long = json!({"caption": "x".repeat(301), "targets": [{"post_id": set["targets"][1]["post_id"], "caption": "Other"}]});
    let refused = user.patch(&path(&set), long).await.refused(400, "targets_refused").body;
    assert_eq!(
        (&refused["validation_errors"][0]["field"], &refused["validation_errors"][0]["targets"]),
        (&json!("caption"), &json!([0]))
    );
    assert_eq!(text(1).await.0, "My own");
    let moved =
        user.patch(&path(&set), json!({"scheduled_at": app.at(7_200)})).await.expect(200).body;
    for target in moved["post_set"]["targets"].as_array().unwrap() {
        assert_eq!(target["scheduled_at"], app.at(7_200));
    }
    let alien = json!({"targets": [{"post_id": 999_999, "caption": "x"}]});
    let refused = user.patch(&path(&set), alien).await.refused(400, "targets_refused").body;
    assert_eq!(refused["validation_errors"][0]["code"], "post_not_found");
}

#[tokio::test]
async fn an_older_version_is_not_changed() {
    let (_app, user, accounts) = with_accounts(&["bluesky"]).await;
    let set =
        made(&user, json!({"targets": on(&accounts), "caption": "x", "status": "draft"})).await;
    let post = format!("/api/v1/posts/{}", set["targets"][0]["post_id"]);
    for place in [path(&set), post] {
        let change = || json!({"caption": "y"});
        let seen = user.get(&place).await.header("etag").to_owned();
        let (status, _) = at_version(&user, Method::PATCH, &place, &seen, change()).await;
        assert_eq!(status, 200, "{place}");
        let (status, body) = at_version(&user, Method::PATCH, &place, &seen, change()).await;
        assert_eq!((status, &body["code"]), (412, &json!("stale_version")), "{place}");
        assert!(body["version"].as_i64().unwrap() > 1, "{body}");
        assert_eq!(body["next"][0]["path"], place);
        let (status, body) = at_version(&user, Method::PATCH, &place, "three", change()).await;
        assert_eq!((status, &body["validation_errors"][0]["field"]), (400, &json!("If-Match")));
        let (status, _) = at_version(&user, Method::PATCH, &place, "*", change()).await;
        assert_eq!(status, 200, "{place}");
        // The set's version rose with that of its target.
        let shown = user.get(&path(&set)).await;
        let rises = shown.body["post_set"]["version"].as_i64().unwrap();
        assert_eq!(shown.header("etag"), format!("\"{rises}\""));
    }
}

#[tokio::test]
async fn a_set_is_paused_resumed_and_deleted_as_a_whole() {
    let (app, user, accounts) = with_accounts(&["bluesky", "mastodon"]).await;
    let body = json!({"targets": on(&accounts), "caption": "x", "scheduled_at": app.at(3_600)});
    let set = made(&user, body).await;
    let status = format!("{}/status", path(&set));
    for (asked, counts) in [
        (json!({"status": "paused"}), json!({"paused": 2})),
        (json!({"status": "scheduled"}), json!({"scheduled": 2})),
        (json!({"status": "draft"}), json!({"draft": 2})),
    ] {
        let reply = user.put(&status, asked).await.expect(200).body;
        assert_eq!(reply["post_set"]["counts"], counts);
    }
    // A draft needs a time: none of them is scheduled.
    let refused = user
        .put(&status, json!({"status": "scheduled"}))
        .await
        .refused(400, "targets_refused")
        .body;
    assert_eq!(refused["validation_errors"][0]["code"], "field_required");
    let added = json!({"targets": [{"account_id": accounts[0]}]});
    let refused = user
        .post(&format!("{}/targets", path(&set)), added)
        .await
        .refused(400, "targets_refused")
        .body;
    assert_eq!(refused["validation_errors"][0]["code"], "duplicate_target");
    let third = user.connect("discord").await;
    let added = json!({"targets": [{"account_id": third}]});
    let reply = user.post(&format!("{}/targets", path(&set)), added).await.expect(201).body;
    assert_eq!(reply["post_set"]["counts"], json!({"draft": 3}));
    let gone = user.delete(&path(&set)).await.expect(200).body;
    assert_eq!((gone["deleted"].as_array().unwrap().len(), &gone["kept"]), (3, &json!([])));
    user.get(&path(&set)).await.refused(404, "post_set_not_found");
    let events = set_events(&user).await;
    assert_eq!(events.first().unwrap(), "post_set.created");
    assert_eq!(events.last().unwrap(), "post_set.deleted");
    assert_eq!(events.iter().filter(|one| *one == "post_set.updated").count(), 4);
}

#[tokio::test]
async fn with_its_last_target_a_set_is_gone() {
    let (_app, user, accounts) = with_accounts(&["bluesky", "mastodon"]).await;
    let set =
        made(&user, json!({"targets": on(&accounts), "caption": "x", "status": "draft"})).await;
    for target in set["targets"].as_array().unwrap() {
        user.get(&path(&set)).await.expect(200);
        user.delete(&format!("/api/v1/posts/{}", target["post_id"])).await.expect(200);
    }
    user.get(&path(&set)).await.refused(404, "post_set_not_found");
    let other =
        made(&user, json!({"targets": on(&accounts), "caption": "x", "status": "draft"})).await;
    let group = other["id"].as_str().unwrap();
    user.delete(&format!("/api/v1/posts/group/{group}?confirm=true")).await.expect(200);
    user.get(&path(&other)).await.refused(404, "post_set_not_found");
}

#[tokio::test]
async fn a_time_for_all_targets_is_that_of_the_set_from_then_on() {
    let (app, user, accounts) = with_accounts(&["mastodon", "bluesky"]).await;
    let set =
        made(&user, json!({"targets": on(&accounts), "caption": "x", "status": "draft"})).await;
    let own = set["targets"][1]["post_id"].as_i64().unwrap();
    let day = 86_400;
    user.patch(&format!("/api/v1/posts/{own}"), json!({"scheduled_at": app.at(day)}))
        .await
        .expect(200);
    let (first, second) = (app.at(2 * day), app.at(3 * day));
    let status = json!({"status": "scheduled", "scheduled_at": first});
    user.put(&format!("{}/status", path(&set)), status).await.expect(200);
    for (change, time) in [(None, &first), (Some(json!({"scheduled_at": second})), &second)] {
        if let Some(change) = change {
            user.patch(&path(&set), change).await.expect(200);
        }
        let now = user.get(&path(&set)).await.expect(200).body["post_set"].clone();
        for target in now["targets"].as_array().unwrap() {
            let at = target["scheduled_at"].as_str().unwrap();
            assert_eq!(at[..19], time[..19], "{now}");
        }
    }
    // A new target goes out with the others.
    let third = user.connect("telegram").await;
    user.post(&format!("{}/targets", path(&set)), json!({"targets": on(&[third])}))
        .await
        .expect(201);
    let now = user.get(&path(&set)).await.expect(200).body["post_set"].clone();
    assert_eq!(now["targets"][2]["scheduled_at"], now["targets"][0]["scheduled_at"]);
}
