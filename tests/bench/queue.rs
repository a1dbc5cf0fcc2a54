//! The queue alone, with empty jobs: how fast they are enqueued (burst) and dequeued (drain).

use std::process::Command;

use serde_json::Value;

use crate::{
    bullmq::Program,
    cpu,
    servers::Servers,
    table::{number, print, ratio},
};

/// More jobs at once than this block stock apalis-redis: it promotes all due jobs in one command, which then has more
/// arguments than Lua can unpack.
const STOCK_AT_MOST: usize = 5_000;

struct Figures {
    name: &'static str,
    jobs: usize,
    pushed: f64,
    drained: f64,
    /// CPU time in ms of everything but Redis, and of Redis.
    own: f64,
    redis: f64,
}

/// Runs every backend.
pub async fn run(jobs: usize) {
    let servers = Servers::find().await;
    let mut all = vec![peer(&servers, jobs)];
    let backends = [
        ("apalis-redis", "stock"),
        ("apalis-redis, no locks, results or events", "stock_tuned"),
        ("Fanfare, Redis", "redis"),
        ("Fanfare, memory", "memory"),
    ];
    for (name, backend) in backends {
        let jobs = if backend.starts_with("stock") { jobs.min(STOCK_AT_MOST) } else { jobs };
        all.push(child(&servers, name, backend, jobs));
    }
    let drain = |one: &Figures| one.jobs as f64 / one.drained;
    let (bullmq, stock) = (drain(&all[0]), drain(&all[1]));
    let rows = all.iter().map(|one| {
        let each = |ms: f64| number(ms * 1_000.0 / one.jobs as f64);
        vec![
            one.name.to_owned(),
            number(one.jobs as f64),
            number(one.jobs as f64 / one.pushed),
            number(drain(one)),
            each(one.own),
            each(one.redis),
            ratio(drain(one), bullmq),
            ratio(drain(one), stock),
        ]
    });
    let heads = [
        "",
        "jobs",
        "pushed/s",
        "drained/s",
        "µs process",
        "µs Redis",
        "× BullMQ",
        "× apalis-redis",
    ];
    print("The queue alone: empty jobs, 256 at a time", &heads, &rows.collect::<Vec<_>>());
}

fn peer(servers: &Servers, jobs: usize) -> Figures {
    let variables = [
        ("REDIS_URL", servers.redis()),
        ("COUNT", jobs.to_string()),
        ("CONCURRENCY", "256".to_owned()),
        ("MODE", "empty".to_owned()),
    ];
    let redis = cpu::of(servers.redis);
    let filled = Program::start("fill", &variables).finish();
    let worked = Program::start("worker", &variables).finish();
    let field = |said: &Value, name: &str| said[name].as_f64().expect("a number");
    Figures {
        name: "BullMQ",
        jobs,
        pushed: field(&filled, "seconds"),
        drained: field(&worked, "seconds"),
        own: field(&filled, "cpu_ms") + field(&worked, "cpu_ms"),
        redis: cpu::of(servers.redis) - redis,
    }
}

fn child(servers: &Servers, name: &'static str, backend: &str, jobs: usize) -> Figures {
    let redis = cpu::of(servers.redis);
    let me = std::env::current_exe().expect("our own path");
    let args = ["queue", backend, &jobs.to_string(), &servers.redis()];
    let output = Command::new(me).args(args).output().expect("the part runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).expect("a line of JSON");
    let field = |name: &str| said[name].as_f64().expect("a number");
    Figures {
        name,
        jobs,
        pushed: field("pushed"),
        drained: field("drained"),
        own: field("cpu_ms"),
        redis: cpu::of(servers.redis) - redis,
    }
}
