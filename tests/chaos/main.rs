//! What must hold under fire: `make chaos`. The simulated networks' own record is the judge.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a story ends where it fails")]

mod kills;

#[path = "../it/worker.rs"]
#[expect(dead_code, reason = "these stories kill workers anywhere, not at failpoints")]
mod worker;
