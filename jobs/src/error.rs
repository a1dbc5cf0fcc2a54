use std::time::Duration;

use apalis_core::monitor::MonitorError;

/// Errors of enqueueing and fetching. No text contains the Redis URL or a password.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL cannot be read. What it contained is not repeated, since it may hold a password.
    #[error(
        "the Redis URL is not valid; it looks like redis://[user:password@]host[:port][/database], or rediss://… for TLS"
    )]
    BadUrl,
    /// The server answers but lacks a command the queue is built on.
    #[error("this Redis server has no BZMPOP command; Redis 7.0 or newer is needed, or Valkey")]
    TooOld,
    /// Redis refused a command, or the connection to it failed.
    #[error("Redis: {0}")]
    Redis(#[from] redis::RedisError),
    /// Redis did not answer in time; whether it did what it was asked is not known.
    #[error("Redis did not answer within {0:?}")]
    NoAnswer(Duration),
    /// Two workers of one process must not share a name: events and logs tell them apart by it.
    #[error("a worker named `{0}` already runs in this process")]
    NameTaken(String),
    /// The task that feeds a worker ended without a stop.
    #[error("the task that feeds the worker ended by itself")]
    FetcherEnded,
    /// The worker ended without a stop.
    #[error("the worker ended by itself: {0}")]
    Worker(#[from] MonitorError),
}
