use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use apalis_core::{
    backend::Backend as _,
    worker::{
        builder::WorkerBuilder,
        context::WorkerContext,
        event::Event,
        ext::{event_listener::EventListenerExt, parallelize::ParallelizeExt},
    },
};
use fanfare_jobs::{Concurrency, CopyMedia, Error, FetchedJob, JobKind, run_worker};
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;

use crate::{Gate, Place, Seen, Worker, handler, until, within};

const KIND: JobKind = JobKind::PublishPost;

on_both_backends! {
    ids_are_taken_in_the_order_they_were_pushed
    an_id_that_waits_is_not_repeated_and_one_that_was_taken_may_be
    kinds_do_not_mix
    as_many_run_at_once_as_there_are_slots
    a_backlog_of_twenty_thousand_is_taken_once_each
    two_instances_share_the_work_without_doubles
    a_stop_lets_running_jobs_finish_and_starts_no_other
    what_a_worker_was_given_and_did_not_fetch_goes_back_to_its_place
    what_does_not_finish_in_time_is_aborted
    a_panic_frees_the_slot_and_the_worker_goes_on
    a_handler_that_blocks_its_thread_does_not_hold_up_the_others
    two_workers_of_one_name_are_an_error
    ids_of_this_process_are_taken_first
    a_busy_worker_sees_its_jobs_end
    nothing_is_nothing
}

async fn ids_are_taken_in_the_order_they_were_pushed(place: Place) {
    let (queue, other, seen) = (place.queue().await, place.queue().await, Seen::default());
    queue.push(KIND, &[30, 9, 100, -1]).await.unwrap();
    other.push(KIND, &[2, 10]).await.unwrap();
    queue.push(KIND, &[1, 9, 0]).await.unwrap();
    let worker = Worker::start(&queue, &Concurrency::new(1), seen.handler());
    seen.reach(8).await;
    assert_eq!(seen.ids(), [30, 9, 100, -1, 2, 10, 1, 0]);
    worker.stop().await;
}

async fn an_id_that_waits_is_not_repeated_and_one_that_was_taken_may_be(place: Place) {
    let (queue, seen, gate) = (place.queue().await, Seen::default(), Gate::shut());
    queue.push(KIND, &[1, 2, 1]).await.unwrap();
    queue.push(KIND, &[2, 3]).await.unwrap();
    assert_eq!(queue.depth(KIND).await.unwrap(), 3);
    let worker = Worker::start(&queue, &Concurrency::new(3), handler(&seen, &gate));
    seen.reach(3).await;
    queue.push(KIND, &[2, 2]).await.unwrap();
    assert_eq!(queue.depth(KIND).await.unwrap(), 1, "2 is at work, so it may wait again");
    gate.open();
    seen.reach(4).await;
    worker.stop().await;
    assert_eq!(seen.sorted(), [1, 2, 2, 3]);
    assert_eq!(queue.depth(KIND).await.unwrap(), 0);
}

async fn kinds_do_not_mix(place: Place) {
    let (queue, seen) = (place.queue().await, Seen::default());
    for (id, kind) in (1..).zip(JobKind::ALL) {
        queue.push(kind, &[id]).await.unwrap();
    }
    let stop = CancellationToken::new();
    let media = tokio::spawn({
        let (queue, stop, seen) = (queue.clone(), stop.clone(), seen.clone());
        let handler = move |job: CopyMedia| {
            seen.add(job.id);
            async {}
        };
        async move {
            run_worker(
                "media".into(),
                &queue,
                Concurrency::new(4),
                handler,
                stop,
                Duration::from_secs(9),
            )
            .await
        }
    });
    seen.reach(1).await;
    stop.cancel();
    within("the worker stops", media).await.unwrap().unwrap();
    assert_eq!(seen.ids(), [3]);
    for (kind, waiting) in JobKind::ALL.into_iter().zip([1, 1, 0, 1, 1, 1, 1, 1, 1]) {
        assert_eq!(queue.depth(kind).await.unwrap(), waiting, "{kind}");
    }
}

async fn as_many_run_at_once_as_there_are_slots(place: Place) {
    const SLOTS: usize = 3;
    let (queue, slots, seen) = (place.queue().await, Concurrency::new(SLOTS), Seen::default());
    // Nobody passes unless SLOTS of them are there at once.
    let (barrier, running) = (Arc::new(Barrier::new(SLOTS)), Arc::new(AtomicUsize::new(0)));
    queue.push(KIND, &(0..60).collect::<Vec<_>>()).await.unwrap();
    let worker = Worker::start(&queue, &slots, {
        let seen = seen.clone();
        move |id| {
            let (seen, barrier, running) =
                (seen.clone(), Arc::clone(&barrier), Arc::clone(&running));
            async move {
                assert!(
                    running.fetch_add(1, Ordering::SeqCst) < SLOTS,
                    "more run than there are slots"
                );
                barrier.wait().await;
                running.fetch_sub(1, Ordering::SeqCst);
                seen.add(id);
            }
        }
    });
    seen.reach(60).await;
    worker.stop().await;
    assert_eq!((slots.free(), slots.total()), (SLOTS, SLOTS));
}

async fn a_backlog_of_twenty_thousand_is_taken_once_each(place: Place) {
    let (queue, seen) = (place.queue().await, Seen::default());
    let all: Vec<i64> = (1..=20_000).collect();
    queue.push(KIND, &all).await.unwrap();
    assert_eq!(queue.depth(KIND).await.unwrap(), 20_000);
    let worker = Worker::start(&queue, &Concurrency::new(256), seen.handler());
    seen.reach(20_000).await;
    worker.stop().await;
    assert_eq!(seen.sorted(), all);
    assert_eq!(queue.depth(KIND).await.unwrap(), 0);
}

async fn two_instances_share_the_work_without_doubles(place: Place) {
    let (one, other, seen) = (place.queue().await, place.queue().await, Seen::default());
    let all: Vec<i64> = (1..=2_000).collect();
    one.push(KIND, &all[..1_000]).await.unwrap();
    // With one slot each, two jobs at once are two instances at work.
    let both_there = Arc::new(Barrier::new(2));
    let work = {
        let seen = seen.clone();
        move |id| {
            let (seen, both_there) = (seen.clone(), Arc::clone(&both_there));
            async move {
                both_there.wait().await;
                seen.add(id);
            }
        }
    };
    let workers = [
        Worker::start(&one, &Concurrency::new(1), work.clone()),
        Worker::start(&other, &Concurrency::new(1), work),
    ];
    other.push(KIND, &all[1_000..]).await.unwrap();
    seen.reach(2_000).await;
    for worker in workers {
        worker.stop().await;
    }
    assert_eq!(seen.sorted(), all);
}

async fn a_stop_lets_running_jobs_finish_and_starts_no_other(place: Place) {
    let (queue, begun, done, gate) =
        (place.queue().await, Seen::default(), Seen::default(), Gate::shut());
    queue.push(KIND, &(1..=10).collect::<Vec<_>>()).await.unwrap();
    let worker = Worker::start(&queue, &Concurrency::new(4), {
        let (begun, done, gate) = (begun.clone(), done.clone(), gate.clone());
        move |id| {
            begun.add(id);
            let (done, gate) = (done.clone(), gate.clone());
            async move {
                gate.pass().await;
                done.add(id);
            }
        }
    });
    begun.reach(4).await;
    worker.stop.cancel();
    gate.open();
    worker.stop().await;
    assert_eq!(begun.sorted(), [1, 2, 3, 4]);
    assert_eq!(done.sorted(), [1, 2, 3, 4]);
    assert_eq!(queue.depth(KIND).await.unwrap(), 6);
}

async fn what_a_worker_was_given_and_did_not_fetch_goes_back_to_its_place(place: Place) {
    let (queue, slots, seen) = (place.queue().await, Concurrency::new(5), Seen::default());
    queue.push(KIND, &(1..=8).collect::<Vec<_>>()).await.unwrap();
    let (mut backend, worker) = (queue.backend(KIND, slots.clone()), WorkerContext::new("by hand"));
    let fetched = poll_fn(|cx| {
        assert!(backend.poll_ready(cx, &worker).is_ready());
        backend.poll_next(cx, &worker)
    });
    let fetched = within("a job comes", fetched).await.unwrap().unwrap();
    assert_eq!(fetched.args.id(), 1);
    until("the fetcher has filled all slots", || slots.free() == 0).await;
    queue.push(KIND, &[3, 9]).await.unwrap(); // the worker has fetched 3
    within("the backend closes", poll_fn(|cx| backend.poll_close(cx, &worker))).await.unwrap();
    assert_eq!(slots.free(), 4, "only the fetched one keeps its slot");
    drop(fetched);
    assert_eq!(slots.free(), 5);

    let worker = Worker::start(&queue, &Concurrency::new(1), seen.handler());
    seen.reach(8).await;
    worker.stop().await;
    let mut order = seen.ids();
    order.retain(|id| *id != 3); // in memory it stays where it was pushed again
    assert_eq!(order, [2, 4, 5, 6, 7, 8, 9]);
}

async fn what_does_not_finish_in_time_is_aborted(place: Place) {
    struct Ended(Arc<AtomicBool>);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let (queue, slots, seen, ended) = (
        place.queue().await,
        Concurrency::new(1),
        Seen::default(),
        Arc::new(AtomicBool::new(false)),
    );
    queue.push(KIND, &[1, 2]).await.unwrap();
    let worker = Worker::start_with_grace(&queue, &slots, Duration::from_millis(20), {
        let (seen, ended) = (seen.clone(), Arc::clone(&ended));
        move |id| {
            seen.add(id);
            let guard = Ended(Arc::clone(&ended));
            async move {
                std::future::pending::<()>().await;
                drop(guard);
            }
        }
    });
    seen.reach(1).await;
    worker.stop().await;
    until("the job is gone", || ended.load(Ordering::SeqCst)).await;
    until("its slot is free", || slots.free() == 1).await;
    assert_eq!((seen.ids(), queue.depth(KIND).await.unwrap()), (vec![1], 1));
}

async fn a_panic_frees_the_slot_and_the_worker_goes_on(place: Place) {
    let (queue, slots, seen) = (place.queue().await, Concurrency::new(1), Seen::default());
    let worker = Worker::start(&queue, &slots, {
        let seen = seen.clone();
        move |id| {
            assert!(id != 1, "the first job panics before its future exists");
            let seen = seen.clone();
            async move {
                tokio::task::yield_now().await;
                assert!(id != 2, "the second job panics while it runs");
                seen.add(id);
            }
        }
    });
    queue.push(KIND, &[1, 2, 3]).await.unwrap();
    seen.reach(1).await;
    worker.stop().await;
    assert_eq!((seen.ids(), slots.free()), (vec![3], 1));
}

async fn a_handler_that_blocks_its_thread_does_not_hold_up_the_others(place: Place) {
    let (queue, seen) = (place.queue().await, Seen::default());
    let worker = Worker::start(&queue, &Concurrency::new(2), {
        let seen = seen.clone();
        move |id| {
            let seen = seen.clone();
            async move {
                // The first one keeps a whole thread until the second, pushed later, is through.
                while id == 1 && seen.ids().is_empty() {
                    std::thread::yield_now();
                }
                seen.add(id);
            }
        }
    });
    queue.push(KIND, &[1]).await.unwrap();
    queue.push(KIND, &[2]).await.unwrap();
    seen.reach(2).await;
    worker.stop().await;
    assert_eq!(seen.ids(), [2, 1]);
}

async fn two_workers_of_one_name_are_an_error(place: Place) {
    let (queue, seen, stop) = (place.queue().await, Seen::default(), CancellationToken::new());
    let name = format!("twin of {queue:?}");
    let run = |stop: &CancellationToken| {
        let (name, queue, stop, seen) = (name.clone(), queue.clone(), stop.clone(), seen.clone());
        let handler = move |job: CopyMedia| {
            seen.add(job.id);
            async {}
        };
        async move {
            run_worker(name, &queue, Concurrency::new(1), handler, stop, Duration::from_secs(9))
                .await
        }
    };
    let first = tokio::spawn(run(&stop));
    queue.push(JobKind::CopyMedia, &[1]).await.unwrap();
    seen.reach(1).await;
    let second = within("the second ends", run(&stop)).await.unwrap_err();
    assert!(matches!(second, Error::NameTaken(taken) if taken == name));
    stop.cancel();
    within("the first stops", first).await.unwrap().unwrap();
    within("the name is free again", run(&stop)).await.unwrap();
}

async fn ids_of_this_process_are_taken_first(place: Place) {
    let (queue, seen) = (place.queue().await, Seen::default());
    queue.push_local(KIND, &[5, 6]).await;
    queue.push(KIND, &[1, 2]).await.unwrap();
    assert_eq!(queue.depth(KIND).await.unwrap(), 4);
    let worker = Worker::start(&queue, &Concurrency::new(1), seen.handler());
    seen.reach(4).await;
    assert_eq!(seen.ids(), [5, 6, 1, 2]);
    // A worker that waits for a push elsewhere takes it too.
    queue.push_local(KIND, &[7]).await;
    seen.reach(5).await;
    worker.stop().await;
}

/// An apalis worker polls ended jobs and new ones in one loop. If tokio's budget hid the ends but not the beginnings,
/// it would only begin, and what it keeps of each job would pile up.
async fn a_busy_worker_sees_its_jobs_end(place: Place) {
    const JOBS: usize = 30_000;
    let (queue, counts) = (place.queue().await, Arc::new(Counts::default()));
    queue.push(KIND, &(1..=JOBS as i64).collect::<Vec<_>>()).await.unwrap();
    let worker = WorkerBuilder::new("busy")
        .backend(queue.backend(KIND, Concurrency::new(256)))
        .parallelize(tokio::spawn)
        .on_event({
            let counts = Arc::clone(&counts);
            move |worker, event| {
                if matches!(event, Event::Success(_)) {
                    let seen = counts.seen.fetch_add(1, Ordering::SeqCst) + 1;
                    counts
                        .unseen
                        .fetch_max(counts.ended.load(Ordering::SeqCst) - seen, Ordering::SeqCst);
                    if seen == JOBS {
                        worker.stop().unwrap();
                    }
                }
            }
        })
        .build({
            let counts = Arc::clone(&counts);
            move |job: FetchedJob| {
                let counts = Arc::clone(&counts);
                async move {
                    counts.ended.fetch_add(1, Ordering::SeqCst);
                    drop(job);
                }
            }
        });
    within("the worker runs out of jobs", worker.run()).await.unwrap();
    let unseen = counts.unseen.load(Ordering::SeqCst);
    assert!(unseen < 2_000, "{unseen} of {JOBS} jobs had ended and the worker had not looked");
}

#[derive(Default)]
struct Counts {
    ended: AtomicUsize,
    seen: AtomicUsize,
    unseen: AtomicUsize,
}

async fn nothing_is_nothing(place: Place) {
    let queue = place.queue().await;
    queue.push(KIND, &[0_i64; 0]).await.unwrap();
    queue.push_local(KIND, &[0_i64; 0]).await;
    queue.ping().await.unwrap();
    assert_eq!(queue.depth(KIND).await.unwrap(), 0);
    let worker =
        Worker::start(
            &queue,
            &Concurrency::new(1),
            |id| async move { panic!("nobody pushed {id}") },
        );
    worker.stop().await;
}
