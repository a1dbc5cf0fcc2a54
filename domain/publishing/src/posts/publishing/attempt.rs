//! The rows of the ledger: attempts and their steps.

use fanfare_core::{
    Domain,
    db::statement,
    error::Result,
    rows::{Columns, Rows, Type},
};
use fanfare_entities::Millis;
use sea_orm::{ConnectionTrait, FromQueryResult, Value};
use serde_json::Value as Json;

/// An attempt as the ledger keeps it.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The number of the attempt, from 1.
    pub number: i32,
    /// The worker.
    pub worker: String,
    /// The time at which it began.
    pub started_at: Millis,
    /// The time at which it ended, if it has.
    pub ended_at: Option<Millis>,
    /// The outcome, if it has ended.
    pub outcome: Option<&'static str>,
    /// The error.
    pub error: Option<Json>,
    /// The steps so far, the running one without an end.
    pub steps: Json,
}

/// The value of a post's column `steps` while an attempt with steps is running. The steps themselves are only in the
/// ledger.
pub(super) static RUNNING: Json = Json::Bool(true);

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

/// Updates an attempt that exists already.
const ON_CONFLICT_UPDATE: &str = " ON CONFLICT (post_id, number) DO UPDATE SET ended_at = excluded.ended_at, \
     outcome = excluded.outcome, error = excluded.error, steps = excluded.steps";

/// Attempts to be written into the ledger.
pub(super) struct LedgerRows(Rows);

pub(super) fn ledger_rows<'a, C: ConnectionTrait>(
    conn: &C,
    attempts: impl IntoIterator<Item = (i64, &'a Attempt)>,
) -> LedgerRows {
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
    LedgerRows(rows)
}

impl LedgerRows {
    /// Returns true if there are no attempts.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the statement that writes the attempts for which `only` is true; its parameters begin with `$first`.
    pub fn insert(&self, only: &str, first: usize) -> String {
        format!("{} AND {only}{ON_CONFLICT_UPDATE}", self.0.insert_into("post_attempts", first))
    }

    /// Returns the parameters of [`Ledger::insert`].
    pub fn values(self) -> impl Iterator<Item = Value> {
        self.0.values()
    }
}

/// Reads an attempt from the ledger, to continue it.
///
/// # Errors
/// The database's.
pub async fn read_attempt(cx: &Domain, post: i64, number: i32) -> Result<Option<Attempt>> {
    #[derive(FromQueryResult)]
    struct Row {
        worker: String,
        started_at: Millis,
        error: Option<Json>,
        steps: Json,
    }
    let conn = &cx.db.read;
    let sql = "SELECT worker, started_at, error, steps FROM post_attempts WHERE post_id = $1 AND number = $2";
    let query = statement(conn, sql, [post.into(), number.into()]);
    let row = Row::find_by_statement(query).one(conn).await?;
    Ok(row.map(|row| Attempt {
        number,
        worker: row.worker,
        started_at: row.started_at,
        ended_at: None,
        outcome: None,
        error: row.error,
        steps: row.steps,
    }))
}
