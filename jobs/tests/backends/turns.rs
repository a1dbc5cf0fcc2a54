//! Whose turn it is.

use std::{sync::Arc, time::Duration};

use fanfare_jobs::{Kind, PublishPost, Ring, Slots};
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::{Place, Seen, Worker};

const KIND: Kind = Kind::PublishPost;

on_both_backends! {
    a_newcomer_passes_a_burst_and_two_bursts_alternate
    what_one_had_while_it_was_alone_is_not_held_against_it
    who_has_next_to_nothing_under_way_is_told_apart_from_a_burst
    the_last_slots_are_kept_for_who_has_next_to_nothing_under_way
    a_burst_goes_through_although_slots_are_kept
}

async fn a_newcomer_passes_a_burst_and_two_bursts_alternate(place: Place) {
    let [loud, quiet, other] = [1, 2, 3].map(Uuid::from_u128);
    let burst = |of, from| (from..from + 300).map(|id| Ring::of(of, id)).collect::<Vec<_>>();
    let (bell, process, seen) = (place.bell().await, place.bell().await, Seen::default());
    bell.push(KIND, &burst(loud, 0)).await.unwrap();
    process.push(KIND, &[Ring::of(quiet, 5_000)]).await.unwrap();
    bell.push(KIND, &burst(other, 1_000)).await.unwrap();
    let worker = Worker::start(&bell, &Slots::new(1), seen.handler());
    seen.reach(601).await;
    worker.stop().await;
    let ids = seen.ids();
    let place = ids.iter().position(|id| *id == 5_000).unwrap();
    assert!(place <= 2, "the newcomer came after {place} others");
    let of_other = ids[..100].iter().filter(|id| **id >= 1_000).count();
    assert!((45..=55).contains(&of_other), "{of_other} of the first hundred");
    assert!(
        ids.iter().filter(|id| **id < 1_000).is_sorted(),
        "a tenant's own ids keep their order"
    );
}

async fn what_one_had_while_it_was_alone_is_not_held_against_it(place: Place) {
    let [early, late] = [1, 2].map(Uuid::from_u128);
    let (bell, seen) = (place.bell().await, Seen::default());
    let alone: Vec<_> = (0..100).map(|id| Ring::of(early, id)).collect();
    bell.push(KIND, &alone).await.unwrap();
    let worker = Worker::start(&bell, &Slots::new(1), seen.handler());
    seen.reach(100).await;
    worker.stop().await;
    bell.push(KIND, &[Ring::of(early, 200), Ring::of(late, 300), Ring::of(late, 301)])
        .await
        .unwrap();
    let worker = Worker::start(&bell, &Slots::new(1), seen.handler());
    seen.reach(103).await;
    worker.stop().await;
    assert_eq!(seen.ids()[100..], [200, 300, 301]);
}

async fn who_has_next_to_nothing_under_way_is_told_apart_from_a_burst(place: Place) {
    let [loud, quiet] = [1, 2].map(Uuid::from_u128);
    let (bell, seen, firsts) = (place.bell().await, Seen::default(), Seen::default());
    let burst: Vec<_> = (0..100).map(|id| Ring::of(loud, id)).collect();
    bell.push(KIND, &burst).await.unwrap();
    bell.push(KIND, &[Ring::of(quiet, 500), Ring::of(quiet, 501)]).await.unwrap();
    let worker = Worker::start_jobs(&bell, &Slots::new(1), Duration::from_secs(60), {
        let (seen, firsts) = (seen.clone(), firsts.clone());
        move |job: PublishPost| {
            if job.first {
                firsts.add(job.post_id);
            }
            seen.add(job.post_id);
            std::future::ready(())
        }
    });
    seen.reach(102).await;
    worker.stop().await;
    assert_eq!(firsts.sorted(), [0, 1, 2, 3, 500, 501]);
}

async fn the_last_slots_are_kept_for_who_has_next_to_nothing_under_way(place: Place) {
    let [loud, quiet] = [1, 2].map(Uuid::from_u128);
    let (bell, seen, gate) = (place.bell().await, Seen::default(), Arc::new(Semaphore::new(0)));
    let burst: Vec<_> = (0..100).map(|id| Ring::of(loud, id)).collect();
    bell.push(KIND, &burst).await.unwrap();
    let worker = Worker::start(&bell, &Slots::new(9).keeping(3), {
        let (seen, gate) = (seen.clone(), Arc::clone(&gate));
        move |id| {
            seen.add(id);
            let gate = Arc::clone(&gate);
            async move { gate.acquire().await.unwrap().forget() }
        }
    });
    seen.reach(6).await;
    bell.push(KIND, &[Ring::of(quiet, 500), Ring::of(quiet, 501)]).await.unwrap();
    seen.reach(8).await;
    let newcomers = seen.sorted().split_off(6);
    assert_eq!(newcomers, [500, 501], "they run although everybody else waits for a slot");
    bell.push(KIND, &[Ring::of(Uuid::from_u128(3), 600)]).await.unwrap();
    seen.reach(9).await;
    assert_eq!(seen.ids()[8], 600);
    gate.add_permits(1_000);
    seen.reach(103).await;
    worker.stop().await;
}

/// A slot may be freed at any moment between two looks of the one who waits for it.
async fn a_burst_goes_through_although_slots_are_kept(place: Place) {
    let (bell, seen) = (place.bell().await, Seen::default());
    let burst: Vec<_> = (0..50_000).map(|id| Ring::of(Uuid::from_u128(1), id)).collect();
    bell.push(KIND, &burst).await.unwrap();
    let worker = Worker::start(&bell, &Slots::new(8).keeping(4), seen.handler());
    seen.reach(50_000).await;
    worker.stop().await;
}
