use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use redis::{
    AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisResult, aio::MultiplexedConnection,
    cmd,
};
use tokio::time::timeout;

use crate::{
    Error, JobKind, JobRef,
    fair_queue::{MAX_TENANTS, SPACING},
};

/// The longest time that a push may take, including the connection.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The most ids of one script call, so that no call delays the server's other clients for long.
const IDS_PER_CALL: usize = 128;

/// Adds ids at the positions of [`FairQueue`](crate::fair_queue::FairQueue); queued ids keep theirs. Counters,
/// not clocks, give the order: no machine with a wrong clock is served before the others. An empty name stands for
/// the greatest position assigned so far.
const PUSH: &str = "
local due, order, turns = KEYS[1], KEYS[2], KEYS[3]
local apart, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local now = tonumber(redis.call('GET', order) or 0)
local head = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')[2]
local furthest = tonumber(redis.call('HGET', turns, '') or 0)
now = math.max(now, math.floor(tonumber(head or furthest)))
if not head or redis.call('HLEN', turns) > most then
  redis.call('DEL', turns)
end
local last, added = {}, 0
for i = 3, #ARGV, 2 do
  local id, tenant = ARGV[i], ARGV[i + 1]
  if not redis.call('ZSCORE', due, id) then
    now = now + 1
    local before = last[tenant] or tonumber(redis.call('HGET', turns, tenant) or nil)
    local own = before and before + apart or now
    local turn = math.max(now, own)
    last[tenant] = turn
    furthest = math.max(furthest, turn)
    redis.call('ZADD', due, turn, id)
    added = added + 1
  end
end
for tenant, turn in pairs(last) do
  redis.call('HSET', turns, tenant, string.format('%.0f', turn))
end
redis.call('HSET', turns, '', string.format('%.0f', furthest))
redis.call('SET', order, string.format('%.0f', now))
return added";

/// The key of a random value, which is lost only when Redis loses its data.
const EPOCH: &str = "fanfare:{epoch}";

/// The queues in Redis: one sorted set for each kind, with ids as members and positions as scores.
#[derive(Clone)]
pub(crate) struct RedisQueue(Arc<Shared>);

struct Shared {
    client: Client,
    /// The connection for pushes. Any error drops it and the next push connects anew, so a dead connection or one to a
    /// demoted primary lasts for one push at most.
    connection: Mutex<Option<MultiplexedConnection>>,
    epoch: Mutex<Option<String>>,
}

impl RedisQueue {
    /// Reads the URL; connects when first used.
    pub(crate) fn open(url: &str) -> Result<Self, Error> {
        let client = fanfare_redis::open(url).map_err(|_| Error::BadUrl)?;
        Ok(Self(Arc::new(Shared { client, connection: Mutex::default(), epoch: Mutex::default() })))
    }

    /// Returns an error if the server answers but has no `BZMPOP`.
    pub(crate) async fn check_commands(&self) -> Result<(), Error> {
        let known: Vec<redis::Value> =
            self.with_timeout(self.query(cmd("COMMAND").arg("INFO").arg("BZMPOP"))).await?;
        match known.as_slice() {
            [redis::Value::Nil] => Err(Error::TooOld),
            _ => Ok(()),
        }
    }

    /// Adds ids at their fair positions; ids that are already queued keep theirs.
    pub(crate) async fn push(&self, kind: JobKind, jobs: &[JobRef]) -> Result<(), Error> {
        self.with_timeout(async {
            for jobs in jobs.chunks(IDS_PER_CALL) {
                let keys = [due_key(kind), order_key(kind), turns_key(kind)];
                let mut push = cmd("EVAL").arg(PUSH).arg(keys.len()).arg(&keys).take();
                push.arg(SPACING).arg(MAX_TENANTS);
                for job in jobs {
                    push.arg(job.id).arg(job.tenant.as_bytes().as_slice());
                }
                let _added: u64 = self.query(&push).await?;
            }
            Ok(())
        })
        .await
    }

    /// Puts popped ids back at their old positions. `LT`: an id that was pushed again meanwhile gets its earlier
    /// position.
    pub(crate) async fn put_back(&self, kind: JobKind, ids: &[(i64, f64)]) -> Result<(), Error> {
        self.with_timeout(async {
            for ids in ids.chunks(IDS_PER_CALL) {
                let mut add = cmd("ZADD").arg(due_key(kind)).arg("LT").take();
                for (id, score) in ids {
                    add.arg(*score).arg(*id);
                }
                let _added: u64 = self.query(&add).await?;
            }
            Ok(())
        })
        .await
    }

    /// Returns the number of queued ids.
    pub(crate) async fn depth(&self, kind: JobKind) -> Result<u64, Error> {
        self.with_timeout(self.query(cmd("ZCARD").arg(due_key(kind)))).await
    }

    /// Returns the number of ids ahead of this one, or `None` if it is not queued.
    pub(crate) async fn position(&self, kind: JobKind, id: i64) -> Result<Option<u64>, Error> {
        self.with_timeout(self.query(cmd("ZRANK").arg(due_key(kind)).arg(id))).await
    }

    /// Checks that the server answers.
    pub(crate) async fn ping(&self) -> Result<(), Error> {
        self.with_timeout(self.query(&cmd("PING"))).await
    }

    /// Returns whether Redis lost its data since this process last asked. The value shows when another process has set
    /// the key again in between.
    pub(crate) async fn was_flushed(&self) -> Result<bool, Error> {
        let new = uuid::Uuid::new_v4().to_string();
        let set = cmd("SET").arg(EPOCH).arg(&new).arg("NX").arg("GET").take();
        let found: Option<String> = self.with_timeout(self.query(&set)).await?;
        let gone = found.as_ref().is_none_or(|found| *found == new);
        let current = found.unwrap_or(new);
        let mut known = self.0.epoch.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = known.as_ref().is_some_and(|known| *known != current);
        *known = Some(current);
        Ok(gone || changed)
    }

    /// Opens a new connection, on which a command may block without a timeout.
    pub(crate) async fn connect(&self) -> RedisResult<MultiplexedConnection> {
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(None)
            .set_connection_timeout(Some(TIMEOUT));
        self.0.client.get_multiplexed_async_connection_with_config(&config).await
    }

    /// Runs a command on the shared connection. Every command here may be repeated, so one that meets a connection
    /// which died unnoticed is sent once more on a new one.
    async fn query<T: FromRedisValue>(&self, command: &Cmd) -> RedisResult<T> {
        let kept = self.connection().clone();
        if let Some(mut connection) = kept {
            match command.query_async(&mut connection).await {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    *self.connection() = None;
                    if !error.is_io_error() {
                        return Err(error);
                    }
                }
            }
        }
        let mut connection = self.connect().await?;
        let answer = command.query_async(&mut connection).await?;
        *self.connection() = Some(connection);
        Ok(answer)
    }

    async fn with_timeout<T>(
        &self,
        work: impl Future<Output = RedisResult<T>>,
    ) -> Result<T, Error> {
        match timeout(TIMEOUT, work).await {
            Ok(answer) => Ok(answer?),
            Err(_) => {
                *self.connection() = None;
                Err(Error::NoAnswer(TIMEOUT))
            }
        }
    }

    fn connection(&self) -> MutexGuard<'_, Option<MultiplexedConnection>> {
        self.0.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sorted set of a kind.
pub(crate) fn due_key(kind: JobKind) -> String {
    format!("fanfare:{{{kind}}}:due")
}

/// The key of the next new tenant's position, on the same node of a cluster.
fn order_key(kind: JobKind) -> String {
    format!("fanfare:{{{kind}}}:order")
}

/// The key of each tenant's last position. It keeps its old name, so that workers of two versions share it.
fn turns_key(kind: JobKind) -> String {
    format!("fanfare:{{{kind}}}:turns")
}
