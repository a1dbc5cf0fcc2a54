//! The share of an app's quota that reading takes: 60 % at most, and posts find the rest at once.

use std::time::Duration;

use fanfare_entities::{analytics_sync, business_profile};
use fanfare_insight::analytics::sync::background_share;
use fanfare_tests::{Options, TestApp, User};
use futures_util::future::join_all;
use sea_orm::EntityTrait;
use serde_json::{Value, json};

/// Google's calls a minute for an app, and accounts whose first reading alone takes more than reading may have of them.
const QUOTA: u32 = 300;
const ACCOUNTS: usize = 45;

/// The number of accounts that publish meanwhile.
const POSTING: usize = 20;

/// A step of time, of which two are more than a minute: what is refused in one step waits for the one after the next.
const STEP: Duration = Duration::from_secs(31);

/// The most steps that all of it may take.
const STEPS: usize = 60;

/// Returns the number of calls that read a profile or its numbers.
async fn readings(app: &TestApp) -> usize {
    let accounts = app.simulator.accounts("google_business").await;
    let calls = accounts.iter().map(|account| {
        app.simulator.calls("google_business", account["remote_id"].as_str().unwrap())
    });
    let is_reading = |call: &&Value| {
        let path = call["path"].as_str().unwrap();
        call["method"] == "GET"
            && [":fetch", "/reviews", "/media", "/v1/locations/"].iter().any(|it| path.contains(it))
    };
    join_all(calls).await.concat().iter().filter(is_reading).count()
}

/// Returns how many profiles were read, and whether all work that is due is done.
async fn progress(app: &TestApp) -> (usize, bool) {
    let (db, now) = (&app.domain.db.write, app.clock.now());
    let profiles = business_profile::Entity::find().all(db).await.unwrap();
    let numbers = analytics_sync::Entity::find().all(db).await.unwrap();
    let read = profiles.iter().filter(|row| row.synced_at.is_some()).count();
    let rests = |due_at: Option<i64>, lease_expirations: i32| {
        lease_expirations == 0 && due_at.is_none_or(|at| at > now)
    };
    let rest = profiles.iter().all(|row| rests(row.due_at, row.lease_expirations))
        && numbers.iter().all(|row| rests(row.due_at, row.lease_expirations));
    (read, rest)
}

/// Waits until all work that is due is done; what waits for its quota is due later.
async fn rests(app: &TestApp) {
    app.eventually("reading rests", || async { progress(app).await.1.then_some(()) }).await;
}

/// Publishes, and waits until the network has it: no time passes.
async fn publish(app: &TestApp, user: &User, account: i64) {
    let _ = user.publish(json!({"account_id": account, "caption": "We are open"})).await;
    app.eventually("the post is out", || async {
        (user.on_network("google_business", account).await.len() == 1).then_some(())
    })
    .await;
}

#[tokio::test]
async fn reading_takes_sixty_percent_of_a_quota_and_posts_find_the_rest() {
    let options = Options { workers: false, sandbox_limits: true, ..Options::default() };
    let app = TestApp::with(options).await;
    let user = app.user().await;
    let mut accounts = Vec::new();
    for _ in 0..ACCOUNTS {
        accounts.push(user.connect("google_business").await);
    }
    let share = usize::try_from(background_share(QUOTA)).unwrap();
    assert_eq!(share, 180);
    let mut counted = vec![readings(&app).await];
    app.start_workers();
    // Time stands still until reading has taken what it gets of this minute.
    rests(&app).await;
    counted.push(readings(&app).await);
    let taken = counted[1] - counted[0];
    assert!((share / 2..=share).contains(&taken), "{taken} calls");
    assert!(progress(&app).await.0 < ACCOUNTS, "a share that is too small was enough");
    // Posts find their part of the same minute.
    join_all(accounts.iter().take(POSTING).map(|id| publish(&app, &user, *id))).await;
    // The rest comes later, a share a minute.
    while progress(&app).await.0 < ACCOUNTS {
        app.pass_time(STEP).await;
        rests(&app).await;
        counted.push(readings(&app).await);
        assert!(counted.len() < STEPS, "profiles are never read: {counted:?}");
    }
    assert!(counted.last().unwrap() - counted[0] > share, "{counted:?}");
    for minute in counted.windows(3) {
        assert!(minute[2] - minute[0] <= share, "{counted:?}");
    }
}
