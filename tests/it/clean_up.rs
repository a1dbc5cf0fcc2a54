//! The clean-up: in short transactions, each part on its own.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use fanfare_core::batches;
use fanfare_ops::upkeep;
use fanfare_people::credits;
use fanfare_tests::{Options, TestApp};
use sea_orm::{ConnectionTrait, Statement};

use crate::upgrades::schema::{insert, texts};

/// What ends by its age, and the values that tell that its time has come.
const EXPIRED: &[(&str, &[(&str, &str)])] = &[
    ("account_days", &[("day", "'2000-01-01'")]),
    ("agent_feedback", &[]),
    ("connect_sessions", &[("status", "'expired'")]),
    ("drop_sessions", &[]),
    ("events", &[]),
    ("idempotency_keys", &[("secret_id", "NULL")]),
    ("inbound_events", &[("due_at", "NULL")]),
    ("inbox_comments", &[]),
    ("inbox_conversations", &[]),
    ("inbox_messages", &[]),
    ("invitations", &[]),
    ("letters", &[("status", "'sent'"), ("secret_id", "NULL"), ("due_at", "NULL")]),
    ("login_attempts", &[]),
    ("media_assets", &[("status", "'failed'"), ("due_at", "NULL")]),
    ("oauth_codes", &[]),
    ("oauth_tokens", &[]),
    ("operator_sessions", &[]),
    ("outgoing", &[("due_at", "NULL")]),
    ("password_links", &[]),
    ("post_numbers", &[]),
    ("post_suggestions", &[("status", "'pending'")]),
    ("samples", &[]),
    ("signups", &[("status", "'expired'")]),
    ("stripe_calls", &[]),
    ("stripe_events", &[("due_at", "NULL")]),
    ("uploads", &[]),
    ("user_sessions", &[]),
    ("webhook_deliveries", &[("due_at", "NULL")]),
    ("workers", &[]),
];

/// More than one batch.
const ROWS: u32 = 700;

#[tokio::test]
async fn what_has_expired_is_deleted_in_short_transactions() {
    let deletes = Arc::<Mutex<BTreeMap<String, u64>>>::default();
    let counted = Arc::clone(&deletes);
    let watch = Arc::new(move |statement: &Statement| {
        let words: Vec<_> = statement.sql.split_whitespace().take(3).collect();
        if let ["DELETE", "FROM", table] = words.as_slice() {
            *counted.lock().unwrap().entry(table.trim_matches('"').to_owned()).or_default() += 1;
        }
    });
    let options = Options { workers: false, watch: Some(watch), ..Options::default() };
    let app = TestApp::with(options).await;
    let db = &app.domain.db;
    for (table, given) in EXPIRED {
        insert(db, table, 1..=ROWS, given).await;
    }
    let done = upkeep::clean_up(&app.domain).await;
    assert!(done.failed.is_empty(), "{:?}", done.failed);
    let deletes = deletes.lock().unwrap().clone();
    for (table, _) in EXPIRED {
        let left = texts(db, &format!("SELECT 'x' FROM {table} LIMIT 1")).await;
        assert!(left.is_empty(), "{table} is cleaned up");
        let statements = deletes.get(*table).copied().unwrap_or_default();
        assert!(
            statements * batches::BATCH >= u64::from(ROWS),
            "{table}: {ROWS} rows in {statements} statements"
        );
    }
}

#[tokio::test]
async fn a_part_that_fails_stops_no_other_and_no_refund() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let db = &app.domain.db;
    for (table, given) in EXPIRED {
        insert(db, table, 1..=3, given).await;
    }
    // Neither of the first parts nor of those in the middle can be done.
    for table in ["idempotency_keys", "letters", "uploads"] {
        let sql = format!("ALTER TABLE {table} RENAME TO {table}_away");
        db.write.execute_unprepared(&sql).await.unwrap();
    }
    let done = upkeep::clean_up(&app.domain).await;
    assert_eq!(done.failed, ["idempotency keys", "upload addresses", "letters"]);
    for (table, _) in EXPIRED {
        if !["idempotency_keys", "letters", "uploads"].contains(table) {
            let left = texts(db, &format!("SELECT 'x' FROM {table} LIMIT 1")).await;
            assert!(left.is_empty(), "{table} is cleaned up");
        }
    }
    // Credits that are owed are given back by a chore of their own.
    let chores = texts(db, "SELECT name FROM chores").await;
    upkeep::ensure(&app.domain).await.unwrap();
    let now = texts(db, "SELECT name FROM chores").await;
    assert!(chores.len() <= now.len() && now.contains(&upkeep::REFUND_CREDITS.to_owned()));
    credits::refund_expired(&app.domain).await.unwrap();
}
