use std::{collections::VecDeque, sync::Arc};

use tokio::select;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    Concurrency, FetchedJob, JobKind,
    buffer::{Buffer, Dequeued},
    consumer::Consumer,
    memory_queue::MemoryQueue,
    redis_queue::RedisQueue,
};

/// The most ids that one pop takes.
const BATCH: usize = 64;

/// Feeds one worker: waits for a free slot, dequeues ids and puts them into the buffer. On stop it puts back the jobs
/// that were not fetched.
pub(crate) struct Fetcher {
    pub(crate) kind: JobKind,
    pub(crate) local: Arc<MemoryQueue>,
    pub(crate) redis: Option<RedisQueue>,
    pub(crate) slots: Concurrency,
    pub(crate) buffer: Arc<Buffer>,
    pub(crate) stop: CancellationToken,
}

impl Fetcher {
    /// Runs until it is stopped and every dequeued job is fetched or put back.
    pub(crate) async fn run(self) {
        let left = match &self.redis {
            None => self.feed_from_memory().await,
            Some(redis) => self.feed_from_redis(Consumer::new(redis.clone(), self.kind)).await,
        };
        let mut unfetched = self.buffer.close();
        unfetched.extend(left);
        self.put_back(unfetched).await;
    }

    async fn feed_from_memory(&self) -> Vec<Dequeued> {
        while self.wait_for_slot().await {
            let ids = self.take_local();
            if ids.is_empty() {
                select! {
                    () = self.stop.cancelled() => {}
                    () = self.local.pushed() => {}
                }
            }
            let left = self.dispatch(ids).await;
            if !left.is_empty() {
                return left;
            }
        }
        Vec::new()
    }

    async fn feed_from_redis(&self, mut redis: Consumer) -> Vec<Dequeued> {
        while self.wait_for_slot().await {
            let mut left = self.dispatch(self.take_local()).await;
            if left.is_empty() && self.slots.free() > 0 {
                left = self.pop_and_dispatch(&mut redis).await;
            }
            if !left.is_empty() {
                return left;
            }
        }
        Vec::new()
    }

    /// Pops once from Redis. The command is never cancelled; local ids are dispatched while it waits.
    async fn pop_and_dispatch(&self, redis: &mut Consumer) -> Vec<Dequeued> {
        let room = self.slots.free().clamp(1, BATCH);
        let mut pop = std::pin::pin!(redis.pop(room, &self.stop));
        let mut left = Vec::new();
        loop {
            let local = async {
                self.slots.wait_for_slot().await;
                self.local.pushed().await;
            };
            select! {
                biased;
                ids = &mut pop => {
                    left.extend(self.dispatch(ids).await);
                    return left;
                }
                () = local, if !self.stop.is_cancelled() => left.extend(self.dispatch(self.take_local()).await),
            }
        }
    }

    /// Waits for a free slot. Returns false on stop.
    async fn wait_for_slot(&self) -> bool {
        select! {
            biased;
            () = self.stop.cancelled() => false,
            () = self.slots.wait_for_slot() => true,
        }
    }

    fn take_local(&self) -> Vec<Dequeued> {
        let ids = self.local.take(self.slots.free().min(BATCH));
        ids.into_iter().map(|id| Dequeued { id, score: None }).collect()
    }

    /// Gives each id a slot and wakes the worker. Returns the ids that found no slot before the stop.
    async fn dispatch(&self, ids: Vec<Dequeued>) -> Vec<Dequeued> {
        if ids.is_empty() {
            return ids;
        }
        let mut ids = VecDeque::from(ids);
        while let Some(popped) = ids.front().copied() {
            if self.stop.is_cancelled() {
                break;
            }
            if let Some(slot) = self.slots.try_acquire() {
                self.buffer.push(FetchedJob { dequeued: popped, slot });
                ids.pop_front();
            } else {
                // Happens only if local ids took the slots that this pop was meant for, or another worker shares the
                // slots.
                self.buffer.wake();
                self.wait_for_slot().await;
            }
        }
        self.buffer.wake();
        ids.into()
    }

    async fn put_back(&self, ids: Vec<Dequeued>) {
        let local: Vec<i64> =
            ids.iter().filter(|popped| popped.score.is_none()).map(|popped| popped.id).collect();
        self.local.put_back(&local);
        let scored: Vec<(i64, f64)> =
            ids.iter().filter_map(|popped| Some((popped.id, popped.score?))).collect();
        if let Some(redis) = &self.redis
            && let Err(error) = redis.put_back(self.kind, &scored).await
        {
            warn!(job.kind = %self.kind, jobs = scored.len(), %error, "Jobs could not be put back; they will be enqueued again");
        }
    }
}

impl Drop for Fetcher {
    /// Closes the buffer also after a panic, so that the worker does not wait forever.
    fn drop(&mut self) {
        self.buffer.close();
    }
}
