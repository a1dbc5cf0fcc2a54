//! The nightly check that ledgers and balances agree.

use fanfare_core::{Domain, db::statement, error::Result};
use fanfare_entities::UserId;
use sea_orm::{FromQueryResult, SelectModel, SelectorRaw};

/// A wallet whose ledger, reservations and balances disagree.
#[derive(Debug, Clone, PartialEq, Eq, FromQueryResult)]
pub struct Mismatch {
    /// The owner of the wallet.
    pub user_id: UserId,
    /// Balance of the included pool.
    pub included: i64,
    /// The sum of its ledger.
    pub included_sum: i64,
    /// Balance of the purchased pool.
    pub purchased: i64,
    /// The sum of its ledger.
    pub purchased_sum: i64,
    /// Reserved credits.
    pub held: i64,
    /// The sum of open reservations.
    pub held_sum: i64,
}

/// Compares each wallet with its ledger and its open reservations, in one statement, so that concurrent changes do not
/// matter.
const COMPARE: &str = "SELECT * FROM (SELECT w.user_id, w.included, w.purchased, w.held, \
     CAST(COALESCE(l.included_sum, 0) AS BIGINT) AS included_sum, \
     CAST(COALESCE(l.purchased_sum, 0) AS BIGINT) AS purchased_sum, \
     CAST(COALESCE(r.held_sum, 0) AS BIGINT) AS held_sum \
     FROM credit_wallets w \
     LEFT JOIN (SELECT user_id, \
       SUM(CASE WHEN pool = 'included' THEN amount ELSE 0 END) AS included_sum, \
       SUM(CASE WHEN pool = 'purchased' THEN amount ELSE 0 END) AS purchased_sum \
       FROM credit_entries GROUP BY user_id) l ON l.user_id = w.user_id \
     LEFT JOIN (SELECT user_id, SUM(included + purchased) AS held_sum \
       FROM credit_reservations WHERE status = 'open' GROUP BY user_id) r ON r.user_id = w.user_id) c \
     WHERE c.included <> c.included_sum OR c.purchased <> c.purchased_sum OR c.held <> c.held_sum";

/// Returns the wallets whose ledger, reservations and balances disagree. There are none unless there is a bug.
///
/// # Errors
/// The database's.
pub async fn check(cx: &Domain) -> Result<Vec<Mismatch>> {
    let conn = &cx.db.read;
    let query = statement(conn, COMPARE, []);
    let found = SelectorRaw::<SelectModel<Mismatch>>::from_statement(query).all(conn).await?;
    for wrong in &found {
        tracing::error!(?wrong, "the ledger and the balances of a wallet differ");
    }
    fanfare_metrics::record::wallet_mismatches(found.len());
    Ok(found)
}
