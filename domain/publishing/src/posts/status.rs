//! Changes of status that a caller asks for.

use fanfare_core::{
    Act, Domain, Reply, Tx,
    clock::to_rfc3339,
    error::{Code, Error, Result},
    mutation::{self, Mutation},
};
use fanfare_entities::{Millis, PostId, post, post::PostStatus};
use fanfare_jobs::JobKind;
use sea_orm::{ActiveModelTrait, EntityTrait};
use uuid::Uuid;

use super::{
    create::{parse_time, with_timezone_fix},
    draft::{Content, account_of},
    event,
    input::{RequestedStatus, RetryPost, StatusChange},
    media_facts, publishing,
    read::find_locked,
    sets, status_name,
    view::{self, OnePost},
};

/// Returns the statuses to which a caller can change a post from `status`.
#[must_use]
pub const fn allowed_transitions(status: PostStatus) -> &'static [&'static str] {
    match status {
        PostStatus::Scheduled => &["paused", "draft"],
        PostStatus::Paused | PostStatus::Failed => &["scheduled", "draft"],
        PostStatus::Draft => &["scheduled"],
        PostStatus::Publishing | PostStatus::Processing | PostStatus::Published => &[],
    }
}

/// Returns the error for a change that the post's status does not allow.
pub(super) fn invalid_transition(row: &post::Model, what: &str) -> Error {
    let status = status_name(row.status);
    let allowed =
        if row.partly_public { &["scheduled"][..] } else { allowed_transitions(row.status) };
    let message = if row.partly_public {
        format!("A part of the post is public already, so it cannot be {what}.")
    } else {
        format!("A post that is {status} cannot be {what}.")
    };
    Error::new(Code::InvalidTransition, message).with_state(status, allowed)
}

/// Pauses or schedules a post, or makes it a draft.
///
/// # Errors
/// [`Code::InvalidTransition`] with `allowed`, or what is missing for scheduling it.
pub async fn set_status(act: &Act, id: PostId, change: StatusChange) -> Result<Reply<OnePost>> {
    let mut tx = act.begin().await?;
    let mut row = find_locked(act, &tx, id).await?;
    media_facts::refresh_rows(tx.conn(), std::slice::from_mut(&mut row)).await?;
    let now = act.cx.clock.now();
    let asked_time = requested_time(act, &change, now)?;
    let account = account_of(tx.conn(), &row).await?;
    let Some(next) = next_row(act, (&row, &account), &change, (asked_time, now)).await? else {
        return act.finish(tx, view::post_reply(act, row).await?).await;
    };
    if asked_time.is_some() {
        sets::own_time(&tx, &next).await?;
    }
    let reply = save(act, &mut tx, next, "status").await?;
    act.finish(tx, reply).await
}

/// Returns the row in its new status; `None` if it has it already.
///
/// # Errors
/// [`Code::InvalidTransition`] with `allowed`, or what is missing for scheduling it.
pub(super) async fn next_row(
    act: &Act,
    (row, account): (&post::Model, &fanfare_platforms::Account),
    change: &StatusChange,
    (asked_time, now): (Option<Millis>, Millis),
) -> Result<Option<post::Model>> {
    Ok(match (change.status, row.status) {
        (RequestedStatus::Paused, PostStatus::Paused)
        | (RequestedStatus::Draft, PostStatus::Draft) => None,
        (RequestedStatus::Scheduled, PostStatus::Scheduled) => match asked_time {
            Some(at) if row.scheduled_at != Some(at) => {
                Some(scheduled(&act.request_id, row, account, at, now).await?)
            }
            _ => None,
        },
        (RequestedStatus::Paused, PostStatus::Scheduled) => {
            Some(unscheduled(row, PostStatus::Paused, now))
        }
        (
            RequestedStatus::Draft,
            PostStatus::Scheduled | PostStatus::Failed | PostStatus::Paused,
        ) if !row.partly_public => Some(unscheduled(row, PostStatus::Draft, now)),
        (
            RequestedStatus::Scheduled,
            PostStatus::Draft | PostStatus::Paused | PostStatus::Failed,
        ) => {
            accept_risk(row, change.acknowledge_duplicate_risk)?;
            let at = publish_time(row, asked_time, now)?;
            Some(scheduled(&act.request_id, row, account, at, now).await?)
        }
        (RequestedStatus::Paused, _) => return Err(invalid_transition(row, "paused")),
        (RequestedStatus::Draft, _) => return Err(invalid_transition(row, "made a draft")),
        (RequestedStatus::Scheduled, _) => return Err(invalid_transition(row, "scheduled")),
    })
}

/// Sends a failed post again, now.
///
/// # Errors
/// [`Code::InvalidTransition`] if it has not failed, [`Code::DuplicateRisk`] if it may be public already.
pub async fn retry(act: &Act, id: PostId, retry: RetryPost) -> Result<Reply<OnePost>> {
    let mut tx = act.begin().await?;
    let mut row = find_locked(act, &tx, id).await?;
    media_facts::refresh_rows(tx.conn(), std::slice::from_mut(&mut row)).await?;
    if row.status != PostStatus::Failed {
        return Err(invalid_transition(&row, "retried"));
    }
    accept_risk(&row, retry.acknowledge_duplicate_risk)?;
    let now = act.cx.clock.now();
    let account = account_of(tx.conn(), &row).await?;
    let next = scheduled(&act.request_id, &row, &account, now, now).await?;
    let reply = save(act, &mut tx, next, "retry").await?;
    act.finish(tx, reply).await
}

/// Sends a failed post again for the operator, `after` so many milliseconds; the event tells its former time.
///
/// # Errors
/// As for [`retry`]; nothing is written then.
pub async fn retry_for_operator(
    cx: &Domain,
    tx: &mut Tx,
    row: post::Model,
    (accepts_risk, after): (bool, Millis),
    request_id: &str,
) -> Result<()> {
    if row.status != PostStatus::Failed {
        return Err(invalid_transition(&row, "retried"));
    }
    accept_risk(&row, Some(accepts_risk))?;
    let now = cx.clock.now();
    let account = account_of(tx.conn(), &row).await?;
    let next = scheduled(request_id, &row, &account, now + after, now).await?;
    let what = match row.scheduled_at {
        Some(at) => format!("retried by the operator; its time was {}", to_rfc3339(at)),
        None => "retried by the operator".to_owned(),
    };
    save_row(request_id, tx, next, &what).await.map(drop)
}

pub(super) fn requested_time(
    act: &Act,
    change: &StatusChange,
    now: Millis,
) -> Result<Option<Millis>> {
    let (time, broken) =
        parse_time(change.scheduled_at.as_deref(), change.timezone.as_deref(), now);
    Error::check(with_timezone_fix(act, broken, change.scheduled_at.as_deref()))?;
    Ok(time)
}

pub(super) fn accept_risk(row: &post::Model, acknowledged: Option<bool>) -> Result<()> {
    if !row.duplicate_risk || acknowledged == Some(true) {
        return Ok(());
    }
    Err(Error::new(
        Code::DuplicateRisk,
        "An earlier try of this post had no answer, so it may already be public.",
    ))
}

/// Returns the time at which a post goes out when it is scheduled: the requested time, else its own if that is in the
/// future. A failed post goes out now.
fn publish_time(row: &post::Model, asked: Option<Millis>, now: Millis) -> Result<Millis> {
    if let Some(at) = asked {
        return Ok(at);
    }
    match (row.status, row.scheduled_at) {
        (PostStatus::Failed, _) => Ok(now),
        (PostStatus::Paused, Some(at)) if at > now => Ok(at),
        (PostStatus::Paused, _) => Err(Error::field(
            Code::FieldRequired,
            "scheduled_at",
            "The post's time has passed while it was paused.",
            "Send scheduled_at with a new time; the present time publishes it now.",
        )),
        _ => Err(Error::field(
            Code::FieldRequired,
            "scheduled_at",
            "Scheduling a draft needs a time.",
            "Send scheduled_at; the present time publishes it now.",
        )),
    }
}

/// Returns the row scheduled at `at`, if the post is valid.
pub(super) async fn scheduled(
    request_id: &str,
    row: &post::Model,
    account: &fanfare_platforms::Account,
    at: Millis,
    now: Millis,
) -> Result<post::Model> {
    let platform = crate::platforms::from_row(&row.platform)?;
    let content = Content::of_row(row)?;
    Error::check(super::create::objections(&content, platform, account, false, None).await?)?;
    let due = content.due_at(platform, account, at, now, row.state.is_some());
    let was_sent = row.duplicate_risk;
    Ok(post::Model {
        status: PostStatus::Scheduled,
        scheduled_at: Some(at),
        due_at: Some(due),
        request_id: request_id.to_owned(),
        // It gets a new key, so that an earlier commit call that may have been carried out is not mistaken for the new
        // one.
        content_key: if was_sent { Uuid::now_v7() } else { row.content_key },
        duplicate_risk: false,
        ..reset(row, now)
    })
}

/// Returns the row with this status and without a due time.
pub(super) fn unscheduled(row: &post::Model, status: PostStatus, now: Millis) -> post::Model {
    post::Model { status, due_at: None, ..reset(row, now) }
}

/// Returns the row with a higher fencing token, which takes it from its holder, and with its attempts set to zero.
fn reset(row: &post::Model, now: Millis) -> post::Model {
    post::Model {
        fencing_token: row.fencing_token + i64::from(mutation::is_off(Mutation::ChangeTakesRow)),
        attempts: 0,
        lease_expirations: 0,
        out_of_line: false,
        behind: false,
        steps: None,
        sending_at: None,
        sending_until: None,
        reconciling_at: None,
        absent_at: None,
        announced_fence: None,
        next_attempt_at: None,
        error: None,
        updated_at: now,
        ..row.clone()
    }
}

/// Writes a changed row with its event, and enqueues it if it is due.
pub(super) async fn save(
    act: &Act,
    tx: &mut Tx,
    row: post::Model,
    what: &str,
) -> Result<Reply<OnePost>> {
    let saved = save_by_caller(act, tx, row, what).await?;
    if let Some(set) = saved.post_set_id {
        sets::changed_by_caller(act, tx, set).await?;
    }
    view::post_reply(act, saved).await
}

/// Writes a row that a caller changed, with its event; what follows for its set is left to be done.
pub(super) async fn save_by_caller(
    act: &Act,
    tx: &mut Tx,
    row: post::Model,
    what: &str,
) -> Result<post::Model> {
    let row = post::Model { version: row.version + 1, ..row };
    save_row(&act.request_id, tx, row, what).await
}

pub(super) async fn save_row(
    request_id: &str,
    tx: &mut Tx,
    row: post::Model,
    what: &str,
) -> Result<post::Model> {
    let due_at = row.due_at;
    let saved = post::ActiveModel::from(row).reset_all();
    let saved = post::Entity::update(saved).exec(tx.conn()).await?;
    publishing::wake_first(tx, &[saved.account_id]).await?;
    let message = format!("The post is now {} ({what}).", status_name(saved.status));
    let updated = event(tx.domain(), "post.updated", &saved, message, Some(request_id.to_owned()));
    tx.emit(updated);
    if let Some(due_at) = due_at {
        tx.enqueue(JobKind::PublishPost, saved.workspace_id, saved.id.0, due_at);
    }
    Ok(saved)
}

#[cfg(test)]
mod tests {
    use super::{PostStatus, allowed_transitions};

    #[test]
    fn what_is_going_out_or_is_out_cannot_be_changed() {
        for status in [PostStatus::Publishing, PostStatus::Processing, PostStatus::Published] {
            assert!(allowed_transitions(status).is_empty());
        }
    }
}
