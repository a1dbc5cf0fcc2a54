//! Hides, shows and deletes comments.

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result},
};
use fanfare_entities::{CommentId, account, inbox_comment, outgoing};
use fanfare_platforms::RemoteChange;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    InboxAction, OneComment, action_context, comments, no_comment,
    reply::{finish, reconnect, require, status},
    visible_comments,
};
use crate::outgoing::{self as changes, NewOutgoing, OutgoingTarget};

/// A change of a comment.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentChanges {
    /// True to hide it, false to show it again.
    pub hidden: bool,
}

/// A comment that was deleted, or is being deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommentDeleted {
    /// False while the outcome is not known.
    deleted: bool,
    id: CommentId,
}

/// Hides a comment, or shows it again; nothing happens if it already is in that state.
///
/// # Errors
/// [`Code::CommentNotFound`], [`Code::ActionNotAllowed`], or the network's refusal.
pub async fn hide(act: &Act, id: CommentId, wanted: CommentChanges) -> Result<Reply<OneComment>> {
    let (row, account) = comments::find(act, id).await?;
    act.cx.failpoint.reach("considered").await;
    let mut status = None;
    // A change on its way may leave it in another state than the one it has now.
    if row.hidden != wanted.hidden || is_changing(act, id).await? {
        status = make(act, &account, id, CommentChange::Hide(wanted.hidden)).await?;
    }
    let comment = comments::shown(act, id).await?;
    let reply = Reply::ok(&OneComment { comment }).with_status(status.unwrap_or(200));
    finish(act, reply).await
}

/// Deletes a comment; one that is already deleted stays deleted.
///
/// # Errors
/// [`Code::CommentNotFound`], [`Code::DeleteNotSupported`], [`Code::ActionNotAllowed`], or the network's refusal.
pub async fn delete(act: &Act, id: CommentId) -> Result<Reply<CommentDeleted>> {
    let (row, account) = comments::find(act, id).await?;
    let rules = super::rules(&account).ok_or_else(|| no_comment(id))?;
    if !rules.deletes {
        let message = "This network does not let comments of others be deleted.";
        return Err(Error::new(Code::DeleteNotSupported, message));
    }
    act.cx.failpoint.reach("considered").await;
    let mut deleted = row.deleted;
    if !deleted {
        deleted = make(act, &account, id, CommentChange::Delete).await?.is_none();
    }
    let status = if deleted { 200 } else { 202 };
    finish(act, Reply::ok(&CommentDeleted { deleted, id }).with_status(status)).await
}

/// Returns true if a change of the comment's state is on its way.
async fn is_changing(act: &Act, id: CommentId) -> Result<bool> {
    let target = OutgoingTarget::Comment(id);
    Ok(!changes::open_changes(&act.cx.db.write, target).await?.is_empty())
}

/// A change of a comment's state.
#[derive(Clone, Copy)]
enum CommentChange {
    /// Hides it, or shows it again.
    Hide(bool),
    /// Deletes it.
    Delete,
}

impl CommentChange {
    /// Returns the action that must be possible.
    const fn action(self) -> InboxAction {
        match self {
            Self::Hide(true) => InboxAction::Hide,
            Self::Hide(false) => InboxAction::Unhide,
            Self::Delete => InboxAction::Delete,
        }
    }

    /// Returns true if the comment is in the wanted state already.
    const fn is_done(self, row: &inbox_comment::Model) -> bool {
        match self {
            Self::Hide(hidden) => row.hidden == hidden && !row.deleted,
            Self::Delete => row.deleted,
        }
    }

    /// Returns the change of the comment that the network knows by this id.
    const fn of(self, comment: String) -> RemoteChange {
        match self {
            Self::Hide(hidden) => RemoteChange::Hide { comment, hidden },
            Self::Delete => RemoteChange::Delete { comment },
        }
    }
}

/// Makes a change of a comment; replies 202 while its outcome is not known.
async fn make(
    act: &Act,
    account: &account::Model,
    id: CommentId,
    change: CommentChange,
) -> Result<Option<u16>> {
    let row = match changes::find_by_request(act).await? {
        Some(earlier) => earlier,
        None => match record(act, account, id, change).await? {
            Some(row) => row,
            None => return Ok(None),
        },
    };
    Ok(Some(status(&row)?).filter(|status| *status == 202))
}

/// Records a change and waits for it; `None` if the comment got into the wanted state since it was looked at. The same
/// change on its way is that of this request too, and another one is waited for.
async fn record(
    act: &Act,
    account: &account::Model,
    id: CommentId,
    change: CommentChange,
) -> Result<Option<outgoing::Model>> {
    let asking = action_context(act, account);
    if !asking.connected {
        return Err(reconnect());
    }
    let mut tx = act.begin().await?;
    let row = visible_comments(act)
        .filter(inbox_comment::Column::Id.eq(id))
        .lock_exclusive()
        .one(tx.conn())
        .await?
        .ok_or_else(|| no_comment(id))?;
    let open = changes::open_changes(tx.conn(), OutgoingTarget::Comment(id)).await?;
    let wanted = row.remote_id.clone().map(|remote_id| json!(change.of(remote_id)));
    if let Some(same) = open.iter().find(|row| Some(&row.change) == wanted.as_ref()) {
        return Ok(Some(same.clone()));
    }
    // Whatever else is on its way, a comment that is to go may go.
    if !open.is_empty() && matches!(change, CommentChange::Hide(_)) {
        return Err(changes::is_on_its_way());
    }
    if change.is_done(&row) {
        return Ok(None);
    }
    let remote_id = require(&asking, &row, change.action())?;
    let new = NewOutgoing {
        workspace_id: account.workspace_id,
        account_id: account.id,
        target: OutgoingTarget::Comment(id),
        scope: format!("comment:{id}"),
        change: change.of(remote_id),
    };
    let row = changes::insert(act, &mut tx, new).await?;
    Ok(Some(changes::commit_and_wait(tx, row).await?))
}
