use fanfare_jobs::{Bell, Kind, Slots};
use tokio::time::Instant;

use crate::{Seen, Worker};

/// The clock of this test stands still until somebody waits for a time to come. So it shows every poll, however short
/// its interval.
#[tokio::test(start_paused = true)]
async fn a_ring_is_heard_without_a_poll() {
    let (bell, seen) = (Bell::memory(), Seen::default());
    let worker = Worker::start(&bell, &Slots::new(4), seen.handler());
    let start = Instant::now();
    for id in 1..=50 {
        bell.push(Kind::PublishPost, &[id]).await.unwrap();
        while seen.ids().last() != Some(&id) {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(start.elapsed().as_nanos(), 0, "somebody slept");
    worker.stop().await;
}

#[tokio::test]
async fn memory_forgets_nothing() {
    let bell = Bell::memory();
    assert!(!bell.is_redis());
    assert!(!bell.forgot().await.unwrap());
}
