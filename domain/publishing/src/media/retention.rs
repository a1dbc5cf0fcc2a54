//! Deletes files: on request, or because no post has needed them for as long as the plan keeps them. A file that a post
//! still needs is never deleted.

use fanfare_core::{
    Act, Deleted, Domain, RefusalDetails, Reply, Tx,
    db::statement,
    error::{Code, Error, Result},
};
use fanfare_entities::{AssetId, Millis, PostId, media_asset, media_use};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, sea_query::Expr,
};
use uuid::Uuid;

use super::{derived, sizes};

/// The number of files that are checked together, and the most batches of one clean-up.
const BATCH: u64 = 500;
const MAX_BATCHES: usize = 20;

/// The time after which a file that is still needed is checked again, in ms.
const REVIEW_INTERVAL: Millis = 7 * 24 * 3_600_000;

/// Deletes a file.
///
/// # Errors
/// [`Code::MediaInUse`] with `posts` while an unpublished post needs it; [`Code::MediaNotFound`].
pub async fn delete(act: &Act, uid: Uuid) -> Result<Reply<Deleted>> {
    let tx = act.begin().await?;
    let row = media_asset::Entity::find()
        .filter(media_asset::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(media_asset::Column::Uid.eq(uid))
        .filter(media_asset::Column::DueAt.is_null())
        .lock_exclusive()
        .one(tx.conn())
        .await?
        .ok_or_else(|| Error::new(Code::MediaNotFound, "There is no such file."))?;
    let posts = posts_using(tx.conn(), row.id, Millis::MAX).await?;
    if !posts.is_empty() {
        let message = "A post that is not published yet needs the file.";
        let posts = Some(posts.into_iter().map(|id| id.0).collect());
        return Err(Error::new(Code::MediaInUse, message)
            .with_details(RefusalDetails { posts, ..RefusalDetails::default() }));
    }
    let made = remove(&tx, row.id).await?;
    let reply = act.finish(tx, Reply::ok(&Deleted::uuid(row.uid))).await?;
    remove_bytes(&act.cx, row.path.as_deref(), &made).await;
    Ok(reply)
}

/// Checks the files that are due for review, and deletes those that no post needs; returns their number.
///
/// # Errors
/// The database's.
pub async fn delete_unused(cx: &Domain) -> Result<u64> {
    let mut gone = 0;
    for _ in 0..MAX_BATCHES {
        let due: Vec<AssetId> = media_asset::Entity::find()
            .select_only()
            .column(media_asset::Column::Id)
            .filter(media_asset::Column::ReviewAt.lte(cx.clock.now()))
            .filter(media_asset::Column::DueAt.is_null())
            .order_by_asc(media_asset::Column::ReviewAt)
            .limit(BATCH)
            .into_tuple()
            .all(&cx.db.write)
            .await?;
        for id in &due {
            gone += u64::from(review_one(cx, *id).await?);
        }
        if (due.len() as u64) < BATCH {
            break;
        }
    }
    Ok(gone)
}

/// Reviews one file; returns true if it was deleted.
async fn review_one(cx: &Domain, id: AssetId) -> Result<bool> {
    let (tx, now) = (Tx::begin(cx).await?, cx.clock.now());
    let row = media_asset::Entity::find_by_id(id)
        .filter(media_asset::Column::ReviewAt.lte(now))
        .filter(media_asset::Column::DueAt.is_null())
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    let Some(row) = row else { return Ok(false) };
    let kept = sizes::retention(sizes::plan_of(cx, row.workspace_id).await?);
    // The plan may have become a larger one since.
    let again = if row.created_at + kept > now {
        Some(row.created_at + kept)
    } else if posts_using(tx.conn(), id, now - kept).await?.is_empty() {
        None
    } else {
        Some(now + REVIEW_INTERVAL)
    };
    let Some(at) = again else {
        let made = remove(&tx, id).await?;
        tx.commit().await?;
        remove_bytes(cx, row.path.as_deref(), &made).await;
        return Ok(true);
    };
    media_asset::Entity::update_many()
        .col_expr(media_asset::Column::ReviewAt, Expr::value(at))
        .filter(media_asset::Column::Id.eq(id))
        .exec(tx.conn())
        .await?;
    tx.commit().await?;
    Ok(false)
}

/// Returns the posts that need a file: those that have not ended, and those that ended after `since`. At most ten are
/// returned.
async fn posts_using<C: ConnectionTrait>(
    conn: &C,
    id: AssetId,
    since: Millis,
) -> Result<Vec<PostId>> {
    let sql = "SELECT p.id FROM media_uses u JOIN posts p ON p.id = u.post_id WHERE u.asset_id = $1 \
               AND (p.status NOT IN ('published', 'failed') OR p.updated_at > $2) ORDER BY p.id LIMIT 10";
    let rows = conn.query_all_raw(statement(conn, sql, [id.0.into(), since.into()])).await?;
    rows.iter().map(|row| Ok(PostId(row.try_get("", "id")?))).collect()
}

/// Deletes a file's row and everything that belongs to it; returns the paths of its derived files.
async fn remove(tx: &Tx, id: AssetId) -> Result<Vec<String>> {
    let of_asset = media_use::Column::AssetId.eq(id);
    media_use::Entity::delete_many().filter(of_asset).exec(tx.conn()).await?;
    media_asset::Entity::delete_by_id(id).exec(tx.conn()).await?;
    derived::delete_all(tx, id).await
}

/// Removes bytes that no row references any more. No row can reference them again: bytes are shared only with existing
/// rows, and derived files belong to one file.
async fn remove_bytes(cx: &Domain, path: Option<&str>, made: &[String]) {
    let mut unnamed: Vec<&str> = made.iter().map(String::as_str).collect();
    if let Some(path) = path {
        let named = media_asset::Entity::find().filter(media_asset::Column::Path.eq(path));
        match named.count(&cx.db.write).await {
            Ok(0) => unnamed.push(path),
            Ok(_) => {}
            Err(error) => log_not_removed(&error),
        }
    }
    for path in unnamed {
        if let Err(error) = cx.store.delete(path).await {
            log_not_removed(&error);
        }
    }
}

fn log_not_removed(error: &dyn std::fmt::Display) {
    tracing::warn!(%error, "bytes of a deleted file were not removed; they are found as an orphan");
}
