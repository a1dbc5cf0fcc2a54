//! Sets settle once, whatever ends their last target.

use std::time::Duration;

use fanfare_tests::TestApp;
use serde_json::{Value, json};

use super::{made, on, path, set_events};

/// Waits until a set has this status, and returns it.
async fn until(app: &TestApp, user: &fanfare_tests::User, set: &Value, status: &str) -> Value {
    app.eventually_in_time(status, Duration::from_secs(20), || async {
        let shown = user.get(&path(set)).await.body["post_set"].clone();
        (shown["status"] == status).then_some(shown)
    })
    .await
}

#[tokio::test]
async fn a_set_is_published_with_its_last_target_and_says_so_once() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let mut accounts = Vec::new();
    for platform in ["bluesky", "mastodon", "discord", "telegram"] {
        accounts.push(user.connect(platform).await);
    }
    let set = made(&user, json!({"targets": on(&accounts), "caption": "Once everywhere"})).await;
    let settled = until(&app, &user, &set, "published").await;
    assert_eq!((&settled["settlement"], &settled["counts"]), (&json!(1), &json!({"published": 4})));
    assert!(settled["settled_at"].is_string() && settled["version"] == 1, "{settled}");
    for (platform, account) in ["bluesky", "mastodon", "discord", "telegram"].iter().zip(&accounts)
    {
        assert_eq!(user.on_network(platform, *account).await.len(), 1, "{platform}");
    }
    assert_eq!(set_events(&user).await, ["post_set.created", "post_set.published"]);
    user.patch(&path(&set), json!({"caption": "Too late"}))
        .await
        .refused(409, "invalid_transition");
    user.put(&format!("{}/status", path(&set)), json!({"status": "paused"}))
        .await
        .refused(409, "invalid_transition");
}

#[tokio::test]
async fn a_set_that_fails_in_part_settles_again_after_a_retry() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let (good, bad) = (user.connect("mastodon").await, user.connect("bluesky").await);
    user.faults(
        "bluesky",
        bad,
        json!([{"on": "commit", "kind": "status", "status": 400, "times": 1}]),
    )
    .await;
    let set = made(&user, json!({"targets": on(&[good, bad]), "caption": "Half"})).await;
    let settled = until(&app, &user, &set, "partial").await;
    assert_eq!(settled["settlement"], 1);
    // A shared change is no matter of the failed one.
    let reply = user.post(&format!("{}/retry", path(&set)), json!({})).await.expect(200).body;
    assert_eq!(reply["retried"], json!([settled["targets"][1]["post_id"]]));
    assert_eq!(reply["post_set"]["settled_at"], Value::Null);
    let settled = until(&app, &user, &set, "published").await;
    assert_eq!(settled["settlement"], 2);
    let events = set_events(&user).await;
    assert_eq!(
        events,
        ["post_set.created", "post_set.partial", "post_set.updated", "post_set.published"]
    );
    user.post(&format!("{}/retry", path(&set)), json!({})).await.refused(409, "invalid_transition");
}

#[tokio::test]
async fn deleting_the_last_open_target_settles_the_rest() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let (now, later) = (user.connect("mastodon").await, user.connect("bluesky").await);
    let set = made(
        &user,
        json!({"targets": [{"account_id": now}, {"account_id": later, "scheduled_at": app.at(9_000)}], "caption": "x"}),
    )
    .await;
    let open = app
        .eventually_in_time("the first is out", Duration::from_secs(5), || async {
            let shown = user.get(&path(&set)).await.body["post_set"].clone();
            (shown["counts"]["published"] == 1).then_some(shown)
        })
        .await;
    assert_eq!((&open["status"], &open["settlement"]), (&json!("publishing"), &json!(0)));
    user.delete(&format!("/api/v1/posts/{}", open["targets"][1]["post_id"])).await.expect(200);
    let settled = user.get(&path(&set)).await.body["post_set"].clone();
    assert_eq!((&settled["status"], &settled["settlement"]), (&json!("published"), &json!(1)));
    assert_eq!(set_events(&user).await.last().unwrap(), "post_set.published");
}
