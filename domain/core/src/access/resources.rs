//! The caller's membership in the workspace of the resource that a request names.

use fanfare_entities::{
    AccountId, BrandId, CommentId, ConnectSessionId, ConversationId, PostId, PostSetId,
    SuggestionId, UserId, WebhookId, WorkspaceId, ai_job, media_asset, post, post_suggestion,
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Value};
use uuid::Uuid;

use super::{Caller, Membership, membership};
use crate::{
    Domain,
    error::{Code, Error, Result},
};

/// Returns the caller's membership in a resource's workspace. For callers who are not in the workspace, or whose
/// membership does not see the resource's brand, the resource does not exist.
async fn membership_for(
    cx: &Domain,
    caller: &Caller,
    (place, id): (&str, impl Into<Value>),
    absent: Error,
) -> Result<Membership> {
    let reached = |membership: &Membership| {
        caller.key_workspace.is_none_or(|own| own == membership.workspace_id)
    };
    match membership::find(cx, caller, place, id).await? {
        Some((membership, brand)) if reached(&membership) && membership.sees(brand) => {
            Ok(membership)
        }
        _ => Err(absent),
    }
}

/// Returns the caller's membership for a post.
///
/// # Errors
/// [`Code::PostNotFound`].
pub async fn membership_for_post(cx: &Domain, caller: &Caller, id: PostId) -> Result<Membership> {
    let absent = Error::new(Code::PostNotFound, format!("There is no post {id}."));
    membership_for(cx, caller, (membership::POST, id), absent).await
}

/// Returns the caller's membership for a connected account.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn membership_for_account(
    cx: &Domain,
    caller: &Caller,
    id: AccountId,
) -> Result<Membership> {
    let absent = Error::new(Code::AccountNotFound, format!("There is no account {id}."));
    membership_for(cx, caller, (membership::ACCOUNT, id), absent).await
}

/// Returns the caller's membership for a webhook.
///
/// # Errors
/// [`Code::WebhookNotFound`].
pub async fn membership_for_webhook(
    cx: &Domain,
    caller: &Caller,
    id: WebhookId,
) -> Result<Membership> {
    let absent = Error::new(Code::WebhookNotFound, "There is no such webhook.");
    membership_for(cx, caller, (membership::WEBHOOK, id), absent).await
}

/// Returns the caller's membership for a video. A membership that is locked to brands only finds the videos that its
/// own user requested.
///
/// # Errors
/// [`Code::JobNotFound`].
pub async fn membership_for_video_job(
    cx: &Domain,
    caller: &Caller,
    id: Uuid,
) -> Result<Membership> {
    let place: Option<(WorkspaceId, UserId)> = ai_job::Entity::find()
        .select_only()
        .columns([ai_job::Column::WorkspaceId, ai_job::Column::CreatedBy])
        .filter(ai_job::Column::Uid.eq(id))
        .into_tuple()
        .one(&cx.db.read)
        .await?;
    let absent = || Error::new(Code::JobNotFound, "There is no such job.");
    let Some((workspace, asked_by)) = place else { return Err(absent()) };
    if caller.key_workspace.is_some_and(|own| own != workspace) {
        return Err(absent());
    }
    match membership::find(cx, caller, membership::WORKSPACE, workspace).await? {
        Some((membership, _)) if membership.brands.is_none() || asked_by == caller.user_id => {
            Ok(membership)
        }
        _ => Err(absent()),
    }
}

/// Returns the caller's membership for a connect session.
///
/// # Errors
/// [`Code::ConnectSessionNotFound`].
pub async fn membership_for_connect_session(
    cx: &Domain,
    caller: &Caller,
    id: ConnectSessionId,
) -> Result<Membership> {
    let absent = Error::new(Code::ConnectSessionNotFound, "There is no such connect session.");
    membership_for(cx, caller, (membership::CONNECT_SESSION, id), absent).await
}

/// Returns the caller's membership for a conversation of the inbox.
///
/// # Errors
/// [`Code::ConversationNotFound`].
pub async fn membership_for_conversation(
    cx: &Domain,
    caller: &Caller,
    id: ConversationId,
) -> Result<Membership> {
    let absent = Error::new(Code::ConversationNotFound, format!("There is no conversation {id}."));
    membership_for(cx, caller, (membership::CONVERSATION, id), absent).await
}

/// Returns the caller's membership for a comment of the inbox.
///
/// # Errors
/// [`Code::CommentNotFound`].
pub async fn membership_for_comment(
    cx: &Domain,
    caller: &Caller,
    id: CommentId,
) -> Result<Membership> {
    let absent = Error::new(Code::CommentNotFound, format!("There is no comment {id}."));
    membership_for(cx, caller, (membership::COMMENT, id), absent).await
}

/// Returns the caller's membership for a suggestion, which is the one for its account.
///
/// # Errors
/// [`Code::SuggestionNotFound`].
pub async fn membership_for_suggestion(
    cx: &Domain,
    caller: &Caller,
    id: SuggestionId,
) -> Result<Membership> {
    let absent = || Error::new(Code::SuggestionNotFound, "There is no such suggestion.");
    let row = post_suggestion::Entity::find_by_id(id).one(&cx.db.read).await?;
    let account = row.ok_or_else(absent)?.account_id;
    membership_for(cx, caller, (membership::ACCOUNT, account), absent()).await
}

/// Returns the caller's membership for a brand.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn membership_for_brand(cx: &Domain, caller: &Caller, id: BrandId) -> Result<Membership> {
    let absent = Error::new(Code::BrandNotFound, "There is no such brand.");
    membership_for(cx, caller, (membership::BRAND, id), absent).await
}

/// Returns the caller's membership for a post set. A membership that is locked to brands only finds the sets that have a
/// target of theirs.
///
/// # Errors
/// [`Code::PostSetNotFound`].
pub async fn membership_for_post_set(
    cx: &Domain,
    caller: &Caller,
    id: PostSetId,
) -> Result<Membership> {
    let absent = || Error::new(Code::PostSetNotFound, "There is no such post set.");
    let found = membership::find(cx, caller, membership::POST_SET, id.0).await?;
    let (membership, _) = found.ok_or_else(absent)?;
    if caller.key_workspace.is_some_and(|own| own != membership.workspace_id) {
        return Err(absent());
    }
    if let Some(brands) = &membership.brands {
        let seen = post::Entity::find()
            .filter(post::Column::PostSetId.eq(id))
            .filter(post::Column::BrandId.is_in(brands.iter().copied()))
            .select_only()
            .column(post::Column::Id)
            .into_tuple::<i64>();
        seen.one(&cx.db.read).await?.ok_or_else(absent)?;
    }
    Ok(membership)
}

/// Returns the caller's membership for a file. A membership that is locked to brands only finds files that its own user
/// uploaded.
///
/// # Errors
/// [`Code::MediaNotFound`].
pub async fn membership_for_media(cx: &Domain, caller: &Caller, uid: Uuid) -> Result<Membership> {
    let place: Option<(WorkspaceId, Option<UserId>)> = media_asset::Entity::find()
        .select_only()
        .columns([media_asset::Column::WorkspaceId, media_asset::Column::CreatedBy])
        .filter(media_asset::Column::Uid.eq(uid))
        .into_tuple()
        .one(&cx.db.read)
        .await?;
    let absent = || Error::new(Code::MediaNotFound, "There is no such file.");
    let Some((workspace, brought_by)) = place else { return Err(absent()) };
    if caller.key_workspace.is_some_and(|own| own != workspace) {
        return Err(absent());
    }
    match membership::find(cx, caller, membership::WORKSPACE, workspace).await? {
        Some((membership, _))
            if membership.brands.is_none() || brought_by == Some(caller.user_id) =>
        {
            Ok(membership)
        }
        _ => Err(absent()),
    }
}
