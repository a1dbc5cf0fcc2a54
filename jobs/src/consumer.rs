use std::time::Duration;

use redis::{Cmd, FromRedisValue, aio::MultiplexedConnection, cmd};
use tokio::{
    select,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    Error, JobKind,
    buffer::Dequeued,
    redis_queue::{RedisQueue, due_key},
};

/// Seconds for which the server blocks a pop on an empty queue.
const BLOCK_SECONDS: u32 = 1;

/// The time after which a pop is abandoned together with its connection. Far beyond `BLOCK_SECONDS`: the ids of a
/// discarded reply are lost until the scheduler enqueues them again, so a slow server must not be taken for a dead one.
const DEAD_AFTER: Duration = Duration::from_secs(5);

/// The same for a worker that is stopping.
const DEAD_AFTER_STOP: Duration = Duration::from_secs(2);

/// Pops ids from one Redis queue on a connection of its own, and reconnects after any failure.
pub(crate) struct Consumer {
    redis: RedisQueue,
    kind: JobKind,
    connection: Option<MultiplexedConnection>,
    down_since: Option<Instant>,
}

impl Consumer {
    pub(crate) fn new(redis: RedisQueue, kind: JobKind) -> Self {
        Self { redis, kind, connection: None, down_since: None }
    }

    /// Returns up to `room` ids, oldest first. Returns none after a second without a job, on stop, and after an error,
    /// once a pause has passed.
    pub(crate) async fn pop(&mut self, room: usize, stop: &CancellationToken) -> Vec<Dequeued> {
        let popped = self.try_pop(room, stop).await;
        self.parse_popped(popped, stop).await
    }

    /// Parses the popped members, and waits after an error.
    async fn parse_popped(
        &mut self,
        popped: Result<Vec<(String, f64)>, Error>,
        stop: &CancellationToken,
    ) -> Vec<Dequeued> {
        match popped {
            Ok(members) => {
                if let Some(since) = self.down_since.take() {
                    info!(job.kind = %self.kind, seconds = since.elapsed().as_secs(), "Redis answers again");
                }
                members
                    .into_iter()
                    .filter_map(|(member, score)| self.parse(&member, score))
                    .collect()
            }
            Err(error) => {
                self.connection = None;
                if self.down_since.is_none() {
                    self.down_since = Some(Instant::now());
                    warn!(job.kind = %self.kind, %error, "Redis cannot be reached; trying until it answers");
                }
                let pause = Duration::from_millis(rand::random_range(100..=1_000));
                select! {
                    () = stop.cancelled() => {}
                    () = sleep(pause) => {}
                }
                Vec::new()
            }
        }
    }

    async fn try_pop(
        &mut self,
        room: usize,
        stop: &CancellationToken,
    ) -> Result<Vec<(String, f64)>, Error> {
        let mut pop = cmd("BZMPOP").arg(BLOCK_SECONDS).arg(1).arg(due_key(self.kind)).take();
        let answer = self.query(pop.arg("MIN").arg("COUNT").arg(room), stop).await?;
        Ok(answer.map(|(_, members): (String, _)| members).unwrap_or_default())
    }

    /// Sends a command on its own connection. Returns `None` without a reply, and on stop.
    async fn query<T: FromRedisValue>(
        &mut self,
        command: &Cmd,
        stop: &CancellationToken,
    ) -> Result<Option<T>, Error> {
        if stop.is_cancelled() {
            return Ok(None);
        }
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => self.connection.insert(self.redis.connect().await?),
        };
        let stopped = async {
            stop.cancelled().await;
            sleep(DEAD_AFTER_STOP).await;
        };
        select! {
            biased;
            answer = command.query_async(connection) => Ok(answer?),
            () = sleep(DEAD_AFTER) => Err(Error::NoAnswer(DEAD_AFTER)),
            () = stopped => Err(Error::NoAnswer(DEAD_AFTER_STOP)),
        }
    }

    fn parse(&self, member: &str, score: f64) -> Option<Dequeued> {
        match member.parse() {
            Ok(id) => Some(Dequeued { id, score: Some(score) }),
            Err(_) => {
                warn!(job.kind = %self.kind, "The queue held a member that is not a number; it is dropped");
                None
            }
        }
    }
}
