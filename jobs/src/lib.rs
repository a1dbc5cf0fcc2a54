//! The job queue: enqueueing rows' ids and running workers on them.
//!
//! The database row is the work; the queue only says that it is due. A job carries the id of a row and nothing else, so
//! an entry may be lost, doubled, late or out of order without losing or repeating work: the worker that takes an id
//! claims the row, and the scheduler enqueues rows again that nobody has claimed.
//!
//! Read in this order: [`JobKind`] and [`QueueName`] (the kinds of work), [`Queue`] (enqueues ids), [`run_worker`]
//! (runs jobs), then `fetcher.rs`, which connects the two.
//!
//! This crate has no database, no leases, no retries and no results. The row has all of them.

mod analyse_media;
mod apply_inbound;
mod apply_stripe_event;
mod backend;
mod buffer;
mod clean_up;
mod concurrency;
mod consumer;
mod convert_media;
mod copy_attachment;
mod copy_media;
mod delete_workspace;
mod deliver_webhook;
mod derive_suggestions;
mod error;
mod fair_queue;
mod fetcher;
mod job;
mod job_ref;
mod keep_account;
mod kind;
mod make_video;
mod memory_queue;
mod publish_post;
mod queue;
mod redis_queue;
mod send_mail;
mod send_outgoing;
mod sync_analytics;
mod sync_business;
mod sync_inbox;
mod worker;

pub use analyse_media::AnalyseMedia;
pub use apply_inbound::ApplyInbound;
pub use apply_stripe_event::ApplyStripeEvent;
pub use backend::{Backend, FetchedJob};
pub use clean_up::CleanUp;
pub use concurrency::Concurrency;
pub use convert_media::ConvertMedia;
pub use copy_attachment::CopyAttachment;
pub use copy_media::CopyMedia;
pub use delete_workspace::DeleteWorkspace;
pub use deliver_webhook::DeliverWebhook;
pub use derive_suggestions::DeriveSuggestions;
pub use error::Error;
pub use job::Job;
pub use job_ref::JobRef;
pub use keep_account::KeepAccount;
pub use kind::{JobKind, QueueName, UnknownName};
pub use make_video::MakeVideo;
pub use publish_post::PublishPost;
pub use queue::Queue;
pub use send_mail::SendMail;
pub use send_outgoing::SendOutgoing;
pub use sync_analytics::SyncAnalytics;
pub use sync_business::SyncBusiness;
pub use sync_inbox::SyncInbox;
pub use worker::run_worker;
