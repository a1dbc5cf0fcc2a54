//! Many small writes as few large ones.
//!
//! Greedy, without a timer: whatever was asked for while the last flush ran is the next group. Under light load a group
//! is one row and waits for nothing; under heavy load groups grow by themselves.

use std::{future::Future, time::Instant};

use fanfare_domain::error::{Error, Result};
use tokio::sync::{mpsc, oneshot};

/// Most rows of one statement: as many as a worker has slots by default. A group costs one commit, and the commits of one
/// workspace follow one another, because its events are numbered without gaps.
const MOST: usize = 256;

/// A flush function with a queue before it. Cheap to clone.
#[derive(Debug)]
pub struct Group<I, O> {
    waiting: mpsc::UnboundedSender<Waiting<I, O>>,
}

#[derive(Debug)]
struct Waiting<I, O> {
    item: I,
    answer: oneshot::Sender<Result<O>>,
}

impl<I, O> Clone for Group<I, O> {
    fn clone(&self) -> Self {
        Self { waiting: self.waiting.clone() }
    }
}

impl<I: Clone + Send + Sync + 'static, O: Send + 'static> Group<I, O> {
    /// Groups calls of `flush`, which answers each item in the order given, and counts its groups under `name`. Ends
    /// with the last clone.
    pub fn new<F, Fut>(name: &'static str, flush: F) -> Self
    where
        F: Fn(Vec<I>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<O>>> + Send,
    {
        let (waiting, mut queue) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut group: Vec<Waiting<I, O>> = Vec::with_capacity(MOST);
            while queue.recv_many(&mut group, MOST).await > 0 {
                let (rows, begun) = (group.len(), Instant::now());
                answer(&flush, std::mem::take(&mut group)).await;
                fanfare_metrics::record::group(name, rows, begun.elapsed());
            }
        });
        Self { waiting }
    }

    /// Has one item written with whatever else waits.
    ///
    /// # Errors
    /// The flush function's.
    pub async fn call(&self, item: I) -> Result<O> {
        let (answer, answered) = oneshot::channel();
        let gone = || Error::internal("a group of writes was given up");
        self.waiting.send(Waiting { item, answer }).map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

/// Flushes a group; if that fails, row by row, so that one bad row cannot sink the others.
async fn answer<I, O, F, Fut>(flush: &F, group: Vec<Waiting<I, O>>)
where
    I: Clone,
    F: Fn(Vec<I>) -> Fut,
    Fut: Future<Output = Result<Vec<O>>>,
{
    match flush(group.iter().map(|one| one.item.clone()).collect()).await {
        Ok(answers) => {
            for (one, answer) in group.into_iter().zip(answers) {
                let _ = one.answer.send(Ok(answer));
            }
        }
        Err(error) if group.len() == 1 => {
            for one in group {
                let _ = one.answer.send(Err(error.clone()));
            }
        }
        Err(_) => {
            for one in group {
                let alone = flush(vec![one.item]).await;
                let none = || Error::internal("a write had no answer");
                let _ = one.answer.send(alone.and_then(|mut all| all.pop().ok_or_else(none)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use fanfare_domain::error::{Code, Error};

    use super::Group;

    #[tokio::test]
    async fn what_waits_goes_together_and_a_bad_row_fails_alone() {
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&sizes);
        let group = Group::new("test", move |items: Vec<i32>| {
            seen.lock().unwrap().push(items.len());
            async move {
                tokio::task::yield_now().await;
                if items.contains(&13) {
                    return Err(Error::new(Code::InternalError, "bad row"));
                }
                Ok(items.into_iter().map(|item| item * 2).collect())
            }
        });
        let calls = (0..100).map(|item| {
            let group = group.clone();
            async move { group.call(item).await }
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
}
