//! Stories against real network software on this machine: a Bluesky PDS and WordPress. Run by `make peers`, which
//! installs both; without them these tests fail and say so.

mod bluesky;
mod peer;
mod wordpress;
#[expect(dead_code, reason = "these stories kill workers anywhere, not at failpoints")]
#[path = "../it/worker.rs"]
mod worker;
