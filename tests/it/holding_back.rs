//! Publishing held back by a pause, a worker told to drain, and what is counted of it all.

use std::time::Duration;

use fanfare_entities::post_hold;
use fanfare_ops::ops::{fleet, pauses, queues, samples};
use fanfare_publishing::posts::{self, holds};
use fanfare_tests::{Operator, Options, TestApp};
use sea_orm::{EntityTrait, PaginatorTrait};
use serde_json::json;

#[tokio::test]
async fn a_pause_holds_posts_back_and_loses_none() {
    let app = TestApp::start().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let user = app.user().await;
    let (sky, telegram) = (user.connect("bluesky").await, user.connect("telegram").await);
    let shown = ada.act("pause", &[("target", "platform:bluesky")], "Their API is down").await;
    assert!(
        shown.html.contains("Paused publishing to bluesky.")
            && shown.html.contains("Their API is down")
    );
    let held =
        user.publish(json!({"account_id": sky, "caption": "Held"})).await["id"].as_i64().unwrap();
    let late = user
        .publish(json!({"account_id": sky, "caption": "Later", "scheduled_at": app.at(5)}))
        .await;
    let free = user.publish(json!({"account_id": telegram, "caption": "Free"})).await["id"]
        .as_i64()
        .unwrap();
    app.wait_for_status(&user, free, &["published"]).await;
    app.advance(Duration::from_secs(12));
    app.eventually("both are set aside", || async {
        (pauses::list(&app.domain).await.unwrap()[0].held == 2).then_some(())
    })
    .await;
    // Set aside is not due: nothing is swept again and again, and nothing looks as if it lagged.
    for queue in queues::list(&app.domain).await.unwrap() {
        assert_eq!((queue.depth, queue.oldest), (0, None), "{}", queue.name());
    }
    let story = ada.get(&format!("/admin/work/post/{held}")).await.expect(200);
    assert!(story.html.contains("Publishing to Bluesky is paused by the operator"));
    assert!(user.on_network("bluesky", sky).await.is_empty());
    ada.act("resume", &[("target", "platform:bluesky")], "It is back").await;
    for id in [held, late["id"].as_i64().unwrap()] {
        let post = app.wait_for_status(&user, id, &["published", "failed"]).await;
        assert_eq!(post["status"], "published", "{post}");
    }
    assert_eq!(user.on_network("bluesky", sky).await.len(), 2);
}

#[tokio::test]
async fn a_post_whose_time_is_too_long_past_after_a_pause_is_missed() {
    let app = TestApp::with(Options { max_lateness: 60_000, ..Options::default() }).await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let target = account.to_string();
    ada.act("pause", &[("account", &target)], "Asked for by its owner").await;
    let id = user.publish(json!({"account_id": account, "caption": "Old"})).await["id"]
        .as_i64()
        .unwrap();
    app.advance(Duration::from_secs(30));
    app.eventually("it is set aside", || async {
        (pauses::list(&app.domain).await.unwrap()[0].held == 1).then_some(())
    })
    .await;
    app.advance(Duration::from_secs(90));
    ada.act("resume", &[("account", &target)], "Done").await;
    let post = app.wait_for_status(&user, id, &["published", "failed"]).await;
    assert_eq!(post["error"]["code"], "missed", "{post}");
    let page = ada.get("/admin/waiting").await.expect(200);
    assert!(page.html.contains(&format!("/admin/work/post/{id}")));
}

#[tokio::test]
async fn what_its_owner_does_with_a_post_set_aside_counts() {
    let app = TestApp::start().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    ada.act("pause", &[("target", "all")], "Maintenance").await;
    let post = |caption: &str| json!({"account_id": account, "caption": caption});
    let mut ids = Vec::new();
    for caption in ["Draft", "Delete", "Edit"] {
        ids.push(user.publish(post(caption)).await["id"].as_i64().unwrap());
    }
    app.eventually_in_time("all are set aside", Duration::from_secs(1), || async {
        (pauses::list(&app.domain).await.unwrap()[0].held == 3).then_some(())
    })
    .await;
    let _ = user
        .put(&format!("/api/v1/posts/{}/status", ids[0]), json!({"status": "draft"}))
        .await
        .expect(200);
    let _ = user.delete(&format!("/api/v1/posts/{}", ids[1])).await.expect(200);
    let _ = user
        .patch(&format!("/api/v1/posts/{}", ids[2]), json!({"caption": "Edited"}))
        .await
        .expect(200);
    ada.act("resume", &[("target", "all")], "Over").await;
    app.wait_until_published(&user, &json!({"id": ids[2]})).await;
    app.eventually_in_time("nothing is set aside", Duration::from_secs(1), || async {
        let left = post_hold::Entity::find().count(&app.domain.db.read).await.unwrap();
        (left == 0).then_some(())
    })
    .await;
    let held = user.on_network("bluesky", account).await;
    assert_eq!(held.len(), 1, "{held:?}");
    let draft = user.get(&format!("/api/v1/posts/{}", ids[0])).await.expect(200);
    assert_eq!(draft.body["post"]["status"], "draft");
}

#[tokio::test]
async fn a_drained_worker_takes_nothing_until_it_is_woken() {
    let app = TestApp::start().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let first = user.publish(json!({"account_id": account, "caption": "First"})).await;
    app.wait_for_status(&user, first["id"].as_i64().unwrap(), &["published"]).await;
    let worker = fleet::list(&app.domain).await.unwrap().remove(0);
    ada.act("drain", &[("worker", &worker.name)], "A new machine").await;
    app.eventually("it has drained", || async {
        let state = fleet::list(&app.domain).await.unwrap()[0].state;
        (state == fleet::WorkerState::Drained).then_some(())
    })
    .await;
    // A heartbeat comes every two seconds; by then it has heard of it.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let second = user.publish(json!({"account_id": account, "caption": "Second"})).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(user.on_network("bluesky", account).await.len(), 1);
    ada.act("wake", &[("worker", &worker.name)], "It stays").await;
    app.wait_for_status(&user, second["id"].as_i64().unwrap(), &["published"]).await;
}

#[tokio::test]
async fn what_was_done_is_counted_for_a_day() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    for caption in ["One", "Two", "Three"] {
        let post = user.publish(json!({"account_id": account, "caption": caption})).await;
        app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published"]).await;
    }
    let counted = || async {
        let all = queues::list(&app.domain).await.unwrap();
        all.into_iter().find(|queue| queue.platform == "bluesky").unwrap()
    };
    let queue = app
        .eventually("a heartbeat tells of them", || async {
            let queue = counted().await;
            (queue.done == 3).then_some(queue)
        })
        .await;
    assert_eq!((queue.failed, queue.retried), (0, 0));
    assert!(queue.p50.is_some_and(|late| late <= 1_000), "{:?}", queue.p50);
    assert_eq!(queue.hour.iter().map(|point| point.done).sum::<i64>(), 3);
    app.advance(Duration::from_secs(2 * 3_600));
    let later = counted().await;
    assert_eq!((later.done, later.day.iter().map(|point| point.done).sum::<i64>()), (0, 3));
    app.advance(Duration::from_secs(26 * 3_600));
    assert!(samples::prune(&app.domain).await.unwrap() > 0);
    assert!(
        samples::sums(&app.domain, 0, samples::MINUTE)
            .await
            .unwrap()
            .iter()
            .all(|sum| sum.measure != "done")
    );
}

#[tokio::test]
async fn a_post_set_aside_is_held_after_a_restore_too() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let id = user.publish(json!({"account_id": account, "caption": "Held"})).await["id"]
        .as_i64()
        .unwrap();
    ada.act("pause", &[("target", "all")], "Before the backup").await;
    assert!(holds::set_aside(&app.domain, vec![id]).await.unwrap().is_empty());
    let until = Some(app.clock.now());
    let done = posts::hold_after_restore(&app.domain, until, false).await.unwrap();
    assert_eq!((done.asked, done.held), (0, 1));
    let post = user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone();
    assert_eq!(post["error"]["code"], "outcome_unknown", "{post}");
}
