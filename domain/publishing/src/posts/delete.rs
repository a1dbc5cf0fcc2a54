//! Deleting posts.

use fanfare_core::{
    Act, Deleted, Reply, Tx,
    access::Role,
    db::statement,
    error::{Code, Error, Result},
};
use fanfare_entities::{PostId, post, post::PostStatus, post_attempt};
use schemars::JsonSchema;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};
use serde::Serialize;
use serde_json::json;

use super::{
    media, post_event, publishing, read::find_locked, sets, status::invalid_transition, suggestion,
};

/// Deletes a draft, scheduled or failed post. An editor may delete their own drafts.
///
/// # Errors
/// [`Code::InvalidTransition`] in any other status, [`Code::InsufficientWorkspacePermissions`] for other posts.
pub async fn delete(act: &Act, id: PostId) -> Result<Reply<Deleted>> {
    let mut tx = act.begin().await?;
    let row = find_locked(act, &tx, id).await?;
    if !is_own_draft(act, &row) {
        act.membership.require(Role::Publisher)?;
    }
    let open = matches!(row.status, PostStatus::Draft | PostStatus::Scheduled | PostStatus::Failed);
    if !open || row.partly_public {
        return Err(invalid_transition(&row, "deleted"));
    }
    remove(act, &mut tx, &row).await?;
    if let Some(set) = row.post_set_id {
        sets::changed_by_caller(act, &mut tx, set).await?;
    }
    act.finish(tx, Reply::ok(&Deleted::number(row.id.0))).await
}

/// Returns true for a draft that the caller wrote.
#[must_use]
pub fn is_own_draft(act: &Act, row: &post::Model) -> bool {
    row.status == PostStatus::Draft && row.created_by == act.caller.user_id
}

/// Deletes the draft, scheduled, failed and paused posts of a group, and leaves the others alone.
///
/// # Errors
/// [`Code::GroupNotFound`] if no post of the membership's workspace is in the group.
pub async fn delete_group(act: &Act, group: &str) -> Result<Reply<GroupDeleted>> {
    let mut tx = act.begin().await?;
    let mut query = post::Entity::find()
        .filter(post::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(post::Column::GroupKey.eq(group))
        .order_by_asc(post::Column::Id);
    if let Some(brands) = &act.membership.brands {
        query = query.filter(post::Column::BrandId.is_in(brands.iter().copied()));
    }
    let ids = query.clone().select_only().column(post::Column::Id).into_tuple();
    let ids: Vec<PostId> = ids.all(tx.conn()).await?;
    let sets = sets::lock_of_posts(tx.conn(), &ids).await?;
    let rows = query.lock_exclusive().all(tx.conn()).await?;
    if rows.is_empty() {
        return Err(Error::new(Code::GroupNotFound, "No post has this group."));
    }
    let (gone, kept): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| {
        !row.partly_public
            && matches!(
                row.status,
                PostStatus::Draft | PostStatus::Scheduled | PostStatus::Failed | PostStatus::Paused
            )
    });
    for row in &gone {
        remove(act, &mut tx, row).await?;
    }
    for set in sets.into_iter().filter(|set| gone.iter().any(|row| row.post_set_id == Some(*set))) {
        sets::changed_by_caller(act, &mut tx, set).await?;
    }
    let kept = kept.iter().map(|row| KeptPost { id: row.id, status: row.status });
    let group =
        GroupDeleted { deleted: gone.iter().map(|row| row.id).collect(), kept: kept.collect() };
    act.finish(tx, Reply::ok(&group)).await
}

/// The deleted and the kept posts of a group.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GroupDeleted {
    /// The posts that were deleted.
    deleted: Vec<PostId>,
    /// The posts that are going out or are public, and were left alone.
    kept: Vec<KeptPost>,
}

/// A post that was not deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct KeptPost {
    id: PostId,
    status: PostStatus,
}

/// Deletes a post with all that belongs to it; what follows for its set is left to be done.
pub(super) async fn remove(act: &Act, tx: &mut Tx, row: &post::Model) -> Result<()> {
    post_attempt::Entity::delete_many()
        .filter(post_attempt::Column::PostId.eq(row.id))
        .exec(tx.conn())
        .await?;
    media::delete_uses(tx.conn(), row.id).await?;
    sets::forget_target(tx.conn(), row).await?;
    suggestion::unassign(tx.conn(), row.id, act.cx.clock.now()).await?;
    post::Entity::delete_by_id(row.id).exec(tx.conn()).await?;
    publishing::wake_first(tx, &[row.account_id]).await?;
    forget_texts(tx.conn(), row.id).await?;
    let bare = post::Model {
        caption: String::new(),
        settings: json!({}),
        metadata: json!({}),
        media: json!([]),
        error: None,
        warnings: None,
        ..row.clone()
    };
    tx.emit(post_event(act, "post.deleted", &bare, "The post was deleted.".to_owned()));
    Ok(())
}

/// Takes what a deleted post said out of its events, and so out of the deliveries that are still to be made of them.
async fn forget_texts<C: ConnectionTrait>(conn: &C, id: PostId) -> Result<()> {
    let set = match conn.get_database_backend() {
        DbBackend::Postgres => {
            "jsonb_set(data::jsonb, '{post}', (data::jsonb -> 'post') || '{\"caption\": \"\", \"settings\": {}, \
             \"metadata\": {}, \"media\": [], \"media_urls\": [], \"warnings\": [], \"error\": null}')::json"
        }
        _ => {
            "json_set(data, '$.post.caption', '', '$.post.settings', json('{}'), '$.post.metadata', json('{}'), \
             '$.post.media', json('[]'), '$.post.media_urls', json('[]'), '$.post.warnings', json('[]'), \
             '$.post.error', NULL)"
        }
    };
    let sql =
        format!("UPDATE events SET data = {set} WHERE post_id = $1 AND event_type LIKE 'post.%'");
    conn.execute_raw(statement(conn, sql, [id.0.into()])).await?;
    Ok(())
}
