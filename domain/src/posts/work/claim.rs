//! How a worker comes by posts: it looks at those that are due, and takes one when it knows what it does with it first.
//!
//! A look changes nothing, so that a row nobody has begun with is nobody's. What is done first is most often the public
//! call itself; then the claim, its events with their deliveries, and the step about to be taken are one statement, where
//! each further one would be a journey and a commit. It takes the row only if it is still as it was seen.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use fanfare_entities::{AccountId, Millis, account, post, post::PostStatus, secret};
use fanfare_jobs::Kind;
use sea_orm::{
    ActiveEnum, ConnectionTrait, DbErr, EntityTrait, FromQueryResult, Iterable, QueryResult,
};

use super::{AS_TOLD, arm::Armed, attempt::RUNNING, change::Change, told};
use crate::{
    Domain,
    db::statement,
    error::Result,
    guard::{self, Guard},
    ops::pauses::UNPAUSED,
    rows::{Columns, Rows, Type},
    work::{self, Hold, LEASE},
};

/// A post that is due, as it is once it has been taken, with what is needed to reach its network.
#[derive(Debug, Clone)]
pub struct Seen {
    /// What is to be taken.
    pub taking: Taking,
    /// Its account; absent if it is gone. Shared by the posts of a group.
    pub account: Option<Arc<account::Model>>,
    /// The account's encrypted credentials; absent once it is disconnected.
    pub secret: Option<Arc<secret::Model>>,
}

/// A post to be taken.
#[derive(Debug, Clone)]
pub struct Taking {
    /// The row as it is once it has been taken.
    pub post: Arc<post::Model>,
    /// What it was seen as.
    pub was: Was,
    /// The step that begins with the claim.
    pub armed: Option<Armed>,
}

/// What a post was seen as: whatever its holder or anybody else writes changes one of these.
#[derive(Debug, Clone, Copy)]
pub struct Was {
    fence: i64,
    due_at: Option<Millis>,
    updated_at: Millis,
    attempt: i32,
    sending: (Option<Millis>, Option<Millis>),
}

impl Was {
    /// Since when it is due; 0 if it is not.
    #[must_use]
    pub fn due_since(&self) -> Millis {
        self.due_at.unwrap_or_default()
    }

    const fn of(row: &post::Model) -> Self {
        let sending = (row.sending_at, row.sending_until);
        let (due_at, updated_at) = (row.due_at, row.updated_at);
        Self { fence: row.fence, due_at, updated_at, attempt: row.attempt, sending }
    }
}

/// Looks at those of `ids` that can be taken. A row that somebody holds, or that was moved, is not among what comes back.
///
/// # Errors
/// The database's.
pub async fn look(cx: &Domain, ids: &[i64], steps: &Steps) -> Result<Vec<Seen>> {
    let db = &cx.db.read;
    let wanted = Rows::of_ids(db, ids);
    let sql = format!(
        "SELECT posts.* FROM {} JOIN posts ON posts.id = wanted.id WHERE {} AND {UNPAUSED}",
        wanted.from("wanted", 2),
        work::takeable("posts"),
    );
    let now = cx.clock.now();
    let values = std::iter::once(now.into()).chain(wanted.values());
    let query = statement(db, sql, values);
    let due = post::Entity::find().from_raw_sql(query).all(db);
    let (due, accounts) = futures_util::join!(due, with_secrets(cx, ids));
    let (due, accounts) = (due?, accounts?);
    let seen = due.into_iter().map(|row| {
        let (account, secret) = accounts.get(&row.account_id).cloned().unzip();
        Seen { taking: Taking::of(row, now, steps), account, secret: secret.flatten() }
    });
    Ok(seen.collect())
}

impl Taking {
    /// At its time a scheduled post becomes `publishing`; `announced_fence` is set by the first such claim since it was
    /// scheduled, so that the event is told once.
    fn of(mut row: post::Model, now: Millis, steps: &Steps) -> Self {
        let was = Was::of(&row);
        row.fence += steps.next();
        row.laps += 1;
        row.due_at = Some(now + LEASE);
        if row.status == PostStatus::Scheduled && row.scheduled_at.is_some_and(|at| at <= now) {
            row.status = PostStatus::Publishing;
            row.announced_fence = row.announced_fence.or(Some(row.fence));
        }
        Self { post: Arc::new(row), was, armed: None }
    }

    /// The row as its holder knows it, once it has been taken.
    #[must_use]
    pub fn hold(&self) -> Hold {
        Hold { id: self.post.id.0, fence: self.post.fence }
    }
}

/// By how much the claims of a worker raise the fence: never two by the same. Whoever has lost the answer to its claim knows
/// by the fence whether it was made, and does not take somebody else's for its own.
#[derive(Debug)]
pub struct Steps {
    worker: String,
    taken: AtomicU64,
}

impl Steps {
    /// Those of the worker of this name.
    #[must_use]
    pub fn of(worker: &str) -> Self {
        Self { worker: worker.to_owned(), taken: AtomicU64::new(0) }
    }

    fn next(&self) -> i64 {
        if guard::is_down(Guard::OwnFence) {
            return 1;
        }
        let mut hasher = DefaultHasher::new();
        (&self.worker, self.taken.fetch_add(1, Ordering::Relaxed)).hash(&mut hasher);
        1 + (hasher.finish() >> 32).cast_signed()
    }
}

/// Takes posts that are still as they were seen, with the steps that begin: the lease starts, the fence rises, and a post
/// whose time has come is told of as `post.publishing`. Says for each whether it is held now; one that is given twice is
/// held once.
///
/// # Errors
/// The database's. The rows may have been taken all the same.
pub async fn take(cx: &Domain, takings: &[Arc<Taking>]) -> Result<Vec<bool>> {
    cx.failpoint.reach("claiming").await;
    let mut ids = HashSet::new();
    let first: Vec<bool> = takings.iter().map(|one| ids.insert(one.post.id)).collect();
    let given = takings.iter().zip(&first).filter(|(_, first)| **first);
    let held = taking(cx, given.map(|(one, _)| one.as_ref())).make(cx).await?;
    fanfare_metrics::record::claims(Kind::PublishPost.as_str(), takings.len(), held.len());
    let is_held = |(one, first): (&Arc<Taking>, bool)| first && held.contains(&one.post.id.0);
    Ok(takings.iter().zip(first).map(is_held).collect())
}

/// Takes those of `ids` that are due, before it is known what is done with them.
///
/// # Errors
/// The database's. The rows may have been taken all the same; then their leases lapse.
pub async fn claim(cx: &Domain, ids: &[i64], steps: &Steps) -> Result<Vec<Seen>> {
    let seen = look(cx, ids, steps).await?;
    let takings: Vec<_> = seen.iter().map(|one| Arc::new(one.taking.clone())).collect();
    let held = take(cx, &takings).await?;
    Ok(seen.into_iter().zip(held).filter_map(|(seen, held)| held.then_some(seen)).collect())
}

/// True while a post, `posts`, is as it stands in `u`, as far as [`Was`] tells.
const AS_SEEN: &str = "posts.fence = u.fence AND posts.due_at = u.due_at AND posts.updated_at = u.updated_at \
     AND posts.attempt = u.attempt AND posts.sending_at IS NOT DISTINCT FROM u.sending_at \
     AND posts.sending_until IS NOT DISTINCT FROM u.sending_until";

/// Takes each of `takings`, unless it has changed.
fn taking<'a>(cx: &Domain, takings: impl Iterator<Item = &'a Taking> + Clone) -> Change<'a> {
    let rows = rows(cx, takings.clone());
    let from = rows.from("u", 1);
    let as_seen = if guard::stands(Guard::TakenAsSeen) {
        format!("posts.id = u.id AND {AS_SEEN} AND {AS_TOLD}")
    } else {
        "posts.id = u.id".to_owned()
    };
    // On PostgreSQL rows are locked in the order of their ids, and one that is being changed is left to its changer, who
    // rings if it is still due.
    let (from, is_seen) = if cx.db.is_postgres() {
        let free = "ORDER BY posts.id FOR UPDATE OF posts SKIP LOCKED";
        let free = format!("(SELECT u.* FROM {from} JOIN posts ON {as_seen} {free}) AS u");
        (free, "posts.id = u.id".to_owned())
    } else {
        (from, as_seen)
    };
    let update = format!(
        "UPDATE posts SET fence = u.now_fence, laps = posts.laps + 1, due_at = u.now_due, \
         status = u.now_status, announced_fence = u.now_announced, attempt = u.now_attempt, \
         steps = coalesce(u.now_steps, posts.steps), sending_at = u.now_sending_at, \
         sending_until = u.now_sending_until FROM {from} WHERE {is_seen}"
    );
    let again =
        |row: &post::Model| guard::is_down(Guard::ToldOnce) && row.status == PostStatus::Publishing;
    let posts = takings.clone().map(|one| one.post.as_ref());
    let begun = posts.filter(|row| row.announced_fence == Some(row.fence) || again(row));
    let tell = |row| told("post.publishing", row, "The post's time has come.".to_owned());
    let armed = |one: &'a Taking| Some((one.post.id.0, &one.armed.as_ref()?.attempt));
    Change {
        update,
        values: rows.values().collect(),
        attempts: takings.filter_map(armed).collect(),
        events: begun.map(tell).collect(),
        ..Change::default()
    }
}

/// What each post was seen as, and what it becomes.
fn rows<'a>(cx: &Domain, takings: impl Iterator<Item = &'a Taking>) -> Rows {
    const COLUMNS: Columns = &[
        ("id", Type::Big),
        ("fence", Type::Big),
        ("due_at", Type::Big),
        ("updated_at", Type::Big),
        ("attempt", Type::Int),
        ("sending_at", Type::Big),
        ("sending_until", Type::Big),
        ("group_key", Type::Text),
        ("release_id", Type::Text),
        ("now_fence", Type::Big),
        ("now_due", Type::Big),
        ("now_status", Type::Text),
        ("now_announced", Type::Big),
        ("now_attempt", Type::Int),
        ("now_steps", Type::Json),
        ("now_sending_at", Type::Big),
        ("now_sending_until", Type::Big),
    ];
    let lease_end = cx.clock.now() + LEASE;
    let mut rows = Rows::new(&cx.db.write, COLUMNS);
    for Taking { post, was, armed } in takings {
        let armed = armed.as_ref();
        let (sending_at, sending_until) = armed.map_or(was.sending, |one| one.sending.unzip());
        rows.push([
            post.id.0.into(),
            was.fence.into(),
            was.due_at.into(),
            was.updated_at.into(),
            was.attempt.into(),
            was.sending.0.into(),
            was.sending.1.into(),
            post.group_key.as_ref().into(),
            post.release_id.as_ref().into(),
            post.fence.into(),
            armed.map_or(lease_end, |one| one.lease_until.max(lease_end)).into(),
            post.status.to_value().as_str().into(),
            post.announced_fence.into(),
            armed.map_or(was.attempt, |one| one.attempt.number).into(),
            armed.map(|_| &RUNNING).into(),
            sending_at.into(),
            sending_until.into(),
        ]);
    }
    rows
}

type Accounts = HashMap<AccountId, (Arc<account::Model>, Option<Arc<secret::Model>>)>;

/// Reads the accounts of posts with their secrets in one statement, whose text does not change with their number.
async fn with_secrets(cx: &Domain, posts: &[i64]) -> Result<Accounts> {
    let db = &cx.db.read;
    let wanted = Rows::of_ids(db, posts);
    let column = |column| format!("secrets.{} AS secret_{0}", sea_orm::IdenStatic::as_str(&column));
    let sql = format!(
        "SELECT accounts.*, {} FROM accounts LEFT JOIN secrets ON secrets.id = accounts.secret_id \
         WHERE accounts.id IN (SELECT posts.account_id FROM {} JOIN posts ON posts.id = wanted.id)",
        secret::Column::iter().map(column).collect::<Vec<_>>().join(", "),
        wanted.from("wanted", 1)
    );
    let rows = db.query_all_raw(statement(db, sql, wanted.values())).await?;
    let read = |row: &QueryResult| {
        let account = account::Model::from_query_result(row, "")?;
        let secret = secret::Model::from_query_result_optional(row, "secret_")?;
        Ok((account.id, (Arc::new(account), secret.map(Arc::new))))
    };
    Ok(rows.iter().map(read).collect::<Result<_, DbErr>>()?)
}
