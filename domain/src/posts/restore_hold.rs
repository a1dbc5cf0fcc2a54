//! Holds posts back after a database was restored, because it does not know what was sent since its backup.

use fanfare_entities::{Millis, post};
use fanfare_jobs::JobKind;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, SelectModel, SelectorRaw};
use serde_json::{Value as Json, json};

use super::{PostError, PostErrorCode, event};
use crate::{
    Domain, Tx,
    db::statement,
    durable,
    error::{Code, Error, Result},
    ops,
};

/// The most posts in one transaction.
const BATCH: u32 = 500;

/// Fails every post that waits or is being published, and whose time is at most `until` (`None`: any time), with
/// `outcome_unknown`. It is not sent again unless a person accepts that it may be public already. Returns the number of
/// these posts.
///
/// # Errors
/// [`Code::InvalidTransition`] while a worker runs, which might be sending them; the database's. Posts that were held
/// before an error stay held, and the call may be repeated.
pub async fn hold_after_restore(cx: &Domain, until: Option<Millis>) -> Result<u64> {
    let mut held = 0;
    let mut given_back = false;
    loop {
        if let Some(worker) = durable::scheduler_leader(cx).await? {
            let message =
                format!("The worker {worker} runs. Stop every worker, and keep them stopped.");
            return Err(Error::new(Code::InvalidTransition, message));
        }
        if !given_back {
            // Posts that a pause has set aside have no due time, so they are restored first.
            ops::holds::restore_all(cx).await?;
            given_back = true;
        }
        let mut tx = Tx::begin(cx).await?;
        let rows = hold_batch(tx.conn(), until, cx.clock.now()).await?;
        for row in &rows {
            let message = "The post is held back after a restore; it may be public already.";
            let request = Some(row.request_id.clone());
            tx.emit(event("post.failed", row, message.to_owned(), request));
        }
        tx.commit().await?;
        held += rows.len() as u64;
        if rows.is_empty() {
            return Ok(held);
        }
    }
}

/// Holds the next batch and returns the changed rows.
async fn hold_batch<C: ConnectionTrait>(
    conn: &C,
    until: Option<Millis>,
    now: Millis,
) -> Result<Vec<post::Model>, DbErr> {
    let error = if conn.get_database_backend() == DbBackend::Postgres { "$1::json" } else { "$1" };
    let table = durable::table(JobKind::PublishPost);
    // By the index of due times, which a held row leaves, so no batch reads the rows of an earlier one again.
    let sql = format!(
        "UPDATE {table} SET status = 'failed', error = {error}, duplicate_risk = true, due_at = NULL, \
         fencing_token = fencing_token + 1, lease_expirations = 0, sending_at = NULL, sending_until = NULL, \
         reconciling_at = NULL, next_attempt_at = NULL, \
         state = CASE WHEN partly_public THEN state END, updated_at = $2 \
         WHERE id IN (SELECT id FROM {table} WHERE due_at IS NOT NULL \
         AND status IN ('scheduled', 'publishing', 'processing') AND scheduled_at <= $3 \
         ORDER BY due_at LIMIT {BATCH}) RETURNING *"
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
    let remedy = "Look on the platform. If the post is not there, retry with acknowledge_duplicate_risk: true.";
    json!(PostError {
        code: PostErrorCode::OutcomeUnknown,
        message: message.to_owned(),
        retryable: true,
        retry_safe: false,
        remedy: Some(remedy.to_owned()),
        platform_error: None,
    })
}
