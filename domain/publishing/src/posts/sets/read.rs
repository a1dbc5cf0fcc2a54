//! Reads post sets.

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result},
    input,
    page::{self, EmptyBecause},
};
use fanfare_entities::{BrandId, PostSetId, post, post::PostStatus, post_set};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, EntityTrait, ExprTrait, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, Select,
    sea_query::{Expr, SelectStatement},
};

use super::{
    input::PostSetFilter,
    rows::{TargetRow, targets_of},
    status::SetStatus,
    view::{self, OnePostSet, PostSetPage, PostSetSummary},
};
use crate::platforms;

/// The most sets on a page.
const MAX_LIMIT: i64 = 100;

/// A day, in ms.
const DAY: i64 = 24 * 3_600_000;

/// The most bytes of the content of a set that count for a page.
fn size(set: &post_set::Model) -> usize {
    fanfare_core::json_size::json_size(&set.content)
}

/// Returns the condition that a set has a target, as the caller sees it, that meets another condition.
fn has_target(act: &Act, also: Condition) -> Expr {
    let mut query = post::Entity::find()
        .select_only()
        .column(post::Column::Id)
        .filter(
            Expr::col((post::Entity, post::Column::PostSetId))
                .eq(Expr::col((post_set::Entity, post_set::Column::Id))),
        )
        .filter(also);
    if let Some(brands) = &act.membership.brands {
        query = query.filter(post::Column::BrandId.is_in(brands.iter().copied()));
    }
    let query: SelectStatement = query.into_query();
    Expr::exists(query)
}

/// Returns the query for the sets of which the caller sees a target.
pub(super) fn visible(act: &Act) -> Select<post_set::Entity> {
    let query = post_set::Entity::find()
        .filter(post_set::Column::WorkspaceId.eq(act.membership.workspace_id));
    match act.membership.brands {
        Some(_) => query.filter(has_target(act, Condition::all())),
        None => query,
    }
}

/// Returns the condition that a set is in a status.
fn is_in(act: &Act, status: SetStatus) -> Condition {
    let has = |statuses: &[PostStatus]| {
        has_target(act, Condition::all().add(post::Column::Status.is_in(statuses.iter().copied())))
    };
    let going = || has(&[PostStatus::Publishing, PostStatus::Processing]);
    let ended = || has(&[PostStatus::Published, PostStatus::Failed]);
    let waits = || has(&[PostStatus::Scheduled]);
    let open = || has(&[PostStatus::Publishing, PostStatus::Processing, PostStatus::Scheduled]);
    let paused = || has(&[PostStatus::Paused]);
    let draft = || has(&[PostStatus::Draft]);
    let settled = || Condition::all().add(open().not()).add(paused().not()).add(draft().not());
    let (published, failed) = (|| has(&[PostStatus::Published]), || has(&[PostStatus::Failed]));
    match status {
        SetStatus::Publishing => {
            Condition::any().add(going()).add(Condition::all().add(waits()).add(ended()))
        }
        SetStatus::Scheduled => Condition::all().add(waits()).add(going().not()).add(ended().not()),
        SetStatus::Paused => Condition::all().add(paused()).add(open().not()),
        SetStatus::Draft => Condition::all().add(draft()).add(open().not()).add(paused().not()),
        SetStatus::Published => settled().add(published()).add(failed().not()),
        SetStatus::Failed => settled().add(failed()).add(published().not()),
        SetStatus::Partial => settled().add(failed()).add(published()),
    }
}

/// Returns the sets of the membership's workspace, newest first.
///
/// # Errors
/// An invalid filter.
pub async fn list(act: &Act, filter: PostSetFilter) -> Result<Reply<PostSetPage>> {
    let limit = input::limit_to(filter.limit, MAX_LIMIT)?;
    let query = filtered(act, &filter)?.order_by_desc(post_set::Column::Id);
    let cursor = input::cursor::<uuid::Uuid>(filter.cursor.as_deref())?;
    let from = |last: Option<&post_set::Model>| {
        let below = last.map(|row| row.id.0).or(cursor);
        let below = below.map(|below| post_set::Column::Id.lt(below));
        below.map_or_else(|| query.clone(), |below| query.clone().filter(below))
    };
    let page = page::read(&act.cx.db.read, limit, from, size).await?;
    let next_cursor = page.next(|row| row.id.to_string());
    let why = match page.rows.is_empty() {
        false => None,
        true => Some(why_empty(act, filter.cursor.is_some()).await?),
    };
    let ids: Vec<_> = page.rows.iter().map(|row| row.id).collect();
    let mut targets = targets_of(&act.cx.db.read, &ids, brands(act)).await?;
    let post_sets = page
        .rows
        .iter()
        .map(|set| PostSetSummary::of(set, &targets.remove(&set.id).unwrap_or_default()))
        .collect::<Result<_>>()?;
    Ok(Reply::ok(&PostSetPage { post_sets, next_cursor, empty_because: why }))
}

async fn why_empty(act: &Act, is_later: bool) -> Result<EmptyBecause> {
    let any = visible(act).limit(1).one(&act.cx.db.read).await?.is_some();
    Ok(match any || !crate::accounts::all(act).await?.is_empty() {
        true => EmptyBecause::of(any, is_later),
        false => EmptyBecause::NoAccounts,
    })
}

fn filtered(act: &Act, filter: &PostSetFilter) -> Result<Select<post_set::Entity>> {
    let mut query = visible(act);
    let mut of_target = Condition::all();
    if let Some(id) = filter.account_id {
        of_target = of_target.add(post::Column::AccountId.eq(id));
    }
    if let Some(name) = &filter.platform {
        let platform = platforms::parse("platform", name)?;
        of_target = of_target.add(post::Column::Platform.eq(platform.as_str()));
    }
    if let Some(brand) = filter.workspace_client_id {
        of_target = of_target.add(post::Column::BrandId.eq(BrandId(brand)));
    }
    let day = |name: &str, text: &Option<String>| {
        text.as_deref().map(|text| input::day(name, text)).transpose()
    };
    if let Some(from) = day("from", &filter.from)? {
        of_target = of_target.add(post::Column::ScheduledAt.gte(from));
    }
    if let Some(to) = day("to", &filter.to)? {
        of_target = of_target.add(post::Column::ScheduledAt.lte(to + DAY - 1));
    }
    if !of_target.is_empty() {
        query = query.filter(has_target(act, of_target));
    }
    if let Some(group) = &filter.group {
        query = query.filter(post_set::Column::GroupKey.eq(group.as_str()));
    }
    if let Some(status) = filter.status {
        query = query.filter(is_in(act, status));
    }
    Ok(query)
}

/// Returns the brands whose posts the caller sees; `None` for all.
pub(super) fn brands(act: &Act) -> Option<&[BrandId]> {
    act.membership.brands.as_deref()
}

/// Returns a set with the targets that the caller sees.
///
/// # Errors
/// [`Code::PostSetNotFound`].
pub async fn find<C: ConnectionTrait>(
    act: &Act,
    conn: &C,
    id: PostSetId,
) -> Result<(post_set::Model, Vec<TargetRow>)> {
    let absent = || Error::new(Code::PostSetNotFound, "There is no such post set.");
    let set = visible(act).filter(post_set::Column::Id.eq(id)).one(conn).await?;
    let set = set.ok_or_else(absent)?;
    let targets = targets_of(conn, &[id], brands(act)).await?.remove(&id);
    Ok((set, targets.ok_or_else(absent)?))
}

/// Returns the reply with one set.
///
/// # Errors
/// [`Code::PostSetNotFound`].
pub async fn get(act: &Act, id: PostSetId) -> Result<Reply<OnePostSet>> {
    let (set, targets) = find(act, &act.cx.db.read, id).await?;
    Ok(Reply::ok(&OnePostSet { post_set: view::shown(act, &set, targets)? }))
}
