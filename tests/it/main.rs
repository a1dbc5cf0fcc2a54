//! Stories: what users of the service can rely on, told through its public API.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a story ends where it fails")]

mod access;
mod arrows;
mod bad_input;
mod batch;
mod bulkheads;
mod crash;
mod cuts;
mod documents;
mod faults;
mod fleet;
mod idempotency;
mod interleavings;
mod killed_api;
mod limit_stores;
mod limits;
mod logs;
mod metrics;
mod operator;
mod outages;
mod pacing;
mod publishing;
mod redis_tls;
mod service;
mod states;
mod validation;
mod webhooks;
mod worker;
