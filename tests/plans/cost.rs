//! What a statement costs, as the database counts it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use fanfare_core::db::Db;
use sea_orm::{ConnectionTrait, Statement, Value, Values};
use serde_json::Value as Json;

/// The most work for one more row in the answer.
const WORK_A_ROW: u64 = 30;

/// The most rows that are read for one more row in the answer.
const READ_A_ROW: u64 = 5;

/// A database on which statements are measured.
pub struct Cost {
    db: Db,
    /// The steps of SQLite's machine so far, in tens.
    steps: Arc<AtomicU64>,
}

/// The cost of a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measured {
    /// Pages on PostgreSQL, tens of steps on SQLite.
    work: u64,
    /// Rows that were read, on PostgreSQL.
    rows: u64,
    /// Rows that were returned or changed.
    returned: u64,
}

impl Measured {
    /// Returns true if the cost has grown by more than the depth of an index and what more rows in the answer cost.
    pub fn has_grown(&self, before: &Self) -> bool {
        let more = self.returned.saturating_sub(before.returned);
        let grown = |now: u64, before: u64, each: u64| now > before + before / 2 + 40 + each * more;
        grown(self.work, before.work, WORK_A_ROW) || grown(self.rows, before.rows, READ_A_ROW)
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.work, self.rows, self.returned)
    }
}

impl Cost {
    /// Opens the database at an address.
    pub async fn of(url: &str) -> Self {
        let db = Db::open(url, 1).await.unwrap();
        if db.is_postgres() {
            // Tables of this size may be read whole for less than an index costs; larger ones never are.
            let session = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; \
                           SET max_parallel_workers_per_gather = 0";
            db.write.execute_unprepared(session).await.unwrap();
        }
        let steps = Arc::<AtomicU64>::default();
        if !db.is_postgres() {
            let counted = Arc::clone(&steps);
            let mut conn = db.write.get_sqlite_connection_pool().acquire().await.unwrap();
            conn.lock_handle().await.unwrap().set_progress_handler(10, move || {
                counted.fetch_add(1, Ordering::Relaxed);
                true
            });
        }
        Self { db, steps }
    }

    /// Returns the cost of each statement with the values that cost most. Those that cannot run again are left out.
    pub async fn of_all(
        &self,
        statements: &[(String, Vec<Vec<Value>>)],
    ) -> BTreeMap<String, (Measured, Vec<Value>)> {
        let mut costs: BTreeMap<String, (Measured, Vec<Value>)> = BTreeMap::new();
        for (sql, values) in statements {
            let reads = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"];
            if !reads.iter().any(|word| sql.trim_start().starts_with(word)) {
                continue;
            }
            for values in values {
                if let Some(cost) = self.of_one(sql, values).await {
                    let known = costs.entry(sql.clone()).or_default();
                    if cost >= known.0 {
                        *known = (cost, values.clone());
                    }
                }
            }
        }
        costs
    }

    /// Returns how the database runs a statement, in its own words.
    pub async fn plan(&self, sql: &str, values: &[Value]) -> String {
        let (how, column) = match self.db.is_postgres() {
            true => ("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF)", 0),
            false => ("EXPLAIN QUERY PLAN", 3),
        };
        let values = Some(Values(values.to_vec()));
        let sql = format!("{how} {sql}");
        let asked = Statement { sql, values, db_backend: self.db.backend() };
        let tx = self.db.begin().await.unwrap();
        let rows = tx.query_all_raw(asked).await;
        tx.rollback().await.unwrap();
        let line = |row: sea_orm::QueryResult| row.try_get_by_index::<String>(column).unwrap();
        let lines: Vec<_> = rows.into_iter().flatten().map(line).collect();
        lines.join("\n    ")
    }

    async fn of_one(&self, sql: &str, values: &[Value]) -> Option<Measured> {
        let is_counted = changes_rows(sql) && !self.db.is_postgres();
        let sql = match self.db.is_postgres() {
            true => format!("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {sql}"),
            false => sql.to_owned(),
        };
        let statement =
            Statement { sql, values: Some(Values(values.to_vec())), db_backend: self.db.backend() };
        let tx = self.db.begin().await.unwrap();
        let begun = self.steps.load(Ordering::Relaxed);
        let rows = tx.query_all_raw(statement).await;
        let work = self.steps.load(Ordering::Relaxed) - begun;
        let changed = match is_counted {
            true => rows_changed(&tx).await,
            false => 0,
        };
        tx.rollback().await.unwrap();
        let rows = rows.ok()?;
        if !self.db.is_postgres() {
            return Some(Measured { work, rows: 0, returned: changed.max(rows.len() as u64) });
        }
        let plan: Json = rows.first()?.try_get_by_index(0).unwrap();
        let plan = &plan[0]["Plan"];
        let pages = |name: &str| plan[name].as_u64().unwrap_or(0);
        Some(Measured {
            work: pages("Shared Hit Blocks") + pages("Shared Read Blocks"),
            rows: rows_read(plan),
            returned: rows_returned(plan),
        })
    }
}

fn changes_rows(sql: &str) -> bool {
    !sql.trim_start().starts_with("SELECT")
}

/// Returns the number of rows that the last change on SQLite touched.
async fn rows_changed(conn: &impl ConnectionTrait) -> u64 {
    let asked = Statement::from_string(conn.get_database_backend(), "SELECT changes()");
    let row = conn.query_one_raw(asked).await.unwrap().unwrap();
    row.try_get_by_index::<i64>(0).unwrap().unsigned_abs()
}

/// Returns the number of rows that a plan returns or, without a word of it, changes.
fn rows_returned(plan: &Json) -> u64 {
    let number = |plan: &Json| plan["Actual Rows"].as_f64().unwrap_or(0.0) as u64;
    match (number(plan), plan["Node Type"].as_str()) {
        (0, Some("ModifyTable")) => {
            plan["Plans"].as_array().map_or(0, |below| below.iter().map(number).sum())
        }
        (rows, _) => rows,
    }
}

/// Returns the number of rows that the scans of a plan read.
fn rows_read(plan: &Json) -> u64 {
    let below = plan["Plans"].as_array().map_or(0, |plans| plans.iter().map(rows_read).sum());
    // A bitmap's rows are read by the scan above it.
    let reads = |kind: &str| kind.contains("Scan") && kind != "Bitmap Index Scan";
    if !plan["Node Type"].as_str().is_some_and(reads) {
        return below;
    }
    let number = |name: &str| plan[name].as_f64().unwrap_or(0.0);
    let removed = number("Rows Removed by Filter") + number("Rows Removed by Index Recheck");
    below + ((number("Actual Rows") + removed) * number("Actual Loops")) as u64
}
