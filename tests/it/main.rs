//! Stories: what users of the service can rely on, told through its public API.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a story ends where it fails")]

mod access;
mod arrows;
mod bad_input;
mod batch;
mod bulkheads;
mod conformance;
mod crash;
mod dashboard;
mod documents;
mod drop_page;
mod drops;
mod faults;
mod fitting;
mod fleet;
mod holding_back;
mod idempotency;
mod interleavings;
mod killed_api;
mod limit_stores;
mod limits;
mod logs;
mod machines;
mod media;
mod media_command;
mod media_kept;
mod media_killed;
mod metrics;
mod operator;
mod operators;
mod ops_command;
mod outages;
mod pacing;
mod publishing;
mod redis_tls;
mod service;
mod states;
mod validation;
mod webhooks;
mod worker;
