use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use futures_util::task::AtomicWaker;

use crate::{Taken, pump::Popped};

/// What the pump has handed out and the worker has not fetched yet.
#[derive(Default)]
pub(crate) struct Hand {
    held: Mutex<Held>,
    waker: AtomicWaker,
}

#[derive(Default)]
struct Held {
    taken: VecDeque<Taken>,
    closed: bool,
}

impl Hand {
    /// The next one; `None` when nothing comes any more. Otherwise the worker is woken when something does.
    pub(crate) fn poll_fetch(&self, cx: &mut Context<'_>) -> Poll<Option<Taken>> {
        self.waker.register(cx.waker());
        let mut held = self.lock();
        match held.taken.pop_front() {
            Some(taken) => Poll::Ready(Some(taken)),
            None if held.closed => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// Adds one; [`wake`](Self::wake) tells the worker, once for many.
    pub(crate) fn give(&self, taken: Taken) {
        self.lock().taken.push_back(taken);
    }

    /// Has the worker look.
    pub(crate) fn wake(&self) {
        self.waker.wake();
    }

    /// Says that nothing comes any more, and takes back what was not fetched, freeing its slots.
    pub(crate) fn close(&self) -> Vec<Popped> {
        let mut held = self.lock();
        held.closed = true;
        let unfetched = held.taken.drain(..).map(|taken| taken.popped).collect();
        drop(held);
        self.wake();
        unfetched
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
