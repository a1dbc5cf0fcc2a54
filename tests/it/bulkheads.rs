//! A slow neighbour takes no more than its share: newcomers find a slot at once, and what had to wait goes out after all.

use std::time::Duration;

use fanfare_tests::{Options, Receiver, TestApp, User};
use serde_json::json;

/// More than the 16 slots of a worker in these stories.
const FLOOD: usize = 40;

/// The number of a person's public posts, on whatever account; at most a hundred are counted.
async fn published(user: &User) -> usize {
    let path = "/api/v1/posts?status=published&limit=100";
    user.get(path).await.expect(200).body["posts"].as_array().unwrap().len()
}

/// Makes a post on each of this many accounts, all of which answer slowly: posts of one account wait for one another.
async fn flood(user: &User, accounts: usize, ms: u64) -> Vec<i64> {
    let slow = slow_accounts(user, accounts, ms).await;
    post_on_each(user, &slow).await;
    slow
}

async fn slow_accounts(user: &User, accounts: usize, ms: u64) -> Vec<i64> {
    let delays = json!([{"on": "commit", "kind": "delay", "ms": ms, "times": 1_000}]);
    let mut slow = Vec::new();
    for _ in 0..accounts {
        let account = user.connect("bluesky").await;
        user.faults("bluesky", account, delays.clone()).await;
        slow.push(account);
    }
    slow
}

async fn post_on_each(user: &User, accounts: &[i64]) {
    for account in accounts {
        let _ = user.publish(json!({"account_id": account, "caption": "One of many"})).await;
    }
}

/// The times at which a network answered somebody's publishing calls, as texts that sort.
///
/// The order of calls is what fairness is about. A poll of the service says when somebody looked: on a busy machine many
/// posts go out between two looks.
async fn calls(app: &TestApp, user: &User, platform: &str) -> Vec<String> {
    let listed = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|one| &one["username"]).collect();
    let mut times = Vec::new();
    for account in app.simulator.accounts(platform).await {
        if !names.contains(&&account["username"]) {
            continue;
        }
        let id = account["remote_id"].as_str().unwrap();
        let calls = app.simulator.calls(platform, id).await;
        let publishing = calls.iter().filter(|call| call["phase"] == "commit");
        times.extend(publishing.map(|call| call["at"].as_str().unwrap().to_owned()));
    }
    times
}

/// The number of `busy`'s calls to Bluesky that were answered before the last of `quiet`'s to a network.
async fn calls_before(app: &TestApp, busy: &User, quiet: &User, platform: &str) -> usize {
    let last = calls(app, quiet, platform).await.into_iter().max().expect("a call");
    calls(app, busy, "bluesky").await.iter().filter(|time| **time < last).count()
}

async fn on_network(user: &User, accounts: &[i64]) -> usize {
    let mut posts = 0;
    for account in accounts {
        posts += user.on_network("bluesky", *account).await.len();
    }
    posts
}

#[tokio::test]
async fn a_slow_network_full_of_posts_does_not_hold_up_another() {
    let app = TestApp::start().await;
    let (busy, quiet) = (app.user().await, app.user().await);
    let slow = flood(&busy, FLOOD, 10_000).await;
    app.eventually("the slow network is full", || async {
        let path = "/api/v1/posts?status=publishing&limit=100";
        let running = busy.get(path).await.expect(200).body["posts"].as_array().unwrap().len();
        (running >= 12).then_some(())
    })
    .await;
    let other = quiet.connect("wordpress").await;
    let before = published(&busy).await;
    let post = quiet.publish(json!({"account_id": other, "caption": "A newcomer"})).await;
    app.wait_for_status(&quiet, post["id"].as_i64().unwrap(), &["published"]).await;
    let passed = calls_before(&app, &busy, &quiet, "wordpress").await.saturating_sub(before);
    assert!(passed <= FLOOD / 2, "the newcomer waited for {passed} posts of its neighbour");
    for account in &slow {
        busy.faults("bluesky", *account, json!([])).await;
    }
    app.eventually("what had to wait goes out too", || async {
        (published(&busy).await == FLOOD).then_some(())
    })
    .await;
    assert_eq!(on_network(&busy, &slow).await, FLOOD);
}

#[tokio::test]
async fn one_post_passes_a_burst_of_a_neighbour_that_came_before_it() {
    const BURST: usize = 60;
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (loud, quiet) = (app.user().await, app.user().await);
    let _ = flood(&loud, BURST, 1_000).await;
    let one = quiet.connect("bluesky").await;
    let post = quiet.publish(json!({"account_id": one, "caption": "Just this"})).await;
    app.start_workers();
    app.wait_for_status(&quiet, post["id"].as_i64().unwrap(), &["published"]).await;
    let done = calls_before(&app, &loud, &quiet, "bluesky").await;
    assert!(done <= BURST / 2, "it waited for {done} posts of its neighbour");
}

#[tokio::test]
async fn a_few_posts_are_not_left_behind_a_burst_on_the_same_slow_network() {
    const BURST: usize = 90;
    const FEW: usize = 6;
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (loud, quiet) = (app.user().await, app.user().await);
    let few = slow_accounts(&quiet, FEW, 3_000).await;
    let _ = flood(&loud, BURST, 3_000).await;
    app.start_workers();
    app.eventually("the burst is under way", || async {
        (published(&loud).await > 0).then_some(())
    })
    .await;
    post_on_each(&quiet, &few).await;
    let before = published(&loud).await;
    app.eventually("the few are public", || async {
        (published(&quiet).await == FEW).then_some(())
    })
    .await;
    let sooner = calls_before(&app, &loud, &quiet, "bluesky").await;
    assert!(sooner < BURST, "nothing is left of the burst, which was to be passed");
    let passed = sooner.saturating_sub(before);
    assert!(passed <= BURST * 2 / 3, "they waited for {passed} posts of their neighbour");
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
        (quick.received().len() == 1).then_some(())
    })
    .await;
    let heard = slow.received().len();
    assert!(heard < FLOOD, "the quick receiver waited for {heard} deliveries to the slow one");
    // Deliveries that found no slot are tried again after a while.
    app.eventually_in_time(
        "the slow receiver hears of everything",
        Duration::from_millis(500),
        || async { (slow.received().len() >= FLOOD).then_some(()) },
    )
    .await;
}
