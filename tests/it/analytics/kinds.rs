//! Simulated accounts of each kind that a network has: each with its own identity, abilities and numbers.

use std::time::Duration;

use fanfare_tests::{User, networks};
use serde_json::{Value, json};

use super::{HOUR, after_syncs, day, idle, posts, set};

async fn made(user: &User, platform: &str, kind: &str) -> (i64, String) {
    let new = json!({"platform": platform, "kind": kind});
    let made = user.post("/api/v1/sandbox/accounts", new).await.expect(201).body;
    let id = made["account"]["id"].as_i64().unwrap();
    (id, made["remote_id"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn each_kind_of_account_has_its_identity_and_its_numbers() {
    let (app, user) = idle().await;
    let yesterday: String = app.at(-86_400).chars().take(10).collect();
    let (page, page_urn) = made(&user, "linkedin", "page").await;
    let (member, member_urn) = made(&user, "linkedin", "member").await;
    assert!(page_urn.starts_with("urn:li:organization:"), "{page_urn}");
    assert!(member_urn.starts_with("urn:li:person:"), "{member_urn}");
    let numbers = json!({"reach": 5, "views": 9, "clicks": 3});
    for id in [page, member] {
        set(&user, "linkedin", id, json!({"date": yesterday}), numbers.clone()).await;
    }
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let shown = day(&user, page, &yesterday).await;
    assert_eq!((&shown["reach"], &shown["views"]), (&json!(5), &json!(9)), "{shown:#}");
    // Members have no days; of both kinds the posts are measured, saves of members alone.
    let path = format!("/api/v1/analytics/accounts?account_id={member}");
    let account = user.get(&path).await.expect(200).body["accounts"][0].clone();
    assert!(!account.to_string().contains("\"reach\":5"), "{account:#}");
    for (id, saves) in [(page, Value::Null), (member, json!(2))] {
        let post = user.publish(networks::post("linkedin", id)).await;
        app.wait_until_published(&user, &post).await;
        let metrics = json!({"likes": 4, "clicks": 7, "saves": 2});
        set(&user, "linkedin", id, json!({"post_id": post["id"]}), metrics).await;
        app.pass_time(Duration::from_secs(HOUR + 60)).await;
        let step = Duration::from_secs(60);
        let read = app
            .eventually_in_time("the post is read", step, || async {
                posts(&user, id).await.into_iter().find(|post| !post["fetched_at"].is_null())
            })
            .await;
        assert_eq!((&read["likes"], &read["clicks"]), (&json!(4), &json!(7)), "{read:#}");
        assert_eq!(read["saves"], saves, "{read:#}");
    }
    let (_, linked) = made(&user, "instagram", "facebook").await;
    assert!(!linked.is_empty());
}

#[tokio::test]
async fn a_kind_that_a_network_does_not_have_is_refused_with_those_that_it_has() {
    let (_app, user) = idle().await;
    for (platform, kind, says) in [
        ("linkedin", "company", "member"),
        ("instagram", "login", "facebook"),
        ("instagram", "page", "facebook"),
        ("bluesky", "page", "kind"),
    ] {
        let new = json!({"platform": platform, "kind": kind});
        let refused =
            user.post("/api/v1/sandbox/accounts", new).await.refused(400, "invalid_field");
        let broken = &refused.body["validation_errors"][0];
        assert_eq!(broken["field"], "kind");
        assert!(broken["remedy"].as_str().unwrap().contains(says), "{broken:#}");
    }
}

/// Webhooks of networks name accounts by this id, so whoever signs some in a test needs it.
#[tokio::test]
async fn the_networks_id_of_an_account_comes_with_it() {
    let (app, user) = idle().await;
    for platform in ["facebook", "instagram", "threads", "linkedin", "bluesky"] {
        let new = json!({"platform": platform});
        let made = user.post("/api/v1/sandbox/accounts", new).await.expect(201).body;
        let id = made["account"]["id"].as_i64().unwrap();
        let row = fanfare_publishing::accounts::row(&app.domain, fanfare_core::AccountId(id)).await;
        assert_eq!(made["remote_id"], row.unwrap().unwrap().remote_id, "{platform}");
        let there = app.simulator.accounts(platform).await;
        assert_eq!(there[0]["remote_id"], made["remote_id"], "{platform}");
    }
}
