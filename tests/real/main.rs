//! Stories against real third-party software on this machine: a Bluesky PDS, WordPress, clients of MCP and OAuth, the
//! conformance suites of MCP, schemathesis, generators of clients, a Stripe server, what judges whether everybody can use
//! the pages, and the packages in which vendors describe their networks. Run by `make peers`, which installs all; without them these tests fail and say so.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a story ends where it fails")]
#![expect(clippy::print_stdout, reason = "the figures are what some of them are for")]
#![expect(clippy::disallowed_methods, reason = "this machine's own servers are asked")]

mod accessibility;
mod agents;
mod bluesky;
mod bluesky_cuts;
mod generators;
mod peer;
mod schemathesis;
mod stripe;
mod vendors;
mod wordpress;
#[expect(dead_code, reason = "these stories kill workers anywhere, not at failpoints")]
#[path = "../it/worker.rs"]
mod worker;
