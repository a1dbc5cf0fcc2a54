use std::{fmt, sync::Arc};

use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::warn;

use crate::{
    Backend, Concurrency, Error, JobKind, JobRef, buffer::Buffer, fetcher::Fetcher,
    memory_queue::MemoryQueue, redis_queue::RedisQueue,
};

/// The job queue: one queue for each kind of work. Clones are cheap and share everything.
#[derive(Clone)]
pub struct Queue {
    /// One for each kind, in the order of [`JobKind::ALL`].
    local: [Arc<MemoryQueue>; JobKind::ALL.len()],
    redis: Option<RedisQueue>,
}

impl Queue {
    /// Creates a queue in memory for one process.
    pub fn memory() -> Self {
        Self { local: Default::default(), redis: None }
    }

    /// Creates a queue for a fleet, in Redis 7 or Valkey at a `redis://`, `rediss://` or `redis+unix://` URL.
    ///
    /// Opening succeeds while Redis is down; the queue connects as soon as it can.
    ///
    /// # Errors
    /// [`Error::BadUrl`], or [`Error::TooOld`] if the server answers and is too old.
    pub async fn redis(url: &str) -> Result<Self, Error> {
        let redis = RedisQueue::open(url)?;
        match redis.check_commands().await {
            Err(Error::TooOld) => return Err(Error::TooOld),
            Err(error) => warn!(%error, "Redis cannot be reached yet"),
            Ok(()) => {}
        }
        Ok(Self { local: Default::default(), redis: Some(redis) })
    }

    /// Pushes ids to the queue of `kind` in this order, at fair positions between tenants. An id that is already queued
    /// keeps its position and is not repeated.
    ///
    /// # Errors
    /// If Redis did not take all of them within a second. It may have taken some; pushing again is harmless.
    pub async fn push<R: Into<JobRef> + Copy>(
        &self,
        kind: JobKind,
        jobs: &[R],
    ) -> Result<(), Error> {
        let pushed = match &self.redis {
            Some(redis) => {
                let jobs: Vec<JobRef> = jobs.iter().map(|job| (*job).into()).collect();
                redis.push(kind, &jobs).await
            }
            None => {
                self.push_local(kind, jobs).await;
                Ok(())
            }
        };
        fanfare_metrics::record::enqueued(kind.as_str(), pushed.is_ok(), jobs.len());
        pushed
    }

    /// Pushes ids to this process's own queue, for use while Redis cannot be reached. Workers take these first.
    pub async fn push_local<R: Into<JobRef> + Copy>(&self, kind: JobKind, jobs: &[R]) {
        self.local(kind).push(jobs.iter().map(|job| (*job).into()));
    }

    /// Removes and returns up to `room` ids of this process's own queue. They may be pushed again.
    pub fn take_local(&self, kind: JobKind, room: usize) -> Vec<i64> {
        self.local(kind).take(room)
    }

    /// Returns the number of queued ids, including those of [`push_local`](Self::push_local) in this process.
    ///
    /// # Errors
    /// If Redis does not answer within a second.
    pub async fn depth(&self, kind: JobKind) -> Result<u64, Error> {
        let local = self.local(kind).len() as u64;
        match &self.redis {
            Some(redis) => Ok(redis.depth(kind).await? + local),
            None => Ok(local),
        }
    }

    /// Returns the number of ids ahead of this one, or `None` if it is not queued. Ids of this process come first.
    ///
    /// # Errors
    /// If Redis does not answer within a second.
    pub async fn position(&self, kind: JobKind, id: i64) -> Result<Option<u64>, Error> {
        let local = self.local(kind);
        match (local.position(id), &self.redis) {
            (Some(position), _) => Ok(Some(position as u64)),
            (None, Some(redis)) => {
                Ok(redis.position(kind, id).await?.map(|position| position + local.len() as u64))
            }
            (None, None) => Ok(None),
        }
    }

    /// Returns true if Redis lost its data, by a flush or an empty restart, since this process last asked. The first
    /// call returns whether Redis is empty. A queue in memory always returns false.
    ///
    /// # Errors
    /// If Redis does not answer within a second.
    pub async fn was_flushed(&self) -> Result<bool, Error> {
        match &self.redis {
            Some(redis) => redis.was_flushed().await,
            None => Ok(false),
        }
    }

    /// Checks that a push could succeed now.
    ///
    /// # Errors
    /// If Redis does not answer within a second.
    pub async fn ping(&self) -> Result<(), Error> {
        match &self.redis {
            Some(redis) => redis.ping().await,
            None => Ok(()),
        }
    }

    /// Returns whether the queues are in Redis.
    pub fn is_redis(&self) -> bool {
        self.redis.is_some()
    }

    /// Returns the apalis backend of one worker: the ids of `kind`, each with the slot it runs on. [`run_worker`] is
    /// the usual way to use it.
    ///
    /// [`run_worker`]: crate::run_worker
    pub fn backend(&self, kind: JobKind, slots: Concurrency) -> Backend {
        self.backend_with_stop(kind, slots, CancellationToken::new(), &TaskTracker::new())
    }

    /// Returns the backend with a token that makes it put back unfetched jobs at once, and with the tracker on which
    /// its task runs, to wait for that.
    pub(crate) fn backend_with_stop(
        &self,
        kind: JobKind,
        slots: Concurrency,
        stop: CancellationToken,
        tasks: &TaskTracker,
    ) -> Backend {
        let local = Arc::clone(self.local(kind));
        let buffer = Arc::<Buffer>::default();
        Backend::new(
            Fetcher { kind, local, redis: self.redis.clone(), slots, buffer, stop },
            tasks.clone(),
        )
    }

    fn local(&self, kind: JobKind) -> &Arc<MemoryQueue> {
        &self.local[kind as usize]
    }
}

impl fmt::Debug for Queue {
    /// Leaves out the URL, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_redis() { "Queue(redis)" } else { "Queue(memory)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_bad_url_is_an_error_that_keeps_its_password() {
        for url in ["", "localhost", "redis://u:s3cret@host:notaport/", "http://u:s3cret@host/"] {
            let error = Queue::redis(url).await.unwrap_err();
            assert!(matches!(error, Error::BadUrl), "{url}: {error:?}");
            assert!(!format!("{error} {error:?}").contains("s3cret"));
        }
    }

    #[tokio::test]
    async fn a_bell_does_not_show_its_password() {
        let queue = Queue::redis("redis://u:s3cret@127.0.0.1:1/").await.unwrap();
        assert_eq!(format!("{queue:?}"), "Queue(redis)");
        let error = queue.ping().await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }

    #[tokio::test]
    async fn a_tls_url_needs_no_preparation_by_the_caller() {
        let queue = Queue::redis("rediss://127.0.0.1:1/").await.unwrap();
        assert!(matches!(queue.ping().await, Err(Error::Redis(_))));
    }
}
