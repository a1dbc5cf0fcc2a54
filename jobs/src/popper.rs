use std::time::Duration;

use redis::{aio::MultiplexedConnection, cmd};
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
        match self.try_pop(room, stop).await {
            Ok(ids) => {
                if let Some(since) = self.down_since.take() {
                    info!(job.kind = %self.kind, seconds = since.elapsed().as_secs(), "Redis answers again");
                }
                ids
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
    ) -> Result<Vec<Popped>, Error> {
        if stop.is_cancelled() {
            return Ok(Vec::new());
        }
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => self.connection.insert(self.redis.connect().await?),
        };
        let pop = cmd("BZMPOP")
            .arg(BLOCK_SECONDS)
            .arg(1)
            .arg(due_key(self.kind))
            .arg("MIN")
            .arg("COUNT")
            .arg(room)
            .take();
        let stopped = async {
            stop.cancelled().await;
            sleep(DEAD_AFTER_STOP).await;
        };
        let answer: Option<(String, Vec<(String, f64)>)> = select! {
            biased;
            answer = pop.query_async(connection) => answer?,
            () = sleep(DEAD_AFTER) => return Err(Error::NoAnswer(DEAD_AFTER)),
            () = stopped => return Err(Error::NoAnswer(DEAD_AFTER_STOP)),
        };
        let members = answer.map(|(_, members)| members).unwrap_or_default();
        Ok(members.into_iter().filter_map(|(member, score)| self.read(&member, score)).collect())
    }

    fn read(&self, member: &str, score: f64) -> Option<Popped> {
        match member.parse() {
            Ok(id) => Some(Popped { id, score: Some(score), first: score.fract() != 0.0 }),
            Err(_) => {
                warn!(job.kind = %self.kind, "Something else than a number stood on the queue; it is dropped");
                None
            }
        }
    }
}
