//! Ends the leases of dead workers, so that their rows need not wait until the leases expire.

use std::collections::BTreeMap;

use fanfare_core::{
    Domain, Tx,
    db::statement,
    durable::{LEASE, workspace_column, workspace_of},
    error::Result,
    processes::DEAD_AFTER,
};
use fanfare_entities::{AccountId, Millis, worker};
use fanfare_jobs::{JobKind, JobRef};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryResult};

use super::publishing;

/// The workers whose leases this process has ended, with the last heartbeat of each: a worker that comes back and falls
/// silent again is handled again.
#[derive(Debug, Default)]
pub struct DeadWorkers(BTreeMap<String, Millis>);

impl DeadWorkers {
    /// Ends the leases of workers whose last heartbeat is more than 15 s ago. Returns how many rows became due.
    ///
    /// # Errors
    /// The database's; the next call tries again.
    pub async fn end_leases(&mut self, cx: &Domain) -> Result<usize> {
        let silent = worker::Column::SeenAt.lt(cx.clock.now() - DEAD_AFTER);
        let dead = worker::Entity::find().filter(silent).all(&cx.db.read).await?;
        self.0.retain(|name, _| dead.iter().any(|worker| worker.name == *name));
        let mut ended = 0;
        for worker in dead {
            if self.0.get(&worker.name) != Some(&worker.seen_at) {
                ended += end_leases(cx, "held_by = $2", &worker.name).await?;
                self.0.insert(worker.name, worker.seen_at);
            }
        }
        Ok(ended)
    }
}

/// Ends the leases of all rows that match the condition `whose`, in which `$2` is `name`. Returns how many rows became
/// due. Only rows that are due within two leases are looked at: no lease lasts longer, and millions may wait behind. A post that may have been sent keeps its lease until its outcome can be found out, and lets later posts of its
/// account pass.
///
/// # Errors
/// The database's.
pub async fn end_leases(cx: &Domain, whose: &str, name: &str) -> Result<usize> {
    let (now, conn) = (cx.clock.now(), &cx.db.write);
    let held = "due_at > $1 AND due_at < $3 AND lease_expirations > 0";
    let pass = format!(
        "UPDATE posts SET out_of_line = true \
         WHERE {held} AND {whose} AND sending_at IS NOT NULL RETURNING account_id"
    );
    let values = || [now.into(), name.into(), (now + 2 * LEASE).into()];
    let passed = conn.query_all_raw(statement(conn, pass, values())).await?;
    let passed = passed.iter().map(|row| Ok(AccountId(row.try_get("", "account_id")?)));
    let passed = passed.collect::<Result<Vec<_>, DbErr>>()?;
    if !passed.is_empty() {
        let mut tx = Tx::begin(cx).await?;
        publishing::wake_first(&mut tx, &passed).await?;
        tx.commit().await?;
    }
    let mut ended = 0;
    for kind in JobKind::ALL {
        let unsent = if kind == JobKind::PublishPost { "AND sending_at IS NULL" } else { "" };
        let sql = format!(
            "UPDATE {} SET due_at = $1, fencing_token = fencing_token + 1 \
             WHERE {held} AND {whose} {unsent} RETURNING id, {}",
            kind.table(),
            workspace_column(kind, ""),
        );
        let rows = conn.query_all_raw(statement(conn, sql, values())).await?;
        let job = |row: &QueryResult| Ok(JobRef::of(workspace_of(row)?, row.try_get("", "id")?));
        for job in rows.iter().map(job).collect::<Result<Vec<_>, DbErr>>()? {
            cx.after_commit.enqueue(kind, job, now);
            ended += 1;
        }
    }
    Ok(ended)
}
