//! Holds posts back after a database was restored, because it does not know what was sent since its backup.

use std::collections::BTreeSet;

use fanfare_core::error::Retry;
use fanfare_core::{
    Domain, Tx,
    db::statement,
    durable,
    error::{Code, Error, Result},
};
use fanfare_entities::{Millis, post};
use fanfare_jobs::JobKind;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, SelectModel, SelectorRaw};
use serde_json::{Value as Json, json};

use super::{PostError, PostErrorCode, event, holds, sets};

/// The most posts in one transaction.
const BATCH: u32 = 500;

/// The field of an error by which workers know a post that a restore made an open question.
pub(super) const ASKED: &str = "asked_after_restore";

/// What became of the posts that a restore held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeldPosts {
    /// Those that workers ask their networks about.
    pub asked: u64,
    /// Those that were left to people.
    pub held: u64,
}

/// Returns true if a restore made the post an open question, and its network is being asked.
#[must_use]
pub fn is_asked_after_restore(row: &post::Model) -> bool {
    row.sending_at.is_some() && row.error.as_ref().is_some_and(|error| error[ASKED] == true)
}

/// Holds every post that waits or is being published, and whose time is at most `until` (`None`: any time). With `asks`,
/// those whose time has come, and of which the backup knows no public part, become an open question: workers ask their
/// networks whether they were sent, by the container or upload that was prepared where a network knows it by that alone.
/// All others fail with `outcome_unknown`. Nothing of either is sent by itself.
///
/// # Errors
/// [`Code::InvalidTransition`] while a worker runs, which might be sending them; the database's. Posts that were held
/// before an error stay held, and the call may be repeated.
pub async fn hold_after_restore(
    cx: &Domain,
    until: Option<Millis>,
    asks: bool,
) -> Result<HeldPosts> {
    let mut done = HeldPosts::default();
    let mut given_back = false;
    let known_until = last_sign_of_life(cx).await?;
    loop {
        if let Some(worker) = durable::scheduler_leader(cx).await? {
            let message =
                format!("The worker {worker} runs. Stop every worker, and keep them stopped.");
            return Err(Error::new(Code::InvalidTransition, message));
        }
        if !given_back {
            // Posts that a pause has set aside have no due time, so they are restored first.
            holds::restore_all(cx).await?;
            given_back = true;
        }
        let now = cx.clock.now();
        let mut tx = Tx::begin(cx).await?;
        if asks {
            let asked = ask_batch(tx.conn(), until, now, known_until).await?;
            if asked > 0 {
                tx.commit().await?;
                done.asked += asked;
                continue;
            }
        }
        let rows = hold_batch(tx.conn(), until, now, asks).await?;
        for row in &rows {
            let message = "The post is held back after a restore; it may be public already.";
            let request = Some(row.request_id.clone());
            tx.emit(event(cx, "post.failed", row, message.to_owned(), request));
        }
        let sets: BTreeSet<_> = rows.iter().filter_map(|row| row.post_set_id).collect();
        for set in sets {
            sets::changed_by_service(&mut tx, set).await?;
        }
        tx.commit().await?;
        done.held += rows.len() as u64;
        if rows.is_empty() {
            return Ok(done);
        }
    }
}

/// Returns the last time at which a worker of the backup reported: nothing was sent before it that the backup does not
/// know.
async fn last_sign_of_life(cx: &Domain) -> Result<Option<Millis>> {
    let conn = &cx.db.read;
    let sql = "SELECT max(seen_at) AS at FROM workers";
    let row = conn.query_one_raw(statement(conn, sql, [])).await?;
    Ok(row.map(|row| row.try_get("", "at")).transpose()?.flatten())
}

/// The condition that a post is not an open question already.
fn is_new(asks: bool) -> String {
    if asks {
        format!(" AND (error IS NULL OR CAST(error AS TEXT) NOT LIKE '%{ASKED}%')")
    } else {
        String::new()
    }
}

/// Makes the next batch an open question; returns the number of posts. One that was moved to an earlier time after the
/// backup may have been sent from then on.
async fn ask_batch<C: ConnectionTrait>(
    conn: &C,
    until: Option<Millis>,
    now: Millis,
    known_until: Option<Millis>,
) -> Result<u64, DbErr> {
    let error = if conn.get_database_backend() == DbBackend::Postgres { "$1::json" } else { "$1" };
    let table = JobKind::PublishPost.table();
    let sql = format!(
        "UPDATE {table} SET status = 'publishing', error = {error}, due_at = $2, out_of_line = true, \
         fencing_token = fencing_token + 1, lease_expirations = 0, \
         sending_at = CASE WHEN scheduled_at < $4 THEN scheduled_at ELSE $4 END, sending_until = $2, \
         reconciling_at = NULL, absent_at = NULL, next_attempt_at = NULL, updated_at = $2 \
         WHERE id IN (SELECT id FROM {table} WHERE due_at IS NOT NULL \
         AND status IN ('scheduled', 'publishing', 'processing') AND scheduled_at <= $3 \
         AND NOT partly_public{} ORDER BY due_at LIMIT {BATCH})",
        is_new(true)
    );
    let mut asked = hold_error();
    asked[ASKED] = true.into();
    let until = until.unwrap_or(Millis::MAX).min(now);
    let from = known_until.unwrap_or(now);
    let values = [asked.to_string().into(), now.into(), until.into(), from.into()];
    Ok(conn.execute_raw(statement(conn, sql, values)).await?.rows_affected())
}

/// Holds the next batch and returns the changed rows.
async fn hold_batch<C: ConnectionTrait>(
    conn: &C,
    until: Option<Millis>,
    now: Millis,
    asks: bool,
) -> Result<Vec<post::Model>, DbErr> {
    let error = if conn.get_database_backend() == DbBackend::Postgres { "$1::json" } else { "$1" };
    let table = JobKind::PublishPost.table();
    // By the index of due times, which a held row leaves, so no batch reads the rows of an earlier one again.
    let sql = format!(
        "UPDATE {table} SET status = 'failed', error = {error}, duplicate_risk = true, due_at = NULL, \
         fencing_token = fencing_token + 1, lease_expirations = 0, sending_at = NULL, sending_until = NULL, \
         reconciling_at = NULL, absent_at = NULL, next_attempt_at = NULL, \
         state = CASE WHEN partly_public THEN state END, updated_at = $2 \
         WHERE id IN (SELECT id FROM {table} WHERE due_at IS NOT NULL \
         AND status IN ('scheduled', 'publishing', 'processing') AND scheduled_at <= $3{} \
         ORDER BY due_at LIMIT {BATCH}) RETURNING *",
        is_new(asks)
    );
    let until = until.unwrap_or(Millis::MAX);
    let values = [hold_error().to_string().into(), now.into(), until.into()];
    SelectorRaw::<SelectModel<post::Model>>::from_statement(statement(conn, sql, values))
        .all(conn)
        .await
}

/// Returns the error that `post.error` shows.
fn hold_error() -> Json {
    let message =
        "The service was restored from a backup that does not know whether this post was sent.";
    let remedy = PostErrorCode::OutcomeUnknown.entry().remedy;
    json!(PostError {
        code: PostErrorCode::OutcomeUnknown,
        message: message.to_owned(),
        retryable: true,
        retry: Some(Retry::Unsafe),
        retry_safe: false,
        remedy: Some(remedy.to_owned()),
        platform_error: None,
        violation: None,
    })
}
