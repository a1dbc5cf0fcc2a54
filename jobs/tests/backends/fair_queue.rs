//! Fairness between tenants.

use fanfare_jobs::{Concurrency, JobKind, JobRef};
use uuid::Uuid;

use crate::{Place, Seen, Worker};

const KIND: JobKind = JobKind::PublishPost;

on_both_backends! {
    a_new_tenant_passes_a_burst_and_two_bursts_alternate
    what_one_had_while_it_was_alone_is_not_held_against_it
}

async fn a_new_tenant_passes_a_burst_and_two_bursts_alternate(place: Place) {
    let [loud, quiet, other] = [1, 2, 3].map(Uuid::from_u128);
    let burst = |of, from| (from..from + 300).map(|id| JobRef::of(of, id)).collect::<Vec<_>>();
    let (queue, process, seen) = (place.queue().await, place.queue().await, Seen::default());
    queue.push(KIND, &burst(loud, 0)).await.unwrap();
    process.push(KIND, &[JobRef::of(quiet, 5_000)]).await.unwrap();
    queue.push(KIND, &burst(other, 1_000)).await.unwrap();
    let worker = Worker::start(&queue, &Concurrency::new(1), seen.handler());
    seen.reach(601).await;
    worker.stop().await;
    let ids = seen.ids();
    let place = ids.iter().position(|id| *id == 5_000).unwrap();
    assert!(place <= 2, "the new tenant came after {place} others");
    let of_other = ids[..100].iter().filter(|id| **id >= 1_000).count();
    assert!((45..=55).contains(&of_other), "{of_other} of the first hundred");
    assert!(
        ids.iter().filter(|id| **id < 1_000).is_sorted(),
        "a tenant's own ids keep their order"
    );
}

async fn what_one_had_while_it_was_alone_is_not_held_against_it(place: Place) {
    let [early, late] = [1, 2].map(Uuid::from_u128);
    let (queue, seen) = (place.queue().await, Seen::default());
    let alone: Vec<_> = (0..100).map(|id| JobRef::of(early, id)).collect();
    queue.push(KIND, &alone).await.unwrap();
    let worker = Worker::start(&queue, &Concurrency::new(1), seen.handler());
    seen.reach(100).await;
    worker.stop().await;
    queue
        .push(KIND, &[JobRef::of(early, 200), JobRef::of(late, 300), JobRef::of(late, 301)])
        .await
        .unwrap();
    let worker = Worker::start(&queue, &Concurrency::new(1), seen.handler());
    seen.reach(103).await;
    worker.stop().await;
    assert_eq!(seen.ids()[100..], [200, 300, 301]);
}
