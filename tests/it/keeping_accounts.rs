//! Accounts stay usable: tokens are refreshed before they end, by one process; whoever schedules behind an end that
//! nothing moves is warned; what a disconnected account had is given back.

use std::time::Duration;

use fanfare_core::{AccountId, PlatformId};
use fanfare_publishing::{accounts, accounts::RefreshOutcome};
use fanfare_tests::{Options, Postgres, Receiver, TestApp, User};
use serde_json::{Value, json};

use crate::inbox::gate::Gate;

const DAY: u64 = 86_400;

async fn account(user: &User, id: i64) -> Value {
    let listed = user.get("/api/v1/accounts").await.expect(200);
    let listed = listed.body["accounts"].as_array().unwrap().clone();
    listed.into_iter().find(|account| account["id"] == id).unwrap()
}

/// The calls of a simulated account whose path contains this.
async fn calls(app: &TestApp, platform: &str, id: i64, part: &str) -> Vec<Value> {
    let row = accounts::row(&app.domain, AccountId(id)).await.unwrap().unwrap();
    let calls = app.simulator.calls(platform, &row.remote_id).await.into_iter();
    calls.filter(|call| call["path"].as_str().unwrap().contains(part)).collect()
}

/// A webhook that hears these events. (Polling would not do: events are forgotten after thirty days.)
async fn listen(user: &User, kind: &str) -> Receiver {
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url, "events": [kind]});
    let _ = user.post("/api/v1/webhooks", hook).await.expect(201);
    receiver
}

#[tokio::test]
async fn a_token_is_refreshed_before_it_ends() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let id = user.connect("threads").await;
    let before = account(&user, id).await["token_expires_at"].as_str().unwrap().to_owned();
    app.pass_time(Duration::from_secs(44 * DAY)).await;
    app.wait_until_idle().await;
    assert_eq!(calls(&app, "threads", id, "refresh_access_token").await.len(), 0, "not yet");
    app.pass_time(Duration::from_secs(7 * DAY)).await;
    app.eventually("a fresh token", || async {
        let now = account(&user, id).await["token_expires_at"].as_str().unwrap().to_owned();
        (now > before).then_some(())
    })
    .await;
    assert_eq!(calls(&app, "threads", id, "refresh_access_token").await.len(), 1);
    let post = user.publish(json!({"account_id": id, "caption": "Still here"})).await;
    app.wait_until_published(&user, &post).await;
}

#[tokio::test]
async fn a_hundred_at_one_token_make_one_call() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    for (platform, name, path) in [
        (PlatformId::Threads, "threads", "refresh_access_token"),
        (PlatformId::Bluesky, "bluesky", "refreshSession"),
    ] {
        let id = user.connect(name).await;
        app.pass_time(Duration::from_secs(2 * DAY)).await;
        let row = accounts::row(&app.domain, AccountId(id)).await.unwrap().unwrap();
        let (used, other) = (row.secret_id, app.other_process().await);
        let workers = (0..100).map(|n| {
            let cx = if n % 2 == 0 { app.domain.clone() } else { other.clone() };
            tokio::spawn(async move {
                loop {
                    match accounts::refresh(&cx, platform, AccountId(id), used).await.unwrap() {
                        RefreshOutcome::Fresh => return,
                        RefreshOutcome::Elsewhere => {
                            tokio::time::sleep(Duration::from_millis(20)).await
                        }
                        other => panic!("{other:?}"),
                    }
                }
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            worker.await.unwrap();
        }
        assert_eq!(calls(&app, name, id, path).await.len(), 1, "{name}");
    }
}

#[tokio::test]
async fn a_short_token_is_refreshed_just_before_it_is_needed() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let id = user.connect("bluesky").await;
    app.pass_time(Duration::from_secs(5 * 3_600)).await;
    let post = user.publish(json!({"account_id": id, "caption": "After a long night"})).await;
    // It may wait for a reading that refreshes the token just now.
    app.wait_until_published(&user, &post).await;
    let refused = calls(&app, "bluesky", id, "").await;
    let refused = refused.iter().filter(|call| call["status"].as_u64() >= Some(400)).count();
    assert_eq!(refused, 0, "nothing was tried with a token that was known to be dead");
    assert_eq!(calls(&app, "bluesky", id, "refreshSession").await.len(), 1);
}

#[tokio::test]
async fn an_end_that_posts_will_not_survive_is_told_of_three_times() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let receiver = listen(&user, "account.token_expiring").await;
    let id = user.connect("threads").await;
    let silent = user.connect("threads").await;
    user.publish(
        json!({"account_id": id, "caption": "Later", "scheduled_at": app.at(70 * 86_400)}),
    )
    .await;
    user.publish(
        json!({"account_id": silent, "caption": "Soon", "scheduled_at": app.at(54 * 86_400)}),
    )
    .await;
    // The network gives no fresh token.
    for one in [id, silent] {
        user.faults(
            "threads",
            one,
            json!([{"on": "prepare", "kind": "status", "status": 503, "times": 10_000}]),
        )
        .await;
    }
    for (advance, count) in [(53 * DAY + 3_600, 1), (6 * DAY, 2), (DAY - 5_400, 3)] {
        app.pass_time(Duration::from_secs(advance)).await;
        app.eventually("a warning", || async {
            (receiver.received().len() >= count).then_some(())
        })
        .await;
        assert_eq!(receiver.received().len(), count);
    }
    let told: Vec<_> = receiver.received().iter().map(|heard| heard.body()).collect();
    let before: Vec<_> =
        told.iter().map(|event| event["data"]["warning"].as_str().unwrap()).collect();
    assert_eq!(before, ["7 days", "24 hours", "1 hour"]);
    for event in &told {
        assert_eq!(
            (event["data"]["account"]["id"].as_i64(), event["data"]["posts"].as_i64()),
            (Some(id), Some(1))
        );
    }
}

#[tokio::test]
async fn a_dead_token_asks_for_a_reconnect_and_says_so_once() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let receiver = listen(&user, "account.disconnected").await;
    let id = user.connect("threads").await;
    let row = accounts::row(&app.domain, AccountId(id)).await.unwrap().unwrap();
    // The person removes the app at the network, which then knows the token no more.
    let gone = format!("threads/accounts/{}", row.remote_id);
    app.simulator.ask(reqwest::Method::DELETE, &gone, &Value::Null).await;
    app.pass_time(Duration::from_secs(51 * DAY)).await;
    app.eventually("it is told", || async {
        (account(&user, id).await["status"] == "reconnect_required").then_some(())
    })
    .await;
    app.eventually("a webhook", || async { (receiver.received().len() == 1).then_some(()) }).await;
    app.pass_time(Duration::from_secs(5 * DAY)).await;
    app.wait_until_idle().await;
    assert_eq!(receiver.received().len(), 1, "once");
}

#[tokio::test]
async fn a_network_that_is_away_disconnects_nobody() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let id = user.connect("threads").await;
    user.faults("threads", id, json!([{"on": "prepare", "kind": "reset", "times": 3}])).await;
    app.pass_time(Duration::from_secs(51 * DAY)).await;
    app.eventually_in_time("a fresh token in the end", Duration::from_secs(1_800), || async {
        let now = account(&user, id).await;
        assert_eq!(now["status"], "connected");
        (now["token_expires_at"].as_str() > Some(app.at(50 * 86_400).as_str())).then_some(())
    })
    .await;
    let tried = calls(&app, "threads", id, "refresh_access_token").await.len();
    assert!(tried >= 4, "three in vain, and one: {tried}");
}

#[tokio::test]
async fn a_disconnect_gives_the_session_back_and_forgets_the_rest() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let id = user.connect("bluesky").await;
    let post = user
        .publish(json!({"account_id": id, "caption": "Later", "scheduled_at": app.at(3_600)}))
        .await;
    user.faults(
        "bluesky",
        id,
        json!([{"on": "prepare", "kind": "status", "status": 503, "times": 1}]),
    )
    .await;
    let _ = user.delete(&format!("/api/v1/accounts/{id}")).await.expect(200);
    let row = || async { accounts::row(&app.domain, AccountId(id)).await.unwrap().unwrap() };
    assert!(row().await.secret_id.is_none(), "nothing can be published with it any more");
    app.eventually("a first try", || async {
        (calls(&app, "bluesky", id, "deleteSession").await.len() == 1).then_some(())
    })
    .await;
    assert!(row().await.revoking_id.is_some());
    app.pass_time(Duration::from_secs(300)).await;
    app.eventually("it is given back", || async {
        row().await.revoking_id.is_none().then_some(())
    })
    .await;
    let given = calls(&app, "bluesky", id, "deleteSession").await;
    assert_eq!(given.last().unwrap()["status"], 200, "{given:?}");
    assert_eq!(app.secrets().await, 0, "nothing is kept");
    // The post knows whose it was, and what would take it up again.
    let kept = user.get(&format!("/api/v1/posts/{}", post["id"])).await.expect(200);
    assert_eq!(kept.body["post"]["account_id"], id);
    let missing = user.get(&format!("/api/v1/posts/{}/missing", post["id"])).await.expect(200);
    let lack = &missing.body["missing"][0];
    assert_eq!(lack["code"], "account_disconnected");
    assert_eq!(
        (lack["reconnect"]["account_id"].as_i64(), lack["reconnect"]["platform"].as_str()),
        (Some(id), Some("bluesky"))
    );
}

/// A token that is good once was exchanged, and the database is away at that moment: the new tokens are kept until it is
/// back.
#[tokio::test]
async fn new_tokens_outlive_an_outage_of_the_database() {
    let mut postgres = Postgres::start();
    let postgres_url = Some(postgres.url().to_owned());
    let options = Options { workers: false, postgres_url, ..Options::default() };
    let app = TestApp::with(options).await;
    let user = app.user().await;
    for platform in [PlatformId::Bluesky, PlatformId::X] {
        let id = user.connect(platform.as_str()).await;
        let row = accounts::row(&app.domain, AccountId(id)).await.unwrap().unwrap();
        let (gate, hook) = Gate::hook("tokens_exchanged");
        let other = app.other_process_at(hook).await;
        let used = row.secret_id;
        let refreshing =
            tokio::spawn(
                async move { accounts::refresh(&other, platform, AccountId(id), used).await },
            );
        gate.is_reached().await;
        postgres.crash();
        gate.let_go();
        tokio::time::sleep(Duration::from_millis(500)).await;
        postgres.restart();
        // The pauses between its tries pass by the clock of the tests.
        while !refreshing.is_finished() {
            app.advance(Duration::from_millis(500));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let outcome = refreshing.await.unwrap();
        assert!(matches!(outcome, Ok(RefreshOutcome::Fresh)), "{platform}: {outcome:?}");
        // The connections of this process were cut, too.
        let row = app
            .eventually("the account", || async {
                accounts::row(&app.domain, AccountId(id)).await.ok().flatten()
            })
            .await;
        assert_ne!(row.secret_id, used, "{platform}");
        assert_eq!(row.refreshing_until, None, "{platform}");
    }
}
