//! Posts of workspaces whose subscription is paused or has ended: they are paused, and scheduled again with it.

use async_trait::async_trait;
use fanfare_core::{Tx, error::Result};
use fanfare_entities::{
    PostId, WorkspaceId, post,
    post::{Column, PostStatus},
    unpaid_post, workspace,
};
use fanfare_people::billing::WorkspacePosts;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
    sea_query::OnConflict,
};

use super::{
    draft::account_of,
    leaving,
    status::{save_row, scheduled, unscheduled},
};

/// The most posts in one transaction.
const BATCH: u64 = 100;

/// The request id of these changes in logs and events.
const REQUEST: &str = "subscription";

/// The posts of workspaces, as subscriptions see them.
#[derive(Debug, Clone, Copy)]
pub struct UnpaidPosts;

#[async_trait]
impl WorkspacePosts for UnpaidPosts {
    async fn pause_some(&self, tx: &mut Tx, workspace: WorkspaceId) -> Result<bool> {
        pause_some(tx, workspace).await
    }

    async fn resume_some(&self, tx: &mut Tx, workspace: WorkspaceId) -> Result<bool> {
        resume_some(tx, workspace).await
    }
}

/// Pauses the next scheduled posts of a workspace. Posts that are being published go out. Returns true if there may be
/// more.
///
/// # Errors
/// The database's.
async fn pause_some(tx: &mut Tx, workspace: WorkspaceId) -> Result<bool> {
    let now = tx.now();
    let rows = post::Entity::find()
        .filter(Column::WorkspaceId.eq(workspace))
        .filter(Column::Status.eq(PostStatus::Scheduled))
        .order_by_asc(Column::Id)
        .limit(BATCH)
        .lock_exclusive()
        .all(tx.conn())
        .await?;
    let has_more = !rows.is_empty();
    for row in rows {
        let waits = unpaid_post::ActiveModel { post_id: Set(row.id), workspace_id: Set(workspace) };
        let known = OnConflict::column(unpaid_post::Column::PostId).do_nothing().to_owned();
        let waits = unpaid_post::Entity::insert(waits).on_conflict(known);
        waits.exec_without_returning(tx.conn()).await?;
        let row = unscheduled(&row, PostStatus::Paused, now);
        save_row(REQUEST, tx, row, "its subscription is paused or has ended").await?;
    }
    Ok(has_more)
}

/// Schedules the next posts again that were paused with the subscription and whose time is still ahead. The others stay
/// paused, and an event says why. Returns true if there may be more.
///
/// # Errors
/// The database's.
async fn resume_some(tx: &mut Tx, workspace: WorkspaceId) -> Result<bool> {
    let waiting: Vec<PostId> = unpaid_post::Entity::find()
        .select_only()
        .column(unpaid_post::Column::PostId)
        .filter(unpaid_post::Column::WorkspaceId.eq(workspace))
        .order_by_asc(unpaid_post::Column::PostId)
        .limit(BATCH)
        .into_tuple()
        .all(tx.conn())
        .await?;
    if waiting.is_empty() {
        return Ok(false);
    }
    let rows = post::Entity::find()
        .filter(Column::Id.is_in(waiting.clone()))
        .filter(Column::Status.eq(PostStatus::Paused))
        .order_by_asc(Column::Id)
        .lock_exclusive()
        .all(tx.conn())
        .await?;
    let own = workspace::Entity::find_by_id(workspace).one(tx.conn()).await?;
    let is_leaving = own.is_some_and(|own| own.deletion_at.is_some());
    for row in rows {
        if is_leaving { leaving::hold(tx, &row).await? } else { resume(tx, row).await? }
    }
    let gone =
        unpaid_post::Entity::delete_many().filter(unpaid_post::Column::PostId.is_in(waiting));
    gone.exec(tx.conn()).await?;
    Ok(true)
}

/// Schedules a post again, unless its time has passed or it cannot be scheduled any more.
async fn resume(tx: &mut Tx, row: post::Model) -> Result<()> {
    let now = tx.now();
    let Some(at) = row.scheduled_at.filter(|at| *at > now) else {
        let why = "its time passed while its subscription was paused; give it a new time";
        return stay_paused(tx, row, why).await;
    };
    let account = account_of(tx.conn(), &row).await?;
    match scheduled(REQUEST, &row, &account, at, now).await {
        Ok(next) => save_row(REQUEST, tx, next, "its subscription goes on").await.map(drop),
        Err(error) => stay_paused(tx, row, error.message()).await,
    }
}

async fn stay_paused(tx: &mut Tx, row: post::Model, why: &str) -> Result<()> {
    let row = post::Model { updated_at: tx.now(), ..row };
    save_row(REQUEST, tx, row, why).await.map(drop)
}
