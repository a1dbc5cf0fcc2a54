//! The job queue: enqueueing rows' ids and running workers on them.
//!
//! The database row is the work; the queue only says that it is due. A job carries the id of a row and nothing else, so
//! an entry may be lost, doubled, late or out of order without losing or repeating work: the worker that takes an id
//! claims the row, and the scheduler enqueues rows again that nobody has claimed.
//!
//! Read in this order: [`JobKind`] and [`QueueName`] (the kinds of work), [`Queue`] (enqueues ids), [`run_worker`]
//! (runs jobs), then `fetcher.rs`, which connects the two.
//!
//! This crate has no database, no leases, no retries and no results. The row has all of them.

mod backend;
mod buffer;
mod concurrency;
mod consumer;
mod error;
mod fair_queue;
mod fetcher;
mod job;
mod job_ref;
mod kind;
mod kinds;
mod memory_queue;
mod queue;
mod redis_queue;
mod worker;

pub use backend::{Backend, FetchedJob};
pub use concurrency::Concurrency;
pub use error::Error;
pub use job::Job;
pub use job_ref::JobRef;
pub use kind::*;
pub use queue::Queue;
pub use worker::run_worker;
