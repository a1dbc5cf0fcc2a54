use std::{fmt, sync::Arc};

use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::warn;

use crate::{
    Backend, Error, Kind, Ring, Slots, hand::Hand, memory_queue::MemoryQueue, pump::Pump,
    redis_queue::RedisQueue,
};

/// The doorbell: where rings go and workers listen. Clones are cheap and share everything.
#[derive(Clone)]
pub struct Bell {
    /// One a kind, in the order of [`Kind::ALL`].
    local: [Arc<MemoryQueue>; Kind::ALL.len()],
    redis: Option<RedisQueue>,
}

impl Bell {
    /// A bell for one process: its queues are in memory and end with it.
    pub fn memory() -> Self {
        Self { local: Default::default(), redis: None }
    }

    /// A bell for a fleet: its queues are in Redis 7 or Valkey, at `redis://`, `rediss://` or `redis+unix://`.
    ///
    /// It comes up although Redis is down, and connects as soon as it can.
    ///
    /// # Errors
    /// [`Error::BadUrl`], or [`Error::TooOld`] if the server answers and is.
    pub async fn redis(url: &str) -> Result<Self, Error> {
        let redis = RedisQueue::open(url)?;
        match redis.check_commands().await {
            Err(Error::TooOld) => return Err(Error::TooOld),
            Err(error) => warn!(%error, "Redis cannot be reached yet"),
            Ok(()) => {}
        }
        Ok(Self { local: Default::default(), redis: Some(redis) })
    }

    /// Puts ids on the queue of `kind`, in this order, where the tenants on it take turns. One that waits there already
    /// keeps its place and is not repeated.
    ///
    /// # Errors
    /// If Redis did not take all of them within a second. It may have taken some; pushing again is harmless.
    pub async fn push<R: Into<Ring> + Copy>(&self, kind: Kind, rings: &[R]) -> Result<(), Error> {
        let pushed = match &self.redis {
            Some(redis) => {
                let rings: Vec<Ring> = rings.iter().map(|ring| (*ring).into()).collect();
                redis.push(kind, &rings).await
            }
            None => {
                self.push_local(kind, rings).await;
                Ok(())
            }
        };
        fanfare_metrics::record::rings(kind.as_str(), pushed.is_ok(), rings.len());
        pushed
    }

    /// Puts ids where only the workers of this process find them: for as long as Redis cannot be reached. Workers
    /// take these first.
    pub async fn push_local<R: Into<Ring> + Copy>(&self, kind: Kind, rings: &[R]) {
        self.local(kind).push(rings.iter().map(|ring| (*ring).into()));
    }

    /// Takes up to `room` of the ids that wait in this process, as a worker does; a taken id may be pushed again.
    pub fn take_local(&self, kind: Kind, room: usize) -> Vec<i64> {
        self.local(kind).take(room)
    }

    /// How many ids wait, those of [`push_local`](Self::push_local) in this process included.
    ///
    /// # Errors
    /// If Redis does not answer within a second.
    pub async fn depth(&self, kind: Kind) -> Result<u64, Error> {
        let local = self.local(kind).len() as u64;
        match &self.redis {
            Some(redis) => Ok(redis.depth(kind).await? + local),
            None => Ok(local),
        }
    }

    /// How many ids wait before this one; `None` if it does not wait. What waits in this process comes first.
    ///
    /// # Errors
    /// If Redis does not answer within a second.
    pub async fn place(&self, kind: Kind, id: i64) -> Result<Option<u64>, Error> {
        let local = self.local(kind);
        match (local.place(id), &self.redis) {
            (Some(place), _) => Ok(Some(place as u64)),
            (None, Some(redis)) => {
                Ok(redis.place(kind, id).await?.map(|place| place + local.len() as u64))
            }
            (None, None) => Ok(None),
        }
    }

    /// Whether Redis forgot what it had, flushed or restarted empty, since this process last asked. The first time it
    /// says whether Redis is empty. In memory always false.
    ///
    /// # Errors
    /// If Redis does not answer within a second.
    pub async fn forgot(&self) -> Result<bool, Error> {
        match &self.redis {
            Some(redis) => redis.forgot().await,
            None => Ok(false),
        }
    }

    /// Whether a push could succeed now.
    ///
    /// # Errors
    /// If Redis does not answer within a second.
    pub async fn ping(&self) -> Result<(), Error> {
        match &self.redis {
            Some(redis) => redis.ping().await,
            None => Ok(()),
        }
    }

    /// Whether the queues are in Redis.
    pub fn is_redis(&self) -> bool {
        self.redis.is_some()
    }

    /// The source of one apalis worker: the ids of `kind`, each with the slot it runs on. [`run_worker`] is the usual
    /// way to use it.
    ///
    /// [`run_worker`]: crate::run_worker
    pub fn backend(&self, kind: Kind, slots: Slots) -> Backend {
        self.backend_until(kind, slots, CancellationToken::new(), &TaskTracker::new())
    }

    /// The same, with a token that makes it put back at once what its worker has not fetched, and with the place where
    /// its task runs, to wait for that.
    pub(crate) fn backend_until(
        &self,
        kind: Kind,
        slots: Slots,
        stop: CancellationToken,
        tasks: &TaskTracker,
    ) -> Backend {
        let local = Arc::clone(self.local(kind));
        let hand = Arc::<Hand>::default();
        Backend::new(
            Pump { kind, local, redis: self.redis.clone(), slots, hand, stop },
            tasks.clone(),
        )
    }

    fn local(&self, kind: Kind) -> &Arc<MemoryQueue> {
        &self.local[kind as usize]
    }
}

impl fmt::Debug for Bell {
    /// Without the URL, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_redis() { "Bell(redis)" } else { "Bell(memory)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_bad_url_is_an_error_that_keeps_its_password() {
        for url in ["", "localhost", "redis://u:s3cret@host:notaport/", "http://u:s3cret@host/"] {
            let error = Bell::redis(url).await.unwrap_err();
            assert!(matches!(error, Error::BadUrl), "{url}: {error:?}");
            assert!(!format!("{error} {error:?}").contains("s3cret"));
        }
    }

    #[tokio::test]
    async fn a_bell_does_not_show_its_password() {
        let bell = Bell::redis("redis://u:s3cret@127.0.0.1:1/").await.unwrap();
        assert_eq!(format!("{bell:?}"), "Bell(redis)");
        let error = bell.ping().await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }

    #[tokio::test]
    async fn a_tls_url_needs_no_preparation_by_the_caller() {
        let bell = Bell::redis("rediss://127.0.0.1:1/").await.unwrap();
        assert!(matches!(bell.ping().await, Err(Error::Redis(_))));
    }
}
