//! Fills and drains one backend in a process of its own, and prints the times and costs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use apalis_core::{
    backend::TaskSink,
    error::BoxDynError,
    monitor::Monitor,
    worker::{builder::WorkerBuilder, ext::parallelize::ParallelizeExt},
};
use apalis_redis::{Config, RedisStorage};
use fanfare_jobs::{Concurrency, JobKind, PublishPost, Queue, run_worker};
use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::cpu;

/// Jobs under way at a time.
const SLOTS: usize = 256;

/// Ids or jobs of one push.
const CHUNK: usize = 1_000;

/// Runs `backend`, prints one line of JSON, and ends the process.
pub async fn run(backend: &str, jobs: usize, redis_url: &str) {
    let (pushed, drained) = match backend {
        "memory" => own(&Queue::memory(), jobs).await,
        "redis" => own(&Queue::redis(redis_url).await.expect("Redis answers"), jobs).await,
        "stock" => stock(redis_url, jobs, Config::default()).await,
        "stock_tuned" => {
            let config = Config::default().lock_tasks(false).persist_results(false);
            stock(redis_url, jobs, config.emit_events(false)).await
        }
        other => panic!("there is no backend called {other}"),
    };
    let cpu = cpu::of(std::process::id());
    println!("{}", json!({"pushed": pushed, "drained": drained, "cpu_ms": cpu}));
    std::process::exit(0);
}

/// Fanfare's own backends.
async fn own(queue: &Queue, jobs: usize) -> (f64, f64) {
    let ids: Vec<i64> = (1..=i64::try_from(jobs).expect("a small number")).collect();
    let start = Instant::now();
    for ids in ids.chunks(CHUNK) {
        queue.push(JobKind::PublishPost, ids).await.expect("pushed");
    }
    let pushed = start.elapsed().as_secs_f64();
    let count = Countdown::new(jobs);
    let handler = {
        let count = count.clone();
        move |_: PublishPost| {
            count.one();
            std::future::ready(())
        }
    };
    let start = Instant::now();
    let queue = queue.clone();
    tokio::spawn(async move {
        let (slots, stop) = (Concurrency::new(SLOTS), CancellationToken::new());
        run_worker("bench".into(), &queue, slots, handler, stop, Duration::from_secs(1)).await
    });
    count.all().await;
    (pushed, start.elapsed().as_secs_f64())
}

/// apalis-redis as it comes.
async fn stock(redis_url: &str, jobs: usize, config: Config) -> (f64, f64) {
    let conn = apalis_redis::connect(redis_url).await.expect("Redis answers");
    let config = config.queue("bench").batch_size(SLOTS);
    let mut storage = RedisStorage::<i64>::new(conn).with_config(config);
    let ids: Vec<i64> = (1..=i64::try_from(jobs).expect("a small number")).collect();
    let start = Instant::now();
    for ids in ids.chunks(CHUNK) {
        storage.push_bulk(ids.to_vec()).await.expect("pushed");
    }
    let pushed = start.elapsed().as_secs_f64();
    let count = Countdown::new(jobs);
    let counted = count.clone();
    let monitor = Monitor::new().register(move |_| {
        let counted = counted.clone();
        WorkerBuilder::new("bench").backend(storage.clone()).parallelize(tokio::spawn).build(
            move |_: i64| {
                counted.one();
                std::future::ready(Ok::<(), BoxDynError>(()))
            },
        )
    });
    let start = Instant::now();
    tokio::spawn(monitor.run());
    count.all().await;
    (pushed, start.elapsed().as_secs_f64())
}

/// Counts remaining jobs.
#[derive(Clone)]
struct Countdown(Arc<(AtomicUsize, Notify)>);

impl Countdown {
    fn new(jobs: usize) -> Self {
        Self(Arc::new((AtomicUsize::new(jobs), Notify::new())))
    }

    fn one(&self) {
        if self.0.0.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.1.notify_one();
        }
    }

    async fn all(&self) {
        self.0.1.notified().await;
    }
}
