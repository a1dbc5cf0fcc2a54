//! What accounts have published lately, for limits by the day.

use std::collections::{BTreeSet, HashMap};

use fanfare_entities::{AccountId, Millis};
use sea_orm::{ConnectionTrait, DbErr, QueryResult};

use crate::{Domain, db::statement, error::Result, rows::Rows};

/// What an account has published lately.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spent {
    /// How many posts.
    pub posts: i64,
    /// When the first of them became public.
    pub oldest: Millis,
}

/// What these accounts have published after `since`.
///
/// # Errors
/// The database's.
pub async fn spent(
    cx: &Domain,
    accounts: &BTreeSet<AccountId>,
    since: Millis,
) -> Result<HashMap<AccountId, Spent>> {
    let conn = &cx.db.read;
    let ids: Vec<i64> = accounts.iter().map(|account| account.0).collect();
    let ids = Rows::of_ids(conn, &ids);
    let sql = format!(
        "SELECT account_id, count(*) AS posts, min(public_at) AS oldest FROM posts \
         WHERE account_id IN (SELECT id FROM {}) AND public_at > $1 GROUP BY account_id",
        ids.from("asked", 2)
    );
    let values = std::iter::once(since.into()).chain(ids.values());
    let found = conn.query_all_raw(statement(conn, sql, values)).await?;
    let one = |row: &QueryResult| {
        let spent = Spent { posts: row.try_get("", "posts")?, oldest: row.try_get("", "oldest")? };
        Ok((AccountId(row.try_get("", "account_id")?), spent))
    };
    Ok(found.iter().map(one).collect::<Result<_, DbErr>>()?)
}
