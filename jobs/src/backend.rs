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
    hand::Hand,
    pump::{Popped, Pump},
    slots::Slot,
};

/// What an apalis worker gets for one job: the id of its row and the slot it runs on. The slot is free again when this
/// is dropped, so it is kept until the work is done; a panic or an abort drops it too.
#[derive(Debug)]
pub struct Taken {
    pub(crate) popped: Popped,
    #[expect(dead_code, reason = "held for what its drop does")]
    pub(crate) slot: Slot,
}

impl Taken {
    /// The id that was pushed.
    pub fn id(&self) -> i64 {
        self.popped.id
    }
}

/// The apalis backend, the same over Redis and over memory: it gives its worker what a pump task has taken.
///
/// It never returns an error of Redis and never ends by itself. Dropping it stops the pump, which puts back what the
/// worker has not fetched.
#[must_use = "a backend does nothing until a worker polls it"]
pub struct Backend {
    /// Until the worker starts.
    pump: Option<Pump>,
    /// From then on.
    running: Option<JoinHandle<()>>,
    hand: Arc<Hand>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Backend {
    pub(crate) fn new(pump: Pump, tasks: TaskTracker) -> Self {
        Self {
            hand: Arc::clone(&pump.hand),
            stop: pump.stop.clone(),
            pump: Some(pump),
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
    type Task = Task<Taken>;
    type Error = Error;

    fn poll_ready(&mut self, _: &mut Context<'_>, _: &WorkerContext) -> Poll<Result<(), Error>> {
        if let Some(pump) = self.pump.take() {
            self.running = Some(self.tasks.spawn(pump.run()));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        _: &WorkerContext,
    ) -> Poll<Option<Result<Self::Task, Error>>> {
        // The worker looks for finished jobs and for new ones in one loop, and tokio shows a task nothing finished once
        // its budget is spent. So this must say Pending then too, or the loop starts jobs and never sees one end.
        let budget = ready!(coop::poll_proceed(cx));
        match self.hand.poll_fetch(cx) {
            Poll::Ready(Some(taken)) => {
                budget.made_progress();
                let id = TaskId::from_int(taken.id().unsigned_abs());
                Poll::Ready(Some(Ok(TaskBuilder::new(taken).task_id(id).build())))
            }
            // apalis calls this no more once it knows of the stop, and would take `None` for the end of the worker.
            Poll::Ready(None) if self.stop.is_cancelled() => Poll::Pending,
            Poll::Ready(None) => Poll::Ready(Some(Err(Error::PumpEnded))),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Ready when what was not fetched is back on the queue.
    fn poll_close(&mut self, cx: &mut Context<'_>, _: &WorkerContext) -> Poll<Result<(), Error>> {
        self.stop.cancel();
        let Some(running) = &mut self.running else {
            return Poll::Ready(Ok(()));
        };
        let ended = ready!(Pin::new(running).poll(cx));
        self.running = None;
        Poll::Ready(ended.map_err(|_| Error::PumpEnded))
    }
}

impl BackendConfig for Backend {
    type Args = Taken;
    type Id = u64;
    /// As apalis means it: tasks come as they are and need no decoding.
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
