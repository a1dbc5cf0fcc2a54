use std::time::Duration;

use redis::{Cmd, FromRedisValue, aio::MultiplexedConnection, cmd};
use tokio::{
    select,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    Error, Kind,
    pump::Popped,
    redis_queue::{RedisQueue, due_key},
};

/// Seconds for which the server keeps a pop that finds nothing.
const BLOCK_SECONDS: u32 = 1;

/// When a pop is given up together with its connection. Far beyond `BLOCK_SECONDS`: the ids of an answer nobody reads
/// are lost until the sweeper rings again, so a slow server must not be taken for a dead one.
const DEAD_AFTER: Duration = Duration::from_secs(5);

/// The same for a worker that is to stop.
const DEAD_AFTER_STOP: Duration = Duration::from_secs(2);

/// Pops from one Redis queue on a connection of its own, whatever becomes of Redis meanwhile.
pub(crate) struct Popper {
    redis: RedisQueue,
    kind: Kind,
    connection: Option<MultiplexedConnection>,
    down_since: Option<Instant>,
}

impl Popper {
    pub(crate) fn new(redis: RedisQueue, kind: Kind) -> Self {
        Self { redis, kind, connection: None, down_since: None }
    }

    /// Up to `room` ids, oldest first. Comes back with none after a second without a ring, on stop, and after an
    /// error, which is waited out here.
    pub(crate) async fn pop(&mut self, room: usize, stop: &CancellationToken) -> Vec<Popped> {
        let popped = self.try_pop(room, stop).await;
        self.popped(popped, stop).await
    }

    /// Reads what was popped, and waits after an error.
    async fn popped(
        &mut self,
        popped: Result<Vec<(String, f64)>, Error>,
        stop: &CancellationToken,
    ) -> Vec<Popped> {
        match popped {
            Ok(members) => {
                if let Some(since) = self.down_since.take() {
                    info!(job.kind = %self.kind, seconds = since.elapsed().as_secs(), "Redis answers again");
                }
                members
                    .into_iter()
                    .filter_map(|(member, score)| self.read(&member, score))
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
        let answer = self.ask(pop.arg("MIN").arg("COUNT").arg(room), stop).await?;
        Ok(answer.map(|(_, members): (String, _)| members).unwrap_or_default())
    }

    /// Sends a command on the connection of its own; `None` if there is no answer, or a stop.
    async fn ask<T: FromRedisValue>(
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

    fn read(&self, member: &str, score: f64) -> Option<Popped> {
        match member.parse() {
            Ok(id) => Some(Popped { id, score: Some(score) }),
            Err(_) => {
                warn!(job.kind = %self.kind, "Something else than a number stood on the queue; it is dropped");
                None
            }
        }
    }
}
