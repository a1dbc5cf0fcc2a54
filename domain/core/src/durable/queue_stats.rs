//! Statistics of due work.

use fanfare_entities::Millis;
use fanfare_jobs::JobKind;
use sea_orm::{ConnectionTrait, DbErr};

use crate::{Domain, db::statement, error::Result};

/// The due work of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueStats {
    /// The kind of work.
    pub kind: JobKind,
    /// The due time of the oldest due row; `None` if none is due.
    pub oldest: Option<Millis>,
    /// The time at which the next row will be due; `None` if none will.
    pub next: Option<Millis>,
}

/// Returns the statistics of each kind, by one statement that takes two steps into an index for each.
///
/// # Errors
/// The database's.
pub async fn queue_stats(cx: &Domain) -> Result<Vec<QueueStats>> {
    let conn = &cx.db.read;
    let of = |(place, kind): (usize, JobKind)| {
        let table = kind.table();
        format!(
            "SELECT {place} AS place, (SELECT min(due_at) FROM {table} WHERE due_at <= $1) AS oldest, \
             (SELECT min(due_at) FROM {table} WHERE due_at > $1) AS next"
        )
    };
    let sql = JobKind::ALL.into_iter().enumerate().map(of).collect::<Vec<_>>().join(" UNION ALL ");
    let rows = conn.query_all_raw(statement(conn, sql, [cx.clock.now().into()])).await?;
    let queue_stats = |row: &sea_orm::QueryResult| {
        let place: i32 = row.try_get("", "place")?;
        let kind = usize::try_from(place).ok().and_then(|place| JobKind::ALL.get(place).copied());
        let kind = kind.ok_or_else(|| DbErr::Custom("there is no such kind".to_owned()))?;
        Ok(QueueStats { kind, oldest: row.try_get("", "oldest")?, next: row.try_get("", "next")? })
    };
    Ok(rows.iter().map(queue_stats).collect::<Result<_, DbErr>>()?)
}

/// Counts the rows of this kind that are due and not claimed, up to `most`.
///
/// # Errors
/// The database's.
pub async fn count_due(cx: &Domain, kind: JobKind, most: u32) -> Result<u64> {
    let conn = &cx.db.read;
    let sql = format!(
        "SELECT count(*) AS n FROM (SELECT 1 FROM {} WHERE due_at <= $1 LIMIT {most}) AS due",
        kind.table()
    );
    let row = conn.query_one_raw(statement(conn, sql, [cx.clock.now().into()])).await?;
    let counted = row.map(|row| row.try_get::<i64>("", "n")).transpose()?.unwrap_or(0);
    Ok(counted.unsigned_abs())
}
