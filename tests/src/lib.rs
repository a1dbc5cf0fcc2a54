//! The harness of the stories: a whole service in the test's own process, on a database of its own.
//!
//! Only the networks are simulated, and those over real HTTP. `TEST_STACK` says which stack a run tests: `embedded`
//! (SQLite, queue in memory) or `fleet` (PostgreSQL, Redis; `make test-fleet` starts both).

mod app;
pub mod browser;
mod bucket;
mod client;
pub mod consent;
pub mod contract;
mod cutter;
pub mod faketime;
pub mod files;
pub mod networks;
pub mod operator;
mod person;
mod picture;
mod png;
mod postgres;
mod raw;
mod receiver;
mod redis;
pub mod served;
mod simulator;
mod stack;
pub mod visitor;

pub use app::{Options, TestApp};
pub use browser::Browser;
pub use bucket::Bucket;
pub use client::{Answer, User};
pub use cutter::{Cut, Cutter};
pub use operator::Operator;
pub use picture::Picture;
pub use postgres::Postgres;
pub use raw::{Raw, RawAnswer};
pub use receiver::{Heard, Receiver};
pub use redis::Redis;
pub use simulator::Simulator;
pub use stack::Stack;
pub use visitor::Visitor;
