//! Posts of one account go out in the order of their times, whatever they wait for: limits, workers that die, restarts.

use std::time::Duration;

use fanfare_tests::{Options, TestApp, User};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use serde_json::{Value, json};

use crate::worker::Worker;

/// The captions that a network shows of an account, the first first.
async fn shown(user: &User, platform: &str, account: i64) -> Vec<String> {
    let mut posts = user.on_network(platform, account).await;
    let at = |post: &Value| post["created_at"].as_str().unwrap_or_default().to_owned();
    if posts.len() > 1 && at(&posts[0]) > at(&posts[posts.len() - 1]) {
        posts.reverse();
    }
    posts.iter().map(|post| post["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Waits until so many posts are public, while the clocks go on.
async fn all_public_in_time(app: &TestApp, user: &User, number: usize) {
    app.eventually_in_time("all are public", Duration::from_millis(300), || async {
        let path = "/api/v1/posts?status=published&limit=100";
        let public = user.get(path).await.expect(200).body["posts"].as_array().unwrap().len();
        (public == number).then_some(())
    })
    .await;
}

async fn schedule(app: &TestApp, user: &User, account: i64, seconds: i64, caption: &str) -> i64 {
    let new = json!({"account_id": account, "caption": caption, "scheduled_at": app.at(seconds)});
    user.publish(new).await["id"].as_i64().unwrap()
}

#[tokio::test]
async fn what_waited_for_a_limit_goes_out_in_its_order() {
    for platform in ["discord", "mastodon", "x"] {
        let app = TestApp::start().await;
        let user = app.user().await;
        let account = user.connect(platform).await;
        let wait = json!([{"on": "commit", "kind": "status", "status": 429, "ms": 8_000}]);
        user.faults(platform, account, wait).await;
        let mut ids = Vec::new();
        for number in 0..7 {
            let caption = format!("part {number}");
            ids.push(schedule(&app, &user, account, 1 + number, &caption).await);
        }
        all_public_in_time(&app, &user, ids.len()).await;
        let parts: Vec<_> = (0..7).map(|number| format!("part {number}")).collect();
        assert_eq!(shown(&user, platform, account).await, parts, "{platform}");
    }
}

#[tokio::test]
async fn posts_of_one_instant_and_of_a_time_without_workers_go_out_in_the_order_of_their_making() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("discord").await;
    let mut ids = Vec::new();
    for number in 0..8 {
        ids.push(schedule(&app, &user, account, 5, &format!("part {number}")).await);
    }
    // An earlier one that was made last.
    ids.push(schedule(&app, &user, account, 4, "first").await);
    app.pass_time(Duration::from_secs(10)).await;
    app.start_workers();
    app.start_other_workers().await;
    // One that both workers found at once is put off for a moment, which has to pass.
    all_public_in_time(&app, &user, ids.len()).await;
    let mut expected = vec!["first".to_owned()];
    expected.extend((0..8).map(|number| format!("part {number}")));
    assert_eq!(shown(&user, "discord", account).await, expected);
}

#[tokio::test]
async fn a_wait_without_sense_is_believed_for_a_day_and_never_beyond_the_latest_time() {
    let absurd =
        json!([{"on": "commit", "kind": "status", "status": 429, "ms": 99_999_999_999_000_u64}]);
    let app = TestApp::with(Options { max_lateness: 15_000, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("discord").await;
    user.faults("discord", account, absurd).await;
    let post = user.publish(json!({"account_id": account, "caption": "0"})).await;
    let post = app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["failed"]).await;
    assert_eq!(post["error"]["code"], "missed", "{post:#}");
    assert!(post["next_attempt_at"].is_null(), "{post:#}");
    // The account goes on after a day.
    let next = schedule(&app, &user, account, 86_410, "1").await;
    app.pass_time(Duration::from_secs(86_411)).await;
    app.wait_for_status(&user, next, &["published"]).await;
}

#[tokio::test]
async fn while_a_post_waits_for_its_own_sake_later_ones_pass() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("wordpress").await;
    let lost =
        json!([{"on": "commit", "kind": "drop_before_change"}, {"on": "commit", "kind": "reset"}]);
    user.faults("wordpress", account, json!([lost[1]])).await;
    let first = user.publish(json!({"account_id": account, "caption": "lost"})).await;
    let first = first["id"].as_i64().unwrap();
    app.eventually("its answer is lost", || async {
        let post =
            user.get(&format!("/api/v1/posts/{first}")).await.expect(200).body["post"].clone();
        (post["error"]["code"] == "platform_unavailable").then_some(())
    })
    .await;
    let second = user.publish(json!({"account_id": account, "caption": "passes"})).await;
    app.wait_for_status(&user, second["id"].as_i64().unwrap(), &["published"]).await;
    let post = user.get(&format!("/api/v1/posts/{first}")).await.expect(200);
    assert_ne!(post.body["post"]["status"], "published");
}

/// Random times, limits and deaths of workers; the order holds on each account.
#[tokio::test]
async fn the_order_holds_through_limits_and_deaths_of_workers() {
    let seed = rand::random::<u64>();
    let mut dice = SmallRng::seed_from_u64(seed);
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let mut accounts = Vec::new();
    for platform in ["discord", "mastodon", "x", "bluesky"] {
        let account = user.connect(platform).await;
        let wait = |ms: u64, times: u64| json!([{"on": "commit", "kind": "status", "status": 429, "ms": ms, "times": times}]);
        let waits = wait(dice.random_range(500..3_000), dice.random_range(1..3));
        user.faults(platform, account, waits).await;
        let mut posts = Vec::new();
        for number in 0..6 {
            let at = dice.random_range(2..6);
            let id = schedule(&app, &user, account, at, &format!("{number}")).await;
            posts.push((at, id, number.to_string()));
        }
        accounts.push((platform, account, posts));
    }
    let (one, two) = (Worker::start(&app, None), Worker::start(&app, None));
    tokio::time::sleep(Duration::from_millis(dice.random_range(2_000..5_000))).await;
    drop(one);
    let three = Worker::start(&app, None);
    for (platform, account, mut posts) in accounts {
        for (_, id, _) in &posts {
            let _ = app.wait_for_status(&user, *id, &["published", "failed"]).await;
        }
        posts.sort_by_key(|(at, id, _)| (*at, *id));
        let expected: Vec<_> = posts.iter().map(|(_, _, caption)| caption.clone()).collect();
        let shown = shown(&user, platform, account).await;
        // A post whose call was under way when its worker died is found out about meanwhile.
        let late =
            shown.iter().zip(&expected).filter(|(shown, expected)| shown != expected).count();
        assert!(
            late == 0 || is_but_for_one(&shown, &expected),
            "{platform}, seed {seed}: {shown:?}, not {expected:?}"
        );
    }
    drop((two, three));
}

/// The same order once the post is left out that was under way when the worker died.
fn is_but_for_one(shown: &[String], expected: &[String]) -> bool {
    expected.iter().any(|one| {
        let without =
            |all: &[String]| all.iter().filter(|it| *it != one).cloned().collect::<Vec<_>>();
        without(shown) == without(expected)
    })
}
