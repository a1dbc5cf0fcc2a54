//! Machines whose clocks are wrong, and machines that stand still for a while.

use std::time::Duration;

use fanfare_core::{
    Code, Error,
    clock::{machine_now, to_rfc3339},
};
use fanfare_tests::{Options, Postgres, Redis, TestApp, User, faketime};
use sea_orm::ConnectionTrait;
use serde_json::json;

use crate::{crash::let_leases_lapse, worker::Worker};

/// A part of a fleet: a fleet has a database whose clock it can follow, and that outlives its machines.
async fn service_on(postgres: &Postgres, redis: &Redis) -> (TestApp, User) {
    let options = Options {
        workers: false,
        postgres_url: Some(postgres.url().to_owned()),
        redis_url: Some(redis.url()),
        ..Options::default()
    };
    let app = TestApp::with(options).await;
    let user = app.user().await;
    (app, user)
}

async fn post(user: &User, account: i64, at: i64) -> i64 {
    let body = json!({"account_id": account, "caption": format!("due {at}"), "scheduled_at": to_rfc3339(at)});
    user.publish(body).await["id"].as_i64().unwrap()
}

#[tokio::test]
async fn a_worker_whose_clock_is_a_day_off_publishes_at_the_right_time() {
    let (postgres, redis) = (Postgres::start(), Redis::start());
    let (app, user) = service_on(&postgres, &redis).await;
    for wrong in ["+1d", "-1d"] {
        let account = user.connect("bluesky").await;
        let variables = faketime::by(wrong);
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let _worker = Worker::with(&app, &variables);
        let (soon, later) = (machine_now() + 4_000, machine_now() + 3_600_000);
        let now = post(&user, account, machine_now()).await;
        let soon_id = post(&user, account, soon).await;
        let later_id = post(&user, account, later).await;
        for id in [now, soon_id] {
            let record = app.wait_for_status(&user, id, &["published", "failed"]).await;
            assert_eq!(record["status"], "published", "{wrong}: {record:#}");
        }
        let held = user.on_network("bluesky", account).await;
        let texts: Vec<_> = held.iter().map(|entry| entry["text"].clone()).collect();
        assert_eq!(held.len(), 2, "{wrong}: {texts:?}");
        let on_time = held.iter().find(|entry| entry["text"] == format!("due {soon}")).unwrap();
        // RFC 3339 in UTC sorts by time.
        assert!(
            on_time["created_at"].as_str().unwrap() >= to_rfc3339(soon).as_str(),
            "{wrong}: {on_time:#}"
        );
        let waiting = user.get(&format!("/api/v1/posts/{later_id}")).await.expect(200);
        assert_eq!(waiting.body["post"]["status"], "scheduled", "{wrong}");
    }
}

#[tokio::test]
async fn a_worker_frozen_past_its_lease_does_not_send() {
    let (postgres, redis) = (Postgres::start(), Redis::start());
    let (app, user) = service_on(&postgres, &redis).await;
    let mut frozen = Vec::new();
    for platform in ["bluesky", "threads", "devto", "discord"] {
        let account = user.connect(platform).await;
        let mut worker = Worker::start(&app, Some("commit_armed"));
        let post = user.publish(json!({"account_id": account, "caption": "Once"})).await;
        worker.arrived().await;
        worker.signal("-STOP");
        frozen.push((platform, account, post["id"].as_i64().unwrap(), worker));
    }
    // A lease never lapses sooner after a publishing call was written down; the rest of the minute is cut short.
    tokio::time::sleep(Duration::from_secs(11)).await;
    let_leases_lapse(&app).await;
    let _another = Worker::start(&app, None);
    for (platform, account, id, worker) in &mut frozen {
        let record = app.wait_for_status(&user, *id, &["published", "failed"]).await;
        worker.signal("-CONT");
        assert_eq!(worker.stop().await.code(), Some(0), "{platform}");
        let held = user.on_network(platform, *account).await.len();
        if *platform == "discord" {
            assert_eq!((record["error"]["code"].as_str(), held), (Some("outcome_unknown"), 0));
        } else {
            assert_eq!((record["status"].as_str(), held), (Some("published"), 1), "{platform}");
        }
    }
}

#[tokio::test]
async fn a_transaction_of_a_frozen_process_keeps_nobody_waiting_for_long() {
    let (postgres, redis) = (Postgres::start(), Redis::start());
    let (app, user) = service_on(&postgres, &redis).await;
    let account = user.connect("bluesky").await;
    let id = post(&user, account, machine_now() + 3_600_000).await;
    let frozen = app.domain.db.begin().await.unwrap();
    frozen.execute_unprepared("UPDATE posts SET caption = 'frozen'").await.unwrap();
    let path = format!("/api/v1/posts/{id}");
    let edit = user.patch(&path, json!({"caption": "edited"}));
    let edited = tokio::time::timeout(Duration::from_secs(60), edit).await;
    assert_eq!(edited.expect("an answer").expect(200).body["post"]["caption"], "edited");
    let ended = frozen.execute_unprepared("SELECT 1").await.expect_err("the database has ended it");
    assert_eq!(Error::from(ended).code(), Code::Unavailable, "to be tried again");
}
