//! When accounts like to post.

use fanfare_domain::{Reply, Result, slots};

use crate::Call;

/// The grid of an account.
pub async fn get(call: Call) -> Result<Reply<slots::OneGrid>> {
    slots::show_grid(&call.act, call.account()?).await
}

/// Sets the grid of an account.
pub async fn set(mut call: Call) -> Result<Reply<slots::OneGrid>> {
    let id = call.account()?;
    let grid = call.body()?;
    slots::set_grid(&call.act, id, grid).await
}

/// The next free slot of an account.
pub async fn next(mut call: Call) -> Result<Reply<slots::NextSlot>> {
    let query = call.query()?;
    slots::next(&call.act, query).await
}
