//! The lateness of posts that are all due at one second, and under light load.

use std::time::Duration;

use crate::{
    bullmq::Program,
    load::NetworkProcess,
    network::{Arrivals, now},
    servers::Servers,
    service::{Due, Service},
    table::{number, print, ratio},
};

/// Posts under way at a time.
const SLOTS: &str = "256";

/// Returns how long before the first due time this number of posts is created, in ms: filling BullMQ is slow.
fn ahead(posts: usize) -> i64 {
    8_000 + i64::try_from(posts / 2).expect("a short time")
}

/// Runs every party.
pub async fn run(posts: usize, peers: bool) {
    let servers = Servers::find().await;
    burst(&servers, posts, peers).await;
    light(&servers, peers).await;
}

async fn burst(servers: &Servers, posts: usize, peers: bool) {
    let due = || Due::At(now() + ahead(posts));
    let mut all = Vec::new();
    if peers {
        all.push(("BullMQ", peer(servers, "full", posts, due()).await));
        all.push(("BullMQ tuned", peer(servers, "tuned", posts, due()).await));
    }
    all.push(("Fanfare, PostgreSQL and Redis", fanfare(Some(servers), posts, due()).await));
    all.push(("Fanfare, SQLite and memory", fanfare(None, posts, due()).await));
    report(&format!("{posts} posts due at one moment: ms late"), &all);
}

/// 20 posts a second for 15 s.
async fn light(servers: &Servers, peers: bool) {
    let posts = 300;
    let due = || Due::Over(now() + ahead(posts), now() + ahead(posts) + 15_000);
    let mut all = Vec::new();
    if peers {
        all.push(("BullMQ", peer(servers, "full", posts, due()).await));
    }
    all.push(("Fanfare, PostgreSQL and Redis", fanfare(Some(servers), posts, due()).await));
    all.push(("Fanfare, SQLite and memory", fanfare(None, posts, due()).await));
    report("20 posts a second, each at its own time: ms late", &all);
}

fn report(title: &str, all: &[(&str, Arrivals)]) {
    let last = all[0].1.late(1_000) as f64;
    let rows = all.iter().map(|(name, arrived)| {
        let late = |part| number(arrived.late(part) as f64);
        let early = arrived.late.iter().filter(|late| **late < 0).count();
        vec![
            (*name).to_owned(),
            late(500),
            late(990),
            late(1_000),
            early.to_string(),
            ratio(arrived.late(1_000) as f64, last),
        ]
    });
    print(
        title,
        &["", "p50", "p99", "last", "early", "last ÷ BullMQ's"],
        &rows.collect::<Vec<_>>(),
    );
}

async fn peer(servers: &Servers, mode: &str, posts: usize, due: Due) -> Arrivals {
    let target = NetworkProcess::start(0);
    let (from, to) = match due {
        Due::At(at) => (at, at),
        Due::Over(from, to) => (from, to),
    };
    let variables = [
        ("REDIS_URL", servers.redis()),
        ("PG_URL", servers.database().await),
        ("TARGET_URL", format!("{}/", target.url)),
        ("COUNT", posts.to_string()),
        ("CONCURRENCY", SLOTS.to_owned()),
        ("MODE", mode.to_owned()),
        ("DUE_FROM", from.to_string()),
        ("DUE_TO", to.to_string()),
    ];
    Program::start("fill", &variables).finish();
    let worker = Program::start("worker", &variables);
    assert!(now() < from, "there was too little time to get ready");
    let arrived = target.until(posts).await;
    drop(worker);
    arrived
}

async fn fanfare(servers: Option<&Servers>, posts: usize, due: Due) -> Arrivals {
    let target = NetworkProcess::start(0);
    let service = match servers {
        Some(servers) => Service::fleet(servers, &target).await,
        None => Service::embedded(&target).await,
    };
    // The setup took time, so the due times are set again from now.
    let due = match due {
        Due::At(_) => Due::At(now() + ahead(posts)),
        Due::Over(from, to) => Due::Over(now() + ahead(posts), now() + ahead(posts) + to - from),
    };
    service.fill(posts, due).await;
    let worker = service.start(&["worker", "--concurrency", SLOTS]);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let arrived = target.until(posts).await;
    service.recorded(posts).await;
    drop(worker);
    assert_eq!(arrived.again, 0, "every post once");
    arrived
}
