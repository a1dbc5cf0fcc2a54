//! Who holds rows. Alarms ask, so that nobody mistakes much work, or what an owner changes, for workers in trouble.

use fanfare_entities::Millis;
use fanfare_jobs::JobKind;
use sea_orm::ConnectionTrait;

use super::{LEASE, Lease};
use crate::{Domain, db::statement, error::Result};

/// Returns when a worker last took, or went on to hold, one of the rows of this kind that are held now; `None` if none is.
///
/// # Errors
/// The database's.
pub async fn last_taken(cx: &Domain, kind: JobKind) -> Result<Option<Millis>> {
    let (conn, now) = (&cx.db.read, cx.clock.now());
    let sql = format!(
        "SELECT due_at FROM {} WHERE due_at > $1 AND due_at <= $2 AND lease_expirations > 0 ORDER BY due_at DESC LIMIT 1",
        kind.table()
    );
    let row = conn.query_one_raw(statement(conn, sql, [now.into(), (now + LEASE).into()])).await?;
    Ok(row.map(|row| row.try_get::<Millis>("", "due_at")).transpose()?.map(|end| end - LEASE))
}

/// Returns true if another claim has taken the row of a lost lease. An owner who deletes or changes what is being worked on
/// ends a lease too, but nobody holds the row then.
///
/// # Errors
/// The database's.
pub async fn was_taken_over(
    cx: &Domain,
    kind: JobKind,
    lease: Lease,
    holder: &str,
) -> Result<bool> {
    let conn = &cx.db.write;
    let sql =
        format!("SELECT held_by, due_at, lease_expirations FROM {} WHERE id = $1", kind.table());
    let Some(row) = conn.query_one_raw(statement(conn, sql, [lease.id.into()])).await? else {
        return Ok(false);
    };
    let held_by: Option<String> = row.try_get("", "held_by")?;
    let (due_at, claims): (Option<Millis>, i32) =
        (row.try_get("", "due_at")?, row.try_get("", "lease_expirations")?);
    Ok(held_by.as_deref() != Some(holder) || (due_at.is_some() && claims > 0))
}
