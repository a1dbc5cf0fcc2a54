//! Sets aside due posts that a pause covers, so that the scheduler does not read them again in every turn.
//!
//! A post set aside has no `due_at`. It keeps its `scheduled_at`, so that after the pause it goes out, or fails with
//! `missed`, by the usual rule. Each post is changed twice: when it is due, and when the pause has ended.

use std::collections::BTreeSet;

use fanfare_core::{Domain, Tx, db::statement, error::Result, rows::Rows};
use fanfare_entities::{AccountId, Millis};
use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use super::publishing;

/// The SQL condition that no pause covers a row of `posts`. The table is empty or has a few rows, so each claim can
/// check it: a pause holds in every process from its commit on, without a message to any of them.
pub const UNPAUSED: &str = "NOT EXISTS (SELECT 1 FROM pauses \
     WHERE (pauses.platform IS NULL OR pauses.platform = posts.platform) \
     AND (pauses.account_id IS NULL OR pauses.account_id = posts.account_id))";

/// The number of posts that are restored in one statement.
const BATCH: u64 = 1_000;

/// Returns the ids of all pauses, by which the scheduler notices that one began or ended.
///
/// # Errors
/// The database's.
pub async fn pauses(cx: &Domain) -> Result<Vec<Uuid>> {
    let conn = &cx.db.read;
    let rows = conn.query_all_raw(statement(conn, "SELECT id FROM pauses ORDER BY id", [])).await?;
    Ok(rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, DbErr>>()?)
}

/// Sets aside those of `ids` that are due and paused; returns the others in their order.
///
/// # Errors
/// The database's; nothing was set aside then.
pub async fn set_aside(cx: &Domain, ids: Vec<i64>) -> Result<Vec<i64>> {
    let now = cx.clock.now();
    let tx = cx.db.begin().await?;
    let list = Rows::of_ids(&tx, &ids);
    let sql = format!(
        "SELECT posts.id FROM posts JOIN {} ON wanted.id = posts.id \
         WHERE posts.due_at <= $1 AND NOT ({UNPAUSED}) ORDER BY posts.id {}",
        list.from("wanted", 2),
        lock(cx)
    );
    let values = std::iter::once(now.into()).chain(list.values());
    let paused = row_ids(&tx.query_all_raw(statement(&tx, sql, values)).await?)?;
    if paused.is_empty() {
        tx.rollback().await?;
        return Ok(ids);
    }
    let list = Rows::of_ids(&tx, &paused);
    let sql = format!(
        "INSERT INTO post_holds (post_id, account_id, scheduled_at, pause_id) \
         SELECT posts.id, posts.account_id, posts.scheduled_at, \
         (SELECT id FROM pauses WHERE (platform IS NULL OR platform = posts.platform) \
         AND (account_id IS NULL OR account_id = posts.account_id) ORDER BY created_at LIMIT 1) \
         FROM posts JOIN {} ON wanted.id = posts.id WHERE NOT ({UNPAUSED}) \
         ON CONFLICT (post_id) DO UPDATE SET pause_id = excluded.pause_id, scheduled_at = excluded.scheduled_at",
        list.from("wanted", 1)
    );
    tx.execute_raw(statement(&tx, sql, list.values())).await?;
    let list = Rows::of_ids(&tx, &paused);
    let sql = format!(
        "UPDATE posts SET due_at = NULL \
         WHERE id IN (SELECT post_id FROM post_holds) AND id IN (SELECT id FROM {})",
        list.from("wanted", 1)
    );
    tx.execute_raw(statement(&tx, sql, list.values())).await?;
    tx.commit().await?;
    Ok(ids.into_iter().filter(|id| !paused.contains(id)).collect())
}

/// Makes posts due whose pause has ended; returns their number. A post that was changed meanwhile stays as it is.
///
/// # Errors
/// The database's.
pub async fn restore(cx: &Domain) -> Result<usize> {
    restore_some(cx, "WHERE pause_id NOT IN (SELECT id FROM pauses)").await
}

/// Makes all held posts due again, paused or not, so that a scan of the due rows finds them.
///
/// # Errors
/// The database's.
pub async fn restore_all(cx: &Domain) -> Result<()> {
    while restore_some(cx, "").await? > 0 {}
    Ok(())
}

async fn restore_some(cx: &Domain, which: &str) -> Result<usize> {
    let (now, conn) = (cx.clock.now(), &cx.db.read);
    let sql =
        format!("SELECT post_id AS id FROM post_holds {which} ORDER BY post_id LIMIT {BATCH}");
    let free = row_ids(&conn.query_all_raw(statement(conn, sql, [])).await?)?;
    if free.is_empty() {
        return Ok(0);
    }
    restore_posts(cx, &free, now).await?;
    Ok(free.len())
}

async fn restore_posts(cx: &Domain, free: &[i64], now: Millis) -> Result<()> {
    let mut tx = Tx::begin(cx).await?;
    let list = Rows::of_ids(tx.conn(), free);
    // Locks the posts in the order of their ids, like every statement over several posts.
    let sql = format!(
        "UPDATE posts SET due_at = $1 WHERE id IN (SELECT posts.id FROM posts \
         JOIN {} ON wanted.id = posts.id WHERE posts.due_at IS NULL \
         AND posts.status IN ('scheduled', 'publishing', 'processing') ORDER BY posts.id {})",
        list.from("wanted", 2),
        if cx.db.is_postgres() { "FOR UPDATE OF posts" } else { "" }
    );
    let values = std::iter::once(now.into()).chain(list.values());
    tx.conn().execute_raw(statement(tx.conn(), sql, values)).await?;
    let list = Rows::of_ids(tx.conn(), free);
    let sql = format!(
        "DELETE FROM post_holds WHERE post_id IN (SELECT id FROM {}) RETURNING account_id",
        list.from("wanted", 1)
    );
    let rows = tx.conn().query_all_raw(statement(tx.conn(), sql, list.values())).await?;
    let accounts = rows.iter().map(|row| row.try_get::<Option<i64>>("", "account_id"));
    let accounts = accounts.collect::<Result<BTreeSet<_>, DbErr>>()?;
    let accounts: Vec<_> = accounts.into_iter().flatten().map(AccountId).collect();
    publishing::wake_first(&mut tx, &accounts).await?;
    tx.commit().await
}

/// Returns the clause that locks the posts. A post that is being changed is left for the next turn.
fn lock(cx: &Domain) -> &'static str {
    if cx.db.is_postgres() { "FOR UPDATE OF posts SKIP LOCKED" } else { "" }
}

fn row_ids(rows: &[sea_orm::QueryResult]) -> Result<Vec<i64>, DbErr> {
    rows.iter().map(|row| row.try_get("", "id")).collect()
}
