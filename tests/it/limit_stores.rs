//! Both stores of limits keep the same promises.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use fanfare_limits::{Decision, Limits, Rate, Request, Subject, TimeSource, Window};
use fanfare_tests::Redis;
use futures_util::future;

/// A store and the time it goes by.
struct Case {
    limits: Limits,
    now: Arc<AtomicI64>,
}

impl Case {
    fn with(make: impl Fn(TimeSource) -> Limits) -> Self {
        let now = Arc::new(AtomicI64::new(1_700_000_000_000));
        let told = Arc::clone(&now);
        let time = TimeSource::Given(Arc::new(move || told.load(Ordering::Relaxed)));
        Self { limits: make(time), now }
    }

    fn pass(&self, ms: i64) {
        self.now.fetch_add(ms, Ordering::Relaxed);
    }
}

/// The stores, and the server that one of them needs.
async fn stores() -> (Vec<Case>, Redis) {
    let server = Redis::start();
    let url = server.url();
    let redis = Case::with(|time| Limits::redis(&url, time).unwrap());
    (vec![Case::with(Limits::memory), redis], server)
}

fn window(name: &str, limit: u64, ms: u64) -> Window {
    Window::new(name, limit, Duration::from_millis(ms))
}

#[tokio::test]
async fn a_window_begins_with_its_first_request_and_ends_after_its_length() {
    let (cases, _server) = stores().await;
    for case in cases {
        let two = [window("a", 2, 1_000)];
        case.pass(300);
        assert_eq!(case.limits.take("me", &two).await.counts[0].remaining, 1);
        case.pass(400);
        let second = case.limits.take("me", &two).await;
        assert_eq!(second.counts[0].remaining, 0);
        assert_eq!(second.counts[0].reset_in, Duration::from_millis(600));
        case.pass(599);
        assert_eq!(case.limits.take("me", &two).await.refused_by, Some(0));
        assert!(case.limits.take("you", &two).await.is_allowed());
        case.pass(1);
        let fresh = case.limits.take("me", &two).await;
        assert_eq!((fresh.is_allowed(), fresh.counts[0].remaining), (true, 1));
        assert_eq!(fresh.counts[0].reset_in, Duration::from_millis(1_000));
    }
}

#[tokio::test]
async fn a_clock_that_goes_back_begins_no_window_anew_unless_it_would_never_end() {
    let (cases, _server) = stores().await;
    for case in cases {
        let two = [window("a", 2, 1_000)];
        for _ in 0..2 {
            assert!(case.limits.take("me", &two).await.is_allowed());
        }
        case.pass(-700);
        let refused = case.limits.take("me", &two).await;
        assert_eq!(refused.refused_by, Some(0));
        assert_eq!(refused.counts[0].reset_in, Duration::from_millis(1_700));
        case.pass(-301);
        assert!(case.limits.take("me", &two).await.is_allowed(), "it went back for longer");
    }
}

#[tokio::test]
async fn several_windows_are_taken_from_all_or_none() {
    let (cases, _server) = stores().await;
    for case in cases {
        let both = [window("wide", 10, 9_000), window("narrow", 2, 1_000)];
        for _ in 0..5 {
            case.limits.take("me", &both).await;
        }
        let refused = case.limits.take("me", &both).await;
        assert_eq!(refused.refused_by, Some(1));
        assert_eq!(refused.counts[0].remaining, 8, "refused requests do not count");
        let costly = Window { cost: 9, ..window("wide", 10, 9_000) };
        assert_eq!(case.limits.take("me", &[costly]).await.refused_by, Some(0));
        let looked = Window { cost: 0, ..window("narrow", 2, 1_000) };
        assert!(case.limits.take("me", &[looked]).await.is_allowed(), "looking is always allowed");
        case.limits.refund("me", &both).await;
        assert_eq!(case.limits.take("me", &both).await.counts[1].remaining, 0);
    }
}

#[tokio::test]
async fn at_once_exactly_the_limit_is_let_through() {
    let (cases, server) = stores().await;
    for case in cases {
        let window = [window("a", 50, 60_000)];
        let taken = future::join_all((0..200).map(|_| case.limits.take("me", &window))).await;
        assert_eq!(taken.iter().filter(|one| one.is_allowed()).count(), 50);
    }
    let own_time = Limits::redis(&server.url(), TimeSource::Store).unwrap();
    let window = [window("b", 1, 300)];
    assert!(own_time.take("me", &window).await.is_allowed());
    assert!(!own_time.take("me", &window).await.is_allowed());
    let again = async {
        while !own_time.take("me", &window).await.is_allowed() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), again).await.expect("the window passes");
}

fn subject(name: &str, rates: &[(u32, u64)]) -> Subject {
    let rate = |(limit, ms): &(u32, u64)| Rate { limit: *limit, span: Duration::from_millis(*ms) };
    Subject { name: name.to_owned(), rates: rates.iter().map(rate).collect() }
}

/// A call of this id, which makes no other.
fn call(id: u32, subjects: &[Subject]) -> Request {
    named(id, &id.to_string(), subjects)
}

fn named(id: u32, call: &str, subjects: &[Subject]) -> Request {
    let subjects = subjects.to_vec();
    Request { id: id.to_string(), call: call.to_owned(), is_again: false, subjects }
}

/// The same call, which could have been made and was not.
fn again(call: &Request) -> Request {
    Request { is_again: true, ..call.clone() }
}

/// The waits in ms; 0 is now.
async fn ask(case: &Case, requests: &[Request]) -> Vec<u64> {
    let wait = |decision: Decision| match decision {
        Decision::Now => 0,
        Decision::After(wait) => u64::try_from(wait.as_millis()).unwrap(),
    };
    case.limits.acquire(requests).await.into_iter().map(wait).collect()
}

#[tokio::test]
async fn the_kth_who_waits_is_told_the_kth_time_and_gets_it() {
    let (cases, _server) = stores().await;
    for case in cases {
        let account = [subject("account", &[(2, 1_000)])];
        let all: Vec<_> = (0..6).map(|id| call(id, &account)).collect();
        assert_eq!(ask(&case, &all).await, [0, 0, 1_000, 1_000, 2_000, 2_000]);
        assert_eq!(ask(&case, &all[4..5]).await, [2_000], "who comes early keeps its place");
        case.pass(1_000);
        assert_eq!(ask(&case, &[call(6, &account)]).await, [2_000], "newcomers go to the end");
        assert_eq!(ask(&case, &all[2..4]).await, [0, 0]);
        case.pass(1_400);
        assert_eq!(ask(&case, &all[4..]).await, [0, 0]);
        case.pass(600);
        assert_eq!(ask(&case, &[call(6, &account)]).await, [400], "those before it were late");
        case.pass(400);
        assert_eq!(ask(&case, &[call(6, &account), call(7, &account)]).await, [0, 0]);
        assert_eq!(ask(&case, &[call(7, &account)]).await, [1_000], "each call counts anew");
    }
}

#[tokio::test]
async fn a_permit_is_for_all_subjects_or_for_none() {
    let (cases, _server) = stores().await;
    for case in cases {
        let app = subject("app", &[(3, 1_000)]);
        let of = |name: &str| [subject(name, &[(2, 5_000), (10, 60_000)]), app.clone()];
        let calls = [call(1, &of("a")), call(2, &of("a")), call(3, &of("a")), call(4, &of("b"))];
        assert_eq!(ask(&case, &calls).await, [0, 0, 5_000, 0]);
        assert_eq!(ask(&case, &[call(5, &of("b"))]).await, [1_000], "the app's limit");
        assert_eq!(ask(&case, &[call(6, &[subject("c", &[])])]).await, [0], "no limit at all");
        case.pass(1_000);
        assert_eq!(ask(&case, &[call(5, &of("b")), call(7, &of("b"))]).await, [0, 4_000]);
    }
}

#[tokio::test]
async fn a_call_that_was_not_made_is_asked_for_again_and_counted_once() {
    let (cases, _server) = stores().await;
    for case in cases {
        let account = [subject("account", &[(2, 1_000)])];
        let all: Vec<_> = (0..5).map(|id| call(id, &account)).collect();
        assert_eq!(ask(&case, &all[..3]).await, [0, 0, 1_000]);
        case.pass(400);
        assert_eq!(ask(&case, &[again(&all[0])]).await, [0], "its first try is not in its way");
        assert_eq!(ask(&case, &all[3..4]).await, [1_000], "it counts from now on");
        case.pass(600);
        assert_eq!(ask(&case, &all[2..3]).await, [0], "and no longer from the first try on");
        case.pass(200);
        assert_eq!(ask(&case, &[again(&all[2])]).await, [0]);
        case.pass(200);
        assert_eq!(ask(&case, &all[3..]).await, [0, 800], "each has been counted once");
    }
}

#[tokio::test]
async fn who_asks_again_goes_before_those_that_wait() {
    let (cases, _server) = stores().await;
    for case in cases {
        let account = [subject("account", &[(1, 1_000)])];
        let all: Vec<_> = (0..3).map(|id| call(id, &account)).collect();
        assert_eq!(ask(&case, &all).await, [0, 1_000, 2_000]);
        case.pass(500);
        assert_eq!(ask(&case, &[again(&all[0])]).await, [0]);
        case.pass(500);
        assert_eq!(ask(&case, &all[1..2]).await, [500], "who comes next waits for it");
        case.pass(2_000);
        assert_eq!(ask(&case, &[again(&all[0])]).await, [0], "after any time");
    }
}

#[tokio::test]
async fn a_call_that_will_not_be_made_is_taken_back_from_all_its_subjects() {
    let (cases, _server) = stores().await;
    for case in cases {
        let app = subject("app", &[(2, 5_000)]);
        let of = |name: &str| [subject(name, &[(1, 1_000)]), app.clone(), subject("other", &[])];
        let (a, b) = (of("a"), of("b"));
        assert_eq!(ask(&case, &[call(1, &a), call(2, &b), call(3, &b)]).await, [0, 0, 5_000]);
        case.limits.release(&call(1, &a)).await;
        case.limits.release(&call(7, &a)).await;
        assert_eq!(ask(&case, &[call(4, &a)]).await, [5_000], "behind the one that waits");
        case.limits.release(&call(2, &b)).await;
        case.pass(5_000);
        assert_eq!(ask(&case, &[call(3, &b), call(4, &a), call(5, &a)]).await, [0, 0, 5_000]);
    }
}

#[tokio::test]
async fn a_closed_subject_lets_nobody_through_and_then_one_after_the_other() {
    let (cases, _server) = stores().await;
    for case in cases {
        let of = |name: &str| [subject(name, &[(2, 1_000)])];
        case.limits.block("a", Duration::from_millis(5_000)).await;
        case.limits.block("a", Duration::from_millis(100)).await;
        let calls: Vec<_> = (0..3).map(|id| call(id, &of("a"))).collect();
        assert_eq!(ask(&case, &calls).await, [5_000, 5_000, 6_000]);
        assert_eq!(ask(&case, &[call(9, &of("b"))]).await, [0]);
        case.pass(5_000);
        assert_eq!(ask(&case, &calls).await, [0, 0, 1_000]);
    }
}

#[tokio::test]
async fn no_time_however_chosen_holds_more_calls_than_allowed() {
    let (cases, _server) = stores().await;
    for case in cases {
        let (mut made, mut due): (Vec<i64>, Vec<(i64, u32)>) = (Vec::new(), Vec::new());
        let account = [subject("a", &[(3, 700), (7, 2_500)])];
        for tick in 0..400_u32 {
            case.pass(50);
            let now = case.now.load(Ordering::Relaxed);
            if tick < 60 && tick % 2 == 0 {
                due.push((now, tick));
            }
            // Each comes back up to 140 ms late, as real workers do.
            let late = |id: u32| i64::from(id * 37 % 140);
            let (come, rest) = due.into_iter().partition(|(at, id)| at + late(*id) <= now);
            due = rest;
            let come: Vec<(i64, u32)> = come;
            let calls: Vec<_> = come.iter().map(|(_, id)| call(*id, &account)).collect();
            for ((_, id), wait) in come.iter().zip(ask(&case, &calls).await) {
                match i64::try_from(wait).unwrap() {
                    0 => made.push(now),
                    wait => due.push((now + wait, *id)),
                }
            }
        }
        assert_eq!((made.len(), due.len()), (30, 0));
        let fits =
            |limit: usize, span: i64| made.windows(limit + 1).all(|w| w[limit] - w[0] >= span);
        assert!(fits(3, 700) && fits(7, 2_500), "{made:?}");
        assert!(made[29] - made[0] < 4 * 2_500 + 2_500, "and little time is lost: {made:?}");
    }
}

#[tokio::test]
async fn processes_that_were_asked_nothing_yet_know_of_one_another() {
    let server = Redis::start();
    let both = [(); 2].map(|()| Limits::redis(&server.url(), TimeSource::Store).unwrap());
    both.iter().for_each(Limits::register);
    while both.iter().any(|one| one.processes() != 2) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(server);
    let window = [window("a", 10, 60_000)];
    for one in &both {
        let taken = future::join_all((0..10).map(|_| one.take("me", &window))).await;
        assert_eq!(taken.iter().filter(|one| one.is_allowed()).count(), 5, "each has its share");
    }
}

#[tokio::test]
async fn without_redis_permits_are_still_counted() {
    let case = Case::with(|time| Limits::redis("redis://127.0.0.1:1", time).unwrap());
    let account = [subject("account", &[(2, 1_000)])];
    let calls: Vec<_> = (0..3).map(|id| call(id, &account)).collect();
    assert_eq!(ask(&case, &calls).await, [0, 0, 1_000]);
    case.limits.block("account", Duration::from_millis(3_000)).await;
    case.pass(1_000);
    assert_eq!(ask(&case, &calls[2..]).await, [2_000]);
}
