//! Reads posts and their ledger.

use fanfare_core::{
    Act, Reply, Tx,
    access::Membership,
    clock::Time,
    error::{Code, Error, Result},
    input,
    json_size::json_size,
    page::{self, EmptyBecause, Listed},
};
use fanfare_entities::{Millis, PostId, post, post::PostStatus, post_attempt};
use schemars::JsonSchema;
use sea_orm::{
    ActiveEnum, ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait, IdenStatic, QueryFilter,
    QueryOrder, QuerySelect, Select, sea_query::Expr,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{
    media_facts, offset, sets,
    view::{self, OnePost, PostError, PostPage},
    warnings,
};
use crate::{accounts, platforms};

/// The posts to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostFilter {
    /// Only of this account.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// Only in these statuses, separated by commas: draft, scheduled, paused, publishing, processing, published, failed.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub status: Option<String>,
    /// Only on these platforms, separated by commas.
    #[serde(default)]
    #[schemars(length(max = 300))]
    pub platform: Option<String>,
    /// Only of this group.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub group: Option<String>,
    /// Only with `scheduled_at` on or after this day (YYYY-MM-DD, UTC).
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub from: Option<String>,
    /// Only with `scheduled_at` on or before this day (YYYY-MM-DD, UTC).
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub to: Option<String>,
    /// Only changed at or after this time.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub updated_since: Option<String>,
    /// Only created at or after this time.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub created_since: Option<String>,
    /// Only with `scheduled_at` at or after this time.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub scheduled_from: Option<String>,
    /// Only with `scheduled_at` at or before this time.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub scheduled_to: Option<String>,
    /// 1 to 200, 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<i64>,
    /// Pages by offset, 0 to 10,000, with the count of all; `cursor` reads long lists faster.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub offset: Option<i64>,
    /// Pages by offset in the order of `scheduled_at`, `updated_at` or `created_at`.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub sort_by: Option<String>,
    /// With `sort_by` or `offset`: `desc`, if left out, or `asc`.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub order: Option<String>,
    /// `next_cursor` of the previous page.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

const DAY: i64 = 24 * 3_600_000;

/// The most posts on a page.
const MAX_LIMIT: i64 = 200;

/// Returns the posts of the membership's workspace, newest first.
///
/// # Errors
/// An invalid filter.
pub async fn list(act: &Act, filter: PostFilter) -> Result<Reply<PostPage>> {
    if offset::is_asked(&filter)? {
        let limit = input::limit_to(filter.limit, MAX_LIMIT)?;
        return offset::page(act, &filter, limit).await;
    }
    let (rows, next) = rows(act, filter.clone()).await?;
    let why = if rows.is_empty() { Some(why_empty(act, &filter).await?) } else { None };
    view::page_reply(act, rows, next, why).await
}

/// Returns why the list of a filter is empty.
pub(super) async fn why_empty(act: &Act, filter: &PostFilter) -> Result<EmptyBecause> {
    let is_later = filter.cursor.is_some() || filter.offset.is_some_and(|offset| offset > 0);
    Ok(if visible(&act.membership).one(&act.cx.db.read).await?.is_some() {
        EmptyBecause::of(true, is_later)
    } else if accounts::all(act).await?.is_empty() {
        EmptyBecause::NoAccounts
    } else {
        EmptyBecause::NothingYet
    })
}

/// Returns the rows of a page of posts, and the cursor of the next page.
///
/// # Errors
/// An invalid filter.
pub async fn rows(act: &Act, filter: PostFilter) -> Result<(Vec<post::Model>, Option<String>)> {
    let limit = input::limit_to(filter.limit, MAX_LIMIT)?;
    let query = filtered(act, &filter, post::Column::Id).await?.order_by_desc(post::Column::Id);
    let cursor = input::cursor::<i64>(filter.cursor.as_deref())?;
    let from = |last: Option<&post::Model>| {
        let below = last.map(|row| row.id.0).or(cursor);
        let below = below.map(|below| post::Column::Id.lt(below));
        below.map_or_else(|| query.clone(), |below| query.clone().filter(below))
    };
    let mut page = page::read(&act.cx.db.read, limit, from, view::size).await?;
    let next = page.next(|row| row.id.to_string());
    media_facts::refresh_rows(&act.cx.db.read, &mut page.rows).await?;
    warnings::note_reconnects(act, &mut page.rows).await?;
    Ok((page.rows, next))
}

/// Returns the query for the posts that match a filter, to be sorted by a column.
pub(super) async fn filtered(
    act: &Act,
    filter: &PostFilter,
    order: post::Column,
) -> Result<Select<post::Entity>> {
    let mut query = visible(&act.membership);
    if let Some(id) = filter.account_id {
        query = query.filter(post::Column::AccountId.eq(id));
    }
    if let Some(statuses) = input::several(filter.status.as_deref(), parse_status)? {
        query = query.filter(input::one_of(post::Column::Status, statuses));
    }
    let platform = |name: &str| Ok(platforms::parse("platform", name)?.as_str());
    if let Some(platforms) = input::several(filter.platform.as_deref(), platform)? {
        query = query.filter(input::one_of(post::Column::Platform, platforms));
    }
    if let Some(group) = &filter.group {
        query = query.filter(post::Column::GroupKey.eq(group.as_str()));
    }
    for (column, range) in time_ranges(filter)? {
        let is_served =
            column.as_str() == order.as_str() || has_few(act, range(Expr::col(column))).await?;
        // The sum keeps the databases from the index of the column.
        let column = Expr::col((post::Entity, column));
        query = query.filter(range(if is_served { column } else { column.add(0) }));
    }
    Ok(query)
}

/// The most posts in a range of times that are read by the index of the time, and then sorted. With more, the list is
/// read in its order until the page is full.
const FEW: u64 = 5_000;

async fn has_few(act: &Act, range: Expr) -> Result<bool> {
    let in_range = post::Entity::find()
        .select_only()
        .column(post::Column::Id)
        .filter(post::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(range)
        .offset(FEW)
        .limit(1);
    Ok(in_range.into_tuple::<i64>().one(&act.cx.db.read).await?.is_none())
}

/// A range, as a condition for what it is given.
type Range = Box<dyn Fn(Expr) -> Expr + Send>;

/// Returns the ranges of times that a filter asks for, one a column.
fn time_ranges(filter: &PostFilter) -> Result<Vec<(post::Column, Range)>> {
    let time = |name: &str, text: &Option<String>| {
        text.as_deref().map(|text| input::time(name, text, None)).transpose()
    };
    let day = |name: &str, text: &Option<String>| {
        text.as_deref().map(|text| input::day(name, text)).transpose()
    };
    let first = day("from", &filter.from)?;
    let from = [first, time("scheduled_from", &filter.scheduled_from)?].into_iter().flatten().max();
    let last = day("to", &filter.to)?.map(|day| day + DAY - 1);
    let to = [last, time("scheduled_to", &filter.scheduled_to)?].into_iter().flatten().min();
    let ranges = [
        (post::Column::ScheduledAt, from, to),
        (post::Column::UpdatedAt, time("updated_since", &filter.updated_since)?, None),
        (post::Column::CreatedAt, time("created_since", &filter.created_since)?, None),
    ];
    Ok(ranges
        .into_iter()
        .filter_map(|(column, from, to)| Some((column, range(from, to)?)))
        .collect())
}

/// Returns the condition for a time from `from` to `to`, if there is either.
fn range(from: Option<Millis>, to: Option<Millis>) -> Option<Range> {
    match (from, to) {
        (None, None) => None,
        (Some(from), None) => Some(Box::new(move |time| time.gte(from))),
        (None, Some(to)) => Some(Box::new(move |time| time.lte(to))),
        (Some(from), Some(to)) => Some(Box::new(move |time| time.between(from, to))),
    }
}

fn parse_status(name: &str) -> Result<PostStatus> {
    PostStatus::try_from_value(&name.to_owned()).map_err(|_| {
        Error::field(
            Code::InvalidField,
            "status",
            format!("There is no status called {name:?}."),
            "Use draft, scheduled, paused, publishing, processing, published or failed.",
        )
    })
}

/// Returns the query for the posts that a membership may see.
pub fn visible(membership: &Membership) -> sea_orm::Select<post::Entity> {
    let query = post::Entity::find().filter(post::Column::WorkspaceId.eq(membership.workspace_id));
    match &membership.brands {
        Some(brands) => query.filter(post::Column::BrandId.is_in(brands.iter().copied())),
        None => query,
    }
}

/// Returns a post.
///
/// # Errors
/// [`Code::PostNotFound`].
pub async fn find(act: &Act, id: PostId) -> Result<post::Model> {
    find_one(&act.cx.db.read, visible(&act.membership), id).await
}

/// Returns a post, locked until the transaction ends, if it is at the version that the caller wants to change. Its set is
/// locked before it.
pub(super) async fn find_locked(act: &Act, tx: &Tx, id: PostId) -> Result<post::Model> {
    sets::lock_of_post(tx.conn(), id).await?;
    let row = find_one(tx.conn(), visible(&act.membership).lock_exclusive(), id).await?;
    act.require_version(row.version)?;
    Ok(row)
}

async fn find_one<C: ConnectionTrait>(
    conn: &C,
    posts: sea_orm::Select<post::Entity>,
    id: PostId,
) -> Result<post::Model> {
    let found = posts.filter(post::Column::Id.eq(id)).one(conn).await?;
    found.ok_or_else(|| Error::new(Code::PostNotFound, format!("There is no post {id}.")))
}

/// Returns the reply with one post.
///
/// # Errors
/// [`Code::PostNotFound`].
pub async fn get(act: &Act, id: PostId) -> Result<Reply<OnePost>> {
    let mut row = find(act, id).await?;
    media_facts::refresh_rows(&act.cx.db.read, std::slice::from_mut(&mut row)).await?;
    warnings::note_reconnects(act, std::slice::from_mut(&mut row)).await?;
    view::present_reply(act, row).await
}

/// A page of a post's ledger.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct AttemptPage {
    pub attempts: Vec<Attempt>,
    /// The cursor of the next page; null on the last one. All attempts are on one page, unless they are very large.
    pub next_cursor: Option<String>,
}

/// One attempt to publish a post.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Attempt {
    /// The number of the attempt, from 1.
    pub number: i32,
    /// The worker that made it.
    pub worker: String,
    pub started_at: Time,
    /// Null while it runs, or if its worker died.
    pub ended_at: Option<Time>,
    /// `published`, `processing`, `retry`, `rate_limited`, `failed`, `outcome_unknown` or `cancelled`.
    pub outcome: Option<String>,
    /// The failure.
    #[schemars(with = "Option<PostError>")]
    pub error: Option<Value>,
    /// The calls to the platform, in their order.
    #[schemars(with = "Vec<AttemptStep>")]
    pub steps: Value,
}

/// One call of an attempt.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes JSON that a row keeps")]
struct AttemptStep {
    name: String,
    phase: AttemptPhase,
    started_at: Time,
    /// Null while it runs, or if its worker died.
    ended_at: Option<Time>,
    /// The platform's id of the result.
    remote_id: Option<String>,
}

/// The purpose of a call: to prepare the post, to make it public, or to check it.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "it describes JSON that a row keeps")]
enum AttemptPhase {
    Prepare,
    Commit,
    Confirm,
}

impl Attempt {
    fn of(row: post_attempt::Model) -> Self {
        Self {
            number: row.number,
            worker: row.worker,
            started_at: Time(row.started_at),
            ended_at: row.ended_at.map(Time),
            outcome: row.outcome,
            error: row.error,
            steps: row.steps,
        }
    }
}

/// Returns the ledger of a post: every attempt with its steps, oldest first.
///
/// # Errors
/// [`Code::PostNotFound`], or an invalid cursor.
pub async fn attempts(
    act: &Act,
    id: PostId,
    part: input::CursorQuery,
) -> Result<Reply<Listed<AttemptPage>>> {
    let after = input::cursor::<i32>(part.cursor.as_deref())?;
    let post = find(act, id).await?;
    let from = |last: Option<&post_attempt::Model>| {
        let after = last.map(|row| row.number).or(after).unwrap_or(0);
        post_attempt::Entity::find()
            .filter(post_attempt::Column::PostId.eq(post.id))
            .filter(post_attempt::Column::Number.gt(after))
            .order_by_asc(post_attempt::Column::Number)
    };
    let size = |row: &post_attempt::Model| json_size(&(&row.error, &row.steps));
    let page = page::read(&act.cx.db.read, page::ALL, from, size).await?;
    let next_cursor = page.next(|row| row.number.to_string());
    let bytes = page.bytes;
    let why = match (page.rows.is_empty(), after) {
        (false, _) => None,
        (true, None) => Some(EmptyBecause::NothingYet),
        (true, Some(_)) => Some(EmptyBecause::PastTheEnd),
    };
    let listed = move || {
        let attempts = page.rows.into_iter().map(Attempt::of).collect();
        Listed::new(AttemptPage { attempts, next_cursor }, why)
    };
    Reply::large(bytes, listed).await
}
