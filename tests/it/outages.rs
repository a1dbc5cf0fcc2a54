//! Redis goes, comes back, forgets; workers share what there is: nothing is lost, nothing is sent twice.

use fanfare_tests::{Options, Postgres, Redis, TestApp, User};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::worker::Worker;

/// A service whose queue is this Redis, without workers of its own.
async fn service_on(redis: &Redis) -> (TestApp, User) {
    let options = Options { workers: false, redis_url: Some(redis.url()), ..Options::default() };
    let app = TestApp::with(options).await;
    let user = app.user().await;
    (app, user)
}

async fn publish(user: &User, account: i64, posts: std::ops::Range<usize>) {
    for number in posts {
        let caption = format!("Post number {number}");
        let _ = user.publish(json!({"account_id": account, "caption": caption})).await;
    }
}

/// Waits until `posts` are published, and compares what the network holds.
async fn all_once(app: &TestApp, user: &User, account: i64, posts: usize) {
    app.eventually("every post is published", || async {
        let open = user.get("/api/v1/posts?status=published&limit=100").await.expect(200);
        (open.body["posts"].as_array().unwrap().len() == posts).then_some(())
    })
    .await;
    let held = user.on_network("bluesky", account).await;
    let texts: std::collections::BTreeSet<_> =
        held.iter().map(|one| one["text"].as_str().unwrap()).collect();
    assert_eq!((held.len(), texts.len()), (posts, posts));
}

#[tokio::test]
async fn a_flushed_redis_loses_no_post_and_doubles_none() {
    let redis = Redis::start();
    let (app, user) = service_on(&redis).await;
    let account = user.connect("bluesky").await;
    // A flush can lose only the queued ids of rows that are not claimed yet.
    publish(&user, account, 0..20).await;
    redis.flush();
    let mut workers = [Worker::start(&app, None), Worker::start(&app, None)];
    for number in 20..60 {
        publish(&user, account, number..number + 1).await;
        redis.flush();
    }
    all_once(&app, &user, account, 60).await;
    assert!(workers.iter_mut().all(|worker| worker.ended().is_none()), "a worker has ended");
}

#[tokio::test]
async fn posts_go_out_while_redis_is_away_and_after_it_came_back() {
    let mut redis = Redis::start();
    let (app, user) = service_on(&redis).await;
    let account = user.connect("bluesky").await;
    let mut workers = [Worker::start(&app, None), Worker::start(&app, None)];
    publish(&user, account, 0..10).await;
    all_once(&app, &user, account, 10).await;
    let ready = user.get("/readyz").await.expect(200);
    assert_eq!(ready.body, json!({"status": "ready"}));
    redis.stop();
    // A balancer must not take away what works on.
    let ready = user.get("/readyz").await.expect(200);
    assert_eq!(ready.body["status"], "ready");
    assert_eq!(ready.body["degraded"], json!(["The queue does not answer."]));
    publish(&user, account, 10..30).await;
    all_once(&app, &user, account, 30).await;
    redis.restart();
    publish(&user, account, 30..40).await;
    all_once(&app, &user, account, 40).await;
    assert!(workers.iter_mut().all(|worker| worker.ended().is_none()), "a worker has ended");
}

#[tokio::test]
async fn an_api_is_ready_only_while_its_database_answers() {
    let mut postgres = Postgres::start();
    let postgres_url = Some(postgres.url().to_owned());
    let app = TestApp::with(Options { workers: false, postgres_url, ..Options::default() }).await;
    let user = app.user().await;
    user.get("/readyz").await.expect(200);
    postgres.crash();
    let away = user.get("/readyz").await;
    assert_eq!((away.status, away.body["code"].as_str()), (503, Some("unavailable")));
    let reasons = away.body["reasons"].to_string();
    assert!(reasons.contains("database"), "{reasons}");
    // It lives all the same: nobody has to start it anew.
    user.get("/healthz").await.expect(200);
    postgres.restart();
    app.eventually("it is ready again", || async {
        (user.get("/readyz").await.status == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_one_process_holds_no_other_takes_until_it_is_dead() {
    let redis = Redis::start();
    let (app, user) = service_on(&redis).await;
    let account = user.connect("bluesky").await;
    publish(&user, account, 0..1).await;
    let mut first = Worker::start(&app, Some("commit_armed"));
    first.arrived().await;
    let _second = Worker::start(&app, None);
    // Posts of the same account wait for the one that is under way.
    let other = user.connect("bluesky").await;
    publish(&user, other, 1..30).await;
    all_once(&app, &user, other, 29).await;
    let held = user.get("/api/v1/posts?status=publishing").await.expect(200).body["posts"].clone();
    assert_eq!(held.as_array().unwrap().len(), 1, "{held:#}");
    drop(first);
    let lapse = "UPDATE posts SET due_at = 1 WHERE due_at IS NOT NULL";
    app.domain.db.write.execute_unprepared(lapse).await.expect("the row moves");
    app.wait_for_status(&user, held[0]["id"].as_i64().unwrap(), &["published"]).await;
    assert_eq!(user.on_network("bluesky", account).await.len(), 1);
    let path = format!("/api/v1/posts/{}/attempts", held[0]["id"]);
    let ledger = user.get(&path).await.expect(200).body["attempts"].clone();
    let workers: Vec<&Value> =
        ledger.as_array().unwrap().iter().map(|attempt| &attempt["worker"]).collect();
    assert!(workers.len() == 2 && workers[0] != workers[1], "{ledger:#}");
}
