//! The rows of errands, whose kinds have the same columns for the protocol.

use std::collections::BTreeMap;

use fanfare_core::db::{Db, statement};
use fanfare_entities::Millis;
use sea_orm::FromQueryResult;

use super::Errand;

/// The columns of a row that the protocol uses, and what the world outside knows it by.
#[derive(Debug, Clone, PartialEq, Eq, FromQueryResult)]
pub struct Row {
    pub id: i64,
    pub status: String,
    pub due_at: Option<Millis>,
    pub fencing_token: i64,
    pub attempts: i32,
    pub lease_expirations: i32,
    /// A prompt, the id of an e-mail, or the object of an event.
    pub about: String,
    /// The code of its failure.
    pub code: Option<String>,
    /// Videos: the price.
    pub credits: i64,
    /// Videos: there is a file.
    pub has_file: bool,
}

impl Row {
    /// Describes it without what is random in every run.
    pub fn described(&self) -> String {
        let Self { id, status, due_at, fencing_token, attempts, lease_expirations, .. } = self;
        format!(
            "row {id}: {status}, due at {due_at:?}, token {fencing_token}, attempts {attempts}, leases \
             {lease_expirations}, {:?}",
            self.code
        )
    }

    /// Returns true if nothing more happens to it.
    pub fn is_final(&self) -> bool {
        !["pending", "queued", "processing"].contains(&self.status.as_str())
    }
}

/// Returns all rows of a kind.
pub async fn of(errand: Errand, db: &Db) -> BTreeMap<i64, Row> {
    let (table, about, code, credits, has_file) = match errand {
        Errand::Videos => (
            "ai_jobs",
            "prompt",
            "json_extract(error, '$.code')",
            "credits",
            "asset_uid IS NOT NULL",
        ),
        Errand::Mails => ("letters", "lower(hex(uid))", "last_error", "0", "false"),
        Errand::Payments => ("stripe_events", "object_id", "last_error", "0", "false"),
    };
    let sql = format!(
        "SELECT id, status, due_at, fencing_token, attempts, lease_expirations, {about} AS about, {code} AS code, \
         {credits} AS credits, {has_file} AS has_file FROM {table}"
    );
    let rows = Row::find_by_statement(statement(&db.read, sql, [])).all(&db.read).await;
    rows.expect("the rows").into_iter().map(|row| (row.id, row)).collect()
}
