//! The turn of a post among the posts of its account: in a fleet, on networks that need several steps, after errors,
//! pauses and deletions. Nobody waits for a turn that has come, and nobody asks for one again and again.

use std::time::Duration;

use fanfare_entities::{PostId, post};
use fanfare_tests::{Operator, Options, TestApp, User};
use sea_orm::EntityTrait;
use serde_json::{Value, json};

/// Networks whose posts take a step before the publishing call, and one whose posts do not.
const NETWORKS: [&str; 5] = ["threads", "linkedin", "slack", "instagram", "bluesky"];

/// The time that a pair of posts may take, with the clock of the tests, in ms: what the networks need, and far less than a
/// lease.
const SOON: i64 = 20_000;

async fn without_workers() -> (TestApp, User) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    (app, user)
}

async fn three_workers(app: &TestApp) {
    app.start_workers();
    app.start_other_workers().await;
    app.start_other_workers().await;
}

/// Creates a post that is due at once.
async fn post(user: &User, platform: &str, account: i64, caption: &str) -> i64 {
    let mut new = json!({"account_id": account, "caption": caption});
    if platform == "instagram" {
        let picture = fanfare_tests::files::plain_png(400, 400);
        new["media_urls"] = json!([user.upload("a.png", "image/png", &picture).await["url"]]);
    }
    user.publish(new).await["id"].as_i64().unwrap()
}

async fn read(user: &User, id: i64) -> Value {
    user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone()
}

async fn row(app: &TestApp, id: i64) -> post::Model {
    post::Entity::find_by_id(PostId(id)).one(&app.domain.db.read).await.unwrap().unwrap()
}

/// Lets time pass in small steps until all are public.
async fn all_public(app: &TestApp, user: &User, ids: &[i64]) {
    app.eventually_in_time("all are public", Duration::from_millis(500), || async {
        for id in ids {
            if read(user, *id).await["status"] != "published" {
                return None;
            }
        }
        Some(())
    })
    .await;
}

/// The captions as the network shows them, in the order in which it got them.
async fn at_the_network(user: &User, platform: &str, account: i64) -> Vec<String> {
    let mut posts = user.on_network(platform, account).await;
    // The first two posts of an account are made one long after the other, and show in which order the network lists.
    let text = |post: &Value| post["text"].as_str().unwrap_or_default().to_owned();
    if posts.first().is_some_and(|post| text(post) != "one") {
        posts.reverse();
    }
    posts.iter().map(text).collect()
}

/// Publishes the two posts by which [`at_the_network`] tells the order of a list.
async fn two_apart(app: &TestApp, user: &User, platform: &str, account: i64) {
    for caption in ["one", "two"] {
        let id = post(user, platform, account, caption).await;
        all_public(app, user, &[id]).await;
        app.pass_time(Duration::from_secs(5)).await;
    }
}

#[tokio::test]
async fn in_a_fleet_both_of_a_pair_go_out_at_once_and_in_their_order() {
    let (app, user) = without_workers().await;
    three_workers(&app).await;
    for platform in NETWORKS {
        let mut pairs = Vec::new();
        for _ in 0..5 {
            let account = user.connect(platform).await;
            two_apart(&app, &user, platform, account).await;
            pairs.push(account);
        }
        let begun = app.clock.now();
        let mut ids = Vec::new();
        for account in &pairs {
            ids.push(post(&user, platform, *account, "first").await);
            ids.push(post(&user, platform, *account, "second").await);
        }
        all_public(&app, &user, &ids).await;
        let took = app.clock.now() - begun;
        assert!(took < SOON, "{platform}: the pairs took {took} ms");
        for (account, ids) in pairs.into_iter().zip(ids.chunks(2)) {
            let shown = at_the_network(&user, platform, account).await;
            let mut attempts = Vec::new();
            for id in ids {
                let path = format!("/api/v1/posts/{id}/attempts");
                attempts.push(user.get(&path).await.expect(200).body);
            }
            assert_eq!(shown, ["one", "two", "first", "second"], "{platform}: {attempts:#?}");
        }
    }
}

#[tokio::test]
async fn an_error_before_the_publishing_call_leaves_the_order_and_holds_nobody_up_for_long() {
    for errors in [1, 3] {
        let (app, user) = without_workers().await;
        three_workers(&app).await;
        let account = user.connect("threads").await;
        two_apart(&app, &user, "threads", account).await;
        let fault = json!([{"on": "prepare", "kind": "status", "status": 500, "times": errors}]);
        user.faults("threads", account, fault).await;
        let begun = app.clock.now();
        let first = post(&user, "threads", account, "first").await;
        app.eventually("it has failed once", || async {
            (read(&user, first).await["attempts"] != 0 && row(&app, first).await.attempts > 0)
                .then_some(())
        })
        .await;
        // What is left of the errors is the first one's alone.
        user.faults("threads", account, json!([])).await;
        if errors == 1 {
            let second = post(&user, "threads", account, "second").await;
            let third = post(&user, "threads", account, "third").await;
            all_public(&app, &user, &[first, second, third]).await;
            let shown = at_the_network(&user, "threads", account).await;
            assert_eq!(shown, ["one", "two", "first", "second", "third"]);
            // It was tried a few times, not all the time.
            let tried = row(&app, second).await.fencing_token;
            assert!(tried < 12, "the second post was taken {tried} times");
        } else {
            let again = json!([{"on": "prepare", "kind": "status", "status": 500, "times": 1}]);
            user.faults("threads", account, again).await;
            app.eventually_in_time("it has failed twice", Duration::from_secs(1), || async {
                (row(&app, first).await.attempts > 1).then_some(())
            })
            .await;
            let second = post(&user, "threads", account, "second").await;
            all_public(&app, &user, &[second]).await;
            assert_ne!(read(&user, first).await["status"], "published");
        }
        assert!(app.clock.now() - begun < 60_000, "{errors}");
    }
}

#[tokio::test]
async fn whoever_is_deleted_or_moved_makes_way_at_once() {
    for way in ["delete", "draft", "later"] {
        let (app, user) = without_workers().await;
        app.start_workers();
        let account = user.connect("threads").await;
        let fault = json!([{"on": "prepare", "kind": "status", "status": 503, "times": 1}]);
        user.faults("threads", account, fault).await;
        let first = post(&user, "threads", account, "first").await;
        app.eventually("it waits for its second try", || async {
            let row = row(&app, first).await;
            (row.attempts == 1 && row.lease_expirations == 0).then_some(())
        })
        .await;
        let second = post(&user, "threads", account, "second").await;
        app.eventually_in_time("the second is set aside", Duration::from_millis(500), || async {
            row(&app, second).await.behind.then_some(())
        })
        .await;
        let begun = app.clock.now();
        let path = format!("/api/v1/posts/{first}");
        match way {
            "delete" => drop(user.delete(&path).await.expect(200)),
            "draft" => {
                let draft = json!({"status": "draft"});
                drop(user.put(&format!("{path}/status"), draft).await.expect(200));
            }
            _ => {
                let later = json!({"scheduled_at": app.at(3_600)});
                drop(user.patch(&path, later).await.expect(200));
            }
        }
        all_public(&app, &user, &[second]).await;
        let took = app.clock.now() - begun;
        assert!(took < 10_000, "{way}: it went out after {took} ms");
    }
}

#[tokio::test]
async fn what_a_pause_held_back_goes_out_before_what_came_after() {
    let (app, user) = without_workers().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    three_workers(&app).await;
    let account = user.connect("bluesky").await;
    two_apart(&app, &user, "bluesky", account).await;
    let target = account.to_string();
    for target in [("account", target.as_str()), ("target", "platform:bluesky"), ("target", "all")]
    {
        ada.act("pause", &[target], "Asked for").await;
        let first = post(&user, "bluesky", account, "first").await;
        app.eventually_in_time("it is set aside", Duration::from_millis(500), || async {
            row(&app, first).await.due_at.is_none().then_some(())
        })
        .await;
        ada.act("resume", &[target], "Asked for").await;
        let second = post(&user, "bluesky", account, "second").await;
        all_public(&app, &user, &[first, second]).await;
    }
    let mut expected = vec!["one", "two"];
    expected.extend(["first", "second"].repeat(3));
    assert_eq!(at_the_network(&user, "bluesky", account).await, expected);
}
