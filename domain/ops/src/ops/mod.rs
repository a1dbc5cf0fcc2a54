//! The pages and actions of operators, who run the service.
//!
//! Operators see all workspaces, so nothing here takes a membership. The caller must have checked that an operator asks
//! (the pages under `/admin` by a log-in, `fanfare ops` by access to the database). Every change goes through
//! [`perform`], which writes it into the audit log in the same transaction.

mod action;
pub mod audit;
mod board;
pub mod failing_webhooks;
pub mod fleet;
pub mod needs_attention;
pub mod networks;
pub mod operators;
pub mod pauses;
pub mod queues;
pub mod readings;
mod retry;
pub mod samples;
pub mod search;
pub mod sessions;
pub mod story;
pub mod troubles;

pub use action::{Action, ActionResult, Actor, Order, Preview, PreviewRow, perform, preview};
pub use board::Moderation;
pub use retry::{MAX_POSTS as MOST_RETRIED, RetryCandidates, candidates, preview_found};
