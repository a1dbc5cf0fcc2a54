//! Elects the scheduler's leader: one process at a time, by a short lease in the database's time.

use std::time::{Duration, Instant};

use fanfare_entities::Millis;
use sea_orm::ConnectionTrait;

use crate::{Domain, db::statement, error::Result};

/// The duration of the leader's lease, in ms of the database's time.
const LEADER_LEASE: Millis = 2_000;

/// The leader renews its lease after this time, so that most turns need no statement.
const RENEW_AFTER: Duration = Duration::from_millis(500);

/// A contender for the leadership of the scheduler. The row of `leases` keeps its first name, `sweep`.
#[derive(Debug)]
pub struct Leader {
    holder: String,
    renewed_at: Option<Instant>,
}

impl Leader {
    /// Creates a contender.
    #[must_use]
    pub fn new(holder: impl Into<String>) -> Self {
        Self { holder: holder.into(), renewed_at: None }
    }

    /// Acquires or renews the leadership for two seconds. Returns false while another process leads.
    ///
    /// # Errors
    /// The database's.
    pub async fn acquire(&mut self, cx: &Domain) -> Result<bool> {
        if self.renewed_at.is_some_and(|taken| taken.elapsed() < RENEW_AFTER) {
            return Ok(true);
        }
        let asked = Instant::now();
        self.renewed_at = self.try_acquire(cx).await?.then_some(asked);
        Ok(self.renewed_at.is_some())
    }

    async fn try_acquire(&self, cx: &Domain) -> Result<bool> {
        let conn = &cx.db.write;
        let now = if cx.db.is_postgres() {
            "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
        } else {
            "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
        };
        let sql = format!(
            "INSERT INTO leases (name, holder, until_at) VALUES ('sweep', $1, {now} + $2) \
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_at = excluded.until_at \
             WHERE leases.holder = excluded.holder OR leases.until_at < {now}"
        );
        let values = [self.holder.as_str().into(), LEADER_LEASE.into()];
        Ok(conn.execute_raw(statement(conn, sql, values)).await?.rows_affected() == 1)
    }

    /// Resigns, so that another process need not wait until the lease expires.
    ///
    /// # Errors
    /// The database's.
    pub async fn resign(&self, cx: &Domain) -> Result<()> {
        let conn = &cx.db.write;
        let sql = "DELETE FROM leases WHERE name = 'sweep' AND holder = $1";
        conn.execute_raw(statement(conn, sql, [self.holder.as_str().into()])).await?;
        Ok(())
    }
}

/// Returns the name of the leader, or `None` if no worker has run for two seconds.
///
/// # Errors
/// The database's.
pub async fn leader(cx: &Domain) -> Result<Option<String>> {
    let (conn, now) = (&cx.db.write, cx.db.now().await?);
    let sql = "SELECT holder FROM leases WHERE name = 'sweep' AND until_at >= $1";
    let row = conn.query_one_raw(statement(conn, sql, [now.into()])).await?;
    Ok(row.map(|row| row.try_get("", "holder")).transpose()?)
}
