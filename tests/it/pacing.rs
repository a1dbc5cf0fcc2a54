//! The number of times posts go out: the networks' limits hold, whatever the number of workers.

use std::time::Duration;

use fanfare_entities::{PostId, post};
use fanfare_tests::{Options, TestApp, User};
use sea_orm::{ActiveModelTrait, ActiveValue::NotSet, EntityTrait};
use serde_json::{Value, json};

async fn paced() -> TestApp {
    TestApp::with(Options { sandbox_limits: true, ..Options::default() }).await
}

/// The statuses that a simulated network has answered posts of its only account with.
async fn answers(app: &TestApp, platform: &str) -> Vec<u64> {
    let accounts = app.simulator.accounts(platform).await;
    let id = accounts[0]["remote_id"].as_str().unwrap();
    let calls = app.simulator.calls(platform, id).await;
    let commits = calls.iter().filter(|call| call["phase"] == "commit");
    commits.map(|call| call["status"].as_u64().unwrap()).collect()
}

async fn published(user: &User) -> usize {
    let posts = user.get("/api/v1/posts?status=published&limit=100").await.expect(200);
    posts.body["posts"].as_array().unwrap().len()
}

async fn make(user: &User, account: i64) -> i64 {
    let made = user.publish(json!({"account_id": account, "caption": "now"})).await;
    made["id"].as_i64().unwrap()
}

/// A post that waits for its turn, as callers see it.
async fn waiting(app: &TestApp, user: &User, id: i64) -> Value {
    app.eventually("it waits for its turn", || async {
        let post = user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone();
        (post["status"] == "scheduled" && post["next_attempt_at"].is_string()).then_some(post)
    })
    .await
}

async fn attempts(user: &User, id: i64) -> usize {
    let ledger = user.get(&format!("/api/v1/posts/{id}/attempts")).await.expect(200);
    ledger.body["attempts"].as_array().unwrap().len()
}

/// The post as soon as it is as wanted, while time passes in small steps: Threads is asked every few seconds.
async fn in_time(app: &TestApp, user: &User, id: i64, is_so: impl Fn(&Value) -> bool) -> Value {
    app.eventually_in_time("time brings it there", Duration::from_secs(1), || async {
        let post = user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone();
        is_so(&post).then_some(post)
    })
    .await
}

#[tokio::test]
async fn no_network_has_to_ask_for_patience() {
    let app = paced().await;
    let _more = app.start_other_workers().await;
    let user = app.user().await;
    let account = user.connect("discord").await;
    app.pass_time(Duration::ZERO).await;
    let mut posts = Vec::new();
    for _ in 0..15 {
        posts.push(make(&user, account).await);
    }
    // Five in two seconds is what Discord takes. Which worker gives which post back, and until when, is chance: time
    // passes until all are out, and the network would have answered 429 to a sixth call. No call is on its way while time
    // passes, else it would reach the network later than it was allowed.
    for _ in 0..200 {
        app.wait_until_idle().await;
        if published(&user).await == 15 {
            break;
        }
        app.pass_time(Duration::from_millis(250)).await;
    }
    assert_eq!(answers(&app, "discord").await, [200; 15]);
    for post in posts {
        assert_eq!(attempts(&user, post).await, 1, "waiting costs no attempt");
    }
}

#[tokio::test]
async fn a_network_that_asks_for_patience_is_left_alone_by_all_posts_of_the_account() {
    let app = TestApp::start().await;
    let _more = app.start_other_workers().await;
    let user = app.user().await;
    let (busy, idle) = (user.connect("bluesky").await, user.connect("bluesky").await);
    let slow_down = json!([{"on": "commit", "kind": "status", "status": 429, "ms": 60_000}]);
    user.faults("bluesky", busy, slow_down).await;
    let first = make(&user, busy).await;
    let told = waiting(&app, &user, first).await;
    assert_eq!(told["error"]["code"], "platform_rate_limited");
    let (second, other) = (make(&user, busy).await, make(&user, idle).await);
    app.wait_for_status(&user, other, &["published"]).await;
    let post = waiting(&app, &user, second).await;
    assert_eq!(post["error"], Value::Null, "it did nothing wrong");
    assert_eq!(attempts(&user, second).await, 0);
    assert_eq!(post["attempts"], 0);
    assert!(user.on_network("bluesky", busy).await.is_empty());
    app.pass_time(Duration::from_secs(62)).await;
    for id in [first, second] {
        in_time(&app, &user, id, |post| post["status"] == "published").await;
    }
    assert_eq!(user.on_network("bluesky", busy).await.len(), 2);
}

#[tokio::test]
async fn when_the_app_is_used_up_all_of_its_accounts_wait() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let (one, two) = (user.connect("threads").await, user.connect("threads").await);
    // Threads says by its code that it means the app.
    let slow_down = json!([{"on": "commit", "kind": "status", "status": 429, "ms": 60_000}]);
    user.faults("threads", one, slow_down).await;
    let first = make(&user, one).await;
    let told = in_time(&app, &user, first, |post| post["error"].is_object()).await;
    assert_eq!(told["error"]["code"], "platform_rate_limited");
    let second = make(&user, two).await;
    let post = waiting(&app, &user, second).await;
    assert_eq!((&post["error"], attempts(&user, second).await), (&Value::Null, 0));
    for id in [first, second] {
        in_time(&app, &user, id, |post| post["status"] == "published").await;
    }
}

#[tokio::test]
async fn the_posts_of_a_day_are_counted_where_nothing_is_forgotten() {
    let app = paced().await;
    let user = app.user().await;
    let account = user.connect("threads").await;
    let first = make(&user, account).await;
    in_time(&app, &user, first, |post| post["status"] == "published").await;
    // Another 249 that were published twelve hours ago.
    let db = &app.domain.db.write;
    let row = post::Entity::find_by_id(PostId(first)).one(db).await.unwrap().unwrap();
    let then = app.clock.now() - 12 * 3_600_000;
    let old = post::Model { public_at: Some(then), ..row };
    let old = post::ActiveModel { id: NotSet, ..post::ActiveModel::from(old).reset_all() };
    post::Entity::insert_many(vec![old; 249]).exec(db).await.unwrap();
    app.pass_time(Duration::from_secs(11)).await;
    let next = make(&user, account).await;
    let post = in_time(&app, &user, next, |post| post["error"].is_object()).await;
    assert_eq!(
        (&post["error"]["code"], &post["status"]),
        (&json!("quota_exhausted"), &json!("scheduled"))
    );
    assert_eq!(post["next_attempt_at"], fanfare_core::clock::to_rfc3339(then + 24 * 3_600_000));
    app.pass_time(Duration::from_secs(12 * 3_600)).await;
    let post = in_time(&app, &user, next, |post| post["status"] == "published").await;
    let ledger = user.get(&format!("/api/v1/posts/{next}/attempts")).await.expect(200);
    assert_eq!(
        (&post["error"], attempts(&user, next).await),
        (&Value::Null, 1),
        "{:#}",
        ledger.body
    );
}

#[tokio::test]
async fn a_post_that_waits_for_its_turn_can_be_changed_and_taken_back() {
    let app = paced().await;
    let user = app.user().await;
    let account = user.connect("telegram").await;
    let first = make(&user, account).await;
    app.wait_for_status(&user, first, &["published"]).await;
    let (second, third) = (make(&user, account).await, make(&user, account).await);
    waiting(&app, &user, second).await;
    waiting(&app, &user, third).await;
    let path = format!("/api/v1/posts/{second}");
    user.patch(&path, json!({"caption": "later"})).await.expect(200);
    user.delete(&format!("/api/v1/posts/{third}")).await.expect(200);
    app.pass_time(Duration::from_secs(5)).await;
    app.wait_for_status(&user, second, &["published"]).await;
    let held = user.on_network("telegram", account).await;
    let texts: Vec<_> = held.iter().map(|post| post["text"].clone()).collect();
    assert!(held.len() == 2 && texts.contains(&json!("later")), "{held:?}");
}
