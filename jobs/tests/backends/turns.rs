//! Whose turn it is.

use fanfare_jobs::{Kind, Ring, Slots};
use uuid::Uuid;

use crate::{Place, Seen, Worker};

const KIND: Kind = Kind::PublishPost;

on_both_backends! {
    a_newcomer_passes_a_burst_and_two_bursts_alternate
    what_one_had_while_it_was_alone_is_not_held_against_it
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
