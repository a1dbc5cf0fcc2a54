//! Batches many small writes into few large ones.
//!
//! The items that arrive under a key while its last flush runs are the next batch. Under light load a batch is one row and
//! does not wait; under heavy load batches grow by themselves, and where each costs a round trip they may wait up to
//! [`MAX_DELAY`] to grow.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    hash::Hash,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_util::{FutureExt, future::BoxFuture};
use tokio::sync::oneshot;

use crate::{
    db::retry_conflicts,
    error::{Error, Result},
};

/// The most rows of one statement: as many as a worker has slots by default. A batch costs one
/// commit, and the commits of one workspace follow one another, because its events are numbered without gaps.
const MAX_BATCH: usize = 256;

/// After a batch of at least this many rows the next one waits to grow.
const CROWDED: usize = 8;

/// The longest wait of a batch that may grow, where a statement costs a round trip.
pub const MAX_DELAY: Duration = Duration::from_millis(10);

/// A flush function, and the items that wait for it under each key. Batches of different keys do not wait for each
/// other.
/// Cheap to clone.
pub struct Batcher<K, I, O>(Arc<Inner<K, I, O>>);

struct Inner<K, I, O> {
    name: &'static str,
    max_delay: Duration,
    flush: Flush<I, O>,
    /// A key is here while a task serves it.
    waiting: Mutex<HashMap<K, Vec<Waiting<I, O>>>>,
}

type Flush<I, O> = Box<dyn Fn(Vec<Arc<I>>) -> BoxFuture<'static, Result<Vec<O>>> + Send + Sync>;

struct Waiting<I, O> {
    item: Arc<I>,
    answer: oneshot::Sender<Result<O>>,
}

impl<K, I, O> Clone for Batcher<K, I, O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K, I, O> fmt::Debug for Batcher<K, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Batcher").field(&self.0.name).finish()
    }
}

impl<K, I, O> Batcher<K, I, O>
where
    K: Clone + Eq + Hash + Send + 'static,
    I: Send + Sync + 'static,
    O: Send + 'static,
{
    /// Batches calls of `flush`, which returns one result for each item in the given order, and counts the batches
    /// under `name`. After a large batch the next one waits up to `max_delay` to grow.
    pub fn new<F, Fut>(name: &'static str, max_delay: Duration, flush: F) -> Self
    where
        F: Fn(Vec<Arc<I>>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<O>>> + Send + 'static,
    {
        let flush: Flush<I, O> = Box::new(move |items| flush(items).boxed());
        Self(Arc::new(Inner { name, max_delay, flush, waiting: Mutex::default() }))
    }

    /// Returns true while a task serves this key.
    #[must_use]
    pub fn serves(&self, key: &K) -> bool {
        self.0.waiting().contains_key(key)
    }

    /// Writes one item, in a batch with the others that wait under its key.
    ///
    /// # Errors
    /// The flush function's.
    pub async fn call(&self, key: K, item: impl Into<Arc<I>>) -> Result<O> {
        let (answer, answered) = oneshot::channel();
        let new = Waiting { item: item.into(), answer };
        if let Some(first) = self.0.join(&key, new) {
            tokio::spawn(Arc::clone(&self.0).serve(key, first));
        }
        answered.await.map_err(|_| Error::internal("a batch of writes was abandoned"))?
    }
}

impl<K, I, O> Inner<K, I, O>
where
    K: Clone + Eq + Hash + Send + 'static,
    I: Send + Sync + 'static,
    O: Send + 'static,
{
    fn waiting(&self) -> MutexGuard<'_, HashMap<K, Vec<Waiting<I, O>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues the item behind the task that serves its key. Without such a task, returns the item to be served.
    fn join(&self, key: &K, new: Waiting<I, O>) -> Option<Waiting<I, O>> {
        let mut waiting = self.waiting();
        if let Some(queue) = waiting.get_mut(key) {
            queue.push(new);
            return None;
        }
        waiting.insert(key.clone(), Vec::new());
        Some(new)
    }

    /// Flushes the items under one key until none is left.
    async fn serve(self: Arc<Self>, key: K, first: Waiting<I, O>) {
        let mut group = vec![first];
        loop {
            let (rows, begun) = (group.len(), Instant::now());
            self.answer(group).await;
            fanfare_metrics::record::group(self.name, rows, begun.elapsed());
            if rows >= CROWDED && !self.max_delay.is_zero() {
                tokio::time::sleep(self.max_delay).await;
            }
            let Some(next) = self.next(&key) else { return };
            group = next;
        }
    }

    /// Returns the next batch under this key, or frees the key.
    fn next(&self, key: &K) -> Option<Vec<Waiting<I, O>>> {
        let mut waiting = self.waiting();
        let queue = waiting.get_mut(key)?;
        if queue.is_empty() {
            waiting.remove(key);
            return None;
        }
        let later = queue.split_off(queue.len().min(MAX_BATCH));
        Some(std::mem::replace(queue, later))
    }

    /// Flushes a group; if that fails, row by row, so that one bad row cannot sink the others. After a panic nothing is
    /// tried again: nobody knows how far it came.
    async fn answer(&self, group: Vec<Waiting<I, O>>) {
        let (items, waiting): (Vec<_>, Vec<_>) =
            group.into_iter().map(|one| (one.item, one.answer)).unzip();
        match self.flush_again(&items).await {
            Ok(Ok(answers)) => {
                for (one, answer) in waiting.into_iter().zip(answers) {
                    let _ = one.send(Ok(answer));
                }
            }
            Ok(Err(_)) if items.len() > 1 => {
                for (one, item) in waiting.into_iter().zip(items) {
                    let alone = self.flush(vec![item]).await.unwrap_or_else(Err);
                    let none = || Error::internal("a write had no answer");
                    let _ = one.send(alone.and_then(|mut all| all.pop().ok_or_else(none)));
                }
            }
            Ok(Err(error)) | Err(error) => {
                for one in waiting {
                    let _ = one.send(Err(error.clone()));
                }
            }
        }
    }

    /// Flushes a group, and repeats that if the database aborted the transaction because of a conflict.
    async fn flush_again(&self, items: &[Arc<I>]) -> Result<Result<Vec<O>>> {
        let panic = Mutex::new(None);
        let flushed = retry_conflicts(|| async {
            self.flush(items.to_vec()).await.unwrap_or_else(|error| {
                *panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
                Err(error)
            })
        })
        .await;
        match panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(flushed),
        }
    }

    /// Flushes once. Returns `Err` after a panic, so that the key is still served.
    async fn flush(&self, items: Vec<Arc<I>>) -> Result<Result<Vec<O>>> {
        let flushed = AssertUnwindSafe((self.flush)(items)).catch_unwind().await;
        flushed.map_err(|_| Error::internal("a group of writes panicked"))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Mutex},
        time::Duration,
    };

    use super::Batcher;
    use crate::error::{Code, Error};

    #[tokio::test]
    async fn what_waits_goes_together_and_a_bad_row_fails_alone() {
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&sizes);
        let batcher = Batcher::new("test", Duration::ZERO, move |items: Vec<Arc<i32>>| {
            seen.lock().unwrap().push(items.len());
            async move {
                tokio::task::yield_now().await;
                if items.iter().any(|item| **item == 13) {
                    return Err(Error::new(Code::InternalError, "bad row"));
                }
                Ok(items.iter().map(|item| **item * 2).collect())
            }
        });
        let calls = (0..100).map(|item| {
            let batcher = batcher.clone();
            async move { batcher.call("one", item).await }
        });
        let answers = futures_util::future::join_all(calls).await;
        for (item, answer) in answers.into_iter().enumerate() {
            if item == 13 {
                assert!(answer.is_err());
            } else {
                assert_eq!(answer.unwrap(), i32::try_from(item).unwrap() * 2);
            }
        }
        assert!(sizes.lock().unwrap().iter().any(|size| *size > 1), "{sizes:?}");
    }

    #[tokio::test]
    async fn what_stands_under_another_key_does_not_wait() {
        let (held, hold) = tokio::sync::watch::channel(true);
        let batcher = Batcher::new("test", Duration::ZERO, move |items: Vec<Arc<i32>>| {
            let mut hold = hold.clone();
            async move {
                if items.iter().any(|item| **item == 1) {
                    let _ = hold.wait_for(|held| !held).await;
                }
                Ok(items.iter().map(|item| **item).collect())
            }
        });
        let burst = tokio::spawn({
            let batcher = batcher.clone();
            async move { batcher.call("burst", 1).await }
        });
        assert_eq!(batcher.call("quiet", 2).await.unwrap(), 2);
        assert!(!burst.is_finished());
        held.send(false).unwrap();
        assert_eq!(burst.await.unwrap().unwrap(), 1);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_key_is_served_on() {
        let flushed = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&flushed);
        let batcher = Batcher::new("test", Duration::ZERO, move |items: Vec<Arc<i32>>| {
            seen.lock().unwrap().extend(items.iter().map(|item| **item));
            async move {
                assert!(items.iter().all(|item| **item != 13), "on purpose");
                Ok(items.iter().map(|item| **item).collect::<Vec<_>>())
            }
        });
        let answers =
            futures_util::future::join_all([1, 13, 14].map(|item| batcher.call((), item))).await;
        let failed = |answer: &crate::error::Result<i32>| answer.as_ref().is_err();
        assert_eq!(answers.iter().map(failed).collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(*flushed.lock().unwrap(), [1, 13, 14], "nothing is tried again");
        assert_eq!(batcher.call((), 2).await.unwrap(), 2);
        assert!(batcher.0.waiting().is_empty(), "nobody is served any more");
    }
}
