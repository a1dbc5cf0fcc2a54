use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use apalis_core::{
    backend::{Backend as ApalisBackend, BackendConfig, finalize::Ephemeral},
    layers::Identity,
    task::{Task, builder::TaskBuilder, task_id::TaskId},
    worker::context::WorkerContext,
};
use tokio::task::{JoinHandle, coop};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Error,
    buffer::{Buffer, Dequeued},
    concurrency::Slot,
    fetcher::Fetcher,
};

/// One fetched job: the id of its row and the slot it runs on. Dropping it frees the slot, so it is held until the work
/// is done; a panic or an abort drops it too.
#[derive(Debug)]
pub struct FetchedJob {
    pub(crate) dequeued: Dequeued,
    #[expect(dead_code, reason = "held for what its drop does")]
    pub(crate) slot: Slot,
}

impl FetchedJob {
    /// Returns the id of its row.
    pub fn id(&self) -> i64 {
        self.dequeued.id
    }
}

/// The apalis backend, the same over Redis and over memory: it gives its worker the jobs that a fetcher task has
/// dequeued.
///
/// It never returns an error of Redis and never ends by itself. Dropping it stops the fetcher, which puts back the jobs
/// that the worker has not fetched.
#[must_use = "a backend does nothing until a worker polls it"]
pub struct Backend {
    /// Until the worker starts.
    fetcher: Option<Fetcher>,
    /// From then on.
    running: Option<JoinHandle<()>>,
    buffer: Arc<Buffer>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Backend {
    pub(crate) fn new(fetcher: Fetcher, tasks: TaskTracker) -> Self {
        Self {
            buffer: Arc::clone(&fetcher.buffer),
            stop: fetcher.stop.clone(),
            fetcher: Some(fetcher),
            running: None,
            tasks,
        }
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl ApalisBackend for Backend {
    type Task = Task<FetchedJob>;
    type Error = Error;

    fn poll_ready(&mut self, _: &mut Context<'_>, _: &WorkerContext) -> Poll<Result<(), Error>> {
        if let Some(fetcher) = self.fetcher.take() {
            self.running = Some(self.tasks.spawn(fetcher.run()));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        _: &WorkerContext,
    ) -> Poll<Option<Result<Self::Task, Error>>> {
        // The worker polls finished jobs and new ones in one loop. Once a task's budget is spent, tokio lets no future
        // of it complete. So this must return Pending then too, or the loop starts jobs and never sees one end.
        let budget = ready!(coop::poll_proceed(cx));
        match self.buffer.poll_fetch(cx) {
            Poll::Ready(Some(job)) => {
                budget.made_progress();
                let id = TaskId::from_int(job.id().unsigned_abs());
                Poll::Ready(Some(Ok(TaskBuilder::new(job).task_id(id).build())))
            }
            // apalis does not call this again once it has seen the stop; it would take `None` for the end of the
            // worker.
            Poll::Ready(None) if self.stop.is_cancelled() => Poll::Pending,
            Poll::Ready(None) => Poll::Ready(Some(Err(Error::FetcherEnded))),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Becomes ready when the jobs that were not fetched are back on the queue.
    fn poll_close(&mut self, cx: &mut Context<'_>, _: &WorkerContext) -> Poll<Result<(), Error>> {
        self.stop.cancel();
        let Some(running) = &mut self.running else {
            return Poll::Ready(Ok(()));
        };
        let ended = ready!(Pin::new(running).poll(cx));
        self.running = None;
        Poll::Ready(ended.map_err(|_| Error::FetcherEnded))
    }
}

impl BackendConfig for Backend {
    type Args = FetchedJob;
    type Id = u64;
    /// Tasks need no decoding.
    type Kind = Ephemeral;
    type Config = ();
    type Layer = Identity;

    fn config(&self) -> &() {
        &()
    }

    fn middleware(&mut self, _: &mut WorkerContext) -> Identity {
        Identity::new()
    }
}
