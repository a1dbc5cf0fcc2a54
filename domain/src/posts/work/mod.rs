//! The statements of the publish protocol, each for a group of posts at once.
//!
//! Claim, arm and record are the only ways a worker changes a post. Each is guarded by the fence: a worker that has lost
//! its row (to an edit, a pause, a delete, or another worker after a lapsed lease) changes nothing and is told so.

mod attempt;
mod record;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use fanfare_entities::{Millis, account, post, secret};
use fanfare_jobs::Kind;
use sea_orm::{ConnectionTrait, DbErr, FromQueryResult, Iterable, QueryResult};

use super::event;
use crate::{
    Domain, Tx,
    db::statement,
    error::Result,
    guard::{self, Guard},
    rows::{Columns, Rows, Type},
    work::{self, Hold},
};
use attempt::update_with;

pub use attempt::{Attempt, attempt};
pub use record::{Record, record};

/// What a claim sets beside the lease. At its time a scheduled post becomes `publishing`; `announced_fence` is set by
/// the first such claim since it was scheduled, so that the event is told once.
const TAKE: &str = ", \
     announced_fence = CASE WHEN status = 'scheduled' AND scheduled_at <= $1 AND announced_fence IS NULL \
     THEN fence + 1 ELSE announced_fence END, \
     status = CASE WHEN status = 'scheduled' AND scheduled_at <= $1 THEN 'publishing' ELSE status END";

/// Takes those of `ids` that are due. A post whose time has come is told of as `post.publishing`.
///
/// # Errors
/// The database's. The rows may have been taken all the same; then their leases lapse.
pub async fn claim(cx: &Domain, ids: Vec<i64>) -> Result<Vec<Claimed>> {
    let mut tx = Tx::begin(cx).await?;
    let now = cx.clock.now();
    let taken: Vec<post::Model> =
        work::claim(tx.conn(), Kind::PublishPost, &ids, now, TAKE).await?;
    let again = |row: &post::Model| {
        guard::is_down(Guard::ToldOnce) && row.status == post::PostStatus::Publishing
    };
    for row in taken.iter().filter(|row| row.announced_fence == Some(row.fence) || again(row)) {
        tx.emit(told("post.publishing", row, "The post's time has come.".to_owned()));
    }
    tx.commit().await?;
    with_accounts(cx, taken).await
}

/// A post that was claimed, with what is needed to reach its network.
#[derive(Debug)]
pub struct Claimed {
    /// The row.
    pub post: Box<post::Model>,
    /// Its account; absent if it is gone. Shared by the posts of a group.
    pub account: Option<Arc<account::Model>>,
    /// The account's encrypted credentials; absent once it is disconnected.
    pub secret: Option<Arc<secret::Model>>,
}

/// Reads the accounts and secrets of a group in one statement, whose text does not change with the size of the group.
async fn with_accounts(cx: &Domain, posts: Vec<post::Model>) -> Result<Vec<Claimed>> {
    if posts.is_empty() {
        return Ok(Vec::new());
    }
    let db = &cx.db.read;
    let ids: BTreeSet<i64> = posts.iter().map(|post| post.account_id.0).collect();
    let asked = Rows::of_ids(db, &ids.into_iter().collect::<Vec<_>>());
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
    let read = rows.iter().map(read).collect::<Result<HashMap<_, _>, DbErr>>()?;
    let claimed = posts.into_iter().map(|post| {
        let (account, secret) = read.get(&post.account_id).cloned().unzip();
        Claimed { post: Box::new(post), account, secret: secret.flatten() }
    });
    Ok(claimed.collect())
}

fn told(event_type: &'static str, row: &post::Model, message: String) -> crate::events::NewEvent {
    event(event_type, row, message, Some(row.request_id.clone()))
}

/// A step about to be taken: written before the remote call.
#[derive(Debug)]
pub struct Armed {
    /// The row.
    pub hold: Hold,
    /// The attempt with the step.
    pub attempt: Attempt,
    /// For a commit call: when it starts and its deadline.
    pub sending: Option<(Millis, Millis)>,
    /// The lease lasts at least until then.
    pub lease_until: Millis,
}

/// Writes the steps down; says for each whether the row is still held. Only then may the call be made.
///
/// # Errors
/// The database's: no call may be made.
pub async fn arm(cx: &Domain, armed: &[Arc<Armed>]) -> Result<Vec<bool>> {
    const COLUMNS: Columns = &[
        ("id", Type::Big),
        ("fence", Type::Big),
        ("attempt", Type::Int),
        ("steps", Type::Json),
        ("sending_at", Type::Big),
        ("sending_until", Type::Big),
        ("due_at", Type::Big),
    ];
    let conn = &cx.db.write;
    let mut values = Rows::new(conn, COLUMNS);
    for one in armed {
        values.push([
            one.hold.id.into(),
            one.hold.fence.into(),
            one.attempt.number.into(),
            (&one.attempt.steps).into(),
            one.sending.map(|(from, _)| from).into(),
            one.sending.map(|(_, until)| until).into(),
            one.lease_until.into(),
        ]);
    }
    let fenced = guard::with(Guard::ArmFenced, " AND posts.fence = u.fence");
    // A lease that lasts long enough stays as it is: then no index changes, and PostgreSQL updates the row in place.
    let sql = format!(
        "UPDATE posts SET attempt = u.attempt, steps = u.steps, \
         due_at = CASE WHEN posts.due_at < u.due_at THEN u.due_at ELSE posts.due_at END, \
         sending_at = u.sending_at, sending_until = u.sending_until FROM {} \
         WHERE posts.id = u.id{fenced}",
        values.from("u", 1)
    );
    let values = values.values().collect();
    let attempts = armed.iter().map(|one| (one.hold.id, &one.attempt));
    let held = if cx.db.is_postgres() {
        update_with(conn, sql, values, attempts).await?
    } else {
        let tx = Tx::begin(cx).await?;
        let held = update_with(tx.conn(), sql, values, attempts).await?;
        tx.commit().await?;
        held
    };
    let held = held.iter().map(|row| row.try_get("", "id"));
    let held = held.collect::<Result<HashSet<i64>, DbErr>>()?;
    Ok(armed.iter().map(|one| held.contains(&one.hold.id)).collect())
}
