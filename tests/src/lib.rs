//! The harness of the stories: a whole service in the test's own process, on a database of its own.
//!
//! Only the networks are simulated, and those over real HTTP. `TEST_STACK` says which stack a run tests: `embedded`
//! (SQLite, queue in memory) or `fleet` (PostgreSQL, Redis; `make fleet` starts both).

mod app;
mod client;
mod receiver;
mod stack;

pub use app::{Options, TestApp};
pub use client::{Answer, User};
pub use receiver::{Heard, Receiver};
pub use stack::Stack;
