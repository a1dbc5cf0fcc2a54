//! What is known when a network refuses a post because it has the same content already.

use fanfare_core::{Domain, clock::from_rfc3339, db::statement, error::Result};
use fanfare_entities::{Millis, post};
use sea_orm::{FromQueryResult, sea_query::Value};
use serde_json::Value as Json;

use crate::lost_calls::{CallWindow, register};

/// The time for which an earlier post of the same text is looked for, in ms.
const EARLIER: Millis = 3 * 86_400_000;

/// Returns the time of the commit calls of a post that never had an answer, from the first to the last, by its ledger.
/// `deadline` is the longest time of a call.
///
/// # Errors
/// The database's.
pub async fn unanswered_call(
    cx: &Domain,
    post: i64,
    deadline: Millis,
) -> Result<Option<CallWindow>> {
    #[derive(FromQueryResult)]
    struct Row {
        steps: Json,
    }
    let db = &cx.db.write;
    let sql = "SELECT steps FROM post_attempts WHERE post_id = $1 \
         AND outcome IN ('not_sent', 'outcome_unknown')";
    let rows = Row::find_by_statement(statement(db, sql, [post.into()])).all(db).await?;
    let steps = rows.iter().filter_map(|row| row.steps.as_array()).flatten();
    let calls = steps.filter(|step| step["phase"] == "commit").filter_map(|step| {
        let time = |name: &str| step[name].as_str().and_then(from_rfc3339);
        let from = time("started_at")?;
        Some((from, time("ended_at").unwrap_or(from + deadline)))
    });
    let whole = calls.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    Ok(whole.map(|(from, end)| CallWindow { from, lost_at: Some(end), until: end + deadline }))
}

/// Returns the address of our earlier post that a network refuses this one for: the one with the id that the network
/// gives, else the latest one of the account with the same text.
///
/// # Errors
/// The database's.
pub async fn earlier_post(
    cx: &Domain,
    row: &post::Model,
    named: Option<&str>,
) -> Result<Option<String>> {
    if let Some(named) = named
        && let Some(id) = register::post_of(cx, row.account_id, named).await?
        && let Some(address) = address(cx, "id = $1", [id.into()]).await?
    {
        return Ok(Some(address));
    }
    let only = "account_id = $1 AND public_at >= $2 AND caption = $3 AND id <> $4";
    let since = cx.clock.now() - EARLIER;
    let values =
        [row.account_id.0.into(), since.into(), row.caption.as_str().into(), row.id.0.into()];
    address(cx, only, values).await
}

/// Returns the address of the latest of some posts, or else its id on the network.
async fn address<const N: usize>(
    cx: &Domain,
    only: &str,
    values: [Value; N],
) -> Result<Option<String>> {
    #[derive(FromQueryResult)]
    struct Row {
        address: Option<String>,
    }
    let db = &cx.db.read;
    let sql = format!(
        "SELECT coalesce(platform_post_url, platform_post_id) AS address FROM posts \
         WHERE {only} ORDER BY public_at DESC LIMIT 1"
    );
    let row = Row::find_by_statement(statement(db, sql, values)).one(db).await?;
    Ok(row.and_then(|row| row.address))
}
