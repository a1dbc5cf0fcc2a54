//! Posting schedules: the times of day at which accounts post.

use fanfare_core::{Reply, Result};
use fanfare_publishing::posting_schedule;

use crate::Call;

/// Shows the posting schedule of an account.
pub async fn get(call: Call) -> Result<Reply<posting_schedule::OneGrid>> {
    posting_schedule::show_grid(&call.act, call.account()?).await
}

/// Sets the posting schedule of an account.
pub async fn set(mut call: Call) -> Result<Reply<posting_schedule::OneGrid>> {
    let id = call.account()?;
    let grid = call.body()?;
    posting_schedule::set_grid(&call.act, id, grid).await
}

/// Shows the next free slot of an account.
pub async fn next(mut call: Call) -> Result<Reply<posting_schedule::NextSlot>> {
    let query = call.query()?;
    posting_schedule::next_slots(&call.act, query).await
}
