//! The ledger's rows.

use fanfare_entities::Millis;
use sea_orm::{ConnectionTrait, DbErr, FromQueryResult};
use serde_json::Value as Json;

use crate::{
    Domain,
    db::statement,
    error::Result,
    rows::{Columns, Rows, Type},
};

/// An attempt as the ledger keeps it.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// 1 for the first.
    pub number: i32,
    /// Who tries.
    pub worker: String,
    /// When it began.
    pub started_at: Millis,
    /// When it ended, if it has.
    pub ended_at: Option<Millis>,
    /// How it ended, if it has.
    pub outcome: Option<&'static str>,
    /// What went wrong.
    pub error: Option<Json>,
    /// The steps so far, the running one without an end.
    pub steps: Json,
}

/// Writes attempts; one that is there already is brought up to date.
pub(super) async fn write_attempts<'a, C: ConnectionTrait>(
    conn: &C,
    attempts: impl Iterator<Item = (i64, &'a Attempt)>,
) -> Result<(), DbErr> {
    const COLUMNS: Columns = &[
        ("post_id", Type::Big),
        ("number", Type::Int),
        ("worker", Type::Text),
        ("started_at", Type::Big),
        ("ended_at", Type::Big),
        ("outcome", Type::Text),
        ("error", Type::Json),
        ("steps", Type::Json),
    ];
    let mut values = Rows::new(conn, COLUMNS);
    for (id, attempt) in attempts {
        values.push([
            id.into(),
            attempt.number.into(),
            (&attempt.worker).into(),
            attempt.started_at.into(),
            attempt.ended_at.into(),
            attempt.outcome.into(),
            attempt.error.as_ref().into(),
            (&attempt.steps).into(),
        ]);
    }
    if values.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "{} ON CONFLICT (post_id, number) DO UPDATE SET ended_at = excluded.ended_at, \
         outcome = excluded.outcome, error = excluded.error, steps = excluded.steps",
        values.insert_into("post_attempts")
    );
    conn.execute_raw(statement(conn, sql, values.values())).await?;
    Ok(())
}

/// Reads an attempt of the ledger, to go on with it.
///
/// # Errors
/// The database's.
pub async fn attempt(cx: &Domain, post: i64, number: i32) -> Result<Option<Attempt>> {
    #[derive(FromQueryResult)]
    struct Row {
        worker: String,
        started_at: Millis,
        steps: Json,
    }
    let conn = &cx.db.read;
    let sql =
        "SELECT worker, started_at, steps FROM post_attempts WHERE post_id = $1 AND number = $2";
    let query = statement(conn, sql, [post.into(), number.into()]);
    let row = Row::find_by_statement(query).one(conn).await?;
    Ok(row.map(|row| Attempt {
        number,
        worker: row.worker,
        started_at: row.started_at,
        ended_at: None,
        outcome: None,
        error: None,
        steps: row.steps,
    }))
}
