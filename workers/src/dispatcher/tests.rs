use tokio::task::JoinHandle;

use super::*;

fn tenant(number: u128) -> WorkspaceId {
    WorkspaceId(uuid::Uuid::from_u128(number))
}

/// A step that only prepares: it waits in no line.
fn prepare(of: u128, platform: &str) -> Request {
    Request { tenant: tenant(of), platform: Some(platform.into()), line: None }
}

fn commit(platform: &str, member: &LineEntry) -> Request {
    Request { line: Some(member.position()), ..prepare(1, platform) }
}

fn delivery(of: u128, receiver: u128, order: i64) -> Request {
    let line = Line::Receiver(WebhookId(uuid::Uuid::from_u128(receiver)));
    Request { tenant: tenant(of), platform: None, line: Some((line, (order, order))) }
}

async fn acquire(dispatcher: &Dispatcher, request: Request) -> Option<Slot> {
    dispatcher.request(request).wait(tokio::time::sleep(SLOT_TIMEOUT)).await
}

fn later(dispatcher: &Dispatcher, request: Request) -> JoinHandle<Option<Slot>> {
    let dispatcher = dispatcher.clone();
    tokio::spawn(async move { acquire(&dispatcher, request).await })
}

async fn fill(dispatcher: &Dispatcher, slots: usize, of: u128, platform: &str) -> Vec<Slot> {
    let mut held = Vec::new();
    for _ in 0..slots {
        held.push(acquire(dispatcher, prepare(of, platform)).await.unwrap());
    }
    held
}

#[tokio::test(start_paused = true)]
async fn one_network_alone_has_all_slots_and_each_other_one_a_quarter_besides() {
    let dispatcher = Dispatcher::new(16);
    let ahead = 16 / SLOTS_PER_READY_REQUEST;
    let held = fill(&dispatcher, 16 + ahead, 1, "bluesky").await;
    assert!(acquire(&dispatcher, prepare(1, "bluesky")).await.is_none());
    let quarter = fill(&dispatcher, 4, 1, "threads").await;
    assert!(acquire(&dispatcher, prepare(1, "threads")).await.is_none(), "it has its quarter");
    drop((held, quarter));
    assert_eq!(fill(&dispatcher, 16, 1, "threads").await.len(), 16);
}

#[tokio::test(start_paused = true)]
async fn tenants_take_turns_whatever_each_of_them_waits_with() {
    let dispatcher = Dispatcher::new(4);
    let mut held = fill(&dispatcher, 5, 1, "bluesky").await;
    let burst: Vec<_> = (0..6).map(|_| later(&dispatcher, prepare(1, "bluesky"))).collect();
    tokio::task::yield_now().await;
    let quiet = later(&dispatcher, prepare(2, "bluesky"));
    tokio::task::yield_now().await;
    // The burst came first; after it the other one is next.
    held.truncate(3);
    let slot = quiet.await.unwrap().unwrap();
    assert_eq!(burst.iter().filter(|one| one.is_finished()).count(), 1);
    drop((slot, held));
    for one in burst {
        drop(one.await.unwrap().unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn posts_of_an_account_publish_one_after_the_other_in_their_order() {
    let dispatcher = Dispatcher::new(16);
    let account = AccountId(7);
    let third = dispatcher.join(account, (20, 1));
    let first = dispatcher.join(account, (10, 3));
    let second = dispatcher.join(account, (10, 5));
    assert!(dispatcher.is_in_line(5) && !dispatcher.is_in_line(4));
    let waiting = later(&dispatcher, commit("bluesky", &second));
    let last = later(&dispatcher, commit("bluesky", &third));
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished(), "the first has not even begun");
    let slot = acquire(&dispatcher, commit("bluesky", &first)).await.unwrap();
    drop(slot);
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished(), "its result is not written");
    drop(first);
    let slot = waiting.await.unwrap().unwrap();
    assert!(!last.is_finished());
    drop((slot, second));
    assert!(last.await.unwrap().is_some());
    drop(third);
    assert!(!dispatcher.is_in_line(1));
    assert!(dispatcher.state().is_idle());
}

#[tokio::test(start_paused = true)]
async fn what_prepares_passes_what_publishes() {
    let dispatcher = Dispatcher::new(16);
    let (first, second) =
        (dispatcher.join(AccountId(7), (1, 1)), dispatcher.join(AccountId(7), (2, 2)));
    let slot = acquire(&dispatcher, commit("bluesky", &first)).await.unwrap();
    assert!(acquire(&dispatcher, prepare(1, "bluesky")).await.is_some());
    assert!(acquire(&dispatcher, commit("bluesky", &second)).await.is_none());
    drop((slot, first));
    assert!(acquire(&dispatcher, commit("bluesky", &second)).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_receiver_has_four_deliveries_at_once_and_keeps_nobody_else_waiting() {
    let dispatcher = Dispatcher::new(16);
    let mut held = Vec::new();
    for order in 0..4 {
        held.push(acquire(&dispatcher, delivery(1, 1, order)).await.unwrap());
    }
    let fifth = later(&dispatcher, delivery(1, 1, 5));
    tokio::task::yield_now().await;
    let other = acquire(&dispatcher, delivery(2, 2, 6)).await.unwrap();
    assert!(!fifth.is_finished());
    held.pop();
    assert!(fifth.await.unwrap().is_some());
    drop((held, other));
    assert!(dispatcher.state().is_idle());
}

#[tokio::test(start_paused = true)]
async fn who_waits_too_long_goes_back_and_leaves_nothing_behind() {
    let dispatcher = Dispatcher::new(1);
    let held = fill(&dispatcher, 1, 1, "bluesky").await;
    let member = dispatcher.join(AccountId(7), (1, 1));
    assert!(acquire(&dispatcher, commit("bluesky", &member)).await.is_none());
    assert!(acquire(&dispatcher, prepare(2, "bluesky")).await.is_none());
    let given_up = later(&dispatcher, prepare(2, "bluesky"));
    tokio::task::yield_now().await;
    given_up.abort();
    drop((held, member));
    tokio::task::yield_now().await;
    assert!(acquire(&dispatcher, prepare(3, "bluesky")).await.is_some());
    assert!(dispatcher.state().is_idle());
}

#[tokio::test(start_paused = true)]
async fn who_is_ready_ahead_of_a_slot_waits_for_one_a_little() {
    let dispatcher = Dispatcher::new(4);
    let mut held = fill(&dispatcher, 5, 1, "bluesky").await;
    let since = tokio::time::Instant::now();
    for slot in &mut held {
        slot.begin().await;
    }
    assert_eq!(since.elapsed(), READY_TIMEOUT, "the fifth waited in vain");
    let mut fifth = held.pop().unwrap();
    let begun = tokio::spawn(async move { fifth.begin().await });
    tokio::task::yield_now().await;
    held.pop();
    begun.await.unwrap();
    assert_eq!(since.elapsed(), READY_TIMEOUT);
}
