//! Lateness of posts while metrics are read, which must not delay publishing.

use std::time::Duration;

use sea_orm::ConnectionTrait;

use crate::{
    load::NetworkProcess,
    network::{Arrivals, READS, now},
    servers::Servers,
    service::{ACCOUNTS, Due, Service},
    table::{number, print, ratio},
};

/// The number of posts, and the time over which they are due, in ms.
const POSTS: usize = 300;
const WINDOW: i64 = 15_000;

/// The time before the first due time at which posts are created, in ms.
const AHEAD: i64 = 5_000;

/// The accounts whose metrics are read meanwhile: every nth of them, or none. Ten thousand accounts are read within 20
/// hours with some nine calls each: this is about two calls a second, as with every fiftieth account here.
const KINDS: [(&str, Option<usize>); 3] = [
    ("without readings", None),
    ("as 10,000 accounts a day", Some(50)),
    ("fifty times as many", Some(1)),
];

/// Measures without and with reading, in turn, on one installation.
pub async fn run(rounds: usize) {
    let servers = Servers::find().await;
    let target = NetworkProcess::start(0);
    let service = Service::fleet(&servers, &target).await;
    let worker = service.start(&["worker"]);
    service.fill(ACCOUNTS, Due::At(now())).await;
    target.until(ACCOUNTS).await;
    service.recorded(ACCOUNTS).await;
    found(&service).await;
    let mut all = KINDS.map(|_| (Vec::new(), 0));
    let mut before = ACCOUNTS;
    for _ in 0..rounds {
        for ((_, every), (late, reads)) in KINDS.into_iter().zip(&mut all) {
            let asked = target.arrived_of(READS).await.posts;
            late.extend(measure(&service, &target, before, every).await);
            before += POSTS;
            *reads += target.arrived_of(READS).await.posts - asked;
        }
    }
    drop(worker);
    let all = all.map(|(late, reads)| (told(late), reads));
    let without = all[0].0.late(990) as f64;
    let rows = KINDS.iter().zip(&all).map(|((name, _), (arrived, reads))| {
        let late = |part| number(arrived.late(part) as f64);
        let times = ratio(arrived.late(990) as f64, without);
        vec![(*name).to_owned(), reads.to_string(), late(500), late(990), late(1_000), times]
    });
    let rows: Vec<_> = rows.collect();
    let title = format!(
        "{POSTS} posts over {} s beside the numbers of {ACCOUNTS} accounts: ms late",
        WINDOW / 1_000
    );
    print(&title, &["", "calls to read", "p50", "p99", "last", "p99 ÷ without"], &rows);
}

fn told(late: Vec<i64>) -> Arrivals {
    Arrivals { posts: late.len(), late, ..Arrivals::default() }
}

/// Waits until the metrics of the published posts are scheduled to be read.
async fn found(service: &Service) {
    let sql = "UPDATE analytics_syncs SET due_at = 0 WHERE due_at IS NOT NULL";
    service.db.execute_unprepared(sql).await.expect("rows");
    service.counted("SELECT count(*) AS n FROM post_numbers", ACCOUNTS / 2).await;
}

/// Measures the lateness of posts while the metrics of every nth account are read, or of none.
async fn measure(
    service: &Service,
    target: &NetworkProcess,
    before: usize,
    every: Option<usize>,
) -> Vec<i64> {
    let from = now() + AHEAD;
    let (later, far) = (from + 3_600_000, from + 86_400_000);
    let (read, due) = match every {
        Some(every) => (
            from,
            format!("CASE WHEN id % {every} = 0 THEN {from} + id * 7 % {WINDOW} ELSE {later} END"),
        ),
        None => (later, later.to_string()),
    };
    for sql in [
        format!("UPDATE post_numbers SET next_at = {read}"),
        format!(
            "UPDATE analytics_syncs SET due_at = {due}, daily_at = {far}, next_day = NULL WHERE due_at IS NOT NULL"
        ),
    ] {
        service.db.execute_unprepared(&sql).await.expect("rows");
    }
    service.fill(POSTS, Due::Over(from, from + WINDOW)).await;
    let arrived = target.until(before + POSTS).await;
    // Events of the last reading may still be pending.
    tokio::time::sleep(Duration::from_secs(1)).await;
    arrived.late[before..].to_vec()
}
