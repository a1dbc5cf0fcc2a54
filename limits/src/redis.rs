//! The counters in Redis: one script for each call, with all keys on one cluster node.

use std::{
    borrow::Borrow,
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use redis::{
    AsyncConnectionConfig, Client, FromRedisValue, RedisError, RedisResult, Script,
    ScriptInvocation, aio::MultiplexedConnection,
};
use tokio::runtime::Handle;

use crate::{Count, Decision, Error, Request, Subject, TakeResult, Window, window::millis};

/// The longest time that Redis may take to answer or to accept a connection. It is short because requests wait for it.
const TIMEOUT: Duration = Duration::from_millis(500);

/// The time for which Redis is not asked after a failure, so that a server that hangs delays one request and not all.
const FAILURE_PAUSE: Duration = Duration::from_millis(500);

/// The interval at which a process registers as a peer. A registration is valid for three intervals.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);

/// The delay before the second registration, so that processes that start together soon learn of each other.
const SECOND_HEARTBEAT_AFTER: Duration = Duration::from_secs(1);

/// The key of the sorted set of processes that share the limits.
const PEERS_KEY: &str = "fanfare:{limits}:peers";

/// A connection that is used only for limits and shared by all requests.
#[derive(Clone)]
pub(crate) struct Redis(Arc<Shared>);

struct Shared {
    client: Client,
    connection: tokio::sync::Mutex<Option<MultiplexedConnection>>,
    state: Mutex<State>,
    name: String,
    peers: AtomicU32,
    takes_part: AtomicBool,
    take: Script,
    sliding_window: Script,
    release: Script,
    block: Script,
    beat: Script,
}

#[derive(Default)]
struct State {
    failed_at: Option<Instant>,
}

impl Redis {
    /// Parses the URL. The connection is opened on first use.
    pub(crate) fn open(url: &str) -> Result<Self, Error> {
        let client = fanfare_redis::open(url).map_err(|_| Error::BadUrl)?;
        Ok(Self(Arc::new(Shared {
            client,
            connection: tokio::sync::Mutex::default(),
            state: Mutex::default(),
            name: uuid::Uuid::new_v4().to_string(),
            peers: AtomicU32::new(1),
            takes_part: AtomicBool::new(false),
            take: Script::new(include_str!("take.lua")),
            sliding_window: Script::new(include_str!("sliding_window.lua")),
            release: Script::new(include_str!("release.lua")),
            block: Script::new(include_str!("block.lua")),
            beat: Script::new(include_str!("peers.lua")),
        })))
    }

    /// Takes from every window or from none; the sign -1 gives back. Returns `None` if Redis is unreachable.
    pub(crate) async fn take(
        &self,
        now: Option<i64>,
        keys: &[String],
        windows: &[Window],
        sign: i64,
    ) -> Option<TakeResult> {
        self.start_heartbeats();
        let mut call = self.0.take.prepare_invoke();
        call.key(keys).arg(time_argument(now));
        for window in windows {
            let cost = i64::try_from(window.cost).unwrap_or(i64::MAX);
            call.arg(window.limit).arg(window.span_ms()).arg(sign * cost);
        }
        let answer: Vec<i64> = self.run_script(&call).await?;
        let counts = windows.iter().zip(answer.get(1..)?.chunks_exact(2));
        let counts = counts.map(|(window, count)| Count {
            limit: window.limit,
            remaining: count[0].unsigned_abs(),
            reset_in: Duration::from_millis(count[1].unsigned_abs()),
        });
        Some(TakeResult::from_counts(windows, counts.collect(), answer[0] == 1))
    }

    /// Decides on calls in the given order. Returns `None` if Redis is unreachable.
    pub(crate) async fn acquire(
        &self,
        now: Option<i64>,
        requests: &[impl Borrow<Request>],
    ) -> Option<Vec<Decision>> {
        self.start_heartbeats();
        let mut call = self.0.sliding_window.prepare_invoke();
        let (subjects, places) = distinct_subjects(requests);
        call.arg(time_argument(now)).arg(subjects.len());
        for subject in subjects {
            call.key(Subject::blocked_key(&subject.name)).arg(subject.rates.len());
            if !subject.rates.is_empty() {
                call.key(Subject::calls_key(&subject.name));
            }
            for rate in &subject.rates {
                call.arg(rate.limit).arg(millis(rate.span));
            }
        }
        for (request, places) in requests.iter().map(Borrow::borrow).zip(places) {
            call.arg(&request.id).arg(&request.call).arg(u8::from(request.is_again));
            call.arg(places.len()).arg(places);
        }
        let waits: Vec<i64> = self.run_script(&call).await?;
        (waits.len() == requests.len()).then(|| waits.into_iter().map(Decision::after).collect())
    }

    /// Removes a call from the count. Returns false if Redis is unreachable.
    pub(crate) async fn release(&self, request: &Request) -> bool {
        let mut call = self.0.release.prepare_invoke();
        call.key(request.calls_keys().collect::<Vec<_>>()).arg(&request.call);
        self.run_script::<i64>(&call).await.is_some()
    }

    /// Blocks a subject. Returns false if Redis is unreachable.
    pub(crate) async fn block(&self, now: Option<i64>, subject: &str, time: Duration) -> bool {
        let mut call = self.0.block.prepare_invoke();
        call.key(Subject::blocked_key(subject)).arg(time_argument(now)).arg(millis(time));
        self.run_script::<i64>(&call).await.is_some()
    }

    /// Returns the number of registered processes at the last answer of Redis.
    pub(crate) fn peers(&self) -> u32 {
        self.0.peers.load(Ordering::Relaxed).max(1)
    }

    /// Starts to register this process regularly in the background. Does nothing outside a Tokio runtime.
    pub(crate) fn start_heartbeats(&self) {
        let Ok(runtime) = Handle::try_current() else { return };
        if !self.0.takes_part.swap(true, Ordering::Relaxed) {
            runtime.spawn(send_heartbeats(Arc::downgrade(&self.0)));
        }
    }

    async fn send_heartbeat(&self) {
        let believed = u64::try_from(HEARTBEAT_INTERVAL.as_millis() * 3).unwrap_or(u64::MAX);
        let mut call = self.0.beat.prepare_invoke();
        call.key(PEERS_KEY).arg(&self.0.name).arg(believed);
        if let Some(peers) = self.run_script::<u32>(&call).await {
            self.0.peers.store(peers, Ordering::Relaxed);
        }
    }

    /// Runs a script, and again on a new connection if the old one was dead. Returns `None` if Redis is unreachable.
    async fn run_script<T: FromRedisValue>(&self, call: &ScriptInvocation<'_>) -> Option<T> {
        if self.is_paused() {
            return None;
        }
        let first = self.run_script_once(call).await;
        let answer = match first {
            Err(error) if error.is_io_error() && !error.is_timeout() => {
                self.run_script_once(call).await
            }
            answer => answer,
        };
        match answer {
            Ok(answer) => {
                self.record_success();
                Some(answer)
            }
            Err(error) => {
                self.record_failure(&error);
                None
            }
        }
    }

    async fn run_script_once<T: FromRedisValue>(
        &self,
        call: &ScriptInvocation<'_>,
    ) -> RedisResult<T> {
        let mut connection = self.connection().await?;
        let answer = call.invoke_async(&mut connection).await;
        if answer.is_err() {
            // This also limits a connection to a demoted primary to one call.
            *self.0.connection.lock().await = None;
        }
        answer
    }

    /// Returns the connection. Callers that arrive while it is being opened wait for it.
    async fn connection(&self) -> RedisResult<MultiplexedConnection> {
        let mut kept = self.0.connection.lock().await;
        if let Some(connection) = &*kept {
            return Ok(connection.clone());
        }
        if self.is_paused() {
            return Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into());
        }
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(Some(TIMEOUT))
            .set_connection_timeout(Some(TIMEOUT));
        match self.0.client.get_multiplexed_async_connection_with_config(&config).await {
            Ok(connection) => Ok(kept.insert(connection).clone()),
            Err(error) => {
                // Recorded before the next waiting caller gets the lock, so that they do not all try one after the
                // other.
                self.record_failure(&error);
                Err(error)
            }
        }
    }

    fn is_paused(&self) -> bool {
        self.state().failed_at.is_some_and(|at| at.elapsed() < FAILURE_PAUSE)
    }

    fn record_success(&self) {
        if self.state().failed_at.take().is_some() {
            tracing::info!("Redis answers again; limits are counted for all processes");
        }
    }

    fn record_failure(&self, error: &RedisError) {
        if self.state().failed_at.replace(Instant::now()).is_none() {
            tracing::warn!(%error, "Redis does not answer; each process counts its limits for itself");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registers this process regularly, until the last user of the connection is dropped.
async fn send_heartbeats(shared: Weak<Shared>) {
    let mut wait = SECOND_HEARTBEAT_AFTER;
    while let Some(shared) = shared.upgrade() {
        Redis(shared).send_heartbeat().await;
        tokio::time::sleep(wait).await;
        wait = HEARTBEAT_INTERVAL;
    }
}

/// Returns the distinct subjects of the requests, and for each request the 1-based indexes of its own subjects.
fn distinct_subjects(requests: &[impl Borrow<Request>]) -> (Vec<&Subject>, Vec<Vec<usize>>) {
    let (mut subjects, mut known) = (Vec::new(), HashMap::new());
    let mut place = |subject| {
        *known.entry(subject).or_insert_with(|| {
            subjects.push(subject);
            subjects.len()
        })
    };
    let places = requests.iter().map(Borrow::borrow);
    let places = places.map(|request| request.subjects.iter().map(&mut place).collect()).collect();
    (subjects, places)
}

/// Returns a time as a script argument. An empty argument means the clock of the server.
fn time_argument(now: Option<i64>) -> String {
    now.map_or(String::new(), |now| now.to_string())
}
