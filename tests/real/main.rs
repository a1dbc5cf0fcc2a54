//! Stories against real network software on this machine: a Bluesky PDS and WordPress. Run by `make peers`, which
//! installs both; without them these tests fail and say so.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a story ends where it fails")]

mod bluesky;
mod peer;
mod wordpress;
#[expect(dead_code, reason = "these stories kill workers anywhere, not at failpoints")]
#[path = "../it/worker.rs"]
mod worker;
