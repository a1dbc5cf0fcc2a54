//! The register of what is ours: which objects on networks are the results of which rows.

use std::collections::HashSet;

use fanfare_core::{
    Domain,
    db::statement,
    error::Result,
    mutation::{self, Mutation},
    rows::{Columns, Rows, Type},
};
use fanfare_entities::{AccountId, Millis, remote_result};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};

/// The row that made an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A post.
    Post(i64),
    /// A change other than a post.
    Outgoing(i64),
}

impl Owner {
    /// Returns the table and the id.
    #[must_use]
    pub const fn stored(self) -> (&'static str, i64) {
        match self {
            Self::Post(id) => ("posts", id),
            Self::Outgoing(id) => ("outgoing", id),
        }
    }
}

/// The columns of the table.
pub(crate) const COLUMNS: Columns = &[
    ("remote_id", Type::Text),
    ("account_id", Type::Big),
    ("owner", Type::Text),
    ("owner_id", Type::Big),
    ("recorded_at", Type::Big),
];

/// The end of a statement that inserts rows: the first row that records an object owns it.
pub(crate) const KEEP_FIRST: &str = " ON CONFLICT (remote_id, account_id) DO NOTHING";

/// Records the result of a row.
///
/// # Errors
/// The database's.
pub async fn record<C: ConnectionTrait>(
    conn: &C,
    account_id: AccountId,
    owner: Owner,
    remote_id: &str,
    now: Millis,
) -> Result<()> {
    if remote_id.is_empty() {
        return Ok(());
    }
    let (table, id) = owner.stored();
    let mut rows = Rows::new(conn, COLUMNS);
    rows.push([remote_id.into(), account_id.0.into(), table.into(), id.into(), now.into()]);
    let sql = format!("{}{KEEP_FIRST}", rows.insert_into("remote_results", 1));
    conn.execute_raw(statement(conn, sql, rows.values())).await?;
    Ok(())
}

/// Returns those of these ids that are results of our rows, of this account or of another that is the same one on the
/// network.
///
/// # Errors
/// The database's.
pub async fn owned<'a>(
    cx: &Domain,
    account: AccountId,
    ids: impl IntoIterator<Item = &'a str>,
) -> Result<HashSet<String>> {
    let db = &cx.db.write;
    let mut rows = Rows::new(db, &[("remote_id", Type::Text)]);
    for id in ids {
        rows.push([id.into()]);
    }
    if rows.is_empty() || mutation::is_on(Mutation::FoundUnowned) {
        return Ok(HashSet::new());
    }
    let sql = format!(
        "SELECT remote_results.remote_id FROM {} \
         JOIN remote_results ON remote_results.remote_id = asked.remote_id \
         JOIN accounts ON accounts.id = remote_results.account_id \
         JOIN accounts AS own ON own.id = $1 AND own.platform = accounts.platform \
         AND own.remote_id = accounts.remote_id",
        rows.from("asked", 2)
    );
    let values = std::iter::once(account.0.into()).chain(rows.values());
    let found = db.query_all_raw(statement(db, sql, values)).await?;
    Ok(found.iter().map(|row| row.try_get("", "remote_id")).collect::<Result<_, DbErr>>()?)
}

/// Forgets what was recorded before `before`, in small steps: nobody asks about calls that old.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain, before: Millis) -> Result<u64> {
    const STEP: u64 = 1_000;
    let db = &cx.db.write;
    let sql = format!(
        "DELETE FROM remote_results WHERE (remote_id, account_id) IN \
         (SELECT remote_id, account_id FROM remote_results WHERE recorded_at < $1 LIMIT {STEP})"
    );
    let mut gone = 0;
    loop {
        let step = db.execute_raw(statement(db, sql.clone(), [before.into()])).await?;
        gone += step.rows_affected();
        if step.rows_affected() < STEP {
            return Ok(gone);
        }
    }
}

/// Returns the post that made the object with this id.
///
/// # Errors
/// The database's.
pub(crate) async fn post_of(
    cx: &Domain,
    account: AccountId,
    remote_id: &str,
) -> Result<Option<i64>> {
    let row = remote_result::Entity::find()
        .filter(remote_result::Column::RemoteId.eq(remote_id))
        .filter(remote_result::Column::AccountId.eq(account))
        .filter(remote_result::Column::Owner.eq("posts"))
        .one(&cx.db.read)
        .await?;
    Ok(row.map(|row| row.owner_id))
}
