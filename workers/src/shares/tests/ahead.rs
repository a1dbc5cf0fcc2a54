//! Who is let in ahead of a slot, and how a burst opens them.

use super::*;

/// Slots free, one a millisecond, and are taken again, by who needs ten milliseconds to get ready.
async fn go_on(shares: &Shares, held: &mut Vec<Share>) {
    for _ in 0..600 {
        (0..100).for_each(|_| shares.state().pace.ready(Duration::from_millis(10)));
        tokio::time::advance(Duration::from_millis(1)).await;
        drop(held.remove(0));
        let mut next = fill(shares, 1, mine).await;
        next[0].begin().await;
        held.append(&mut next);
    }
    (0..100).for_each(|_| shares.state().pace.ready(Duration::from_millis(10)));
}

/// Takes 64 slots, and begins in each.
async fn busy(shares: &Shares) -> Vec<Share> {
    let mut held = fill(shares, 64, mine).await;
    for one in &mut held {
        one.begin().await;
    }
    held
}

#[tokio::test(start_paused = true)]
async fn who_has_next_to_nothing_does_not_wait_behind_those_let_in_ahead() {
    let (shares, _left) = Shares::new(64);
    let mut held = busy(&shares).await;
    go_on(&shares, &mut held).await;
    assert!(!shares.has_newcomers());
    let mut ahead = fill(&shares, 2, mine).await;
    let bound = shares.state().bound();
    assert!(shares.state().running < bound, "more are let in ahead");
    let since = Instant::now();
    fill(&shares, 1, neighbour).await[0].begin().await;
    assert_eq!(since.elapsed(), Duration::ZERO);
    assert_eq!(shares.state().extras, 0, "it is given back");
    ahead[0].begin().await;
    assert!(since.elapsed() >= SOON, "others wait for a slot");
    drop(shares.enter(Lane::First, mine()).await);
    assert!(!shares.has_newcomers(), "a burst is none, whatever it begins with");
    drop(shares.enter(Lane::First, neighbour()).await);
    assert!(shares.has_newcomers());
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(!shares.has_newcomers(), "and forget it");
}

#[tokio::test(start_paused = true)]
async fn who_has_to_get_ready_is_let_in_ahead_of_a_slot_and_begins_when_it_frees() {
    let (shares, _left) = Shares::new(64);
    let mut held = busy(&shares).await;
    assert!(shares.state().full(&mine()).is_some(), "nobody has to get ready yet");
    go_on(&shares, &mut held).await;
    let more = shares.state().bound() - 64;
    assert!((18..=20).contains(&more), "twice as many as free in ten milliseconds: {more}");
    let mut ahead = fill(&shares, more, mine).await;
    assert!(shares.state().full(&mine()).is_some());
    let mut first = ahead.remove(0);
    let beginning = tokio::spawn(async move {
        first.begin().await;
        first
    });
    tokio::task::yield_now().await;
    assert!(!beginning.is_finished(), "all slots are taken");
    let since = Instant::now();
    held.pop();
    held.push(beginning.await.unwrap());
    fill(&shares, 1, other).await[0].begin().await;
    fill(&shares, 1, neighbour).await[0].begin().await;
    assert_eq!(since.elapsed(), Duration::ZERO, "a newcomer waits for nobody");
    ahead[0].begin().await;
    assert!(since.elapsed() >= SOON, "who is ready does not grow old");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(shares.state().bound(), 64, "nobody is let in ahead when none frees");
}

#[tokio::test(start_paused = true)]
async fn those_that_wait_are_let_in_ahead_too() {
    let (shares, _left) = Shares::new(64);
    let mut held = fill(&shares, 64, mine).await;
    let more: Vec<_> = (0..30).map(|_| entering(&shares, Lane::Further, mine())).collect();
    tokio::task::yield_now().await;
    (0..100).for_each(|_| shares.state().pace.ready(Duration::from_millis(50)));
    held.truncate(54);
    tokio::task::yield_now().await;
    let entered = more.iter().filter(|one| one.is_finished()).count();
    assert_eq!(entered, 11, "ten for slots that are free, and one for those that will be");
}

#[tokio::test(start_paused = true)]
async fn a_burst_opens_the_slots_little_by_little() {
    let (shares, _left) = Shares::new(64);
    let shares = shares.slow_start();
    let since = Instant::now();
    let mut held = fill(&shares, 16, mine).await;
    assert_eq!(since.elapsed(), Duration::ZERO, "a quarter is open");
    let more: Vec<_> = (0..48).map(|_| entering(&shares, Lane::Further, mine())).collect();
    let entered = || more.iter().filter(|one| one.is_finished()).count();
    tokio::time::sleep(Duration::from_millis(101)).await;
    assert!((22..=26).contains(&entered()), "half of the rest: {}", entered());
    held.append(&mut fill(&shares, 1, other).await);
    assert!(since.elapsed() < Duration::from_millis(102), "a newcomer waits for nobody");
    held.pop();
    tokio::time::sleep(Duration::from_millis(110)).await;
    assert_eq!(entered(), 48, "and then all, though none was freed");
    drop(held);
    for one in more {
        assert!(one.await.unwrap().is_ok(), "nobody is parked while slots open");
    }
    drop(fill(&shares, 64, mine).await);
    let again = Instant::now();
    tokio::time::advance(Duration::from_millis(201)).await;
    let held = fill(&shares, 17, mine).await;
    assert!(again.elapsed() > Duration::from_millis(201), "and anew after a pause: {}", held.len());
}
