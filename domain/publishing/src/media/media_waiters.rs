//! Posts that wait for a file to be analysed or converted.

use fanfare_core::{Domain, Tx, db::statement, error::Result};
use fanfare_entities::{AssetId, Millis, PostId, WorkspaceId, media_wait};
use fanfare_jobs::JobKind;
use sea_orm::{ActiveValue::Set, ConnectionTrait, EntityTrait, sea_query::OnConflict};

/// Records that a post waits for the analysis or conversion of files.
///
/// # Errors
/// The database's.
pub async fn record(cx: &Domain, post: PostId, assets: &[AssetId]) -> Result<()> {
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

/// Makes the posts due that wait for this file; a worker that held one has lost it. Must be called after the commit of
/// what they wait for: a post that began to wait before is found here, and one that begins after sees the result.
///
/// # Errors
/// The database's; then the posts are checked later by themselves.
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
