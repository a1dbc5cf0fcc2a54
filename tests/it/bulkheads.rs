//! A slow neighbour takes no more than its share: newcomers find a slot at once, and what had to wait goes out after all.

use std::time::Duration;

use fanfare_tests::{Options, Receiver, TestApp, User};
use serde_json::json;

/// More than the 16 slots of a worker in these stories.
const FLOOD: usize = 40;

async fn published(user: &User, account: i64) -> usize {
    let path = format!("/api/v1/posts?status=published&account_id={account}&limit=100");
    user.get(&path).await.expect(200).body["posts"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_slow_network_full_of_posts_does_not_hold_up_another() {
    let app = TestApp::start().await;
    let (busy, quiet) = (app.user().await, app.user().await);
    let slow = busy.connect("bluesky").await;
    let delays = json!([{"on": "commit", "kind": "delay", "ms": 3_000, "times": 1_000}]);
    busy.faults("bluesky", slow, delays).await;
    for number in 0..FLOOD {
        let _ = busy.publish(json!({"account_id": slow, "caption": format!("{number}")})).await;
    }
    app.eventually("the slow network is full", || async {
        let path = "/api/v1/posts?status=publishing&limit=100";
        let running = busy.get(path).await.expect(200).body["posts"].as_array().unwrap().len();
        (running >= 12).then_some(())
    })
    .await;
    let other = quiet.connect("wordpress").await;
    let before = published(&busy, slow).await;
    let post = quiet.publish(json!({"account_id": other, "caption": "A newcomer"})).await;
    app.settled(&quiet, post["id"].as_i64().unwrap(), &["published"]).await;
    let passed = published(&busy, slow).await - before;
    assert!(passed <= FLOOD / 2, "the newcomer waited for {passed} posts of its neighbour");
    app.eventually("what was parked goes out too", || async {
        (published(&busy, slow).await == FLOOD).then_some(())
    })
    .await;
    assert_eq!(busy.on_network("bluesky", slow).await.len(), FLOOD);
}

#[tokio::test]
async fn one_post_passes_a_burst_of_a_neighbour_that_came_before_it() {
    const BURST: usize = 100;
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (loud, quiet) = (app.user().await, app.user().await);
    let (many, one) = (loud.connect("bluesky").await, quiet.connect("bluesky").await);
    let delays = json!([{"on": "commit", "kind": "delay", "ms": 1_000, "times": 1_000}]);
    loud.faults("bluesky", many, delays).await;
    for number in 0..BURST {
        let _ = loud.publish(json!({"account_id": many, "caption": format!("{number}")})).await;
    }
    let post = quiet.publish(json!({"account_id": one, "caption": "Just this"})).await;
    app.work();
    app.settled(&quiet, post["id"].as_i64().unwrap(), &["published"]).await;
    let done = published(&loud, many).await;
    assert!(done <= BURST / 2, "it waited for {done} posts of its neighbour");
}

#[tokio::test]
async fn a_few_posts_are_not_left_behind_a_burst_on_the_same_slow_network() {
    const BURST: usize = 240;
    const FEW: usize = 6;
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (loud, quiet) = (app.user().await, app.user().await);
    let (many, few) = (loud.connect("bluesky").await, quiet.connect("bluesky").await);
    let delays = json!([{"on": "commit", "kind": "delay", "ms": 1_000, "times": 1_000}]);
    for (user, account) in [(&loud, many), (&quiet, few)] {
        user.faults("bluesky", account, delays.clone()).await;
    }
    for number in 0..BURST {
        let _ = loud.publish(json!({"account_id": many, "caption": format!("{number}")})).await;
    }
    app.work();
    app.eventually("the burst is under way", || async {
        (published(&loud, many).await > 0).then_some(())
    })
    .await;
    for number in 0..FEW {
        let _ = quiet.publish(json!({"account_id": few, "caption": format!("{number}")})).await;
    }
    let before = loud.on_network("bluesky", many).await.len();
    app.eventually("the few are public", || async {
        (quiet.on_network("bluesky", few).await.len() == FEW).then_some(())
    })
    .await;
    let passed = loud.on_network("bluesky", many).await.len() - before;
    assert!(before + passed < BURST, "nothing is left of the burst, which was to be passed");
    assert!(passed <= BURST / 4, "they waited for {passed} posts of their neighbour");
}

#[tokio::test]
async fn a_slow_receiver_does_not_hold_up_another() {
    let app = TestApp::start().await;
    let (busy, quiet) = (app.user().await, app.user().await);
    let (slow, quick) = (Receiver::start().await, Receiver::start().await);
    slow.delay(Duration::from_secs(2));
    for (user, receiver) in [(&busy, &slow), (&quiet, &quick)] {
        let hook = json!({"url": receiver.url, "events": ["post.created"]});
        let _ = user.post("/api/v1/webhooks", hook).await.expect(201);
    }
    let (one, two) = (busy.connect("bluesky").await, quiet.connect("bluesky").await);
    let draft = |account: i64| json!({"account_id": account, "caption": "A", "status": "draft"});
    for _ in 0..FLOOD {
        let _ = busy.publish(draft(one)).await;
    }
    let _ = quiet.publish(draft(two)).await;
    app.eventually("the quick receiver hears of it", || async {
        (quick.heard().len() == 1).then_some(())
    })
    .await;
    let heard = slow.heard().len();
    assert!(heard < FLOOD, "the quick receiver waited for {heard} deliveries to the slow one");
    app.eventually("the slow receiver hears of everything", || async {
        (slow.heard().len() >= FLOOD).then_some(())
    })
    .await;
}
