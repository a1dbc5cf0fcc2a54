//! Enqueues rows after a commit: best effort, in the background, so that a reply never waits for the queue.

use std::{collections::BTreeMap, time::Duration};

use fanfare_entities::Millis;
use fanfare_jobs::{JobKind, JobRef, Queue};
use tokio::sync::mpsc;

use crate::clock::Clock;

/// The process that commits a row enqueues it itself if it is due within this many ms. The scheduler enqueues later
/// rows.
const SOON: Millis = 1_000;

/// The most jobs that can wait to be pushed; the scheduler enqueues the others.
const MAX_PENDING: usize = 65_536;

/// Hands jobs to the background task that pushes them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct AfterCommit {
    jobs: mpsc::Sender<(JobKind, JobRef)>,
    clock: Clock,
}

impl AfterCommit {
    /// Returns the sender, and the pending jobs to give to [`run`].
    pub(crate) fn new(clock: Clock) -> (Self, PendingJobs) {
        let (jobs, pending) = mpsc::channel(MAX_PENDING);
        (Self { jobs, clock }, PendingJobs(pending))
    }

    /// Enqueues a row at `due_at`; does nothing if that is too far away.
    pub fn enqueue(&self, kind: JobKind, job: JobRef, due_at: Millis) {
        let wait = due_at - self.clock.now();
        if wait > SOON {
            return;
        }
        if wait <= 0 {
            // A full channel means that the queue hangs; the scheduler enqueues the row later.
            let _ = self.jobs.try_send((kind, job));
            return;
        }
        let (jobs, clock) = (self.jobs.clone(), self.clock.clone());
        tokio::spawn(async move {
            clock.sleep(Duration::from_millis(wait.unsigned_abs())).await;
            let _ = jobs.try_send((kind, job));
        });
    }
}

/// The jobs that wait to be pushed.
#[derive(Debug)]
pub(crate) struct PendingJobs(mpsc::Receiver<(JobKind, JobRef)>);

/// Pushes pending jobs to the queue in batches; ends with the last [`AfterCommit`].
pub(crate) async fn run(mut pending: PendingJobs, queue: Queue) {
    let mut batch = Vec::new();
    while pending.0.recv_many(&mut batch, 1_024).await > 0 {
        let mut by_kind: BTreeMap<JobKind, Vec<JobRef>> = BTreeMap::new();
        for (kind, job) in batch.drain(..) {
            by_kind.entry(kind).or_default().push(job);
        }
        for (kind, jobs) in by_kind {
            if let Err(error) = queue.push(kind, &jobs).await {
                tracing::debug!(%error, "jobs were not enqueued; the scheduler will enqueue them");
            }
        }
    }
}
