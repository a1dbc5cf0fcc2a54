//! Reads due rows, along the indexes.

use std::fmt::Write;

use fanfare_entities::Millis;
use fanfare_jobs::JobKind;
use sea_orm::{ConnectionTrait, DbErr, QueryResult, Statement};
use uuid::Uuid;

use super::{workspace_column, workspace_of};
use crate::{
    Domain,
    db::statement,
    error::{Error, Result},
};

/// The most workspaces to visit in one turn.
pub(super) const WORKSPACES_A_TURN: usize = 1_000;

/// The due time of a row, and its fencing token, which every claim raises.
pub(super) type RowState = (Millis, i64);

/// The position of a row among due rows: its time and its id.
pub(super) type DuePosition = (Millis, i64);

/// A due row. Rows without a workspace have the nil one here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub id: i64,
    pub state: RowState,
    pub workspace: Uuid,
}

impl Due {
    pub const fn position(&self) -> DuePosition {
        (self.state.0, self.id)
    }
}

/// Returns up to `limit` due rows, of one workspace or of all, oldest first and only those after a position. It walks
/// along an index.
pub(super) async fn due(
    cx: &Domain,
    kind: JobKind,
    of: Option<Uuid>,
    behind: Option<DuePosition>,
    limit: usize,
) -> Result<Vec<Due>> {
    let mut values = vec![cx.clock.now().into()];
    let mut filter = String::new();
    if let Some(workspace) = of {
        values.push(workspace.into());
        filter.push_str(" AND workspace_id = $2");
    }
    if let Some((at, id)) = behind {
        values.extend([at.into(), id.into()]);
        let next = values.len();
        write!(filter, " AND (due_at, id) > (${}, ${next})", next - 1).map_err(Error::internal)?;
    }
    let sql = format!(
        "SELECT id, due_at, fencing_token, {} FROM {} WHERE due_at <= $1{filter} ORDER BY due_at, id LIMIT {limit}",
        workspace_column(kind, ""),
        kind.table()
    );
    rows(cx, statement(&cx.db.read, sql, values)).await
}

/// Returns up to `most` rows that become due within this period (exclusive start, end), earliest first.
pub(super) async fn due_soon(
    cx: &Domain,
    kind: JobKind,
    (behind, to): (Millis, Millis),
    most: usize,
) -> Result<Vec<Due>> {
    let sql = format!(
        "SELECT id, due_at, fencing_token, {} FROM {} WHERE due_at > $1 AND due_at <= $2 ORDER BY due_at, id LIMIT {most}",
        workspace_column(kind, ""),
        kind.table()
    );
    rows(cx, statement(&cx.db.read, sql, [behind.into(), to.into()])).await
}

async fn rows(cx: &Domain, query: Statement) -> Result<Vec<Due>> {
    let rows = cx.db.read.query_all_raw(query).await?;
    let rows = rows.iter().map(|row| {
        let workspace = workspace_of(row)?;
        let state = (row.try_get("", "due_at")?, row.try_get("", "fencing_token")?);
        Ok(Due { id: row.try_get("", "id")?, state, workspace })
    });
    Ok(rows.collect::<Result<_, DbErr>>()?)
}

/// Returns up to `count` workspaces after `from` that have waiting rows, with the due time of the first one, by jumping
/// from one workspace to the next in the index.
pub(super) async fn first_due(
    cx: &Domain,
    kind: JobKind,
    from: Uuid,
    count: usize,
) -> Result<Vec<(Uuid, Millis)>> {
    let table = kind.table();
    // Ordered by all columns of the index; otherwise PostgreSQL may use another index and walk over all completed work.
    let next = |behind: &str| {
        format!(
            "SELECT workspace_id FROM {table} WHERE workspace_id > {behind} AND due_at IS NOT NULL \
             ORDER BY workspace_id, due_at, id LIMIT 1"
        )
    };
    let sql = format!(
        "WITH RECURSIVE found(workspace_id, n) AS (SELECT ({}), 1 UNION ALL \
         SELECT ({}), n + 1 FROM found WHERE found.workspace_id IS NOT NULL AND n < {count}) \
         SELECT workspace_id, (SELECT due_at FROM {table} AS first WHERE first.workspace_id = found.workspace_id \
         AND first.due_at IS NOT NULL ORDER BY first.workspace_id, first.due_at, first.id LIMIT 1) AS due_at \
         FROM found WHERE workspace_id IS NOT NULL",
        next("$1"),
        next("found.workspace_id"),
    );
    let found = cx.db.read.query_all_raw(statement(&cx.db.read, sql, [from.into()])).await?;
    let first = |row: &QueryResult| {
        // `None`: the work was done between two steps of the walk.
        let due_at: Option<Millis> = row.try_get("", "due_at")?;
        Ok((row.try_get("", "workspace_id")?, due_at.unwrap_or(Millis::MAX)))
    };
    Ok(found.iter().map(first).collect::<Result<_, DbErr>>()?)
}

/// Returns the workspaces in which rows have become due within this period (start, end), as far as the first
/// [`WORKSPACES_A_TURN`] rows show.
pub(super) async fn fresh_workspaces(
    cx: &Domain,
    kind: JobKind,
    (from, to): (Millis, Millis),
) -> Result<Vec<Uuid>> {
    let sql = format!(
        "SELECT DISTINCT workspace_id FROM (SELECT workspace_id FROM {} WHERE due_at > $1 AND due_at <= $2 \
         ORDER BY due_at, id LIMIT {WORKSPACES_A_TURN}) AS fresh",
        kind.table()
    );
    let values = [from.into(), to.into()];
    let rows = cx.db.read.query_all_raw(statement(&cx.db.read, sql, values)).await?;
    Ok(rows.iter().map(|row| row.try_get("", "workspace_id")).collect::<Result<_, DbErr>>()?)
}
