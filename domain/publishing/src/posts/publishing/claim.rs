//! Claims due posts: reads them, and claims those that have not changed since.
//!
//! The events of a claim are known before it is made. So the claim, its events and their deliveries are one statement
//! on PostgreSQL, which saves round trips, and a worker that stops in between blocks nobody.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use fanfare_core::{
    Domain,
    db::statement,
    durable::{self, LEASE},
    error::Result,
    mutation::{self, Mutation},
    rows::{Columns, Rows, Type},
};
use fanfare_entities::{AccountId, Millis, account, post, post::PostStatus, secret};
use fanfare_jobs::JobKind;
use sea_orm::{ActiveEnum, ConnectionTrait, DbErr, FromQueryResult, Iterable, QueryResult};

use super::{EVENT_UNCHANGED, account_order, change::Change, worker_event};
use crate::posts::holds::UNPAUSED;

/// A worker that claims posts.
#[derive(Clone, Copy)]
pub struct Claimant<'a> {
    /// Its name, unique in the fleet.
    pub name: &'a str,
    /// Returns true for a post that it holds already.
    pub holds: &'a (dyn Fn(i64) -> bool + Sync),
}

impl Claimant<'_> {
    /// Creates a worker that holds no posts yet.
    #[must_use]
    pub const fn new(name: &str) -> Claimant<'_> {
        Claimant { name, holds: &|_| false }
    }
}

/// Claims those of `ids` that are due and whose turn it is among the posts of their account: the lease starts and the
/// fencing token rises. A post whose time has come is announced as `post.publishing`. Rows that another worker holds,
/// that were rescheduled, or that have to wait behind an earlier post are not returned.
///
/// # Errors
/// The database's. The rows may have been taken all the same; then their leases lapse.
pub async fn claim(cx: &Domain, who: Claimant<'_>, ids: &[i64]) -> Result<Vec<ClaimedPost>> {
    let seen = find_claimable(cx, who, ids).await?;
    let taken = claim_unchanged(cx, who, seen).await?;
    fanfare_metrics::record::claims(JobKind::PublishPost.as_str(), ids.len(), taken.len());
    Ok(taken)
}

/// Returns those of `ids` that can be claimed.
///
/// # Errors
/// The database's.
pub async fn find_claimable(
    cx: &Domain,
    who: Claimant<'_>,
    ids: &[i64],
) -> Result<Vec<post::Model>> {
    let (db, now) = (&cx.db.read, cx.clock.now());
    let wanted = Rows::of_ids(db, ids);
    let sql = format!(
        "SELECT posts.*, {} AS line FROM {} JOIN posts ON posts.id = wanted.id WHERE {} AND {UNPAUSED}",
        account_order::select_line(db, "posts"),
        wanted.from("wanted", 2),
        durable::claimable("posts"),
    );
    let values = std::iter::once(now.into()).chain(wanted.values());
    let rows = db.query_all_raw(statement(db, sql, values)).await?;
    let seen = rows
        .iter()
        .map(|row| Ok((post::Model::from_query_result(row, "")?, account_order::read_line(row)?)));
    let claimable = account_order::sort(seen.collect::<Result<_, DbErr>>()?, who.holds, now);
    account_order::defer(cx, &claimable.behind).await?;
    Ok(claimable.now)
}

/// Claims those of `seen` that have not changed since they were read.
///
/// # Errors
/// The database's. The rows may have been taken all the same; then their leases lapse.
pub async fn claim_unchanged(
    cx: &Domain,
    who: Claimant<'_>,
    mut seen: Vec<post::Model>,
) -> Result<Vec<ClaimedPost>> {
    if seen.is_empty() {
        return Ok(Vec::new());
    }
    cx.failpoint.reach("claiming").await;
    let accounts = seen.iter().map(|row| row.account_id).collect();
    let change = claim_change(cx, who, &mut seen);
    // Both run at the same time; neither is cancelled when the other fails.
    let (held, accounts) = futures_util::join!(change.apply(cx), read_accounts(cx, accounts));
    let (held, accounts) = (held?, accounts?);
    let held = seen.into_iter().filter(|row| held.contains(&row.id.0));
    let claimed = held.map(|post| {
        let (account, secret) = accounts.get(&post.account_id).cloned().unzip();
        ClaimedPost { post: Box::new(post), account, secret: secret.flatten() }
    });
    Ok(claimed.collect())
}

/// The condition that a post, `posts`, has not changed since it was read as `u`: every write changes one of these
/// columns.
const UNCHANGED: &str = "posts.fencing_token = u.fencing_token AND posts.due_at = u.due_at AND posts.updated_at = u.updated_at \
     AND posts.attempt = u.attempt AND posts.sending_at IS NOT DISTINCT FROM u.sending_at \
     AND posts.sending_until IS NOT DISTINCT FROM u.sending_until";

/// Returns the change that claims each of `seen` unless it has changed, and updates `seen` to the claimed state.
fn claim_change(cx: &Domain, who: Claimant<'_>, seen: &mut [post::Model]) -> Change<'static> {
    let now = cx.clock.now();
    let rows = rows(cx, seen, now);
    let from = rows.from("u", 3);
    let as_seen = format!("posts.id = u.id AND {UNCHANGED} AND {EVENT_UNCHANGED}");
    // On PostgreSQL rows are locked in the order of their ids. A row that is being changed is skipped; the transaction
    // that changes it enqueues it if it is still due.
    let (from, is_seen) = if cx.db.is_postgres() {
        let free = "ORDER BY posts.id FOR UPDATE OF posts SKIP LOCKED";
        let free = format!("(SELECT u.* FROM {from} JOIN posts ON {as_seen} {free}) AS u");
        (free, "posts.id = u.id".to_owned())
    } else {
        (from, as_seen)
    };
    let update = format!(
        "UPDATE posts SET fencing_token = posts.fencing_token + 1, lease_expirations = posts.lease_expirations + 1, due_at = $1, held_by = $2, behind = false, \
         out_of_line = posts.out_of_line OR posts.sending_at IS NOT NULL, \
         status = u.now_status, announced_fence = u.now_announced FROM {from} WHERE {is_seen}"
    );
    let again = |row: &post::Model| {
        mutation::is_on(Mutation::EmittedOnce) && row.status == PostStatus::Publishing
    };
    let begun =
        seen.iter().filter(|row| row.announced_fence == Some(row.fencing_token) || again(row));
    let event =
        |row| worker_event(cx, "post.publishing", row, "The post's time has come.".to_owned());
    Change {
        update,
        values: [(now + LEASE).into(), who.name.into()].into_iter().chain(rows.values()).collect(),
        events: begun.map(event).collect(),
        ..Change::default()
    }
}

/// Returns the parameters of the statement: each post as it was read, and its new values.
fn rows(cx: &Domain, seen: &mut [post::Model], now: Millis) -> Rows {
    const COLUMNS: Columns = &[
        ("id", Type::Big),
        ("fencing_token", Type::Big),
        ("due_at", Type::Big),
        ("updated_at", Type::Big),
        ("attempt", Type::Int),
        ("sending_at", Type::Big),
        ("sending_until", Type::Big),
        ("group_key", Type::Text),
        ("release_id", Type::Text),
        ("now_status", Type::Text),
        ("now_announced", Type::Big),
    ];
    let mut rows = Rows::new(&cx.db.write, COLUMNS);
    for row in seen {
        let (fencing_token, due_at) = (row.fencing_token, row.due_at);
        mark_claimed(row, now);
        rows.push([
            row.id.0.into(),
            fencing_token.into(),
            due_at.into(),
            row.updated_at.into(),
            row.attempt.into(),
            row.sending_at.into(),
            row.sending_until.into(),
            row.group_key.as_ref().into(),
            row.release_id.as_ref().into(),
            row.status.to_value().as_str().into(),
            row.announced_fence.into(),
        ]);
    }
    rows
}

/// Changes a row to its claimed state. At its time a scheduled post becomes `publishing`. The first such claim since it
/// was scheduled sets `announced_fence`, so that the event is emitted once.
fn mark_claimed(row: &mut post::Model, now: Millis) {
    row.fencing_token += 1;
    row.lease_expirations += 1;
    row.due_at = Some(now + LEASE);
    row.out_of_line |= row.sending_at.is_some();
    if row.status == PostStatus::Scheduled && row.scheduled_at.is_some_and(|at| at <= now) {
        row.status = PostStatus::Publishing;
        row.announced_fence = row.announced_fence.or(Some(row.fencing_token));
    }
}

/// A claimed post, with its account and credentials.
#[derive(Debug)]
pub struct ClaimedPost {
    /// The row.
    pub post: Box<post::Model>,
    /// The account; absent if it was deleted. Shared by the posts that were claimed together.
    pub account: Option<Arc<account::Model>>,
    /// The account's encrypted credentials; absent once it is disconnected.
    pub secret: Option<Arc<secret::Model>>,
}

type Accounts = HashMap<AccountId, (Arc<account::Model>, Option<Arc<secret::Model>>)>;

/// Reads accounts with their secrets in one statement, whose text does not change with their number.
async fn read_accounts(cx: &Domain, ids: BTreeSet<AccountId>) -> Result<Accounts> {
    let db = &cx.db.read;
    let asked = Rows::of_ids(db, &ids.iter().map(|id| id.0).collect::<Vec<_>>());
    let column = |column| format!("secrets.{} AS secret_{0}", sea_orm::IdenStatic::as_str(&column));
    let sql = format!(
        "SELECT accounts.*, {} FROM {} JOIN accounts ON accounts.id = asked.id \
         LEFT JOIN secrets ON secrets.id = accounts.secret_id",
        secret::Column::iter().map(column).collect::<Vec<_>>().join(", "),
        asked.from("asked", 1)
    );
    let rows = db.query_all_raw(statement(db, sql, asked.values())).await?;
    let read = |row: &QueryResult| {
        let account = account::Model::from_query_result(row, "")?;
        let secret = secret::Model::from_query_result_optional(row, "secret_")?;
        Ok((account.id, (Arc::new(account), secret.map(Arc::new))))
    };
    Ok(rows.iter().map(read).collect::<Result<_, DbErr>>()?)
}
