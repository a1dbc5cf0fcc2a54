use std::{collections::VecDeque, sync::Arc};

use tokio::select;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    Kind, Slots, Taken, hand::Hand, memory_queue::MemoryQueue, popper::Popper,
    redis_queue::RedisQueue,
};

/// Ids a single pop takes.
const BATCH: usize = 64;

/// Feeds one worker: waits for a free slot, takes ids, hands them out. On stop it puts back what nobody fetched.
pub(crate) struct Pump {
    pub(crate) kind: Kind,
    pub(crate) local: Arc<MemoryQueue>,
    pub(crate) redis: Option<RedisQueue>,
    pub(crate) slots: Slots,
    pub(crate) hand: Arc<Hand>,
    pub(crate) stop: CancellationToken,
}

/// An id off a queue. One from Redis has the score that says where it stood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Popped {
    pub(crate) id: i64,
    pub(crate) score: Option<f64>,
}

impl Pump {
    /// Runs until it is stopped and everything is handed out or put back.
    pub(crate) async fn run(self) {
        let left = match &self.redis {
            None => self.feed_from_memory().await,
            Some(redis) => self.feed_from_redis(Popper::new(redis.clone(), self.kind)).await,
        };
        let mut unfetched = self.hand.close();
        unfetched.extend(left);
        self.put_back(unfetched).await;
    }

    async fn feed_from_memory(&self) -> Vec<Popped> {
        while self.slot_free().await {
            let ids = self.take_local();
            if ids.is_empty() {
                select! {
                    () = self.stop.cancelled() => {}
                    () = self.local.rung() => {}
                }
            }
            let left = self.hand_out(ids).await;
            if !left.is_empty() {
                return left;
            }
        }
        Vec::new()
    }

    async fn feed_from_redis(&self, mut redis: Popper) -> Vec<Popped> {
        while self.slot_free().await {
            let mut left = self.hand_out(self.take_local()).await;
            if left.is_empty() && self.slots.free() > 0 {
                left = self.pop_and_hand_out(&mut redis).await;
            }
            if !left.is_empty() {
                return left;
            }
        }
        Vec::new()
    }

    /// One pop from Redis. It is seen through to its end whatever happens; local ids are handed out beside it.
    async fn pop_and_hand_out(&self, redis: &mut Popper) -> Vec<Popped> {
        let room = self.slots.free().clamp(1, BATCH);
        let mut pop = std::pin::pin!(redis.pop(room, &self.stop));
        let mut left = Vec::new();
        loop {
            let local = async {
                self.slots.one_free().await;
                self.local.rung().await;
            };
            select! {
                biased;
                ids = &mut pop => {
                    left.extend(self.hand_out(ids).await);
                    return left;
                }
                () = local, if !self.stop.is_cancelled() => left.extend(self.hand_out(self.take_local()).await),
            }
        }
    }

    /// Waits for a free slot; false means stop.
    async fn slot_free(&self) -> bool {
        select! {
            biased;
            () = self.stop.cancelled() => false,
            () = self.slots.one_free() => true,
        }
    }

    fn take_local(&self) -> Vec<Popped> {
        let ids = self.local.take(self.slots.free().min(BATCH));
        ids.into_iter().map(|id| Popped { id, score: None }).collect()
    }

    /// Gives each id a slot and the worker a nudge. Returns what found no slot before the stop.
    async fn hand_out(&self, ids: Vec<Popped>) -> Vec<Popped> {
        if ids.is_empty() {
            return ids;
        }
        let mut ids = VecDeque::from(ids);
        while let Some(popped) = ids.front().copied() {
            if self.stop.is_cancelled() {
                break;
            }
            if let Some(slot) = self.slots.try_take() {
                self.hand.give(Taken { popped, slot });
                ids.pop_front();
            } else {
                // Only if local ids took the slots this pop was asked for, or another worker shares them.
                self.hand.wake();
                self.slot_free().await;
            }
        }
        self.hand.wake();
        ids.into()
    }

    async fn put_back(&self, ids: Vec<Popped>) {
        let local: Vec<i64> =
            ids.iter().filter(|popped| popped.score.is_none()).map(|popped| popped.id).collect();
        self.local.put_back(&local);
        let scored: Vec<(i64, f64)> =
            ids.iter().filter_map(|popped| Some((popped.id, popped.score?))).collect();
        if let Some(redis) = &self.redis
            && let Err(error) = redis.put_back(self.kind, &scored).await
        {
            warn!(job.kind = %self.kind, jobs = scored.len(), %error, "Jobs could not be put back; they will be rung again");
        }
    }
}

impl Drop for Pump {
    /// Also when it panics: the worker must learn that nothing comes any more.
    fn drop(&mut self) {
        self.hand.close();
    }
}
