//! Counts the recent posts of accounts, for daily limits.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fanfare_core::{Domain, db::statement, error::Result, rows::Rows};
use fanfare_entities::{AccountId, Millis};
use sea_orm::ConnectionTrait;

/// The number of recent posts of an account for each post type, and when the first of them became public.
#[derive(Debug, Clone, Default)]
pub struct PostCounts(BTreeMap<String, (i64, Millis)>);

impl PostCounts {
    /// Returns the number of posts of these types, and when the first of them became public.
    pub fn count(&self, counts: impl Fn(&str) -> bool) -> (i64, Millis) {
        let counted = self.0.iter().filter(|(kind, _)| counts(kind)).map(|(_, spent)| *spent);
        counted.fold((0, Millis::MAX / 4), |(posts, oldest), (more, at)| {
            (posts + more, oldest.min(at))
        })
    }

    /// Adds a post of this type that is not public yet.
    pub fn add(&mut self, kind: &str) {
        self.add_at(kind, Millis::MAX / 4);
    }

    /// Adds a post of this type that became public at this time.
    pub fn add_at(&mut self, kind: &str, at: Millis) {
        let (posts, oldest) = self.0.entry(kind.to_owned()).or_insert((0, at));
        (*posts, *oldest) = (*posts + 1, at.min(*oldest));
    }
}

/// Counts the posts of these accounts that became public after `since`.
///
/// # Errors
/// The database's.
pub async fn count_posts(
    cx: &Domain,
    accounts: &BTreeSet<AccountId>,
    since: Millis,
) -> Result<HashMap<AccountId, PostCounts>> {
    let conn = &cx.db.read;
    let ids: Vec<i64> = accounts.iter().map(|account| account.0).collect();
    let ids = Rows::of_ids(conn, &ids);
    let sql = format!(
        "SELECT account_id, post_type, count(*) AS posts, min(public_at) AS oldest FROM posts \
         WHERE account_id IN (SELECT id FROM {}) AND public_at > $1 GROUP BY account_id, post_type",
        ids.from("asked", 2)
    );
    let values = std::iter::once(since.into()).chain(ids.values());
    let found = conn.query_all_raw(statement(conn, sql, values)).await?;
    let mut all = HashMap::<AccountId, PostCounts>::new();
    for row in found {
        let of_kind = (row.try_get("", "posts")?, row.try_get("", "oldest")?);
        let spent = all.entry(AccountId(row.try_get("", "account_id")?)).or_default();
        spent.0.insert(row.try_get("", "post_type")?, of_kind);
    }
    Ok(all)
}
