//! Posts that wait for a file to be analysed or converted.

use fanfare_entities::{AssetId, Millis, PostId, WorkspaceId, media_wait};
use fanfare_jobs::JobKind;
use sea_orm::{ActiveValue::Set, ConnectionTrait, EntityTrait, sea_query::OnConflict};

use crate::{Domain, Tx, db::statement, error::Result};

/// Notes that a post waits for something to come of a file.
///
/// # Errors
/// The database's.
pub async fn wait(cx: &Domain, post: PostId, assets: &[AssetId]) -> Result<()> {
    use media_wait::Column;
    let rows = assets
        .iter()
        .map(|asset| media_wait::ActiveModel { asset_id: Set(*asset), post_id: Set(post) });
    let known = OnConflict::columns([Column::AssetId, Column::PostId]).do_nothing().to_owned();
    media_wait::Entity::insert_many(rows)
        .on_conflict(known)
        .exec_without_returning(&cx.db.write)
        .await?;
    Ok(())
}

/// Wakes the posts that wait for this file: they are due now, and whoever held one has lost it. Comes after the commit
/// of what they wait for: a post that began to wait before it is found here, and one that begins after it sees it.
///
/// # Errors
/// The database's; then the posts look by themselves, later.
pub(super) async fn wake(cx: &Domain, asset: AssetId) -> Result<()> {
    const WAITING: &str = "UPDATE posts SET due_at = $2, fencing_token = fencing_token + 1, lease_expirations = 0 \
        WHERE id IN (SELECT post_id FROM media_waits WHERE asset_id = $1) \
        AND status IN ('scheduled', 'publishing') AND sending_at IS NULL AND next_attempt_at IS NULL \
        AND due_at > $2 RETURNING id, workspace_id";
    const OVER: &str = "DELETE FROM media_waits WHERE asset_id = $1";
    let mut tx = Tx::begin(cx).await?;
    let now: Millis = tx.now();
    let conn = tx.conn();
    let woken = conn.query_all_raw(statement(conn, WAITING, [asset.0.into(), now.into()])).await?;
    conn.execute_raw(statement(conn, OVER, [asset.0.into()])).await?;
    for row in woken {
        let workspace = WorkspaceId(row.try_get("", "workspace_id")?);
        tx.enqueue(JobKind::PublishPost, workspace, row.try_get("", "id")?, now);
    }
    tx.commit().await
}
