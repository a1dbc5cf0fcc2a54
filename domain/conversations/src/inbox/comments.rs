//! Reads comments.

use fanfare_core::{
    Act, Reply,
    error::Result,
    input,
    page::{self, EmptyBecause},
};
use fanfare_entities::{
    AccountId, CommentId, PostId, account, inbox_comment, inbox_comment::Column,
};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Comment, accounts_of, action_context,
    conversations::{ListPosition, older_than},
    no_comment, on_platforms, platform_named, visible_comments, why_empty,
};

const DAY: i64 = 24 * 3_600_000;

/// The most replies that are shown with a comment.
const REPLIES: u64 = 500;

/// The filter of a list of comments.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentFilter {
    /// Only of this account.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// Only on these platforms, separated by commas.
    #[serde(default)]
    #[schemars(length(max = 300))]
    pub platform: Option<String>,
    /// Only on this post, which was made with this service.
    #[serde(default)]
    pub post_id: Option<i64>,
    /// Only hidden ones, or only the others.
    #[serde(default)]
    pub hidden: Option<bool>,
    /// Only those without a reply of the account, or only those with one.
    #[serde(default)]
    pub unanswered: Option<bool>,
    /// Only from this day on (YYYY-MM-DD, UTC).
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub from: Option<String>,
    /// Only up to this day (YYYY-MM-DD, UTC).
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub to: Option<String>,
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// A page of comments.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct CommentPage {
    pub comments: Vec<Comment>,
    /// The cursor of the next page; null on the last one.
    pub next_cursor: Option<String>,
    /// Why the list is empty; null if it is not.
    pub empty_because: Option<EmptyBecause>,
}

/// A comment with its replies, oldest first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct CommentWithReplies {
    pub comment: Comment,
    pub replies: Vec<Comment>,
}

/// Lists comments, newest first, including replies.
///
/// # Errors
/// An invalid filter.
pub async fn list(act: &Act, filter: CommentFilter) -> Result<Reply<CommentPage>> {
    let limit = input::limit(filter.limit)?;
    let mut query =
        visible_comments(act).order_by_desc(Column::CommentedAt).order_by_desc(Column::Id);
    if let Some(id) = filter.account_id {
        query = query.filter(Column::AccountId.eq(AccountId(id)));
    }
    if let Some(platforms) = input::several(filter.platform.as_deref(), platform_named)? {
        query = query.filter(Column::AccountId.in_subquery(on_platforms(platforms)));
    }
    if let Some(id) = filter.post_id {
        query = query.filter(Column::PostId.eq(PostId(id)));
    }
    if let Some(hidden) = filter.hidden {
        query = query.filter(Column::Hidden.eq(hidden));
    }
    if let Some(unanswered) = filter.unanswered {
        query = query.filter(Column::Unanswered.eq(unanswered));
    }
    if let Some(from) = &filter.from {
        query = query.filter(Column::CommentedAt.gte(input::day("from", from)?));
    }
    if let Some(to) = &filter.to {
        query = query.filter(Column::CommentedAt.lt(input::day("to", to)? + DAY));
    }
    let cursor: Option<ListPosition> = input::cursor(filter.cursor.as_deref())?;
    let from = |last: Option<&inbox_comment::Model>| {
        let place = last.map(|row| ListPosition(row.commented_at, row.id.0)).or(cursor);
        match place {
            Some(place) => query.clone().filter(older_than(Column::CommentedAt, Column::Id, place)),
            None => query.clone(),
        }
    };
    let size = |row: &inbox_comment::Model| row.text.len() + 1_200;
    let page = page::read(&act.cx.db.read, limit, from, size).await?;
    let next_cursor = page.next(|row| format!("{}.{}", row.commented_at, row.id));
    let accounts = accounts_of(&act.cx, page.rows.iter().map(|row| row.account_id)).await?;
    let shown = page.rows.into_iter().filter_map(|row| {
        let account = accounts.get(&row.account_id)?;
        Some(Comment::of(&act.cx, row, account, &action_context(act, account)))
    });
    let shown: Vec<_> = shown.collect();
    let empty_because = if shown.is_empty() {
        let any = visible_comments(act).one(&act.cx.db.read).await?.is_some();
        Some(why_empty(act, any, filter.cursor.is_some()).await?)
    } else {
        None
    };
    Ok(Reply::ok(&CommentPage { comments: shown, next_cursor, empty_because }))
}

/// Shows a comment with its replies, oldest first.
///
/// # Errors
/// [`fanfare_core::Code::CommentNotFound`].
pub async fn get(act: &Act, id: CommentId) -> Result<Reply<CommentWithReplies>> {
    let (row, account) = find(act, id).await?;
    let asking = action_context(act, &account);
    let replies = inbox_comment::Entity::find()
        .filter(Column::ParentId.eq(id))
        .order_by_asc(Column::CommentedAt)
        .order_by_asc(Column::Id)
        .limit(REPLIES)
        .all(&act.cx.db.read)
        .await?;
    let replies =
        replies.into_iter().map(|row| Comment::of(&act.cx, row, &account, &asking)).collect();
    Ok(Reply::ok(&CommentWithReplies {
        comment: Comment::of(&act.cx, row, &account, &asking),
        replies,
    }))
}

/// Returns a comment and its account.
pub(super) async fn find(
    act: &Act,
    id: CommentId,
) -> Result<(inbox_comment::Model, account::Model)> {
    let row = visible_comments(act).filter(Column::Id.eq(id)).one(&act.cx.db.read).await?;
    let row = row.ok_or_else(|| no_comment(id))?;
    let account = fanfare_publishing::accounts::find(act, row.account_id).await;
    Ok((row, account.map_err(|_| no_comment(id))?))
}

/// Returns a comment as replies show it.
pub(super) async fn shown(act: &Act, id: CommentId) -> Result<Comment> {
    let row = inbox_comment::Entity::find_by_id(id).one(&act.cx.db.write).await?;
    let row = row.ok_or_else(|| no_comment(id))?;
    let account = fanfare_publishing::accounts::find(act, row.account_id).await?;
    Ok(Comment::of(&act.cx, row, &account, &action_context(act, &account)))
}
