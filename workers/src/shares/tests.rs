mod ahead;

use tokio::task::JoinHandle;

use super::{
    state::{OF_ONE, QUICK},
    *,
};

fn tenant(number: u128) -> WorkspaceId {
    WorkspaceId(uuid::Uuid::from_u128(number))
}

fn seeker(of: u128, platform: &str, account: i64) -> Seeker {
    let keys = vec![Key::Platform(platform.into()), Key::Account(AccountId(account))];
    Seeker { tenant: tenant(of), keys }
}

fn mine() -> Seeker {
    seeker(1, "bluesky", 1)
}

/// The same tenant's on another network.
fn other() -> Seeker {
    seeker(1, "threads", 9)
}

/// Another tenant's on the same network.
fn neighbour() -> Seeker {
    seeker(2, "bluesky", 2)
}

async fn fill(shares: &Shares, slots: usize, seeker: fn() -> Seeker) -> Vec<Share> {
    let mut held = Vec::new();
    for _ in 0..slots {
        held.push(shares.enter(Lane::Further, seeker()).await.unwrap());
    }
    held
}

/// Somebody who is looking for a slot in the background.
fn entering(shares: &Shares, lane: Lane, seeker: Seeker) -> JoinHandle<Result<Share, Key>> {
    let shares = shares.clone();
    tokio::spawn(async move { shares.enter(lane, seeker).await })
}

#[tokio::test]
async fn alone_one_account_uses_all_slots_and_newcomers_find_some_besides() {
    let (shares, _left) = Shares::new(16);
    let held = fill(&shares, 16, mine).await;
    assert_eq!(
        shares.enter(Lane::Further, mine()).await.unwrap_err(),
        Key::Platform("bluesky".into())
    );
    let newcomers = fill(&shares, 4, other).await;
    assert!(shares.enter(Lane::Further, other()).await.is_err(), "it has its share");
    drop((held, newcomers));
    assert_eq!(shares.state().running, 0);
    assert!(shares.state().held.is_empty());
}

#[tokio::test]
async fn while_others_hold_slots_a_key_keeps_to_its_share() {
    let (shares, _left) = Shares::new(16);
    let others = fill(&shares, 16, other).await;
    let held = fill(&shares, 2, mine).await;
    assert!(shares.enter(Lane::Further, other()).await.is_err());
    drop((others, held));
}

#[tokio::test(start_paused = true)]
async fn a_receiver_has_more_than_its_share_only_while_it_is_quick() {
    let receiver = || {
        let keys = vec![Key::Receiver(WebhookId(uuid::Uuid::nil()))];
        Seeker { tenant: tenant(1), keys }
    };
    let (shares, _left) = Shares::new(16);
    let unknown = fill(&shares, OF_ONE, receiver).await;
    assert!(
        shares.enter(Lane::Further, receiver()).await.is_err(),
        "nobody knows whether it is quick"
    );
    drop(unknown);
    let quick = fill(&shares, 16, receiver).await;
    tokio::time::advance(QUICK * 2).await;
    drop(quick);
    let slow = fill(&shares, OF_ONE, receiver).await;
    assert!(shares.enter(Lane::Further, receiver()).await.is_err());
    drop(slow);
}

#[tokio::test]
async fn who_waits_has_the_next_slot() {
    let (shares, _left) = Shares::new(8);
    let mut held = fill(&shares, 8, mine).await;
    let waiting = entering(&shares, Lane::Further, mine());
    tokio::task::yield_now().await;
    held.pop();
    let share = waiting.await.unwrap().unwrap();
    assert_eq!(shares.state().running, 8);
    drop((share, held));
    assert_eq!(shares.state().running, 0);
}

#[tokio::test(start_paused = true)]
async fn who_waits_is_parked_when_its_own_key_frees_nothing() {
    let third = || seeker(1, "discord", 3);
    let (shares, _left) = Shares::new(16);
    let stuck = fill(&shares, 9, mine).await;
    let mut moving = fill(&shares, 4, other).await;
    let full = fill(&shares, 4, third).await;
    let since = Instant::now();
    let waiting = tokio::spawn({
        let shares = shares.clone();
        async move { (shares.enter(Lane::Further, mine()).await.is_err(), since.elapsed()) }
    });
    for _ in 0..8 {
        moving.pop();
        moving.extend(fill(&shares, 1, other).await);
        tokio::time::sleep(PATIENCE / 2).await;
    }
    let (parked, after) = waiting.await.unwrap();
    assert!(parked && after < PATIENCE * 2, "{after:?}");
    drop((moving, stuck, full));
}

#[tokio::test(start_paused = true)]
async fn the_patient_wait_although_nothing_frees() {
    const LONG: Duration = Duration::from_secs(20);
    let (shares, _left) = Shares::new(8);
    let shares = shares.patient(LONG);
    let mut held = fill(&shares, 8, mine).await;
    let (served, tired) =
        (entering(&shares, Lane::First, mine()), entering(&shares, Lane::Further, mine()));
    tokio::time::sleep(LONG / 2).await;
    held.pop();
    held.push(served.await.unwrap().unwrap());
    let since = Instant::now();
    assert!(tired.await.unwrap().is_err());
    assert!(since.elapsed() >= LONG / 2, "{:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn who_waits_goes_on_waiting_while_its_key_frees_slots_for_others() {
    let (shares, _left) = Shares::new(8);
    let mut held = fill(&shares, 8, mine).await;
    let waiting: Vec<_> = (0..4).map(|_| entering(&shares, Lane::Further, mine())).collect();
    for one in waiting {
        tokio::time::sleep(PATIENCE * 3 / 4).await;
        held.pop();
        held.push(one.await.unwrap().unwrap());
    }
    assert_eq!(shares.state().running, 8);
}

#[tokio::test]
async fn the_first_of_a_tenant_waits_before_the_others() {
    let (shares, _left) = Shares::new(8);
    let mut held = fill(&shares, 8, mine).await;
    let further = entering(&shares, Lane::Further, mine());
    tokio::task::yield_now().await;
    let first = entering(&shares, Lane::First, mine());
    tokio::task::yield_now().await;
    held.pop();
    held.push(first.await.unwrap().unwrap());
    assert!(!further.is_finished());
    held.pop();
    held.push(further.await.unwrap().unwrap());
}

#[tokio::test]
async fn a_freed_slot_wakes_a_parked_row_of_its_key() {
    let (shares, mut left) = Shares::new(8);
    let mut held = fill(&shares, 8, mine).await;
    let full = shares.enter(Lane::Further, mine()).await.unwrap_err();
    shares.park(full, tenant(1), Hold { id: 5, fence: 2 });
    assert!(left.try_recv().is_err());
    held.pop();
    assert_eq!(left.try_recv().unwrap(), Hold { id: 5, fence: 2 });
    assert!(shares.state().parked.is_empty());
}

#[tokio::test]
async fn a_row_that_is_parked_too_late_is_woken_at_once() {
    let (shares, mut left) = Shares::new(8);
    shares.park(Key::Account(AccountId(1)), tenant(1), Hold { id: 5, fence: 2 });
    assert_eq!(left.try_recv().unwrap().id, 5);
}

#[tokio::test]
async fn who_has_less_than_others_waits_before_them() {
    let (shares, _left) = Shares::new(8);
    let mut held = fill(&shares, 8, mine).await;
    let more = entering(&shares, Lane::Further, mine());
    tokio::task::yield_now().await;
    let neighbour = entering(&shares, Lane::Further, neighbour());
    tokio::task::yield_now().await;
    held.pop();
    held.push(neighbour.await.unwrap().unwrap());
    assert!(!more.is_finished());
    held.pop();
    held.push(more.await.unwrap().unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_newcomer_finds_a_slot_on_a_full_network_unless_it_hangs() {
    let (shares, _left) = Shares::new(32);
    let mut held = fill(&shares, 32, mine).await;
    for moves in ["it has just begun", "it frees slots"] {
        let found = fill(&shares, 2, neighbour).await;
        assert!(shares.state().full(&neighbour()).is_some(), "{moves}: there are no more");
        drop(found);
        tokio::time::advance(MOST_PATIENCE * 2).await;
        assert!(shares.state().full(&neighbour()).is_some(), "{moves}, and then hangs");
        held.pop();
        held.extend(fill(&shares, 1, mine).await);
    }
    held.extend(fill(&shares, 4, other).await);
}

#[tokio::test(start_paused = true)]
async fn who_has_less_than_others_is_not_left_parked_while_they_wait() {
    let (shares, mut left) = Shares::new(8);
    let mut held = fill(&shares, 8, mine).await;
    let waiting = entering(&shares, Lane::Further, mine());
    tokio::task::yield_now().await;
    let network = Key::Platform("bluesky".into());
    shares.park(network.clone(), tenant(1), Hold { id: 5, fence: 2 });
    shares.park(network, tenant(2), Hold { id: 6, fence: 2 });
    held.pop();
    held.push(waiting.await.unwrap().unwrap());
    assert_eq!(left.try_recv().unwrap().id, 6);
    assert!(left.try_recv().is_err(), "a slot that is taken wakes nobody else");
}

#[tokio::test(start_paused = true)]
async fn a_parked_row_goes_on_when_its_network_is_below_its_share_while_others_wait() {
    let (shares, mut left) = Shares::new(8);
    let mut third = fill(&shares, 2, || seeker(1, "threads", 9)).await;
    let others = fill(&shares, 6, mine).await;
    let full = shares.enter(Lane::Further, other()).await.unwrap_err();
    assert_eq!(full, Key::Platform("threads".into()));
    let waiting = entering(&shares, Lane::Further, mine());
    tokio::task::yield_now().await;
    shares.park(full, tenant(1), Hold { id: 7, fence: 2 });
    third.pop();
    assert_eq!(left.try_recv().unwrap().id, 7);
    let taken = waiting.await.unwrap().unwrap();
    drop((others, taken));
}

#[tokio::test(start_paused = true)]
async fn a_parked_row_goes_on_with_its_account_while_others_wait() {
    let (shares, mut left) = Shares::new(32);
    let mut account = fill(&shares, OF_ONE, || seeker(1, "threads", 9)).await;
    let others = fill(&shares, 28, mine).await;
    let full = shares.enter(Lane::Further, seeker(1, "threads", 9)).await.unwrap_err();
    assert_eq!(full, Key::Account(AccountId(9)));
    let waiting = entering(&shares, Lane::Further, mine());
    tokio::task::yield_now().await;
    shares.park(full, tenant(1), Hold { id: 7, fence: 2 });
    account.pop();
    assert_eq!(left.try_recv().unwrap().id, 7);
    let taken = waiting.await.unwrap().unwrap();
    drop((others, taken));
}

#[tokio::test(start_paused = true)]
async fn while_rows_are_parked_and_slots_are_short_few_look_for_one() {
    let (shares, _left) = Shares::new(16);
    assert!(shares.seek(Lane::Further).await.is_none(), "there is room");
    let held = fill(&shares, 16, mine).await;
    assert!(
        shares.seek(Lane::Further).await.is_none(),
        "nothing is parked: slots are about to be free"
    );
    shares.park(Key::Account(AccountId(1)), tenant(1), Hold { id: 7, fence: 1 });
    let mut seeking = Vec::new();
    for _ in 0..SEEKERS {
        seeking.push(shares.seek(Lane::Further).await.unwrap());
    }
    let since = Instant::now();
    assert!(shares.seek(Lane::Further).await.is_none(), "nobody looks on for ever");
    assert!(since.elapsed() >= MOST_PATIENCE);
    assert!(shares.seek(Lane::First).await.is_none(), "who has one post waits for nobody");
    seeking.pop();
    assert!(shares.seek(Lane::Further).await.is_some());
    drop(held);
}

#[tokio::test(start_paused = true)]
async fn a_worker_of_few_slots_has_no_more_of_a_network() {
    let (shares, _left) = Shares::new(4);
    let mut held = fill(&shares, 4, mine).await;
    held.pop();
    held.extend(fill(&shares, 1, mine).await);
    assert!(shares.state().full(&neighbour()).is_some());
    held.pop();
    assert!(shares.state().full(&neighbour()).is_none());
}
