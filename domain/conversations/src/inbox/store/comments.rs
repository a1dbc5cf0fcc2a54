//! Stores comments and their changes.

use fanfare_core::{Tx, error::Result};
use fanfare_entities::{
    CommentId, Millis, PostId, account, inbox_comment, inbox_message::ItemStatus, post, post_name,
};
use fanfare_platforms::RemoteComment;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect, sea_query::Expr,
};
use serde_json::json;

use super::super::{files, inbound};
use super::{Intake, received_events::emit_comment};
use crate::outgoing::{self, OutgoingTarget};

/// The time within which a comment may be found to be on a post of ours, in ms.
const NAMED_WITHIN: Millis = 24 * 3_600_000;

async fn comment_named(
    tx: &Tx,
    account: &account::Model,
    id: &str,
) -> Result<Option<inbox_comment::Model>> {
    let found = inbox_comment::Entity::find()
        .filter(inbox_comment::Column::AccountId.eq(account.id))
        .filter(inbox_comment::Column::RemoteId.eq(id));
    Ok(found.one(tx.conn()).await?)
}

/// Stores a new comment, or the changes of a known one.
pub(in crate::inbox) async fn comment(
    tx: &mut Tx,
    account: &account::Model,
    mut comment: RemoteComment,
    happened_at: Millis,
    how: Intake,
) -> Result<()> {
    comment.bound();
    if let Some(row) = comment_named(tx, account, &comment.id).await? {
        let row = with_post(tx, account, row).await?;
        let is_back = row.deleted && happened_at > row.changed_at + how.lag();
        return match (row.deleted, is_back) {
            (true, false) => Ok(()),
            (true, true) => restore(tx, account, row, comment, happened_at, how).await,
            (false, _) => update_comment(tx, row, comment, happened_at).await,
        };
    }
    let parent = match &comment.parent {
        Some(id) => comment_named(tx, account, id).await?,
        None => None,
    };
    if comment.own && match_own_reply(tx, account, &comment, parent.as_ref()).await? {
        return Ok(());
    }
    let at = comment.at.timestamp_millis();
    let row = inbox_comment::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        post_id: Set(post_of(tx, account, &comment.post).await?),
        platform_post_id: Set(comment.post.clone()),
        remote_id: Set(Some(comment.id.clone())),
        parent_id: Set(parent.as_ref().map(|parent| parent.id)),
        parent_remote_id: Set(comment.parent.clone()),
        author_id: Set(Some(comment.author.id).filter(|id| !id.is_empty())),
        author_username: Set(comment.author.username),
        author_name: Set(comment.author.name),
        author_avatar: Set(comment.author.avatar_url),
        own: Set(comment.own),
        text: Set(comment.text),
        attachments: Set(files::pending_files(&comment.attachments)),
        like_count: Set(comment.like_count),
        reply_count: Set(comment.reply_count),
        hidden: Set(comment.hidden.unwrap_or(false)),
        deleted: Set(false),
        unanswered: Set(!comment.own),
        private_replied: Set(false),
        url: Set(comment.url),
        commented_at: Set(at),
        // A list may show what was there before the last event.
        changed_at: Set(if how.is_listed { at } else { happened_at }),
        visibility_changed_at: Set(comment.hidden.unwrap_or(false).then_some(happened_at)),
        created_at: Set(tx.now()),
        ..Default::default()
    };
    let row = inbox_comment::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    files::enqueue_copies(tx, files::comment_owner(&row), &comment.attachments).await?;
    inbound::wake(tx, account.id, &comment.id).await?;
    let answered = attach_replies(tx, &row).await?;
    if let Some(parent) = parent.filter(|_| row.own) {
        mark_answered(tx, parent.id).await?;
    }
    if answered {
        mark_answered(tx, row.id).await?;
    }
    if how.live && !row.own {
        emit_comment(tx, account, row);
    }
    Ok(())
}

/// Attaches replies that arrived before their comment. Returns true if one of them is from the account.
async fn attach_replies(tx: &Tx, row: &inbox_comment::Model) -> Result<bool> {
    use inbox_comment::Column;
    let Some(remote_id) = &row.remote_id else { return Ok(false) };
    let below = || {
        inbox_comment::Entity::find()
            .filter(Column::AccountId.eq(row.account_id))
            .filter(Column::ParentRemoteId.eq(remote_id.as_str()))
    };
    let waiting = below().filter(Column::ParentId.is_null()).all(tx.conn()).await?;
    if waiting.is_empty() {
        return Ok(false);
    }
    inbox_comment::Entity::update_many()
        .col_expr(Column::ParentId, Expr::value(row.id.0))
        .filter(Column::Id.is_in(waiting.iter().map(|one| one.id)))
        .exec(tx.conn())
        .await?;
    Ok(waiting.iter().any(|one| one.own))
}

async fn mark_answered(tx: &Tx, id: CommentId) -> Result<()> {
    inbox_comment::Entity::update_many()
        .col_expr(inbox_comment::Column::Unanswered, Expr::value(false))
        .filter(inbox_comment::Column::Id.eq(id))
        .exec(tx.conn())
        .await?;
    Ok(())
}

/// Returns the post that the network calls so, by its id or by one of its further names.
async fn post_of(tx: &Tx, account: &account::Model, remote: &str) -> Result<Option<PostId>> {
    let found = post::Entity::find()
        .select_only()
        .column(post::Column::Id)
        .filter(post::Column::AccountId.eq(account.id))
        .filter(post::Column::PlatformPostId.eq(remote));
    if let Some(post) = found.into_tuple().one(tx.conn()).await? {
        return Ok(Some(post));
    }
    let named = post_name::Entity::find_by_id((account.id, remote.to_owned()));
    Ok(named.one(tx.conn()).await?.map(|name| name.post_id))
}

/// Gives a young comment the post that it is on, if that was not known when it came: it may have come before the answer to
/// our own call, or under a name that the network gave later.
async fn with_post(
    tx: &Tx,
    account: &account::Model,
    mut row: inbox_comment::Model,
) -> Result<inbox_comment::Model> {
    if row.post_id.is_some() || tx.now() - row.created_at > NAMED_WITHIN {
        return Ok(row);
    }
    row.post_id = post_of(tx, account, &row.platform_post_id).await?;
    if let Some(post) = row.post_id {
        inbox_comment::Entity::update_many()
            .col_expr(inbox_comment::Column::PostId, Expr::value(post.0))
            .filter(inbox_comment::Column::Id.eq(row.id))
            .exec(tx.conn())
            .await?;
    }
    Ok(row)
}

/// Writes the changes of a comment; older changes than the stored ones are ignored.
async fn update_comment(
    tx: &Tx,
    row: inbox_comment::Model,
    comment: RemoteComment,
    happened_at: Millis,
) -> Result<()> {
    let later = happened_at >= row.changed_at;
    let hidden = comment.hidden.filter(|hidden| later && *hidden != row.hidden);
    let text = Some(comment.text).filter(|text| later && *text != row.text);
    let is_changed = hidden.is_some() || text.is_some();
    let likes = comment.like_count.filter(|likes| Some(*likes) != row.like_count);
    let replies = comment.reply_count.filter(|replies| Some(*replies) != row.reply_count);
    let url = comment.url.filter(|url| row.url.as_ref() != Some(url));
    if hidden.is_none()
        && text.is_none()
        && likes.is_none()
        && replies.is_none()
        && url.is_none()
        && (row.author_id.is_some() || comment.author.id.is_empty())
    {
        return Ok(());
    }
    let change = inbox_comment::ActiveModel {
        id: Set(row.id),
        hidden: Set(hidden.unwrap_or(row.hidden)),
        text: Set(text.unwrap_or(row.text)),
        like_count: Set(likes.or(row.like_count)),
        reply_count: Set(replies.or(row.reply_count)),
        url: Set(url.or(row.url)),
        author_id: Set(row.author_id.or(Some(comment.author.id).filter(|id| !id.is_empty()))),
        changed_at: Set(if is_changed { row.changed_at.max(happened_at) } else { row.changed_at }),
        visibility_changed_at: Set(hidden.map(|_| happened_at).or(row.visibility_changed_at)),
        ..Default::default()
    };
    change.update(tx.conn()).await?;
    Ok(())
}

/// Shows a comment again that came back after it was deleted: networks release comments that their filters held. It is
/// announced if it never was: until now nothing but its deletion was known.
async fn restore(
    tx: &mut Tx,
    account: &account::Model,
    row: inbox_comment::Model,
    comment: RemoteComment,
    happened_at: Millis,
    how: Intake,
) -> Result<()> {
    let is_new = row.author_id.is_none() && !row.own;
    let change = inbox_comment::ActiveModel {
        id: Set(row.id),
        deleted: Set(false),
        unanswered: Set(!comment.own),
        own: Set(comment.own),
        author_id: Set(Some(comment.author.id).filter(|id| !id.is_empty()).or(row.author_id)),
        author_username: Set(comment.author.username.or(row.author_username)),
        author_name: Set(comment.author.name.or(row.author_name)),
        author_avatar: Set(comment.author.avatar_url.or(row.author_avatar)),
        parent_remote_id: Set(comment.parent.or(row.parent_remote_id)),
        text: Set(comment.text),
        attachments: Set(files::pending_files(&comment.attachments)),
        url: Set(comment.url.or(row.url)),
        commented_at: Set(comment.at.timestamp_millis()),
        changed_at: Set(happened_at),
        ..Default::default()
    };
    let row = change.update(tx.conn()).await?;
    files::enqueue_copies(tx, files::comment_owner(&row), &comment.attachments).await?;
    if is_new && how.live && !row.own {
        emit_comment(tx, account, row);
    }
    Ok(())
}

/// Finds the row of a reply that we sent and that the network now reports.
async fn match_own_reply(
    tx: &Tx,
    account: &account::Model,
    comment: &RemoteComment,
    parent: Option<&inbox_comment::Model>,
) -> Result<bool> {
    use inbox_comment::Column;
    let Some(parent) = parent else { return Ok(false) };
    let open = inbox_comment::Entity::find()
        .filter(Column::AccountId.eq(account.id))
        .filter(Column::Own.eq(true))
        .filter(Column::RemoteId.is_null())
        .filter(Column::PlatformPostId.eq(parent.platform_post_id.as_str()))
        .filter(Column::Status.is_in([ItemStatus::Sending, ItemStatus::Unknown]))
        .order_by_asc(Column::Id)
        .all(tx.conn())
        .await?;
    // A reply to a reply is attached to the same comment.
    let below = |row: &&inbox_comment::Model| {
        row.parent_id == Some(parent.id) || parent.parent_id.is_none()
    };
    let mut same = open.iter().filter(|row| row.text.trim() == comment.text.trim());
    let Some(row) = same.find(below) else { return Ok(false) };
    outgoing::confirm_by_network(tx, OutgoingTarget::Reply(row.id), &comment.id).await?;
    let at = comment.at.timestamp_millis();
    let change = inbox_comment::ActiveModel {
        id: Set(row.id),
        remote_id: Set(Some(comment.id.clone())),
        status: Set(Some(ItemStatus::Sent)),
        error: Set(None),
        commented_at: Set(at),
        changed_at: Set(at),
        ..Default::default()
    };
    change.update(tx.conn()).await?;
    if let Some(parent) = row.parent_id {
        mark_answered(tx, parent).await?;
    }
    Ok(true)
}

/// Marks a comment as deleted on the network. Returns false if it is not known yet.
pub(in crate::inbox) async fn deleted(
    tx: &mut Tx,
    account: &account::Model,
    id: &str,
    post: Option<String>,
    at: Millis,
) -> Result<bool> {
    if let Some(row) = comment_named(tx, account, id).await? {
        // It came back later. Networks name the second.
        if at < row.changed_at - 999 {
            return Ok(true);
        }
        let change = inbox_comment::ActiveModel {
            id: Set(row.id),
            deleted: Set(true),
            unanswered: Set(false),
            text: Set(String::new()),
            attachments: Set(json!([])),
            changed_at: Set(row.changed_at.max(at)),
            ..Default::default()
        };
        change.update(tx.conn()).await?;
        files::remove_copies(tx, files::comment_owner(&row)).await?;
        return Ok(true);
    }
    let Some(post) = post else { return Ok(false) };
    let row = inbox_comment::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        post_id: Set(post_of(tx, account, &post).await?),
        platform_post_id: Set(post),
        remote_id: Set(Some(id.to_owned())),
        own: Set(false),
        text: Set(String::new()),
        attachments: Set(json!([])),
        hidden: Set(false),
        deleted: Set(true),
        unanswered: Set(false),
        private_replied: Set(false),
        commented_at: Set(at),
        changed_at: Set(at),
        created_at: Set(tx.now()),
        ..Default::default()
    };
    inbox_comment::Entity::insert(row).exec_without_returning(tx.conn()).await?;
    Ok(true)
}

/// Marks a comment as hidden on the network, or as shown again. Returns false if it is not known yet.
pub(in crate::inbox) async fn hidden(
    tx: &Tx,
    account: &account::Model,
    id: &str,
    hidden: bool,
    at: Millis,
) -> Result<bool> {
    let Some(row) = comment_named(tx, account, id).await? else { return Ok(false) };
    // Networks report this with the second, and other changes with the millisecond.
    let last = row.visibility_changed_at;
    if last.is_some_and(|last| at < last - 999) {
        return Ok(true);
    }
    let change = inbox_comment::ActiveModel {
        id: Set(row.id),
        hidden: Set(hidden),
        visibility_changed_at: Set(Some(last.map_or(at, |last| at.max(last)))),
        ..Default::default()
    };
    change.update(tx.conn()).await?;
    Ok(true)
}
