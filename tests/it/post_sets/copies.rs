//! Files, equal content and changes at the same time.

use fanfare_tests::{Picture, TestApp};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{made, on, path, set_events, with_accounts};

#[tokio::test]
async fn a_remote_file_is_fetched_once_for_all_targets() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let mut accounts = Vec::new();
    for platform in ["bluesky", "mastodon", "discord"] {
        accounts.push(user.connect(platform).await);
    }
    let served = Picture::serve().await;
    let set = made(
        &user,
        json!({"targets": on(&accounts), "caption": "One picture", "media_url": served.url, "scheduled_at": app.at(900)}),
    )
    .await;
    assert_eq!(served.asked(), 1);
    let ours = set["media_urls"][0].as_str().unwrap();
    assert!(ours.starts_with(app.domain.settings.media_base_url.as_str()), "{ours}");
    for target in set["targets"].as_array().unwrap() {
        let post =
            user.get(&format!("/api/v1/posts/{}", target["post_id"])).await.body["post"].clone();
        assert_eq!(
            (&post["media_urls"][0], &target["from"]["media"]),
            (&json!(ours), &json!("shared"))
        );
    }
    // A file that cannot be fetched refuses the targets that use it.
    let broken = json!({
        "targets": [{"account_id": accounts[0]}, {"account_id": accounts[1], "media_urls": null}],
        "caption": "x", "media_url": format!("{}/nothing.png", app.origin), "mode": "valid_only",
    });
    let reply = user.post("/api/v1/post-sets", broken).await.expect(201).body;
    assert_eq!(
        (&reply["refused"][0]["index"], reply["refused"].as_array().unwrap().len()),
        (&json!(0), 1)
    );
}

#[tokio::test]
async fn of_equal_sets_at_once_with_the_guard_one_is_made() {
    let (app, user, accounts) = with_accounts(&["bluesky", "mastodon"]).await;
    let body = json!({
        "targets": on(&accounts), "caption": "Our spring sale begins today!",
        "scheduled_at": app.at(900), "duplicates": "refuse",
    });
    let sets = (0..12).map(|_| user.post("/api/v1/post-sets", body.clone()));
    let replies = join_all(sets).await;
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
    assert_eq!(statuses.iter().filter(|one| **one == 201).count(), 1, "{statuses:?}");
    let refused = replies.iter().find(|reply| reply.status == 400).unwrap();
    let fault = &refused.body["validation_errors"][0];
    assert_eq!(
        (&refused.body["code"], &fault["code"]),
        (&json!("targets_refused"), &json!("duplicate_content"))
    );
    assert_eq!(fault["next"][0]["operation"], "get_post");
    assert_eq!(user.get("/api/v1/posts").await.body["posts"].as_array().unwrap().len(), 2);
    let warned = json!({"targets": on(&accounts), "caption": "Our spring sale begins today!", "scheduled_at": app.at(900)});
    let reply = user.post("/api/v1/post-sets", warned).await.expect(201).body;
    let codes: Vec<_> = reply["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (&one["code"], &one["targets"]))
        .collect();
    assert_eq!(
        codes,
        [(&json!("duplicate_content"), &json!([0])), (&json!("duplicate_content"), &json!([1]))]
    );
}

#[tokio::test]
async fn changes_at_once_leave_posts_and_record_in_agreement() {
    let (app, user, accounts) = with_accounts(&["bluesky", "mastodon", "discord"]).await;
    let set = made(
        &user,
        json!({"targets": on(&accounts), "caption": "Start", "scheduled_at": app.at(900)}),
    )
    .await;
    let ids: Vec<Value> =
        set["targets"].as_array().unwrap().iter().map(|one| one["post_id"].clone()).collect();
    let (user, place) = (&user, path(&set));
    let place = place.as_str();
    let of_set = (0..8).map(|n| user.patch(place, json!({"caption": format!("Set {n}")})));
    let transitions = ["paused", "scheduled", "paused"].into_iter().map(|status| async move {
        let place = format!("{place}/status");
        user.put(&place, json!({"status": status})).await
    });
    let of_posts = ids.iter().map(|id| async move {
        let place = format!("/api/v1/posts/{id}");
        user.patch(&place, json!({"caption": format!("Own {id}")})).await
    });
    let (sets, changed, posts) =
        futures_util::future::join3(join_all(of_set), join_all(transitions), join_all(of_posts))
            .await;
    let statuses: Vec<u16> =
        sets.iter().chain(&changed).chain(&posts).map(|reply| reply.status).collect();
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    let shown = user.get(place).await.body["post_set"].clone();
    assert_eq!(shown["version"], 15);
    for target in shown["targets"].as_array().unwrap() {
        let post =
            user.get(&format!("/api/v1/posts/{}", target["post_id"])).await.body["post"].clone();
        assert_eq!(post["caption"], format!("Own {}", target["post_id"]));
        assert_eq!(target["overrides"]["caption"], post["caption"]);
    }
    assert_eq!(set_events(user).await.len(), 15);
}
