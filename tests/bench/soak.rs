//! Simulates days of posting, in steps of five minutes, and reports what is left in the end. The service runs in this
//! process; the networks, which keep every post, in another.

use std::time::{Duration, Instant};

use fanfare_core::db::statement;
use fanfare_tests::{Options, Simulator, TestApp};
use sea_orm::ConnectionTrait;
use serde_json::json;

use crate::{
    memory,
    process::fresh,
    table::{number, print},
};

/// The step of the clock, in seconds.
const STEP: u64 = 300;

/// The networks on which a post is created in each step.
const NETWORKS: [&str; 4] = ["bluesky", "threads", "wordpress", "discord"];

/// Runs this number of days on SQLite.
pub async fn run(days: u64) {
    let networks = fresh("sandbox");
    networks.ready().await;
    let simulator = Some(Simulator::of(networks.dir()));
    let app = TestApp::with(Options { networks: simulator, ..Options::default() }).await;
    let user = app.user().await;
    let mut accounts = Vec::new();
    for network in NETWORKS {
        accounts.push((network, user.connect(network).await));
    }
    let (begun, mut rows, mut made) = (Instant::now(), Vec::new(), 0_usize);
    let me = std::process::id();
    for day in 1..=days {
        for step in 0..86_400 / STEP {
            for (place, (_, account)) in accounts.iter().enumerate() {
                let at = app.at(i64::try_from(STEP * (1 + step % 12)).expect("a short time"));
                let caption = format!("Day {day}, step {step}, network {place}");
                let post = json!({"account_id": account, "caption": caption, "scheduled_at": at});
                let _ = user.publish(post).await;
                made += 1;
            }
            app.pass_time(Duration::from_secs(STEP)).await;
            everything_is_out(&app).await;
        }
        // Posts that are due within the hour are published before the day is counted.
        for _ in 0..3_600 / STEP {
            app.pass_time(Duration::from_secs(STEP)).await;
            everything_is_out(&app).await;
        }
        let failed = user.get("/api/v1/posts?status=failed&limit=5").await.expect(200);
        assert_eq!(failed.body["posts"], json!([]), "no post fails");
        let mut public = 0;
        for (network, account) in &accounts {
            public += user.on_network(network, *account).await.len();
        }
        rows.push(vec![
            format!("day {day}"),
            number(made as f64),
            number(public as f64),
            number(memory::of(me)),
            number(memory::of(networks.process.id())),
            number(begun.elapsed().as_secs_f64()),
        ]);
        assert_eq!(public, made, "every post once");
    }
    print("Days of posts, simulated", &["", "made", "public", "MiB", "networks' MiB", "s"], &rows);
}

/// Waits until all due work is done: the next step of the clock would end the leases of running calls.
async fn everything_is_out(app: &TestApp) {
    let (conn, sql) = (
        &app.domain.db.read,
        "SELECT count(*) AS n FROM posts WHERE scheduled_at <= $1 \
         AND status IN ('scheduled', 'publishing', 'processing')",
    );
    app.eventually("everything is out", || async {
        // Polling of networks depends on the clock too.
        app.pass_time(Duration::from_millis(250)).await;
        let left = statement(conn, sql, [app.clock.now().into()]);
        let left = conn.query_one_raw(left).await.expect("a count").expect("a row");
        (left.try_get::<i64>("", "n").expect("a count") == 0).then_some(())
    })
    .await;
}
