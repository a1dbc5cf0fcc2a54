//! The ledger's rows.

use std::collections::HashSet;

use fanfare_entities::Millis;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, FromQueryResult, QueryResult, Value};
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

/// An attempt that is there already is brought up to date.
const UP_TO_DATE: &str = " ON CONFLICT (post_id, number) DO UPDATE SET ended_at = excluded.ended_at, \
     outcome = excluded.outcome, error = excluded.error, steps = excluded.steps";

/// What a change returns of the posts it has changed: what may have become different without their holder losing them.
const RETURNED: [&str; 4] = ["id", "workspace_id", "group_key", "release_id"];

/// Changes posts by `update`, writes the attempts of those that it has changed and returns these: on PostgreSQL in one
/// statement, because there every further one is another journey.
pub(super) async fn update_with<'a, C: ConnectionTrait>(
    conn: &C,
    update: String,
    mut values: Vec<Value>,
    attempts: impl Iterator<Item = (i64, &'a Attempt)>,
) -> Result<Vec<QueryResult>, DbErr> {
    if conn.get_database_backend() != DbBackend::Postgres {
        // It takes only bare names of columns there; to PostgreSQL they are ambiguous.
        let update = format!("{update} RETURNING {}", RETURNED.join(", "));
        let changed = conn.query_all_raw(statement(conn, update, values)).await?;
        let ids = changed.iter().map(|row| row.try_get("", "id"));
        let ids = ids.collect::<Result<HashSet<i64>, DbErr>>()?;
        let rows = rows(conn, attempts.filter(|(id, _)| ids.contains(id)));
        if !rows.is_empty() {
            let sql = rows.insert_into("post_attempts", 1) + UP_TO_DATE;
            conn.execute_raw(statement(conn, sql, rows.values())).await?;
        }
        return Ok(changed);
    }
    let update = format!("{update} RETURNING posts.{}", RETURNED.join(", posts."));
    let rows = rows(conn, attempts);
    if rows.is_empty() {
        return conn.query_all_raw(statement(conn, update, values)).await;
    }
    let insert = rows.insert_into("post_attempts", values.len() + 1);
    let sql = format!(
        "WITH changed AS ({update}), \
         told AS ({insert} AND post_id IN (SELECT id FROM changed){UP_TO_DATE}) \
         SELECT * FROM changed"
    );
    values.extend(rows.values());
    conn.query_all_raw(statement(conn, sql, values)).await
}

fn rows<'a, C: ConnectionTrait>(
    conn: &C,
    attempts: impl Iterator<Item = (i64, &'a Attempt)>,
) -> Rows {
    let mut rows = Rows::new(conn, COLUMNS);
    for (id, attempt) in attempts {
        rows.push([
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
    rows
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
