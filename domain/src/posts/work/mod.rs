//! The statements of the publish protocol, each for a group of posts at once.
//!
//! Claim, arm and record are the only ways a worker changes a post. Each is guarded by the fence: a worker that has lost
//! its row (to an edit, a pause, a delete, or another worker after a lapsed lease) changes nothing and is told so.

mod arm;
mod attempt;
mod change;
mod claim;
mod line;
mod record;

pub use arm::{Armed, arm};
pub use attempt::{Attempt, attempt};
pub use claim::{Claimant, Claimed, claim, look, take};
pub use record::{Record, record};

use fanfare_entities::post;

use super::event;
use crate::events::NewEvent;

/// What a worker tells of a post, on behalf of the request that last changed it.
fn told(event_type: &'static str, row: &post::Model, message: String) -> NewEvent {
    event(event_type, row, message, Some(row.request_id.clone()))
}

/// True while a post, `posts`, has what an event about it says and what may be changed without its holder losing it as it
/// stands in `u`.
const AS_TOLD: &str = "posts.group_key IS NOT DISTINCT FROM u.group_key \
     AND posts.release_id IS NOT DISTINCT FROM u.release_id";
