//! Every statement of the service costs what it returns, however large its tables are.
//!
//! The statements are those that the service runs while all of it is used: every route with each of its filters, every
//! page, the workers, the scheduler and the clean-up. Each is run again, and rolled back, over tables of two sizes; one
//! that costs more over the larger ones has no index that serves it. The cost is what the database counts: pages and
//! rows on PostgreSQL, steps of its machine on SQLite. SQLite plans without statistics, so its plans are those of any
//! size. `PLAN_ROWS=1000000` makes the larger tables larger. It takes ten minutes a database, so it is no story:
//! `make plans` runs it.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where it fails")]

mod cost;
mod multiply;
mod walk;

/// How rows are made up.
#[path = "../it/upgrades/schema.rs"]
#[expect(dead_code, reason = "stories use the rest")]
mod schema;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use fanfare_tests::{Options, TestApp};
use sea_orm::{Statement, Value};

use self::cost::Cost;

/// The rows of each table at first: more than any statement reads on purpose (a total counts 10,200 rows).
const FEW: u32 = 11_000;

const FEW_IN_RANGE: &str = "it is asked where a range of times has 5,000 posts at most; else the list is read in its order";

/// Statements that may grow with a table, each with a reason.
const GROWING: &[(&str, &str)] = &[
    ("SELECT 1 WHERE EXISTS (SELECT 1 FROM", "the tests' own look for work"),
    ("FROM \"post_attempts\" WHERE \"post_attempts\".\"post_id\" = ?", "a post has few attempts"),
    ("JOIN webhook_secrets AS s", "a webhook has ten secrets at most"),
    ("\"ai_jobs\".\"payer_id\" = ? AND \"ai_jobs\".\"status\" IN", "a plan allows few open jobs"),
    (
        "WHERE a.status = 'connected' GROUP BY a.platform",
        "an overview of all accounts for operators",
    ),
    ("FROM accounts GROUP BY platform, status", "an overview of all accounts for operators"),
    ("AND id >= ? ORDER BY id DESC LIMIT 51", "a search without an index reads a window of ids"),
    (
        "FROM \"post_readings\" WHERE \"post_readings\".\"checkpoint\" = ?",
        "made-up readings have a checkpoint each",
    ),
    (
        "IN (SELECT post_id FROM media_waits",
        "hardly a made-up post is scheduled, so those are read first",
    ),
    (
        "\"post_numbers\".\"next_at\" <= ? AND \"post_numbers\".\"published_at\" > ? ORDER BY",
        "half of the made-up posts of an account are due to be read, so it skips those that are not",
    ),
    ("AS \"found\" FROM", "a total counts 10,200 rows at most"),
    (
        "\"posts\".\"workspace_id\" = ? AND \"posts\".\"created_at\" >= ? ORDER BY \"posts\".\"id\" DESC",
        FEW_IN_RANGE,
    ),
    (
        "\"posts\".\"workspace_id\" = ? AND \"posts\".\"scheduled_at\" <= ? ORDER BY \"posts\".\"id\" DESC",
        FEW_IN_RANGE,
    ),
    (
        "\"posts\".\"workspace_id\" = ? AND \"posts\".\"scheduled_at\" >= ? ORDER BY \"posts\".\"id\" DESC",
        FEW_IN_RANGE,
    ),
    (
        "\"posts\".\"workspace_id\" = ? AND \"posts\".\"updated_at\" >= ? ORDER BY \"posts\".\"id\" DESC",
        FEW_IN_RANGE,
    ),
    (
        "\"samples\".\"measure\" LIKE ?",
        "samples are kept for a time, so their number does not grow with use; the made-up ones are all of that time",
    ),
    (
        "\"inbound_events\".\"due_at\" <= ? ORDER BY \"inbound_events\".\"happened_at\"",
        "hardly any of the made-up events of an account that wait is due",
    ),
    (
        "CAST(\"unmeasured\" AS TEXT) LIKE ?",
        "once a day, over those posts of one account that are still read",
    ),
    (
        "\"webhook_id\" = ? AND \"webhook_deliveries\".\"status\" = ? AND \"webhook_deliveries\".\"due_at\" IS NOT NULL",
        "all that is due of a webhook is what it changes",
    ),
];

/// The statements of a service, each with some of the values that it had.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<BTreeMap<String, Vec<Vec<Value>>>>>);

impl Recorder {
    fn note(&self, statement: &Statement) {
        const KEPT: usize = 4;
        let values = statement.values.as_ref().map(|values| values.0.clone()).unwrap_or_default();
        let mut noted = self.0.lock().unwrap();
        let known = noted.entry(statement.sql.clone()).or_default();
        if known.contains(&values) {
            return;
        }
        // The first ones and the last.
        if known.len() == KEPT {
            known.pop();
        }
        known.push(values);
    }

    fn all(&self) -> Vec<(String, Vec<Vec<Value>>)> {
        self.0.lock().unwrap().clone().into_iter().collect()
    }
}

#[expect(clippy::disallowed_methods, reason = "the test's own switch")]
fn many() -> u32 {
    std::env::var("PLAN_ROWS").map_or(3 * FEW, |rows| rows.parse().expect("a number of rows"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_statement_costs_what_it_returns() {
    let recorder = Recorder::default();
    let noted = recorder.clone();
    let watch = Arc::new(move |statement: &Statement| noted.note(statement));
    let options = Options { watch: Some(watch), stand_ins: true, ..Options::default() };
    let app = TestApp::with(options).await;
    let many = many();
    let walk = walk::Walk::begin(&app).await;
    eprintln!("a row in every table");
    multiply::multiply(&app.domain.db, 1..=FEW).await;
    eprintln!("{FEW} rows in every table");
    walk.everywhere(&app).await;
    let statements = recorder.all();
    eprintln!("all of the service was used: {} statements", statements.len());
    let cost = Cost::of(&app.database_url).await;
    let before = cost.of_all(&statements).await;
    eprintln!("measured over {FEW} rows");
    multiply::multiply(&app.domain.db, FEW + 1..=many).await;
    eprintln!("{many} rows in every table");
    let after = cost.of_all(&statements).await;
    assert!(after.len() > 300, "{} statements", after.len());
    let mut grown = Vec::new();
    for (sql, (now, values)) in &after {
        let Some((before, _)) = before.get(sql) else { continue };
        if now.has_grown(before) && !is_known(sql) {
            let plan = cost.plan(sql, values).await;
            grown.push(format!("{before} -> {now}: {sql}\n    {plan}"));
        }
    }
    assert!(grown.is_empty(), "{} of {}:\n{}", grown.len(), after.len(), grown.join("\n"));
}

fn is_known(sql: &str) -> bool {
    // Parameters are numbered on one of the databases only.
    let mut plain = String::new();
    for (index, part) in sql.split('$').enumerate() {
        let rest = part.trim_start_matches(|digit: char| digit.is_ascii_digit());
        plain += if index == 0 { part } else { "?" };
        plain += if index == 0 { "" } else { rest };
    }
    GROWING.iter().any(|(part, _)| plain.contains(part))
}
