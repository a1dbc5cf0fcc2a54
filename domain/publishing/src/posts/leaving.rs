//! Posts of workspaces that are to be deleted: they are paused, and scheduled again if the deletion is stopped.

use fanfare_core::{Tx, error::Result};
use fanfare_entities::{
    PostId, WorkspaceId, leaving_post, post,
    post::{Column, PostStatus},
    subscription, unpaid_post,
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
    sea_query::{Expr, OnConflict},
};

use super::{
    draft::account_of,
    status::{save_row, scheduled, unscheduled},
};

/// The most posts in one transaction.
const BATCH: u64 = 100;

/// The request id of these changes in logs and events.
const REQUEST: &str = "workspace_deletion";

/// Pauses the next scheduled posts of a workspace. Posts that are being published go out. Returns true if there may be
/// more.
///
/// # Errors
/// The database's.
pub async fn pause_some(tx: &mut Tx, workspace: WorkspaceId) -> Result<bool> {
    let now = tx.now();
    let rows = post::Entity::find()
        .filter(Column::WorkspaceId.eq(workspace))
        // Written out, so that the index of upcoming posts serves it.
        .filter(Expr::cust("status = 'scheduled'"))
        .order_by_asc(Column::ScheduledAt)
        .order_by_asc(Column::Id)
        .limit(BATCH)
        .lock_exclusive()
        .all(tx.conn())
        .await?;
    let has_more = rows.len() as u64 == BATCH;
    for row in rows {
        hold(tx, &row).await?;
        let row = unscheduled(&row, PostStatus::Paused, now);
        save_row(REQUEST, tx, row, "its workspace is to be deleted").await?;
    }
    Ok(has_more)
}

/// Schedules the next posts again that were paused for a deletion that was stopped, if their time is still ahead. The
/// others stay paused, and an event says why. Returns true if there may be more.
///
/// # Errors
/// The database's.
pub async fn resume_some(tx: &mut Tx, workspace: WorkspaceId) -> Result<bool> {
    let waiting: Vec<PostId> = leaving_post::Entity::find()
        .select_only()
        .column(leaving_post::Column::PostId)
        .filter(leaving_post::Column::WorkspaceId.eq(workspace))
        .order_by_asc(leaving_post::Column::PostId)
        .limit(BATCH)
        .into_tuple()
        .all(tx.conn())
        .await?;
    let has_more = waiting.len() as u64 == BATCH;
    let rows = post::Entity::find()
        .filter(Column::Id.is_in(waiting.clone()))
        .filter(Column::Status.eq(PostStatus::Paused))
        .order_by_asc(Column::Id)
        .lock_exclusive()
        .all(tx.conn())
        .await?;
    let terms = subscription::Entity::find_by_id(workspace).one(tx.conn()).await?;
    let is_paid = terms.is_some_and(|terms| terms.active);
    for row in rows {
        if is_paid { Box::pin(resume(tx, row)).await? } else { leave_unpaid(tx, &row).await? }
    }
    let gone =
        leaving_post::Entity::delete_many().filter(leaving_post::Column::PostId.is_in(waiting));
    gone.exec(tx.conn()).await?;
    Ok(has_more)
}

/// Notes that a post is paused for the deletion of its workspace.
///
/// # Errors
/// The database's.
pub(super) async fn hold(tx: &Tx, row: &post::Model) -> Result<()> {
    let waits =
        leaving_post::ActiveModel { post_id: Set(row.id), workspace_id: Set(row.workspace_id) };
    let known = OnConflict::column(leaving_post::Column::PostId).do_nothing().to_owned();
    let waits = leaving_post::Entity::insert(waits).on_conflict(known);
    waits.exec_without_returning(tx.conn()).await?;
    Ok(())
}

/// Leaves a post paused until the subscription of its workspace goes on, which ended meanwhile.
async fn leave_unpaid(tx: &Tx, row: &post::Model) -> Result<()> {
    let waits =
        unpaid_post::ActiveModel { post_id: Set(row.id), workspace_id: Set(row.workspace_id) };
    let known = OnConflict::column(unpaid_post::Column::PostId).do_nothing().to_owned();
    let waits = unpaid_post::Entity::insert(waits).on_conflict(known);
    waits.exec_without_returning(tx.conn()).await?;
    Ok(())
}

/// Schedules a post again, unless its time has passed or it cannot be scheduled any more.
async fn resume(tx: &mut Tx, row: post::Model) -> Result<()> {
    let now = tx.now();
    let Some(at) = row.scheduled_at.filter(|at| *at > now) else {
        let why = "its time passed while its workspace was to be deleted; give it a new time";
        return stay_paused(tx, row, why).await;
    };
    let account = account_of(tx.conn(), &row).await?;
    match scheduled(REQUEST, &row, &account, at, now).await {
        Ok(next) => save_row(REQUEST, tx, next, "its workspace stays").await.map(drop),
        Err(error) => stay_paused(tx, row, error.message()).await,
    }
}

async fn stay_paused(tx: &mut Tx, row: post::Model, why: &str) -> Result<()> {
    let row = post::Model { updated_at: tx.now(), ..row };
    save_row(REQUEST, tx, row, why).await.map(drop)
}
