//! A post due at T goes out once, at T, and the ledger says how.

use std::time::Duration;

use fanfare_tests::{Options, TestApp};
use sea_orm::ConnectionTrait;
use serde_json::json;

#[tokio::test]
async fn a_post_without_a_time_goes_out_at_once() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let post = user.publish(json!({"account_id": account, "caption": "Hello, world"})).await;
    let post =
        app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published", "failed"]).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let held = user.on_network("bluesky", account).await;
    assert_eq!(held.len(), 1);
    assert_eq!(held[0]["text"], "Hello, world");
    assert!(post["platform_post_id"].as_str().unwrap().starts_with("at://"));
}

#[tokio::test]
async fn a_scheduled_post_waits_for_its_time() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let new = json!({"account_id": account, "caption": "Later", "scheduled_at": app.at(60)});
    let post = user.publish(new).await;
    let id = post["id"].as_i64().unwrap();
    assert_eq!(post["status"], "scheduled");
    app.advance(Duration::from_millis(59_999));
    // Another one goes out meanwhile, so the queue was looked through.
    let other = user.connect("bluesky").await;
    let now = user.publish(json!({"account_id": other, "caption": "Now"})).await;
    app.wait_for_status(&user, now["id"].as_i64().unwrap(), &["published"]).await;
    app.wait_until_idle().await;
    let post = user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone();
    assert_eq!(post["status"], "scheduled", "none leaves early");
    app.advance(Duration::from_millis(1));
    app.wait_for_status(&user, id, &["published"]).await;
    let path = format!("/api/v1/posts/{id}/attempts");
    let ledger = user.get(&path).await.expect(200).body["attempts"].clone();
    assert_eq!(ledger.as_array().unwrap().len(), 1, "{ledger:#}");
    assert_eq!(ledger[0]["outcome"], "published");
    assert_eq!(ledger[0]["steps"].as_array().unwrap().last().unwrap()["phase"], "commit");
}

#[tokio::test]
async fn a_lost_answer_is_looked_up_and_not_sent_again() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    user.faults("bluesky", account, json!([{"on": "commit", "kind": "drop_after_change"}])).await;
    let post = user.publish(json!({"account_id": account, "caption": "Once"})).await;
    let id = post["id"].as_i64().unwrap();
    let post = app
        .eventually("the post is published", || async {
            app.advance(Duration::from_secs(1));
            let post = user.get(&format!("/api/v1/posts/{id}")).await.body["post"].clone();
            (post["status"] == "published").then_some(post)
        })
        .await;
    assert!(post["platform_post_id"].is_string());
    assert_eq!(user.on_network("bluesky", account).await.len(), 1);
}

#[tokio::test]
async fn the_parts_of_a_thread_have_their_addresses_and_a_wait_lasts_to_its_end() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let texts = ["One", "Two", "Three"];
    for (network, post_type, list) in [
        ("x", "x_thread", "x_thread_tweets"),
        ("threads", "threads_thread", "threads_thread_posts"),
    ] {
        let account = user.connect(network).await;
        let body =
            json!({"account_id": account, "post_type": post_type, "metadata": {list: texts}});
        let id = user.publish(body).await["id"].as_i64().unwrap();
        let path = format!("/api/v1/posts/{id}?wait=1&wait_for=final");
        let post = app
            .eventually_in_time("it is final", Duration::from_secs(5), || async {
                let post = user.get(&path).await.expect(200).body["post"].clone();
                ["published", "failed"].contains(&post["status"].as_str().unwrap()).then_some(post)
            })
            .await;
        assert_eq!(post["status"], "published", "{post:#}");
        let parts = post["parts"].as_array().unwrap();
        let names: Vec<_> = parts.iter().map(|part| part["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["segment_2", "segment_3"], "{network}");
        let mut addresses = vec![post["platform_post_url"].as_str().unwrap()];
        for part in parts {
            let url = part["platform_post_url"].as_str().unwrap();
            assert_eq!(user.fetch(&json!(url), &[]).await.0, 200, "{url}");
            addresses.push(url);
        }
        addresses.sort_unstable();
        addresses.dedup();
        assert_eq!(addresses.len(), 3, "{network}: each has its own");
        // The ledger shows the id that each call brought.
        let ledger = user.get(&format!("/api/v1/posts/{id}/attempts")).await.expect(200).body;
        let steps = ledger["attempts"][0]["steps"].as_array().unwrap().clone();
        let made: Vec<_> = steps
            .iter()
            .filter(|step| step["phase"] == "commit")
            .map(|step| step["remote_id"].clone())
            .collect();
        let expected: Vec<_> = std::iter::once(&post["platform_post_id"])
            .chain(parts.iter().map(|part| &part["platform_post_id"]))
            .cloned()
            .collect();
        assert_eq!(made, expected, "{network}");
    }
    let account = user.connect("bluesky").await;
    let post = user.publish(json!({"account_id": account, "caption": "Alone"})).await;
    assert_eq!(post["parts"], json!([]));
    user.get(&format!("/api/v1/posts/{}?wait_for=forever", post["id"]))
        .await
        .refused(400, "invalid_field");
}

#[tokio::test]
async fn a_local_time_gets_a_zone_only_where_one_was_chosen() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let local = json!({"account_id": account, "caption": "x", "scheduled_at": "2099-01-31T09:00"});
    let refused = user.post("/api/v1/posts", local.clone()).await.refused(400, "invalid_timestamp");
    let broken = &refused.body["validation_errors"][0];
    assert!(broken["fix"].as_array().is_none_or(Vec::is_empty), "{broken}");
    let chosen = "UPDATE workspaces SET timezone = 'Europe/Berlin'";
    let _ = app.domain.db.write.execute_unprepared(chosen).await.unwrap();
    let refused = user.post("/api/v1/posts", local).await.refused(400, "invalid_timestamp");
    let fix = &refused.body["validation_errors"][0]["fix"];
    assert_eq!(*fix, json!([{"op": "add", "path": "/timezone", "value": "Europe/Berlin"}]));
}
