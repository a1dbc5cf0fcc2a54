use std::time::Duration;

use fanfare_jobs::{Concurrency, Error, JobKind, Queue};
use tokio::time::{Instant, sleep};

use crate::{Gate, Seen, Worker, server::Server, until, within};

const KIND: JobKind = JobKind::PublishPost;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backlog_is_popped_by_sixty_four_and_no_more_than_can_run() {
    let server = Server::start().await;
    let (queue, seen, gate) =
        (Queue::redis(&server.url()).await.unwrap(), Seen::default(), Gate::shut());
    queue.push(KIND, &(1..=1_000).collect::<Vec<_>>()).await.unwrap();
    let worker = Worker::start(&queue, &Concurrency::new(200), {
        let (seen, gate) = (seen.clone(), gate.clone());
        move |id| {
            seen.add(id);
            let gate = gate.clone();
            async move { gate.pass().await }
        }
    });
    seen.reach(200).await;
    assert_eq!(server.pops().await, 4, "64, 64, 64 and 8");
    assert_eq!(queue.depth(KIND).await.unwrap(), 800, "nothing is taken ahead of a free slot");
    gate.let_pass(1);
    seen.reach(201).await;
    assert_eq!(server.pops().await, 5);
    gate.open();
    seen.reach(1_000).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_runs_without_a_poll() {
    let server = Server::start().await;
    let (queue, seen) = (Queue::redis(&server.url()).await.unwrap(), Seen::default());
    let worker = Worker::start(&queue, &Concurrency::new(4), seen.handler());
    let start = Instant::now();
    for id in 1..=50 {
        within("the worker listens", async {
            while server.blocked().await == 0 {
                sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
        queue.push(KIND, &[id]).await.unwrap();
        seen.reach(id as usize).await;
    }
    // Each push ends the pop that waits for it; the only other pops are those that timed out after a second.
    let quiet = start.elapsed().as_secs() + 1;
    let pops = server.pops().await;
    assert!(
        (50..=50 + quiet).contains(&pops),
        "{pops} pops for 50 jobs, of which {quiet} may have found nothing"
    );
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_push_after_a_long_quiet_is_not_lost() {
    let server = Server::start().await;
    let (queue, seen) = (Queue::redis(&server.url()).await.unwrap(), Seen::default());
    let worker = Worker::start(&queue, &Concurrency::new(4), seen.handler());
    for id in 1..=4 {
        // Longer than the response timeout that redis-rs has by default.
        sleep(Duration::from_millis(650)).await;
        queue.push(KIND, &[id]).await.unwrap();
        seen.reach(id as usize).await;
    }
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_push_during_a_stop_is_kept() {
    let server = Server::start().await;
    let (queue, seen) = (Queue::redis(&server.url()).await.unwrap(), Seen::default());
    for id in 1..=5 {
        let worker = Worker::start(&queue, &Concurrency::new(4), seen.handler());
        within("the worker listens", async {
            while server.blocked().await == 0 {
                sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
        worker.stop.cancel();
        queue.push(KIND, &[id]).await.unwrap();
        worker.stop().await;
        let waiting = queue.depth(KIND).await.unwrap() as usize;
        assert_eq!(seen.ids().len() + waiting, id as usize, "every job runs or is still queued");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_id_is_dropped_and_the_rest_is_taken() {
    let server = Server::start().await;
    let (queue, seen) = (Queue::redis(&server.url()).await.unwrap(), Seen::default());
    queue.push(KIND, &[1, 2]).await.unwrap();
    let _added: u64 =
        server.ask(&["ZADD", "fanfare:{publish_post}:due", "1.5", "rubbish"]).await.unwrap();
    let worker = Worker::start(&queue, &Concurrency::new(4), seen.handler());
    seen.reach(2).await;
    worker.stop().await;
    assert_eq!(seen.sorted(), [1, 2]);
    assert_eq!(queue.depth(KIND).await.unwrap(), 0);
}

#[tokio::test]
async fn every_process_notices_a_flush_once() {
    let server = Server::start().await;
    let (one, other) =
        (Queue::redis(&server.url()).await.unwrap(), Queue::redis(&server.url()).await.unwrap());
    assert!(one.is_redis());
    assert!(one.was_flushed().await.unwrap(), "a new server knows nothing");
    assert!(!other.was_flushed().await.unwrap(), "one has seen to it");
    assert!(!one.was_flushed().await.unwrap());
    for _ in 0..2 {
        let _ok: () = server.ask(&["FLUSHALL"]).await.unwrap();
        assert!(one.clone().was_flushed().await.unwrap());
        assert!(!one.was_flushed().await.unwrap());
        assert!(other.was_flushed().await.unwrap(), "though one has set the key again");
        assert!(!other.was_flushed().await.unwrap());
    }
}

#[tokio::test]
async fn a_server_that_cannot_pop_many_is_refused() {
    let server = Server::start_with(&["--rename-command", "BZMPOP", ""]).await;
    assert!(matches!(Queue::redis(&server.url()).await, Err(Error::TooOld)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_worker_shows_its_slots_as_free() {
    let server = Server::start().await;
    let (queue, slots) = (Queue::redis(&server.url()).await.unwrap(), Concurrency::new(4));
    let worker = Worker::start(&queue, &slots, |_| async {});
    within("the worker listens", async {
        while server.blocked().await == 0 {
            sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    until("all slots are free", || slots.free() == 4).await;
    worker.stop().await;
}
