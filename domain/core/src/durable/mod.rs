//! Durable work: rows that say when they are due and are claimed by one worker at a time.
//!
//! Every function here serves every kind of work; the module of each kind decides what to do with its row.

mod due;
mod due_tenants;
mod give_back;
mod holders;
mod leader;
mod lookahead;
mod queue_stats;
mod selection;

use fanfare_entities::Millis;
use fanfare_jobs::{JobKind, JobRef};
use sea_orm::{ConnectionTrait, DbErr, FromQueryResult, QueryResult, SelectModel, SelectorRaw};
use uuid::Uuid;

use crate::{
    Domain,
    db::statement,
    error::Result,
    mutation::{self, Mutation},
    rows::{Rows, Type},
};

pub use give_back::give_back;
pub use holders::{last_taken, was_taken_over};
pub use leader::{Leader, leader as scheduler_leader};
pub use lookahead::Lookahead;
pub use queue_stats::{QueueStats, count_due, queue_stats};
pub use selection::Selection;

/// The length of a lease, in ms. It is renewed every third of that.
pub const LEASE: Millis = 60_000;

/// The number of leases that may expire in a row before a row is abandoned: the row may be what kills its workers. With
/// workers killed for another reason every few seconds, three were too few for innocent rows.
pub const MAX_LEASE_EXPIRATIONS: i32 = 6;

/// Claims the rows of `ids` that are due: starts a lease, raises the fencing token (`fencing_token`) and returns the rows. Rows that
/// another worker holds, or that were moved, are skipped.
///
/// # Errors
/// The database's. The rows may have been claimed all the same; then their leases expire.
///
/// Posts have a claim of their own, `posts::publishing::claim`, because it emits an event.
pub async fn claim<M: FromQueryResult, C: ConnectionTrait>(
    conn: &C,
    kind: JobKind,
    ids: &[i64],
    (holder, now): (&str, Millis),
) -> Result<Vec<M>, DbErr> {
    let (table, backend, asked) = (kind.table(), conn.get_database_backend(), ids.len());
    let ids = Rows::of_ids(conn, ids);
    let wanted = ids.from("wanted", 4);
    // PostgreSQL locks the rows in the order of their ids and skips rows that another transaction is changing; that
    // transaction enqueues the row if it is still due.
    let lock = if backend == sea_orm::DbBackend::Postgres {
        format!("ORDER BY {table}.id FOR UPDATE OF {table} SKIP LOCKED")
    } else {
        String::new()
    };
    let sql = format!(
        "UPDATE {table} SET fencing_token = fencing_token + 1, lease_expirations = lease_expirations + 1, due_at = $2, held_by = $3 \
         WHERE id IN (SELECT {table}.id FROM {table} JOIN {wanted} ON wanted.id = {table}.id \
         WHERE {} {lock}) RETURNING *",
        claimable(table)
    );
    let first = [now.into(), (now + LEASE).into(), holder.into()];
    let query = statement(conn, sql, first.into_iter().chain(ids.values()));
    let taken = SelectorRaw::<SelectModel<M>>::from_statement(query).all(conn).await?;
    fanfare_metrics::record::claims(kind.as_str(), asked, taken.len());
    Ok(taken)
}

/// Returns the condition under which a row of `table` can be claimed; `$1` is now.
pub fn claimable(table: &str) -> String {
    let early =
        mutation::when(Mutation::ClaimInTime, " OR (lease_expirations = 0 AND due_at IS NOT NULL)");
    let held =
        mutation::when(Mutation::ClaimUnheld, " OR (lease_expirations > 0 AND due_at IS NOT NULL)");
    format!("({table}.due_at <= $1{early}{held})")
}

/// A lease on a claimed row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The row.
    pub id: i64,
    /// The row's `fencing_token` at the claim. A write with an older token changes nothing.
    pub fencing_token: i64,
}

impl Lease {
    /// Returns the lease that a claim gave.
    #[must_use]
    pub const fn new(id: i64, fencing_token: i64) -> Self {
        Self { id, fencing_token }
    }
}

/// Renews leases until `until`. Returns those that are still held.
///
/// # Errors
/// The database's; the leases may or may not have been moved.
pub async fn renew(
    cx: &Domain,
    kind: JobKind,
    leases: &[Lease],
    until: Millis,
) -> Result<Vec<Lease>> {
    let kept = set_due(cx, kind, leases, until, "").await?;
    let is_kept = |lease: &Lease| kept.iter().any(|job| job.id == lease.id);
    Ok(leases.iter().copied().filter(is_kept).collect())
}

/// Releases rows, to be claimed by any worker at `due_at` as if they had not been claimed.
///
/// # Errors
/// The database's; then the leases expire.
pub async fn release(cx: &Domain, kind: JobKind, leases: &[Lease], due_at: Millis) -> Result<()> {
    let freed = ", fencing_token = held.fencing_token + 1, lease_expirations = 0";
    for job in set_due(cx, kind, leases, due_at, freed).await? {
        cx.after_commit.enqueue(kind, job, due_at);
    }
    Ok(())
}

async fn set_due(
    cx: &Domain,
    kind: JobKind,
    leases: &[Lease],
    due_at: Millis,
    also: &str,
) -> Result<Vec<JobRef>> {
    let conn = &cx.db.write;
    let mut held = Rows::new(conn, &[("id", Type::Big), ("fencing_token", Type::Big)]);
    for lease in leases {
        held.push([lease.id.into(), lease.fencing_token.into()]);
    }
    // SQLite allows only plain column names after RETURNING; PostgreSQL finds a plain one ambiguous here.
    let t = if cx.db.is_postgres() { "t." } else { "" };
    let workspace = workspace_column(kind, t);
    let sql = format!(
        "UPDATE {} AS t SET due_at = $1{also} FROM {} \
         WHERE t.id = held.id AND t.fencing_token = held.fencing_token AND t.due_at IS NOT NULL \
         RETURNING {t}id, {workspace}",
        kind.table(),
        held.from("held", 2),
    );
    let values = std::iter::once(due_at.into()).chain(held.values());
    let query = statement(conn, sql, values);
    let kept = conn.query_all_raw(query).await?;
    let job = |row: &QueryResult| Ok(JobRef::of(workspace_of(row)?, row.try_get("", "id")?));
    Ok(kept.iter().map(job).collect::<Result<_, DbErr>>()?)
}

/// Returns the column that [`workspace_of`] reads, where `t` is the prefix of column names.
pub fn workspace_column(kind: JobKind, t: &str) -> String {
    if kind.is_shared() { format!("{t}workspace_id") } else { "NULL AS workspace_id".to_owned() }
}

/// Returns the workspace of a row; nil for rows without one.
pub fn workspace_of(row: &QueryResult) -> Result<Uuid, DbErr> {
    Ok(row.try_get::<Option<Uuid>>("", "workspace_id")?.unwrap_or_default())
}
