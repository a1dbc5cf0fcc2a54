//! Many small writes as few large ones.
//!
//! Whatever was asked for while the last flush ran is the next group. Under light load a group is one row and waits for
//! nothing; under heavy load groups grow by themselves, and where each costs a journey they are given a moment for it.

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use fanfare_domain::error::{Error, Result};
use tokio::sync::{mpsc, oneshot};

/// Most rows of one statement: as many as a worker has slots by default. A group costs one commit, and the commits of one
/// workspace follow one another, because its events are numbered without gaps.
const MOST: usize = 256;

/// Which queue an item waits in. Each is flushed by itself, so that the one post of a tenant does not go step by step with
/// the hundreds of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// For what a tenant has one of.
    First,
    /// For what a tenant has many of.
    Further,
}

impl Lane {
    /// The lane of something that is, or is not, the first its tenant had lately.
    pub const fn of(first: bool) -> Self {
        if first { Self::First } else { Self::Further }
    }
}

/// After a group of so many rows the next one is given a moment to grow.
const CROWD: usize = 8;

/// The moment.
pub const LINGER: Duration = Duration::from_millis(5);

/// A flush function with a queue before it for each [`Lane`]. Cheap to clone.
#[derive(Debug)]
pub struct Group<I, O> {
    first: mpsc::UnboundedSender<Waiting<I, O>>,
    further: mpsc::UnboundedSender<Waiting<I, O>>,
}

#[derive(Debug)]
struct Waiting<I, O> {
    item: Arc<I>,
    answer: oneshot::Sender<Result<O>>,
}

impl<I, O> Clone for Group<I, O> {
    fn clone(&self) -> Self {
        Self { first: self.first.clone(), further: self.further.clone() }
    }
}

impl<I: Send + Sync + 'static, O: Send + 'static> Group<I, O> {
    /// Groups calls of `flush`, which answers each item in the order given, and counts its groups under `name`. After a
    /// crowded group the next one is given time to grow. Ends with the last clone.
    pub fn new<F, Fut>(name: &'static str, linger: Duration, flush: F) -> Self
    where
        F: Fn(Vec<Arc<I>>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<O>>> + Send + 'static,
    {
        let flush = Arc::new(flush);
        let lane = || {
            let (waiting, queue) = mpsc::unbounded_channel();
            tokio::spawn(serve((name, linger), Arc::clone(&flush), queue));
            waiting
        };
        Self { first: lane(), further: lane() }
    }

    /// Has one item written with whatever else waits in its lane.
    ///
    /// # Errors
    /// The flush function's.
    pub async fn call(&self, lane: Lane, item: impl Into<Arc<I>>) -> Result<O> {
        let (answer, answered) = oneshot::channel();
        let gone = || Error::internal("a group of writes was given up");
        let waiting = if lane == Lane::First { &self.first } else { &self.further };
        waiting.send(Waiting { item: item.into(), answer }).map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

/// Flushes what waits in one lane, until nobody can wait there any more.
async fn serve<I, O, F, Fut>(
    (name, linger): (&'static str, Duration),
    flush: Arc<F>,
    mut queue: mpsc::UnboundedReceiver<Waiting<I, O>>,
) where
    F: Fn(Vec<Arc<I>>) -> Fut,
    Fut: Future<Output = Result<Vec<O>>>,
{
    let mut group: Vec<Waiting<I, O>> = Vec::with_capacity(MOST);
    while queue.recv_many(&mut group, MOST).await > 0 {
        let (rows, begun) = (group.len(), Instant::now());
        answer(&*flush, std::mem::take(&mut group)).await;
        fanfare_metrics::record::group(name, rows, begun.elapsed());
        if rows >= CROWD && !linger.is_zero() {
            tokio::time::sleep(linger).await;
        }
    }
}

/// Flushes a group; if that fails, row by row, so that one bad row cannot sink the others.
async fn answer<I, O, F, Fut>(flush: &F, group: Vec<Waiting<I, O>>)
where
    F: Fn(Vec<Arc<I>>) -> Fut,
    Fut: Future<Output = Result<Vec<O>>>,
{
    match flush(group.iter().map(|one| Arc::clone(&one.item)).collect()).await {
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
    use std::{
        sync::{Arc, Mutex},
        time::Duration,
    };

    use fanfare_domain::error::{Code, Error};

    use super::{Group, Lane};

    #[tokio::test]
    async fn what_waits_goes_together_and_a_bad_row_fails_alone() {
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&sizes);
        let group = Group::new("test", Duration::ZERO, move |items: Vec<Arc<i32>>| {
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
            let group = group.clone();
            async move { group.call(Lane::Further, item).await }
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
    async fn the_first_of_a_tenant_does_not_wait_for_the_group_of_another() {
        let (held, hold) = tokio::sync::watch::channel(true);
        let group = Group::new("test", Duration::ZERO, move |items: Vec<Arc<i32>>| {
            let mut hold = hold.clone();
            async move {
                if items.iter().any(|item| **item == 1) {
                    let _ = hold.wait_for(|held| !held).await;
                }
                Ok(items.iter().map(|item| **item).collect())
            }
        });
        let burst = tokio::spawn({
            let group = group.clone();
            async move { group.call(Lane::Further, 1).await }
        });
        assert_eq!(group.call(Lane::First, 2).await.unwrap(), 2);
        assert!(!burst.is_finished());
        held.send(false).unwrap();
        assert_eq!(burst.await.unwrap().unwrap(), 1);
    }
}
