//! Hides, shows and deletes comments.

use fanfare_entities::{CommentId, account, inbox_comment, outgoing};
use fanfare_platforms::RemoteChange;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use serde::{Deserialize, Serialize};

use super::{
    InboxAction, OneComment, action_context, comments, no_comment,
    reply::{finish, reconnect, require, status},
    visible_comments,
};
use crate::{
    Act, Reply,
    error::{Code, Error, Result},
    outgoing::{self as changes, NewOutgoing, OutgoingTarget},
};

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
    if row.hidden != wanted.hidden {
        let can = if wanted.hidden { InboxAction::Hide } else { InboxAction::Unhide };
        let change = |comment| RemoteChange::Hide { comment, hidden: wanted.hidden };
        if let Some(status) = make(act, &account, id, can, change).await? {
            let comment = comments::shown(act, id).await?;
            return finish(act, Reply::ok(&OneComment { comment }).with_status(status)).await;
        }
    }
    let comment = comments::shown(act, id).await?;
    finish(act, Reply::ok(&OneComment { comment })).await
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
    let mut deleted = row.deleted;
    if !deleted {
        let change = |comment| RemoteChange::Delete { comment };
        deleted = make(act, &account, id, InboxAction::Delete, change).await?.is_none();
    }
    let status = if deleted { 200 } else { 202 };
    finish(act, Reply::ok(&CommentDeleted { deleted, id }).with_status(status)).await
}

/// Makes a change of a comment; replies 202 while its outcome is not known.
async fn make(
    act: &Act,
    account: &account::Model,
    id: CommentId,
    can: InboxAction,
    change: impl FnOnce(String) -> RemoteChange,
) -> Result<Option<u16>> {
    let row = match changes::find_by_request(act).await? {
        Some(earlier) => earlier,
        None => {
            let row = record(act, account, id, can, change).await?;
            changes::carry_out_in_request(&act.cx, row).await?
        }
    };
    Ok(Some(status(&row)?).filter(|status| *status == 202))
}

async fn record(
    act: &Act,
    account: &account::Model,
    id: CommentId,
    can: InboxAction,
    change: impl FnOnce(String) -> RemoteChange,
) -> Result<outgoing::Model> {
    let asking = action_context(act, account);
    if !asking.connected {
        return Err(reconnect());
    }
    let tx = act.begin().await?;
    let row = visible_comments(act)
        .filter(inbox_comment::Column::Id.eq(id))
        .lock_exclusive()
        .one(tx.conn())
        .await?
        .ok_or_else(|| no_comment(id))?;
    let change = change(require(&asking, &row, can)?);
    let new = NewOutgoing {
        workspace_id: account.workspace_id,
        account_id: account.id,
        target: OutgoingTarget::Comment(id),
        scope: format!("comment:{id}"),
        change,
    };
    let row = changes::insert(act, tx.conn(), new).await?;
    tx.commit().await?;
    Ok(row)
}
