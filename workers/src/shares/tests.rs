use super::*;

fn account(number: i64) -> Vec<Key> {
    vec![Key::Platform("bluesky".into()), Key::Account(AccountId(number))]
}

fn other() -> Vec<Key> {
    vec![Key::Platform("threads".into()), Key::Account(AccountId(9))]
}

async fn fill(shares: &Shares, slots: usize, keys: fn() -> Vec<Key>) -> Vec<Share> {
    let mut held = Vec::new();
    for _ in 0..slots {
        held.push(shares.enter(Lane::Further, keys()).await.unwrap());
    }
    held
}

fn mine() -> Vec<Key> {
    account(1)
}

#[tokio::test]
async fn alone_one_account_uses_all_but_an_eighth_which_newcomers_find_free() {
    let (shares, _left) = Shares::new(16);
    let held = fill(&shares, 14, mine).await;
    assert_eq!(
        shares.enter(Lane::Further, mine()).await.unwrap_err(),
        Key::Platform("bluesky".into())
    );
    let newcomers = fill(&shares, 2, other).await;
    drop((held, newcomers));
    assert_eq!(shares.state().running, 0);
    assert!(shares.state().held.is_empty());
}

#[tokio::test]
async fn while_others_hold_slots_a_key_keeps_to_its_share() {
    let (shares, _left) = Shares::new(16);
    let others = fill(&shares, 14, other).await;
    let held = fill(&shares, 2, mine).await;
    assert!(shares.enter(Lane::Further, other()).await.is_err());
    drop((others, held));
}

#[tokio::test(start_paused = true)]
async fn a_receiver_has_more_than_its_share_only_while_it_is_quick() {
    let receiver = || vec![Key::Receiver(WebhookId(uuid::Uuid::nil()))];
    let (shares, _left) = Shares::new(16);
    let unknown = fill(&shares, OF_ONE, receiver).await;
    assert!(
        shares.enter(Lane::Further, receiver()).await.is_err(),
        "nobody knows whether it is quick"
    );
    drop(unknown);
    let quick = fill(&shares, 14, receiver).await;
    tokio::time::advance(QUICK * 2).await;
    drop(quick);
    let slow = fill(&shares, OF_ONE, receiver).await;
    assert!(shares.enter(Lane::Further, receiver()).await.is_err());
    drop(slow);
}

#[tokio::test]
async fn who_waits_has_the_next_slot() {
    let (shares, _left) = Shares::new(8);
    let mut held = fill(&shares, 7, mine).await;
    let waiting = tokio::spawn({
        let shares = shares.clone();
        async move { shares.enter(Lane::Further, mine()).await }
    });
    tokio::task::yield_now().await;
    held.pop();
    let share = waiting.await.unwrap().unwrap();
    assert_eq!(shares.state().running, 7);
    drop((share, held));
    assert_eq!(shares.state().running, 0);
}

#[tokio::test(start_paused = true)]
async fn who_waits_is_parked_when_its_own_key_frees_nothing() {
    let third = || vec![Key::Platform("discord".into())];
    let (shares, _left) = Shares::new(16);
    let stuck = fill(&shares, 7, mine).await;
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
async fn who_waits_goes_on_waiting_while_its_key_frees_slots_for_others() {
    let (shares, _left) = Shares::new(8);
    let mut held = fill(&shares, 7, mine).await;
    let waiting: Vec<_> = (0..4)
        .map(|_| {
            let shares = shares.clone();
            tokio::spawn(async move { shares.enter(Lane::Further, mine()).await })
        })
        .collect();
    for one in waiting {
        tokio::time::sleep(PATIENCE * 3 / 4).await;
        held.pop();
        held.push(one.await.unwrap().unwrap());
    }
    assert_eq!(shares.state().running, 7);
}

#[tokio::test]
async fn the_first_of_a_tenant_waits_before_the_others() {
    let (shares, _left) = Shares::new(8);
    let mut held = fill(&shares, 7, mine).await;
    let wait = |lane| {
        let shares = shares.clone();
        tokio::spawn(async move { shares.enter(lane, mine()).await })
    };
    let further = wait(Lane::Further);
    tokio::task::yield_now().await;
    let first = wait(Lane::First);
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
    let mut held = fill(&shares, 7, mine).await;
    let full = shares.enter(Lane::Further, mine()).await.unwrap_err();
    shares.park(full, Hold { id: 5, fence: 2 });
    assert!(left.try_recv().is_err());
    held.pop();
    assert_eq!(left.try_recv().unwrap(), Hold { id: 5, fence: 2 });
    assert!(shares.state().parked.is_empty());
}

#[tokio::test]
async fn a_row_that_is_parked_too_late_is_woken_at_once() {
    let (shares, mut left) = Shares::new(8);
    shares.park(Key::Account(AccountId(1)), Hold { id: 5, fence: 2 });
    assert_eq!(left.try_recv().unwrap().id, 5);
}

#[tokio::test(start_paused = true)]
async fn while_rows_are_parked_and_slots_are_short_few_look_for_one() {
    let (shares, _left) = Shares::new(16);
    assert!(shares.seek(Lane::Further).await.is_none(), "there is room");
    let held = fill(&shares, 14, mine).await;
    assert!(
        shares.seek(Lane::Further).await.is_none(),
        "nothing is parked: slots are about to be free"
    );
    shares.park(Key::Account(AccountId(1)), Hold { id: 7, fence: 1 });
    let mut seeking = Vec::new();
    for _ in 0..SEEKERS {
        seeking.push(shares.seek(Lane::Further).await.unwrap());
    }
    let a_while = Duration::from_secs(60);
    assert!(tokio::time::timeout(a_while, shares.seek(Lane::Further)).await.is_err());
    assert!(shares.seek(Lane::First).await.is_none(), "who has one post waits for nobody");
    seeking.pop();
    assert!(shares.seek(Lane::Further).await.is_some());
    drop(held);
}
