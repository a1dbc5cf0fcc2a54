//! Fairness between tenants: a burst beside a quiet tenant, and bursts of several tenants at the same time.

use crate::{
    load::NetworkProcess,
    network::{Arrivals, now},
    process::Process,
    servers::Servers,
    service::{Due, Service},
    table::{number, print, ratio},
};

/// The time before the first due time at which the worker starts, in ms.
const AHEAD: i64 = 5_000;

/// The time for which the quiet tenant has a post every 100 ms, in ms.
const QUIET: i64 = 10_000;

const POSTS: usize = 100;

/// The number of accounts the quiet tenant posts to in turn.
const QUIET_ACCOUNTS: usize = 5;

/// The number of accounts of the burst: the posts of an account go out one after the other.
const LOUD_ACCOUNTS: usize = 995;

/// Tenants whose bursts are due at one moment, and the accounts of each.
const TOGETHER: [usize; 4] = [250; 4];

/// The delays of the network, in ms: with a fast network a burst competes for CPU time, with a slow one for slots.
const DELAYS: [u64; 3] = [0, 50, 200];

/// Runs both benchmarks.
pub async fn run(posts: usize) {
    let servers = Servers::find().await;
    for delay in DELAYS {
        beside(&servers, posts, delay).await;
    }
    together(&servers, posts).await;
}

fn worker(service: &Service) -> Process {
    service.start(&["worker", "--concurrency", "256"])
}

/// Measures the quiet tenant alone, and beside a burst that is due when its own posts begin to be due.
async fn beside(servers: &Servers, posts: usize, delay: u64) {
    let mut quiet = Vec::new();
    let mut loud = Arrivals::default();
    for burst in [0, posts] {
        let target = NetworkProcess::start(delay);
        let service = Service::shared(servers, &target, &[QUIET_ACCOUNTS, LOUD_ACCOUNTS]).await;
        let from = now() + AHEAD + i64::try_from(burst / 25).expect("a short time");
        if burst > 0 {
            service.fill_for(1, burst, Due::At(from)).await;
        }
        service.fill_for(0, POSTS, Due::Over(from, from + QUIET)).await;
        assert!(now() < from, "there was too little time to get ready");
        let worker = worker(&service);
        let all = target.until(POSTS + burst).await;
        drop(worker);
        assert_eq!(all.again, 0, "every post once");
        quiet.push(target.arrived_of(0).await);
        loud = target.arrived_of(1).await;
    }
    let solo = quiet[0].late(990) as f64;
    let rows =
        [("quiet, alone", &quiet[0]), ("quiet, beside the burst", &quiet[1]), ("the burst", &loud)];
    let rows = rows.map(|(name, arrived)| {
        let late = |part| number(arrived.late(part) as f64);
        let times = ratio(arrived.late(990) as f64, solo);
        vec![name.to_owned(), arrived.posts.to_string(), late(500), late(990), late(1_000), times]
    });
    let heads = ["", "posts", "p50", "p99", "last", "p99 ÷ alone"];
    let title = format!("A quiet tenant beside a burst, a network that takes {delay} ms: ms late");
    print(&title, &heads, &rows);
}

/// Measures four tenants with equally many posts, all due at the same time.
async fn together(servers: &Servers, posts: usize) {
    let target = NetworkProcess::start(0);
    let service = Service::shared(servers, &target, &TOGETHER).await;
    let from = now() + AHEAD + i64::try_from(posts / 25).expect("a short time");
    for tenant in 0..4 {
        service.fill_for(tenant, posts / 4, Due::At(from)).await;
    }
    let worker = worker(&service);
    target.until(posts / 4 * 4).await;
    drop(worker);
    let mut lasts = Vec::new();
    for tenant in 0..4 {
        lasts.push(target.arrived_of(tenant).await.late(1_000) as f64);
    }
    let first = lasts.iter().copied().fold(f64::INFINITY, f64::min);
    let rows: Vec<_> = lasts
        .iter()
        .enumerate()
        .map(|(tenant, last)| vec![format!("tenant {tenant}"), number(*last), ratio(*last, first)])
        .collect();
    let title =
        format!("{posts} posts of four tenants due at one moment: ms until a tenant's last");
    print(&title, &["", "last", "÷ the first to end"], &rows);
}
