use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use futures_util::task::AtomicWaker;

use crate::FetchedJob;

/// A dequeued id. One from Redis keeps its score, so that it can be put back at the same position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dequeued {
    pub(crate) id: i64,
    pub(crate) score: Option<f64>,
}

/// Holds the jobs that the fetcher has dequeued and the worker has not fetched yet.
#[derive(Default)]
pub(crate) struct Buffer {
    held: Mutex<Held>,
    waker: AtomicWaker,
}

#[derive(Default)]
struct Held {
    jobs: VecDeque<FetchedJob>,
    closed: bool,
}

impl Buffer {
    /// Returns the next job, or `None` once the buffer is closed. While it is empty, the worker is woken when a job
    /// arrives.
    pub(crate) fn poll_fetch(&self, cx: &mut Context<'_>) -> Poll<Option<FetchedJob>> {
        self.waker.register(cx.waker());
        let mut held = self.lock();
        match held.jobs.pop_front() {
            Some(job) => Poll::Ready(Some(job)),
            None if held.closed => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// Adds a job. Call [`wake`](Self::wake) after the last one of a batch.
    pub(crate) fn push(&self, job: FetchedJob) {
        self.lock().jobs.push_back(job);
    }

    /// Wakes the worker.
    pub(crate) fn wake(&self) {
        self.waker.wake();
    }

    /// Closes the buffer and returns the jobs that were not fetched, freeing their slots.
    pub(crate) fn close(&self) -> Vec<Dequeued> {
        let mut held = self.lock();
        held.closed = true;
        let unfetched = held.jobs.drain(..).map(|job| job.dequeued).collect();
        drop(held);
        self.wake();
        unfetched
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
