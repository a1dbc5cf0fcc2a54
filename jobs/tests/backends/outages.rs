use std::{
    io::Write,
    sync::{Arc, Mutex},
    time::Duration,
};

use fanfare_jobs::{CleanUp, Concurrency, Error, JobKind, Queue, run_worker};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{Seen, Worker, server::Server, until, within};

const KIND: JobKind = JobKind::PublishPost;

/// Pushes until Redis takes it again.
async fn push_when_up(queue: &Queue, ids: &[i64]) {
    within("a push succeeds", async {
        while queue.push(KIND, ids).await.is_err() {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_costs_what_waited_and_nothing_else() {
    let mut server = Server::start().await;
    let (queue, seen) = (Queue::redis(&server.url()).await.unwrap(), Seen::default());
    let worker = Worker::start(&queue, &Concurrency::new(4), seen.handler());
    for id in 1..=3 {
        push_when_up(&queue, &[id]).await;
        seen.reach(id as usize).await;
        server.down();
        assert!(queue.push(KIND, &[100]).await.is_err());
        assert!(queue.ping().await.is_err());
        assert!(queue.depth(KIND).await.is_err());
        assert!(queue.was_flushed().await.is_err());
        assert!(!worker.task.is_finished());
        server.up().await;
        assert!(queue.was_flushed().await.unwrap());
    }
    push_when_up(&queue, &[4]).await;
    seen.reach(4).await;
    worker.stop().await;
    assert_eq!(seen.ids(), [1, 2, 3, 4]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_starts_before_redis_does() {
    let mut server = Server::not_started();
    let (queue, seen) = (Queue::redis(&server.url()).await.unwrap(), Seen::default());
    let worker = Worker::start(&queue, &Concurrency::new(4), seen.handler());
    assert!(matches!(queue.push(KIND, &[1]).await, Err(Error::Redis(_))));
    queue.push_local(KIND, &[2, 3]).await;
    seen.reach(2).await;
    assert_eq!(seen.sorted(), [2, 3], "this process's own jobs run meanwhile");
    server.up().await;
    push_when_up(&queue, &[4]).await;
    seen.reach(3).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_stops_while_redis_is_away() {
    let server = Server::not_started();
    let queue = Queue::redis(&server.url()).await.unwrap();
    let worker = Worker::start(&queue, &Concurrency::new(4), |_| async {});
    sleep(Duration::from_millis(50)).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flushes_and_lost_connections_do_not_end_a_worker() {
    let server = Server::start().await;
    let (queue, seen) = (Queue::redis(&server.url()).await.unwrap(), Seen::default());
    let worker = Worker::start(&queue, &Concurrency::new(8), seen.handler());
    for round in 0..30_i64 {
        push_when_up(&queue, &(round * 100..round * 100 + 100).collect::<Vec<_>>()).await;
        if round % 3 == 0 {
            let _ok: () = server.ask(&["FLUSHALL"]).await.unwrap();
        } else {
            let _killed: u64 =
                server.ask(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]).await.unwrap();
        }
    }
    assert!(!worker.task.is_finished());
    push_when_up(&queue, &[9_999]).await;
    until("the last job runs", || seen.ids().contains(&9_999)).await;
    worker.stop().await;
    let (all, mut once) = (seen.sorted(), seen.sorted());
    once.dedup();
    assert_eq!(all, once);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_hangs_delays_a_push_by_a_second_and_local_pushes_not_at_all() {
    let server = Server::start().await;
    let (queue, seen) = (Queue::redis(&server.url()).await.unwrap(), Seen::default());
    let worker = Worker::start(&queue, &Concurrency::new(1), seen.handler());
    queue.push(KIND, &[1]).await.unwrap();
    seen.reach(1).await;
    server.freeze();
    let start = Instant::now();
    assert!(matches!(queue.push(KIND, &[2]).await, Err(Error::NoAnswer(_))));
    assert!(
        start.elapsed() < Duration::from_secs(15),
        "one second is meant, and this machine may be busy"
    );
    queue.push_local(KIND, &[3]).await;
    until("the local job runs", || seen.ids().contains(&3)).await;
    server.thaw();
    push_when_up(&queue, &[4]).await;
    until("jobs run again", || seen.ids().contains(&4)).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_stops_while_redis_hangs() {
    let server = Server::start().await;
    let (queue, seen) = (Queue::redis(&server.url()).await.unwrap(), Seen::default());
    let worker = Worker::start(&queue, &Concurrency::new(1), seen.handler());
    queue.push(KIND, &[1]).await.unwrap();
    seen.reach(1).await;
    server.freeze();
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_is_logged_once() {
    // For the whole process: a subscriber of one thread misses what other threads have met first. The lines of this
    // test are those about upkeep, which no other test here works on.
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let mut server = Server::start().await;
    let (queue, stop) = (Queue::redis(&server.url()).await.unwrap(), CancellationToken::new());
    let worker = tokio::spawn({
        let (queue, stop) = (queue.clone(), stop.clone());
        let handler = |job: CleanUp| async move { panic!("job {} was to be seen", job.id) };
        async move {
            run_worker(
                "upkeep".into(),
                &queue,
                Concurrency::new(1),
                handler,
                stop,
                Duration::from_secs(9),
            )
            .await
        }
    });
    queue.push(JobKind::CleanUp, &[77]).await.unwrap();
    log.has(1, "job 77 was to be seen").await;
    assert_eq!(log.count("id=77"), 1, "a panic is logged once, with its job");
    for outage in 1..=2 {
        server.down();
        log.has(outage, "Redis cannot be reached;").await;
        sleep(Duration::from_millis(2_500)).await; // at least two more tries
        server.up().await;
        log.has(outage, "Redis answers again").await;
        assert_eq!(log.count("Redis cannot be reached;"), outage);
    }
    stop.cancel();
    within("the worker stops", worker).await.unwrap().unwrap();
    assert_eq!(log.count("Redis answers again"), 2);
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn count(&self, text: &str) -> usize {
        let log = self.0.lock().unwrap();
        let log = String::from_utf8_lossy(&log);
        log.lines().filter(|line| line.contains("clean_up") && line.contains(text)).count()
    }

    async fn has(&self, count: usize, text: &str) {
        until(text, || self.count(text) >= count).await;
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
