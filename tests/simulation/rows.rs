//! Rows of the database that invariants are checked on.

use std::collections::BTreeMap;

use fanfare_core::db::{Db, statement};
use fanfare_entities::Millis;
use sea_orm::FromQueryResult;
use serde_json::Value;
use uuid::Uuid;

use crate::{kind::Kind, replies};

/// A post's columns that the protocol uses.
#[derive(Debug, Clone, PartialEq, FromQueryResult)]
pub struct Row {
    pub id: i64,
    pub account_id: i64,
    pub status: String,
    pub out_of_line: bool,
    pub scheduled_at: Option<Millis>,
    pub due_at: Option<Millis>,
    pub fencing_token: i64,
    pub lease_expirations: i32,
    pub attempts: i32,
    pub attempt: i32,
    pub sending_at: Option<Millis>,
    pub content_key: Uuid,
    pub platform_post_id: Option<String>,
    pub partly_public: bool,
    pub duplicate_risk: bool,
    pub error: Option<Value>,
}

impl Row {
    /// Returns true if nothing more happens by itself.
    pub fn is_final(&self) -> bool {
        self.status == "published" || self.status == "failed"
    }

    /// Returns true if a worker may be working on it.
    pub fn is_on_its_way(&self) -> bool {
        ["scheduled", "publishing", "processing"].contains(&self.status.as_str())
    }

    /// Returns true if later posts of the account wait for it.
    pub fn stands_in_line(&self) -> bool {
        self.due_at.is_some() && !self.out_of_line
    }

    /// Returns the code of its failure or of its wait.
    pub fn code(&self) -> &str {
        self.error.as_ref().and_then(|error| error["code"].as_str()).unwrap_or("")
    }
}

/// Returns all rows of a kind.
pub async fn of(kind: Kind, db: &Db) -> BTreeMap<i64, Row> {
    let sql = match kind {
        Kind::Posts => POSTS,
        Kind::Replies => REPLIES,
    };
    let rows = Row::find_by_statement(statement(&db.read, sql, [])).all(&db.read).await;
    let mut rows = rows.expect("the rows are read");
    if kind == Kind::Replies {
        rows.iter_mut().for_each(|row| row.content_key = replies::key(row.id));
    }
    rows.into_iter().map(|row| (row.id, row)).collect()
}

const POSTS: &str = "SELECT id, account_id, status, out_of_line, scheduled_at, due_at, fencing_token, lease_expirations, \
     attempts, attempt, sending_at, content_key, platform_post_id, partly_public, duplicate_risk, error \
     FROM posts ORDER BY id";

/// Replies in the words of posts: one whose outcome is not known is open while somebody finds it out.
const REPLIES: &str = "SELECT id, account_id, \
     CASE WHEN due_at IS NOT NULL THEN 'publishing' WHEN status = 'sent' THEN 'published' ELSE 'failed' END AS status, \
     true AS out_of_line, created_at AS scheduled_at, due_at, fencing_token, lease_expirations, attempts, \
     0 AS attempt, sending_at, zeroblob(16) AS content_key, remote_id AS platform_post_id, \
     false AS partly_public, due_at IS NULL AND status = 'unknown' AS duplicate_risk, \
     CASE WHEN due_at IS NULL AND status = 'unknown' THEN '{\"code\": \"outcome_unknown\"}' ELSE error END AS error \
     FROM outgoing ORDER BY id";

/// An event.
#[derive(Debug, FromQueryResult)]
pub struct EventRow {
    pub workspace_id: Uuid,
    pub sequence: i64,
    pub event_type: String,
    pub post_id: Option<i64>,
    pub status: Option<String>,
}

/// Returns all events, in order.
pub async fn events(db: &Db) -> Vec<EventRow> {
    let sql = "SELECT workspace_id, sequence, event_type, post_id, status FROM events \
               WHERE sequence IS NOT NULL ORDER BY workspace_id, sequence";
    let rows = EventRow::find_by_statement(statement(&db.read, sql, [])).all(&db.read).await;
    rows.expect("the events are read")
}

/// An attempt in the ledger.
#[derive(Debug, FromQueryResult)]
pub struct AttemptRow {
    pub post_id: i64,
    pub number: i32,
    pub ended_at: Option<Millis>,
    pub outcome: Option<String>,
}

/// Returns the whole ledger, in order.
pub async fn ledger(db: &Db) -> Vec<AttemptRow> {
    let sql =
        "SELECT post_id, number, ended_at, outcome FROM post_attempts ORDER BY post_id, number";
    let rows = AttemptRow::find_by_statement(statement(&db.read, sql, [])).all(&db.read).await;
    rows.expect("the ledger is read")
}
