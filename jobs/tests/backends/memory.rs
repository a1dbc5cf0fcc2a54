use fanfare_jobs::{Concurrency, JobKind, Queue};
use tokio::time::Instant;

use crate::{Seen, Worker};

/// The clock of this test stands still until somebody waits for a time to come. So it shows every poll, however short
/// its interval.
#[tokio::test(start_paused = true)]
async fn a_job_runs_without_a_poll() {
    let (queue, seen) = (Queue::memory(), Seen::default());
    let worker = Worker::start(&queue, &Concurrency::new(4), seen.handler());
    let start = Instant::now();
    for id in 1..=50 {
        queue.push(JobKind::PublishPost, &[id]).await.unwrap();
        while seen.ids().last() != Some(&id) {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(start.elapsed().as_nanos(), 0, "somebody slept");
    worker.stop().await;
}

#[tokio::test]
async fn memory_forgets_nothing() {
    let queue = Queue::memory();
    assert!(!queue.is_redis());
    assert!(!queue.was_flushed().await.unwrap());
}
