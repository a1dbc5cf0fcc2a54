//! The order of an account: its posts are published one after the other, by time and then by id.
//!
//! A post is in the line of its account from its creation until it is public, has failed, or waits for a reason of its
//! own (its media, the outcome of a lost call): then it is `out_of_line`, and later posts pass it. While it waits for a
//! reason of its account (a rate limit, a token, an unreachable network), later posts wait behind it. [`IS_FIRST`] is
//! the rule; the check of a claim only keeps workers from taking posts that would have to wait.

use std::collections::{HashMap, HashSet};

use fanfare_entities::{Millis, WorkspaceId, post};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult};

use crate::{
    Domain,
    db::statement,
    ops::pauses::UNPAUSED,
    rows::{Columns, Rows, Type},
};

/// The most posts of one account that a worker holds: the next ones are claimed while the first one is being published.
const MAX_PER_ACCOUNT: usize = 4;

/// The condition that a post, `q`, is in the line of its account.
const IN_LINE: &str = "q.due_at IS NOT NULL AND NOT q.out_of_line";

/// The condition that the step `u` of a post, `posts`, may be taken: it does not publish, or no earlier post is in the
/// line.
pub(super) const IS_FIRST: &str = " AND (NOT u.in_line OR coalesce((\
     SELECT (q.scheduled_at, q.id) >= (posts.scheduled_at, posts.id) FROM posts AS q \
     WHERE q.account_id = posts.account_id AND q.due_at IS NOT NULL AND NOT q.out_of_line \
     ORDER BY q.scheduled_at, q.id LIMIT 1), true))";

/// The further columns that a change returns, for [`next_of_changed`].
pub(super) const CHANGED_COLUMNS: &str = ", posts.account_id, posts.scheduled_at, u.leaves_line";

/// Returns the query for the posts that directly follow those of `changed` that leave the line, as rows of this kind.
pub(super) fn next_of_changed(kind: i32) -> String {
    format!(
        "SELECT {kind}, next.id, next.workspace_id, next.due_at FROM changed CROSS JOIN LATERAL \
         (SELECT q.id, q.workspace_id, q.due_at FROM posts AS q WHERE q.account_id = changed.account_id AND {IN_LINE} \
         AND (q.scheduled_at, q.id) > (changed.scheduled_at, changed.id) \
         ORDER BY q.scheduled_at, q.id LIMIT 1) AS next WHERE changed.leaves_line"
    )
}

/// A post that is next in its line.
pub(super) struct NextPost {
    pub id: i64,
    pub workspace_id: WorkspaceId,
    pub due_at: Millis,
}

/// Returns the first posts of the lines that these posts have left or are in.
pub(super) async fn next_of<C: ConnectionTrait>(
    conn: &C,
    posts: impl Iterator<Item = i64>,
) -> Result<Vec<NextPost>, DbErr> {
    let left = Rows::of_ids(conn, &posts.collect::<Vec<_>>());
    let sql = format!(
        "SELECT id, workspace_id, due_at FROM posts WHERE id IN (\
         SELECT (SELECT q.id FROM posts AS q WHERE q.account_id = posts.account_id AND {IN_LINE} \
         ORDER BY q.scheduled_at, q.id LIMIT 1) FROM {} JOIN posts ON posts.id = gone.id)",
        left.from("gone", 1)
    );
    let rows = conn.query_all_raw(statement(conn, sql, left.values())).await?;
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

/// Returns the query for the first posts in the line of a post's account, as a JSON list of [`LinePost`].
pub(super) fn select_line<C: ConnectionTrait>(conn: &C, post: &str) -> String {
    let first = format!(
        "SELECT q.id, q.due_at, q.lease_expirations FROM posts AS q WHERE q.account_id = {post}.account_id AND {IN_LINE} \
         ORDER BY q.scheduled_at, q.id LIMIT {MAX_PER_ACCOUNT}"
    );
    match conn.get_database_backend() {
        DbBackend::Postgres => format!(
            "(SELECT json_agg(json_build_array(first.id, first.due_at, first.lease_expirations))::text FROM ({first}) AS first)"
        ),
        _ => format!(
            "(SELECT json_group_array(json_array(first.id, first.due_at, first.lease_expirations)) FROM ({first}) AS first)"
        ),
    }
}

/// A post in a line: its id, when it is due, and how many of its leases have expired without a result.
type LinePost = (i64, Millis, i32);

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
        let other = line.iter().position(|(id, ..)| !present.contains(id) && !holds(*id));
        let mine = &line[..other.unwrap_or(line.len())];
        if !in_line(&row) || mine.iter().any(|(id, ..)| *id == row.id.0) {
            turn.now.push(row);
        } else if let Some((_, due_at, 0)) = other.map(|place| line[place])
            && due_at > now
        {
            turn.behind.push((row, due_at));
        }
    }
    turn
}

/// The longest time that a post is deferred behind one that waits, in ms: that one may be deleted meanwhile.
const MAX_DEFER: Millis = 60_000;

/// Defers posts until the post before them is due, and shows that time as `next_attempt_at`. Posts that were changed
/// since they were read stay as they are.
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
        let later = (*until).min(now + MAX_DEFER);
        rows.push([
            row.id.0.into(),
            row.fencing_token.into(),
            row.due_at.into(),
            later.into(),
            (*until).into(),
        ]);
    }
    let sql = format!(
        "UPDATE posts SET due_at = u.later, next_attempt_at = u.turn FROM {} \
         WHERE posts.id = u.id AND posts.fencing_token = u.fencing_token AND posts.due_at = u.due_at",
        rows.from("u", 1)
    );
    conn.execute_raw(statement(conn, sql, rows.values())).await?;
    Ok(())
}
