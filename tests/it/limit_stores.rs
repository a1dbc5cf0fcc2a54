//! Both stores of limits keep the same promises.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use fanfare_limits::{Limits, Time, Window};
use fanfare_tests::Redis;
use futures_util::future;

/// A store and the time it goes by.
struct Case {
    limits: Limits,
    now: Arc<AtomicI64>,
}

impl Case {
    fn with(make: impl Fn(Time) -> Limits) -> Self {
        let now = Arc::new(AtomicI64::new(1_700_000_000_000));
        let told = Arc::clone(&now);
        let time = Time::Given(Arc::new(move || told.load(Ordering::Relaxed)));
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
        case.limits.give_back("me", &both).await;
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
    let own_time = Limits::redis(&server.url(), Time::Store).unwrap();
    let window = [window("b", 1, 300)];
    assert!(own_time.take("me", &window).await.is_allowed());
    assert!(!own_time.take("me", &window).await.is_allowed());
    tokio::time::sleep(Duration::from_millis(350)).await;
    assert!(own_time.take("me", &window).await.is_allowed());
}
