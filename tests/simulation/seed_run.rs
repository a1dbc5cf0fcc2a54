//! Runs seeds and reports the results.

use std::{
    cell::Cell,
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
    panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Mutex, Once, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

#[cfg(debug_assertions)]
use fanfare_core::mutation::{self, Mutation};

use crate::{driver::Simulation, judge::Violation, kind::Kind};

/// The number of trace lines shown for a failed seed.
const LAST: usize = 60;

thread_local! {
    static PANICKED: Cell<bool> = const { Cell::new(false) };
}

/// The result of a seed.
pub struct SeedRun {
    kind: Kind,
    seed: u64,
    pub trace: Vec<String>,
    pub broken: Option<Violation>,
    pub ends: BTreeSet<(String, String)>,
}

impl SeedRun {
    /// Runs a seed.
    pub fn of(kind: Kind, seed: u64) -> Self {
        static NOTICE: Once = Once::new();
        NOTICE.call_once(|| {
            let tell = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                PANICKED.set(true);
                tell(panic);
            }));
        });
        let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
        threads.expect("a runtime").block_on(async {
            let mut play = Simulation::new(kind, seed).await;
            PANICKED.set(false);
            let mut broken = Box::pin(play.run()).await.err();
            // A worker would only log a panic.
            if PANICKED.get() {
                broken = Some("something panicked".to_owned());
            }
            Self { kind, seed, ends: play.ends(), trace: play.trace, broken }
        })
    }

    /// Runs a seed with a mutation of the protocol.
    #[cfg(debug_assertions)]
    pub fn with(kind: Kind, mutation: Mutation, seed: u64) -> Self {
        mutation::turn_on(Some(mutation));
        let story = Self::of(kind, seed);
        mutation::turn_on(None);
        story
    }

    /// Returns a hash of the trace.
    pub fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.trace.hash(&mut hasher);
        hasher.finish()
    }

    /// Panics if an invariant was violated.
    pub fn is_good(&self) {
        let Some(broken) = &self.broken else { return };
        let from = self.trace.len().saturating_sub(LAST);
        panic!(
            "{}\n\n{:?}, seed {}: {broken}\nreplay: SEED={} cargo test --workspace --test simulation _is_lost_doubled -- --nocapture",
            self.trace[from..].join("\n"),
            self.kind,
            self.seed,
            self.seed,
        );
    }
}

/// Runs a function for each number, on all processors; returns the results in order.
pub fn each<T: Send>(numbers: Range<u64>, act: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(numbers.start);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        return;
                    }
                    let acted = catch_unwind(AssertUnwindSafe(|| act(number)));
                    let failed = acted.is_err();
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((number, acted));
                    if failed {
                        next.store(numbers.end, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, acted)| acted.unwrap_or_else(|panic| resume_unwind(panic))).collect()
}
