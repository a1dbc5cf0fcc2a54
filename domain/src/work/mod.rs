//! Durable work: rows that say when they are due, taken by whoever is woken and wins the claim.
//!
//! Every function here serves every kind of work; what a kind does with its row is its own module's affair.

mod due;
mod foresight;
mod lead;
mod orphans;
mod outlook;
mod sweep;
mod waiting;

use fanfare_entities::Millis;
use fanfare_jobs::{JobKind, JobRef};
use sea_orm::{ConnectionTrait, DbErr, FromQueryResult, QueryResult, SelectModel, SelectorRaw};
use uuid::Uuid;

use crate::{
    Domain,
    db::statement,
    error::Result,
    guard::{self, Guard},
    rows::{Rows, Type},
};

pub use foresight::Foresight;
pub use lead::{Lead, leader as sweep_leader};
pub use orphans::{Silent, end_leases};
pub use outlook::{Outlook, count_due, outlook};
pub use sweep::Turn;

/// How long a claim holds a row, in ms. Renewed every third of it.
pub const LEASE: Millis = 60_000;

/// Leases in a row that may lapse before a row is given up: it may be what kills its worker. Where workers are killed by
/// something else every few seconds, three were too few for innocent rows.
pub const MAX_LAPS: i32 = 6;

/// The table whose rows are this kind of work.
#[must_use]
pub const fn table(kind: JobKind) -> &'static str {
    match kind {
        JobKind::PublishPost => "posts",
        JobKind::DeliverWebhook => "webhook_deliveries",
        JobKind::CopyMedia => "media_assets",
        JobKind::AnalyseMedia => "media_analyses",
        JobKind::ConvertMedia => "media_variants",
        JobKind::CleanUp => "chores",
        JobKind::KeepAccount => "accounts",
        JobKind::SendMail => "letters",
        JobKind::ApplyStripeEvent => "stripe_events",
    }
}

/// True when the table has a workspace, so that its work is shared out fairly among workspaces.
const fn is_shared(kind: JobKind) -> bool {
    !matches!(kind, JobKind::CleanUp | JobKind::SendMail | JobKind::ApplyStripeEvent)
}

/// Takes those of `ids` that are due for a worker: the lease starts, the fence rises, and their rows come back. A row that somebody
/// else holds, or that was moved, is not among them.
///
/// # Errors
/// The database's. The rows may have been taken all the same; then their leases lapse.
///
/// Posts have a claim of their own, [`crate::posts::work::claim`], because there is something to be told of it.
pub async fn claim<M: FromQueryResult, C: ConnectionTrait>(
    conn: &C,
    kind: JobKind,
    ids: &[i64],
    (holder, now): (&str, Millis),
) -> Result<Vec<M>, DbErr> {
    let (table, backend, asked) = (table(kind), conn.get_database_backend(), ids.len());
    let ids = Rows::of_ids(conn, ids);
    let wanted = ids.from("wanted", 4);
    // On PostgreSQL rows are locked in the order of their ids, and one that is being changed is left to its changer,
    // who rings if it is still due.
    let lock = if backend == sea_orm::DbBackend::Postgres {
        format!("ORDER BY {table}.id FOR UPDATE OF {table} SKIP LOCKED")
    } else {
        String::new()
    };
    let sql = format!(
        "UPDATE {table} SET fence = fence + 1, laps = laps + 1, due_at = $2, held_by = $3 \
         WHERE id IN (SELECT {table}.id FROM {table} JOIN {wanted} ON wanted.id = {table}.id \
         WHERE {} {lock}) RETURNING *",
        takeable(table)
    );
    let first = [now.into(), (now + LEASE).into(), holder.into()];
    let query = statement(conn, sql, first.into_iter().chain(ids.values()));
    let taken = SelectorRaw::<SelectModel<M>>::from_statement(query).all(conn).await?;
    fanfare_metrics::record::claims(kind.as_str(), asked, taken.len());
    Ok(taken)
}

/// The condition under which a row of `table` can be taken; `$1` is now.
pub(crate) fn takeable(table: &str) -> String {
    let early = guard::without(Guard::ClaimInTime, " OR (laps = 0 AND due_at IS NOT NULL)");
    let held = guard::without(Guard::ClaimUnheld, " OR (laps > 0 AND due_at IS NOT NULL)");
    format!("({table}.due_at <= $1{early}{held})")
}

/// A row as its holder knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hold {
    /// The row.
    pub id: i64,
    /// Its fence at the claim.
    pub fence: i64,
}

/// Moves the leases of held rows on to `until`; says which are still held.
///
/// # Errors
/// The database's; the leases may or may not have been moved.
pub async fn renew(cx: &Domain, kind: JobKind, holds: &[Hold], until: Millis) -> Result<Vec<Hold>> {
    let kept = set_due(cx, kind, holds, until, "").await?;
    let is_kept = |hold: &Hold| kept.iter().any(|ring| ring.id == hold.id);
    Ok(holds.iter().copied().filter(is_kept).collect())
}

/// Gives held rows back, to be taken by anyone at `due_at`, as if they had not been claimed.
///
/// # Errors
/// The database's; then the leases lapse.
pub async fn release(cx: &Domain, kind: JobKind, holds: &[Hold], due_at: Millis) -> Result<()> {
    let freed = ", fence = held.fence + 1, laps = 0";
    for ring in set_due(cx, kind, holds, due_at, freed).await? {
        cx.after_commit.enqueue(kind, ring, due_at);
    }
    Ok(())
}

async fn set_due(
    cx: &Domain,
    kind: JobKind,
    holds: &[Hold],
    due_at: Millis,
    also: &str,
) -> Result<Vec<JobRef>> {
    let conn = &cx.db.write;
    let mut held = Rows::new(conn, &[("id", Type::Big), ("fence", Type::Big)]);
    for hold in holds {
        held.push([hold.id.into(), hold.fence.into()]);
    }
    // SQLite takes only bare names behind RETURNING; to PostgreSQL a bare one is ambiguous here.
    let t = if cx.db.is_postgres() { "t." } else { "" };
    let workspace = workspace_column(kind, t);
    let sql = format!(
        "UPDATE {} AS t SET due_at = $1{also} FROM {} \
         WHERE t.id = held.id AND t.fence = held.fence AND t.due_at IS NOT NULL \
         RETURNING {t}id, {workspace}",
        table(kind),
        held.from("held", 2),
    );
    let values = std::iter::once(due_at.into()).chain(held.values());
    let query = statement(conn, sql, values);
    let kept = conn.query_all_raw(query).await?;
    let ring = |row: &QueryResult| Ok(JobRef::of(workspace_of(row)?, row.try_get("", "id")?));
    Ok(kept.iter().map(ring).collect::<Result<_, DbErr>>()?)
}

/// What to select for [`workspace_of`], where `t` stands before the names of columns.
fn workspace_column(kind: JobKind, t: &str) -> String {
    if is_shared(kind) { format!("{t}workspace_id") } else { "NULL AS workspace_id".to_owned() }
}

/// Whose a row is: nil for what belongs to no workspace.
fn workspace_of(row: &QueryResult) -> Result<Uuid, DbErr> {
    Ok(row.try_get::<Option<Uuid>>("", "workspace_id")?.unwrap_or_default())
}
