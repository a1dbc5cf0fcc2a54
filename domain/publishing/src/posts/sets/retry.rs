//! Sends the failed targets of a set again.

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result},
    remedies::{self, RequestContext, Rights},
};
use fanfare_entities::{PostId, PostSetId, post, post::PostStatus};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{
    input::RetryPostSet,
    read::{brands, find},
    replies::{RetriedPostSet, SkippedTarget},
    rows::{lock, targets_of},
    settle,
    status::SetStatus,
    view,
};
use crate::posts::{
    draft::account_of,
    media_facts,
    status::{accept_risk, save_by_caller, scheduled},
};

/// Sends the failed targets of a set again, now. One that cannot be sent is skipped, and the reply says why.
///
/// # Errors
/// [`Code::InvalidTransition`] if none failed, [`Code::PostNotFound`] for a post that is no target of the set.
pub async fn retry(act: &Act, id: PostSetId, asked: RetryPostSet) -> Result<Reply<RetriedPostSet>> {
    let now = act.cx.clock.now();
    let mut tx = act.begin().await?;
    lock(tx.conn(), id).await?;
    let (_, targets) = find(act, tx.conn(), id).await?;
    let wanted: Vec<PostId> = match &asked.post_ids {
        Some(ids) => ids.iter().copied().map(PostId).collect(),
        None => targets.iter().map(|one| one.post.id).collect(),
    };
    if let Some(place) = wanted.iter().position(|id| targets.iter().all(|one| one.post.id != *id)) {
        let message = format!("Post {} is no target of the set.", wanted[place]);
        let remedy = "Name posts of the set, or leave post_ids out.";
        let field = format!("post_ids[{place}]");
        return Err(Error::field(Code::PostNotFound, field, message, remedy));
    }
    let rows = post::Entity::find()
        .filter(post::Column::Id.is_in(wanted))
        .order_by_asc(post::Column::Id)
        .lock_exclusive()
        .all(tx.conn())
        .await?;
    let (mut retried, mut skipped) = (Vec::new(), Vec::new());
    if rows.iter().all(|row| row.status != PostStatus::Failed) {
        let statuses: Vec<_> = targets.iter().map(|one| one.post.status).collect();
        let message = "No target of the set has failed.";
        let status = SetStatus::of(&statuses).name();
        return Err(Error::new(Code::InvalidTransition, message).with_state(status, &[]));
    }
    for mut row in rows {
        if row.status != PostStatus::Failed {
            if asked.post_ids.is_some() {
                let why = Error::new(Code::InvalidTransition, "It has not failed.");
                skipped.push(skip(act, row.id, &why));
            }
            continue;
        }
        media_facts::refresh_rows(tx.conn(), std::slice::from_mut(&mut row)).await?;
        let account = account_of(tx.conn(), &row).await?;
        let next = match accept_risk(&row, asked.acknowledge_duplicate_risk) {
            Ok(()) => scheduled(&act.request_id, &row, &account, now, now).await,
            Err(risk) => Err(risk),
        };
        match next {
            Ok(next) => {
                retried.push(row.id);
                save_by_caller(act, &mut tx, next, "retry").await?;
            }
            Err(error) if error.status() >= 500 => return Err(error),
            Err(error) => skipped.push(skip(act, row.id, &error)),
        }
    }
    let set = if retried.is_empty() {
        find(act, tx.conn(), id).await?.0
    } else {
        let gone = || Error::internal("a set that was changed is gone");
        settle::changed_by_caller(act, &mut tx, id).await?.ok_or_else(gone)?.0
    };
    let seen = targets_of(tx.conn(), &[id], brands(act)).await?.remove(&id).unwrap_or_default();
    let post_set = view::shown(act, &set, seen)?;
    let reply = Reply::ok(&RetriedPostSet { post_set, retried, skipped });
    act.finish(tx, reply).await
}

fn skip(act: &Act, id: PostId, why: &Error) -> SkippedTarget {
    let situation = RequestContext {
        base_url: act.cx.settings.base_url.clone(),
        post: Some(id),
        request: Some(("retry_post", "POST", format!("/api/v1/posts/{id}/retry"))),
        rights: Some(Rights::of(act)),
        ..RequestContext::default()
    };
    let next = remedies::next_calls(why.code(), why.violations().first(), &situation);
    SkippedTarget { post_id: id, code: why.code().entry().code, next }
}
