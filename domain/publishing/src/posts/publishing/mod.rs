//! The statements of the publish protocol, each for a batch of posts.
//!
//! A worker changes a post only by claiming it, by beginning a step and by completing it. The fencing token guards each
//! write: a worker that has lost its row (to an edit, a pause, a delete, or another worker after an expired lease)
//! changes nothing, and the call says so.

mod account_order;
mod attempt;
mod begin_step;
mod change;
mod claim;
mod complete_step;
mod duplicate;

pub(super) use account_order::first_in_line;
pub(crate) use account_order::wake_first;
pub use account_order::{WaitingForWorker, aside_until, oldest_for_worker, waiting_for_worker};
pub use attempt::{Attempt, read_attempt};
pub use begin_step::{BeginStep, begin_step};
pub use claim::{Claimant, ClaimedPost, claim, claim_unchanged, find_claimable};
pub use complete_step::{CompleteStep, complete_step};
pub use duplicate::{earlier_post, unanswered_call};

use fanfare_core::{Domain, events::NewEvent};
use fanfare_entities::post;

use super::event;

/// Returns a worker's event about a post, on behalf of the request that last changed the post.
fn worker_event(
    cx: &Domain,
    event_type: &'static str,
    row: &post::Model,
    message: String,
) -> NewEvent {
    event(cx, event_type, row, message, Some(row.request_id.clone()))
}

/// The condition that the event fields in `u` are still those of the post, `posts`: they may change while it is held.
const EVENT_UNCHANGED: &str = "posts.group_key IS NOT DISTINCT FROM u.group_key \
     AND posts.release_id IS NOT DISTINCT FROM u.release_id";
