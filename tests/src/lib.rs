//! The harness of the stories: a complete service in the test's process, with its own database.
//!
//! Only the networks are simulated, over real HTTP. `TEST_STACK` selects the stack of a run: `embedded` (SQLite, queue
//! in memory) or `fleet` (PostgreSQL, Redis; `make test-fleet` starts both).

mod app;
pub mod browser;
mod bucket;
mod client;
pub mod consent;
pub mod contract;
mod cutter;
pub mod faketime;
pub mod files;
mod local_client;
pub mod networks;
pub mod operator;
mod patience;
mod person;
mod picture;
mod png;
mod postgres;
mod raw;
mod receiver;
mod recorder;
mod redis;
pub mod served;
mod simulator;
mod stack;
pub mod tour;
pub mod vendors;
pub mod visitor;

pub use app::{Options, TestApp, Watch};
pub use browser::Browser;
pub use bucket::S3Server;
pub use client::{ApiReply, User};
pub use cutter::{Cut, Cutter};
pub use local_client::{local_client, local_client_builder};
pub use operator::Operator;
pub use patience::patience;
pub use picture::Picture;
pub use postgres::Postgres;
pub use raw::{RawAnswer, RawConnection};
pub use receiver::{ReceivedRequest, Receiver};
pub use recorder::{Exchange, Recorder};
pub use redis::Redis;
pub use simulator::Simulator;
pub use stack::Stack;
pub use visitor::Visitor;
