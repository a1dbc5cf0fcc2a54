//! What is put on the queue, and how it is taken off again.
//!
//! The database row is the work; the queue is only its doorbell. A job carries the id of a row and nothing else, so
//! a ring may be lost, doubled, late or out of order and no work is lost or done twice: whoever takes an id claims
//! the row, and the sweeper rings again for rows nobody came for.
//!
//! Read in this order: [`Kind`] and [`Queue`] (what there is to do), [`Bell`] (put ids on a queue), [`run_worker`]
//! (take them off), then `pump.rs`, which is all that stands between the two.
//!
//! What is absent here: no database, no lease, no retry, no result. The row has all of that.

mod analyse_media;
mod backend;
mod bell;
mod clean_up;
mod convert_media;
mod copy_media;
mod deliver_webhook;
mod error;
mod hand;
mod job;
mod keep_account;
mod kind;
mod memory_queue;
mod popper;
mod publish_post;
mod pump;
mod redis_queue;
mod ring;
mod send_mail;
mod slots;
mod turns;
mod worker;

pub use analyse_media::AnalyseMedia;
pub use backend::{Backend, Taken};
pub use bell::Bell;
pub use clean_up::CleanUp;
pub use convert_media::ConvertMedia;
pub use copy_media::CopyMedia;
pub use deliver_webhook::DeliverWebhook;
pub use error::Error;
pub use job::Job;
pub use keep_account::KeepAccount;
pub use kind::{Kind, Queue, UnknownName};
pub use publish_post::PublishPost;
pub use ring::Ring;
pub use send_mail::SendMail;
pub use slots::Slots;
pub use worker::run_worker;
