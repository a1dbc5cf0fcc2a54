//! The posts of a workspace by their time, for pages.

use fanfare_core::{Act, error::Result};
use fanfare_entities::{Millis, post};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect, sea_query::Expr};

use super::read::visible;

/// Returns the posts that go out next, soonest first.
///
/// # Errors
/// The database's.
pub async fn upcoming(act: &Act, limit: u64) -> Result<Vec<post::Model>> {
    let query = visible(&act.membership)
        // Written out, so that the index of scheduled posts alone serves it.
        .filter(Expr::cust("status = 'scheduled'"))
        .order_by_asc(post::Column::ScheduledAt)
        .order_by_asc(post::Column::Id);
    Ok(query.limit(limit).all(&act.cx.db.read).await?)
}

/// Returns the posts that are going out now, the next step first.
///
/// # Errors
/// The database's.
pub async fn under_way(act: &Act, limit: u64) -> Result<Vec<post::Model>> {
    // Every post that is under way has a time for its next step, so the index of due posts serves it.
    let soon = act.cx.clock.now() + 3_600_000;
    let query = visible(&act.membership)
        .filter(Expr::cust("due_at IS NOT NULL"))
        .filter(post::Column::DueAt.lte(soon))
        .filter(Expr::cust("status IN ('publishing', 'processing')"))
        .order_by_asc(post::Column::DueAt);
    Ok(query.limit(limit).all(&act.cx.db.read).await?)
}

/// Returns the posts that failed since a time, latest first.
///
/// # Errors
/// The database's.
pub async fn failed(act: &Act, since: Millis, limit: u64) -> Result<Vec<post::Model>> {
    let query = visible(&act.membership)
        .filter(Expr::cust("status = 'failed'"))
        .filter(post::Column::UpdatedAt.gte(since))
        .order_by_desc(post::Column::UpdatedAt)
        .order_by_desc(post::Column::Id);
    Ok(query.limit(limit).all(&act.cx.db.read).await?)
}

/// Returns the posts whose time is from `from` on and before `to`, earliest first.
///
/// # Errors
/// The database's.
pub async fn between(
    act: &Act,
    (from, to): (Millis, Millis),
    limit: u64,
) -> Result<Vec<post::Model>> {
    let query = visible(&act.membership)
        .filter(post::Column::ScheduledAt.gte(from))
        .filter(post::Column::ScheduledAt.lt(to))
        .order_by_asc(post::Column::ScheduledAt)
        .order_by_asc(post::Column::Id);
    Ok(query.limit(limit).all(&act.cx.db.read).await?)
}

/// Returns true if the workspace has a post that the membership sees.
///
/// # Errors
/// The database's.
pub async fn has_any(act: &Act) -> Result<bool> {
    let first = visible(&act.membership).limit(1).one(&act.cx.db.read).await?;
    Ok(first.is_some())
}
