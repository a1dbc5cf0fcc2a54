//! Runs one piece of work at a time: work stops at failpoints until the next decision.
//!
//! Work stops at its failpoints and at each call to a network. Exactly one piece of work runs at a time, until it stops
//! again. So the order of everything is the order of the decisions, although the database has its own thread.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use fanfare_core::failpoint::{Hook, Moment};
use fanfare_entities::Millis;
use tokio::{
    sync::{Notify, oneshot},
    task::Id,
};

/// The longest step in real time; only a simulation that hangs takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Failpoints that work reaches because time has passed.
const WOKEN: [&str; 3] = ["renewing", "writing", "dequeued"];

/// Failpoints at which work waits for time to pass, or for something else as before.
const RESTS: [&str; 3] = ["renewed", "unwritten", "queued"];

/// Failpoints of a batch of posts, all of which would have to wait: they are skipped.
const OF_GROUPS: [&str; 1] = ["claiming"];

/// The number of times that other tasks may run before a step counts as finished: enough for the task that enqueues.
const ROUNDS: usize = 12;

/// A worker and the post it works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Actor {
    /// Number of the worker; 0 is the API.
    pub worker: usize,
    /// The post; 0 is none.
    pub post: i64,
}

/// Work that waits at a failpoint.
#[derive(Debug, Clone)]
pub struct WaitingTask {
    pub actor: Actor,
    pub place: String,
    /// It does not continue before this time.
    pub until: Millis,
}

#[derive(Debug, Default)]
struct Inner {
    running: usize,
    actor: Option<Actor>,
    held: Vec<(WaitingTask, oneshot::Sender<()>)>,
    /// The post that each task works on.
    tasks: HashMap<Id, i64>,
    cut: Option<Moment>,
}

impl Inner {
    /// Returns the post of the current task: that of the step in which the task was first seen.
    fn post_of_task(&mut self) -> i64 {
        let of_step = self.actor.map(|actor| actor.post);
        *self.tasks.entry(tokio::task::id()).or_insert_with(|| of_step.expect("a step"))
    }
}

/// All waiting work.
#[derive(Debug, Default)]
pub struct Lockstep {
    inner: Mutex<Inner>,
    quiet: Notify,
}

impl Lockstep {
    /// Starts something, and returns when all work waits again or has ended.
    pub async fn step(&self, actor: Actor, start: impl FnOnce()) {
        {
            let mut inner = self.lock();
            assert_eq!(inner.running, 0, "one piece of work runs at a time");
            inner.running = 1;
            inner.actor = Some(actor);
        }
        start();
        let over = async {
            while self.lock().running > 0 {
                self.quiet.notified().await;
            }
        };
        tokio::time::timeout(PATIENCE, over).await.expect("a step ends");
        self.settle().await;
        self.lock().actor = None;
    }

    /// Lets background tasks run until they wait.
    pub async fn settle(&self) {
        for _ in 0..ROUNDS {
            tokio::task::yield_now().await;
        }
    }

    /// Returns the actor that runs now.
    pub fn actor(&self) -> Option<Actor> {
        self.lock().actor
    }

    /// Notes that the running work waits for a network, or has ended.
    pub fn rest(&self) {
        let mut inner = self.lock();
        inner.running = inner.running.checked_sub(1).expect("something runs");
        drop(inner);
        self.quiet.notify_one();
    }

    /// Makes the next commit of the running work lose its database connection at this moment.
    pub fn cut_next(&self, moment: Option<Moment>) {
        self.lock().cut = moment;
    }

    /// Returns the waiting actors, in the order of arrival.
    pub fn waiting(&self) -> Vec<WaitingTask> {
        self.lock().held.iter().map(|(held, _)| held.clone()).collect()
    }

    /// Delays the work at this index of [`Stage::waiting`] until a time.
    pub fn linger(&self, place: usize, until: Millis) {
        self.lock().held[place].0.until = until;
    }

    /// Continues the work at this index of [`Stage::waiting`] until it waits again.
    pub async fn go_on(&self, place: usize) {
        let (held, go) = self.lock().held.remove(place);
        // A waiting task lives as long as its worker, whose death empties this list.
        self.step(held.actor, || go.send(()).expect("somebody waits")).await;
    }

    /// Drops the waiting tasks of a worker.
    pub fn kill(&self, worker: usize) {
        self.lock().held.retain(|(held, _)| held.actor.worker != worker);
    }

    fn park(&self, worker: usize, place: &str) -> oneshot::Receiver<()> {
        let (go, gone_on) = oneshot::channel();
        let mut inner = self.lock();
        // It was woken by time, since nothing else starts by itself.
        let runs = !WOKEN.contains(&place);
        let actor = Actor { worker, post: inner.post_of_task() };
        inner.held.push((WaitingTask { actor, place: place.to_owned(), until: 0 }, go));
        drop(inner);
        if runs {
            self.rest();
        }
        gone_on
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The failpoints of one worker.
#[derive(Debug)]
pub struct WorkerFailpoints {
    pub stage: Arc<Lockstep>,
    pub worker: usize,
}

#[async_trait]
impl Hook for WorkerFailpoints {
    async fn reach(&self, name: &str) {
        if OF_GROUPS.contains(&name) {
            return;
        }
        if RESTS.contains(&name) {
            self.stage.lock().post_of_task();
            return self.stage.rest();
        }
        if self.stage.park(self.worker, name).await.is_err() {
            // Its worker was killed.
            std::future::pending::<()>().await;
        }
    }

    fn loses_database(&self, moment: Moment) -> bool {
        self.stage.lock().cut.take_if(|wanted| *wanted == moment).is_some()
    }
}
