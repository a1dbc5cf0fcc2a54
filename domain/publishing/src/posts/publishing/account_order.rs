//! The order of an account: its posts are published one after the other, by time and then by id.
//!
//! A post is in the line of its account from its creation until it is public, has failed, or waits for long for a reason
//! of its own (its media, the outcome of a lost call, its second try): then it is `out_of_line`, and later posts pass it.
//! While it waits for a reason of its account (a rate limit, a token, an unreachable network), later posts wait behind
//! it. [`IS_FIRST`] is the rule; the check of a claim only keeps workers from taking posts that would have to wait.
//!
//! Nobody polls for a turn: a post that came too early is set aside (`behind`), and the one that leaves the line makes the
//! next one due. On PostgreSQL neither of two transactions at the same time sees the other one, so a post that was set
//! aside looks once more after a second ([`LOOK_AGAIN`]).

use std::collections::{HashMap, HashSet};

use fanfare_core::{
    Domain, Result, Tx,
    db::statement,
    durable::{self, QueueStats},
    rows::{Columns, Rows, Type},
};
use fanfare_entities::{AccountId, Millis, WorkspaceId, post};
use fanfare_jobs::JobKind;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult};

use crate::posts::holds::UNPAUSED;

/// The most posts of one account that a worker holds: the next ones are claimed while the first one is being published.
const MAX_PER_ACCOUNT: usize = 4;

/// The condition that a post, `q`, is in the line of its account.
const IN_LINE: &str = "q.due_at IS NOT NULL AND NOT q.out_of_line";

/// The condition that the step `u` of a post, `posts`, may be taken: it does not publish, or no earlier post is in the
/// line or was taken out of it for a pause.
pub(super) const IS_FIRST: &str = " AND (NOT u.in_line OR (coalesce((\
     SELECT (q.scheduled_at, q.id) >= (posts.scheduled_at, posts.id) FROM posts AS q \
     WHERE q.account_id = posts.account_id AND q.due_at IS NOT NULL AND NOT q.out_of_line \
     ORDER BY q.scheduled_at, q.id LIMIT 1), true) \
     AND NOT EXISTS (SELECT 1 FROM post_holds AS h WHERE h.account_id = posts.account_id \
     AND (h.scheduled_at, h.post_id) < (posts.scheduled_at, posts.id))))";

/// The further columns that a change returns, for [`waking`].
pub(super) const CHANGED_COLUMNS: &str = ", posts.account_id, posts.scheduled_at, u.leaves_line";

/// Returns the parts of a statement that find the posts directly behind those of `changed` that leave the line, and the
/// last ones that a worker may hold beside them, `next`, and make those of them due that were set aside, `woken`. The
/// parameter with the number `now` is the time.
///
/// The last one is found so that a worker has as many posts of the account at hand as before: the one behind the post that
/// left is in its hands already.
pub(super) fn waking(now: usize) -> String {
    let behind = format!(
        "SELECT * FROM posts AS q WHERE q.account_id = changed.account_id AND {IN_LINE} \
         AND (q.scheduled_at, q.id) > (changed.scheduled_at, changed.id) ORDER BY q.scheduled_at, q.id LIMIT 1"
    );
    format!(
        "next AS (SELECT q.id, q.workspace_id, q.due_at, q.behind FROM changed CROSS JOIN LATERAL \
         (({behind}) UNION ALL (SELECT * FROM ({behind} OFFSET {}) AS last WHERE NOT behind AND due_at <= ${now})) AS q \
         WHERE changed.leaves_line), \
         woken AS (UPDATE posts SET due_at = ${now}, behind = false WHERE id IN (SELECT posts.id FROM posts \
         WHERE posts.behind AND posts.id IN (SELECT id FROM next WHERE behind) \
         ORDER BY posts.id FOR UPDATE SKIP LOCKED) RETURNING id, workspace_id, due_at)",
        MAX_PER_ACCOUNT - 1
    )
}

/// Returns the query for what [`waking`] found, as rows of this kind.
pub(super) fn woken(kind: i32) -> String {
    format!(
        "SELECT {kind}, id, workspace_id, due_at FROM next WHERE NOT behind \
         UNION ALL SELECT {kind}, id, workspace_id, due_at FROM woken"
    )
}

/// A post that is next in its line.
pub(super) struct NextPost {
    pub id: i64,
    pub workspace_id: WorkspaceId,
    pub due_at: Millis,
}

/// Makes the first posts of the lines of these accounts due that were set aside, and enqueues them: the posts before them
/// have left the line.
///
/// # Errors
/// The database's.
pub(crate) async fn wake_first(tx: &mut Tx, accounts: &[AccountId]) -> Result<(), DbErr> {
    if accounts.is_empty() {
        return Ok(());
    }
    let (conn, now) = (tx.conn(), tx.now());
    let list = Rows::of_ids(conn, &accounts.iter().map(|id| id.0).collect::<Vec<_>>());
    let lock = match conn.get_database_backend() {
        DbBackend::Postgres => "ORDER BY posts.id FOR UPDATE SKIP LOCKED",
        _ => "",
    };
    let sql = format!(
        "UPDATE posts SET due_at = $1, behind = false WHERE id IN (SELECT posts.id FROM posts WHERE posts.behind \
         AND posts.id IN (SELECT (SELECT q.id FROM posts AS q WHERE q.account_id = wanted.id AND {IN_LINE} \
         ORDER BY q.scheduled_at, q.id LIMIT 1) FROM {}) {lock}) RETURNING id, workspace_id",
        list.from("wanted", 2)
    );
    let values = std::iter::once(now.into()).chain(list.values());
    for row in conn.query_all_raw(statement(conn, sql, values)).await? {
        let workspace = WorkspaceId(row.try_get("", "workspace_id")?);
        tx.enqueue(JobKind::PublishPost, workspace, row.try_get("", "id")?, now);
    }
    Ok(())
}

/// Returns the first posts of the lines that these posts have left or are in, and makes those of them due that were set
/// aside.
pub(super) async fn next_of<C: ConnectionTrait>(
    conn: &C,
    posts: impl Iterator<Item = i64>,
    now: Millis,
) -> Result<Vec<NextPost>, DbErr> {
    let left = Rows::of_ids(conn, &posts.collect::<Vec<_>>());
    let sql = format!(
        "UPDATE posts SET due_at = CASE WHEN behind THEN $1 ELSE due_at END, behind = false WHERE id IN (\
         SELECT (SELECT q.id FROM posts AS q WHERE q.account_id = posts.account_id AND {IN_LINE} \
         ORDER BY q.scheduled_at, q.id LIMIT 1) FROM {} JOIN posts ON posts.id = gone.id) \
         RETURNING id, workspace_id, due_at",
        left.from("gone", 2)
    );
    let values = std::iter::once(now.into()).chain(left.values());
    let rows = conn.query_all_raw(statement(conn, sql, values)).await?;
    let next = |row: &QueryResult| {
        let workspace_id = WorkspaceId(row.try_get("", "workspace_id")?);
        Ok(NextPost {
            id: row.try_get("", "id")?,
            workspace_id,
            due_at: row.try_get("", "due_at")?,
        })
    };
    rows.iter().map(next).collect()
}

/// Returns the first post in the line of the account of each of these posts.
pub(in crate::posts) async fn first_in_line<C: ConnectionTrait>(
    conn: &C,
    posts: impl Iterator<Item = i64>,
) -> Result<HashMap<i64, i64>, DbErr> {
    let list = Rows::of_ids(conn, &posts.collect::<Vec<_>>());
    let sql = format!(
        "SELECT posts.id, (SELECT q.id FROM posts AS q WHERE q.account_id = posts.account_id AND {IN_LINE} \
         ORDER BY q.scheduled_at, q.id LIMIT 1) AS first FROM {} JOIN posts ON posts.id = wanted.id",
        list.from("wanted", 1)
    );
    let rows = conn.query_all_raw(statement(conn, sql, list.values())).await?;
    let mut found = HashMap::new();
    for row in &rows {
        if let Some(first) = row.try_get("", "first")? {
            found.insert(row.try_get("", "id")?, first);
        }
    }
    Ok(found)
}

/// The most due posts that are looked through for the oldest whose turn it is.
const MAX_LOOKED_AT: u64 = 20_000;

/// The time, in ms, for which a post waits for a worker before it is late.
const LATE: Millis = 5_000;

/// The time at which the account's last post before `posts` ended, as far as an index tells: the last that went out, and the
/// one that was made before it.
const PREDECESSORS: &str = "coalesce((SELECT max(q.public_at) FROM posts AS q \
     WHERE q.account_id = posts.account_id AND q.public_at IS NOT NULL), 0) AS published, \
     coalesce((SELECT q.updated_at FROM posts AS q WHERE q.account_id = posts.account_id AND q.id < posts.id \
     ORDER BY q.id DESC LIMIT 1), 0) AS ended";

/// The posts that a free worker could take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WaitingForWorker {
    /// The time since which the first of them waits.
    pub oldest: Option<Millis>,
    /// The number of those that have waited for more than five seconds, without those whose call is an open question.
    pub late: u64,
}

/// Returns the posts whose turn it is and that no pause holds back. A post waits for a worker from the end of the one before
/// it on, so that a thousand posts of one account at one time are no posts that nobody takes.
///
/// # Errors
/// The database's.
pub async fn waiting_for_worker(cx: &Domain) -> Result<WaitingForWorker, DbErr> {
    let (conn, now) = (&cx.db.read, cx.clock.now());
    let sql = format!(
        "SELECT min(since) AS oldest, CAST(coalesce(sum(CASE WHEN since < $2 AND NOT asked THEN 1 ELSE 0 END), 0) AS BIGINT) \
         AS late FROM (SELECT asked, CASE WHEN due_at >= published AND due_at >= ended THEN due_at \
         WHEN published >= ended THEN published ELSE ended END AS since FROM \
         (SELECT due.due_at, posts.sending_at IS NOT NULL AS asked, {PREDECESSORS} \
         FROM (SELECT id, due_at FROM posts WHERE due_at <= $1 ORDER BY due_at LIMIT {MAX_LOOKED_AT}) AS due \
         JOIN posts ON posts.id = due.id WHERE {UNPAUSED} AND (posts.out_of_line OR NOT EXISTS (\
         SELECT 1 FROM posts AS q WHERE q.account_id = posts.account_id AND {IN_LINE} \
         AND (q.scheduled_at, q.id) < (posts.scheduled_at, posts.id)))) AS turn) AS waiting"
    );
    let row = conn.query_one_raw(statement(conn, sql, [now.into(), (now - LATE).into()])).await?;
    let Some(row) = row else { return Ok(WaitingForWorker::default()) };
    let late: i64 = row.try_get("", "late")?;
    Ok(WaitingForWorker { oldest: row.try_get("", "oldest")?, late: late.unsigned_abs() })
}

/// Returns since when the oldest row of this kind waits that a free worker could take: a post that waits for its account's
/// turn, a limit or the end of a pause waits for no worker. Of other kinds all rows wait behind those that are being worked on,
/// so that ten thousand deliveries to one slow receiver are no deliveries that nobody takes.
///
/// # Errors
/// The database's.
pub async fn oldest_for_worker(cx: &Domain, stats: &QueueStats) -> Result<Option<Millis>> {
    if stats.kind == JobKind::PublishPost && stats.oldest.is_some() {
        return Ok(waiting_for_worker(cx).await?.oldest);
    }
    let Some(oldest) = stats.oldest else { return Ok(None) };
    if cx.clock.now() - oldest < LATE {
        return Ok(Some(oldest));
    }
    Ok(durable::last_taken(cx, stats.kind).await?.max(Some(oldest)))
}

/// Returns the query for the first posts in the line of a post's account, as a JSON list of [`LinePost`].
pub(super) fn select_line<C: ConnectionTrait>(conn: &C, post: &str) -> String {
    let first = format!(
        "SELECT q.id, q.due_at, q.lease_expirations, \
         CASE WHEN q.lease_expirations = 0 AND q.steps IS NOT NULL AND q.error IS NULL THEN 1 ELSE 0 END AS prepares \
         FROM posts AS q WHERE q.account_id = {post}.account_id AND {IN_LINE} \
         ORDER BY q.scheduled_at, q.id LIMIT {MAX_PER_ACCOUNT}"
    );
    let entry = "first.id, first.due_at, first.lease_expirations, first.prepares";
    match conn.get_database_backend() {
        DbBackend::Postgres => {
            format!("(SELECT json_agg(json_build_array({entry}))::text FROM ({first}) AS first)")
        }
        _ => format!("(SELECT json_group_array(json_array({entry})) FROM ({first}) AS first)"),
    }
}

/// A post in a line: its id, when it is due, how many of its leases have expired without a result, and 1 if nobody holds
/// it and it is in the middle of its steps: its network works on it, or it waits to be published. Behind such a post
/// later ones may be prepared, too.
type LinePost = (i64, Millis, i32, i32);

/// Reads the column `line`, which [`first`] selects.
pub(super) fn read_line(row: &QueryResult) -> Result<Vec<LinePost>, DbErr> {
    let text: Option<String> = row.try_get("", "line")?;
    let read = |text: String| serde_json::from_str(&text);
    Ok(text
        .map(read)
        .transpose()
        .map_err(|error| DbErr::Json(error.to_string()))?
        .unwrap_or_default())
}

/// Due posts, sorted by whether they can be claimed now.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Claimable {
    /// The first posts in the lines of their accounts, of which a worker may take several at once, and posts that do
    /// not have to wait.
    pub now: Vec<post::Model>,
    /// Posts behind a post that waits, with the time at which that one is due.
    pub behind: Vec<(post::Model, Millis)>,
}

/// Sorts posts by whether their turn has come. `holds` returns true for posts that the worker has already.
pub(super) fn sort(
    seen: Vec<(post::Model, Vec<LinePost>)>,
    holds: &(dyn Fn(i64) -> bool + Sync),
    now: Millis,
) -> Claimable {
    let in_line = |row: &post::Model| {
        !row.out_of_line && row.sending_at.is_none() && row.scheduled_at.is_some_and(|at| at <= now)
    };
    let present: HashSet<i64> =
        seen.iter().filter(|(row, _)| in_line(row)).map(|(row, _)| row.id.0).collect();
    let mut turn = Claimable::default();
    for (row, line) in seen {
        // The first post that another worker has, or that waits.
        let other = line.iter().position(|(id, _, _, prepares)| {
            *prepares == 0 && !present.contains(id) && !holds(*id)
        });
        let mine = &line[..other.unwrap_or(line.len())];
        if !in_line(&row) || mine.iter().any(|(id, ..)| *id == row.id.0) {
            turn.now.push(row);
        } else if let Some((_, due_at, 0, _)) = other.map(|place| line[place])
            && due_at > now
        {
            turn.behind.push((row, due_at));
        }
    }
    turn
}

/// The longest time that a post is set aside, in ms: only a loss of what should have made it due lets it wait as long.
const MAX_ASIDE: Millis = 60_000;

/// The time after which a post looks once more whether its turn has come, in ms.
const LOOK_AGAIN: Millis = 1_000;

/// Returns the time until which a post is set aside if nothing makes it due before.
#[must_use]
pub const fn aside_until(row: &post::Model, now: Millis) -> Millis {
    now + if row.behind { MAX_ASIDE } else { LOOK_AGAIN }
}

/// Sets posts aside until the post before them leaves the line or is due, and shows that time as `next_attempt_at`. Posts
/// that were changed since they were read stay as they are.
///
/// # Errors
/// The database's.
pub(super) async fn defer(cx: &Domain, behind: &[(post::Model, Millis)]) -> Result<(), DbErr> {
    const COLUMNS: Columns = &[
        ("id", Type::Big),
        ("fencing_token", Type::Big),
        ("due_at", Type::Big),
        ("later", Type::Big),
        ("turn", Type::Big),
    ];
    if behind.is_empty() {
        return Ok(());
    }
    let (conn, now) = (&cx.db.write, cx.clock.now());
    let mut rows = Rows::new(conn, COLUMNS);
    for (row, until) in behind {
        let later = (*until).min(aside_until(row, now));
        rows.push([
            row.id.0.into(),
            row.fencing_token.into(),
            row.due_at.into(),
            later.into(),
            (*until).into(),
        ]);
    }
    let sql = format!(
        "UPDATE posts SET due_at = u.later, next_attempt_at = u.turn, behind = true FROM {} \
         WHERE posts.id = u.id AND posts.fencing_token = u.fencing_token AND posts.due_at = u.due_at",
        rows.from("u", 1)
    );
    conn.execute_raw(statement(conn, sql, rows.values())).await?;
    Ok(())
}
