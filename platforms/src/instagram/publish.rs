//! Publishing on Instagram, step by step.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::{
    Form, LABEL,
    client::{self, ContainerStatus},
    container,
    error::{failed_container, is_lost, is_not_ready},
    settings::Settings,
    state::{ContainerKind, ContainerProgress, FailedContainer, NextStep, State},
};
use crate::{
    Draft, Error, ErrorKind, Media, Progress, Result, Session, Step, Warning, WarningCode, graph,
    outcome::read_state,
};

/// The longest time Instagram may take to process a container.
const PROCESSING_MAX: TimeDelta = TimeDelta::minutes(15);
/// The longest time for which a container that was just made may not be found.
const FOUND_WITHIN: TimeDelta = TimeDelta::minutes(1);
/// The number of containers that take the place of one that Instagram has lost.
const REMADE_MAX: u32 = 3;
/// A container that failed longer ago than this belongs to an earlier attempt, and a new one is created.
const EARLIER_TRY: TimeDelta = TimeDelta::seconds(20);

/// Returns the step of the next call.
pub(super) fn step(draft: &Draft, state: Option<&Value>) -> Step {
    let settings = draft.settings::<Settings>().unwrap_or_default();
    let mut state: State = read_state(state).unwrap_or_default();
    if state.broken.is_some() {
        state.restart();
    }
    state.next(draft, &settings).step()
}

/// Makes the next call.
pub(super) async fn publish(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
) -> Result<Progress> {
    let settings: Settings = draft.settings()?;
    let mut state: State = read_state(state.as_ref())?;
    if let Some(given_up) = &state.broken {
        if session.now - given_up.since <= EARLIER_TRY {
            let error = failed_container(&given_up.reason);
            return Err(graph::naming_file(error, LABEL, draft, given_up.file));
        }
        state.restart();
    }
    match state.next(draft, &settings) {
        NextStep::CheckQuota => {
            if client::quota(session).await?.is_used_up() {
                return Err(client::quota_exhausted());
            }
            state.may_post = true;
            Progress::continue_with(&state)
        }
        NextStep::Item(index) => {
            let params = container::item(&settings, file(draft, index)?, index);
            let item = match client::create_container(session, &params).await {
                Ok(item) => item,
                Err(error) => return fetch_again(state, draft, index, error),
            };
            state.items.push(item.clone());
            state.main.since = Some(session.now);
            Ok(Progress::continue_with(&state)?.with_remote_id(Some(item)))
        }
        NextStep::WaitItems => wait_items(session, state).await,
        NextStep::Create(what) => create(session, draft, &settings, state, what).await,
        NextStep::Wait(what, container) => wait(session, state, what, &container).await,
        NextStep::Publish(what, container) => commit(session, state, what, &container).await,
        NextStep::Comment(media, text) => {
            let comment = client::comment(session, &media, &text).await;
            let id = comment.map_err(|error| after_publish_error(error, "first comment"))?;
            commented(state, id)
        }
        NextStep::Permalink(id) => {
            // The post is public even if its address cannot be read.
            let url = client::permalink(session, &id).await.ok();
            let warnings = missing_addon(session, &settings, &id).await;
            Ok(Progress::Done(state.result(id, url)).with_warnings(warnings))
        }
    }
}

/// Returns a warning if Instagram published the post without its poll or prompt. What cannot be read is not warned of.
async fn missing_addon(session: &Session, settings: &Settings, media: &str) -> Vec<Warning> {
    let Some(addon) = settings.addon() else { return Vec::new() };
    if client::has_addon(session, media, addon).await.unwrap_or(true) {
        return Vec::new();
    }
    let name = addon.setting();
    let message =
        format!("Instagram published the post without its {name}; it cannot be added later.");
    vec![Warning::new(WarningCode::AddonNotAttached, format!("settings.{name}"), message)]
}

async fn create(
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    mut state: State,
    what: ContainerKind,
) -> Result<Progress> {
    let params = match (what, Form::of(draft)) {
        (ContainerKind::Story, _) => container::companion_story(file(draft, 0)?),
        (ContainerKind::Main, Form::Carousel) => container::carousel(draft, settings, &state.items),
        (ContainerKind::Main, _) => container::single(draft, settings, file(draft, 0)?),
    };
    let container = match client::create_container(session, &params).await {
        Ok(container) => container,
        Err(error) => return fetch_again(state, draft, 0, error),
    };
    let since = Some(session.now);
    *state.container_mut(what) = ContainerProgress {
        container: Some(container.clone()),
        since,
        ..ContainerProgress::default()
    };
    Ok(Progress::continue_with(&state)?.with_remote_id(Some(container)))
}

async fn wait_items(session: &Session, mut state: State) -> Result<Progress> {
    while let Some(item) = state.items.get(state.items_ready) {
        let status = match client::status(session, item).await {
            Err(error) if error.is_not_found() => {
                return not_found(session, state, ContainerKind::Main, error);
            }
            status => status?,
        };
        match status {
            ContainerStatus::Finished | ContainerStatus::Published => state.items_ready += 1,
            ContainerStatus::InProgress => return poll_again(session, state, ContainerKind::Main),
            ContainerStatus::Dead(reason) => {
                let file = state.items_ready;
                return give_up(session, state, (ContainerKind::Main, file), reason);
            }
        }
    }
    Progress::continue_with(&state)
}

async fn wait(
    session: &Session,
    mut state: State,
    what: ContainerKind,
    container: &str,
) -> Result<Progress> {
    let status = match client::status(session, container).await {
        Err(error) if error.is_not_found() => return not_found(session, state, what, error),
        status => status?,
    };
    match status {
        ContainerStatus::Finished | ContainerStatus::Published => {
            state.container_mut(what).ready = true;
            continue_from(&state)
        }
        ContainerStatus::InProgress => poll_again(session, state, what),
        ContainerStatus::Dead(reason) => give_up(session, state, (what, 0), reason),
    }
}

async fn commit(
    session: &Session,
    mut state: State,
    what: ContainerKind,
    container: &str,
) -> Result<Progress> {
    let error = match client::publish(session, container).await {
        Ok(id) => return published(state, what, id),
        Err(error) => error,
    };
    if error.reply.is_none() || error.kind == ErrorKind::Server {
        return Err(error);
    }
    let about_container =
        matches!(error.kind, ErrorKind::Rejected | ErrorKind::MediaRejected | ErrorKind::Transient);
    // The container's status may explain the refusal, or show that there was none: posts went out although their call
    // was refused with 4/2207051, https://github.com/gitroomhq/postiz-app/pull/1681.
    match client::status(session, container).await {
        Ok(ContainerStatus::Dead(reason)) if about_container => {
            give_up(session, state, (what, 0), reason)
        }
        Ok(ContainerStatus::Dead(_)) => Err(error.nothing_done()),
        Ok(ContainerStatus::Published) => {
            Err(Error::new(ErrorKind::Ambiguous, "The post is public; its id is not known yet."))
        }
        _ if is_not_ready(&error) => {
            state.container_mut(what).ready = false;
            poll_again(session, state, what)
        }
        // It is looked up before another one takes its place.
        _ if is_lost(&error) && !state.container_mut(what).lost => {
            state.container_mut(what).lost = true;
            let error = Error { kind: ErrorKind::Transient, ..error }.left_open();
            Err(error.with_next_state(&state)?)
        }
        _ if is_lost(&error) => make_anew(state, what, error),
        _ => Err(error),
    }
}

/// Discards a container that Instagram has lost, which a new one replaces, a few times.
fn make_anew(mut state: State, what: ContainerKind, error: Error) -> Result<Progress> {
    if state.remade >= REMADE_MAX {
        return Err(Error { kind: ErrorKind::Transient, ..error }.nothing_done());
    }
    state.remade += 1;
    state.discard(what);
    continue_from(&state)
}

/// Waits for a container that is not found, and makes it anew if it is not found for longer than Instagram needs.
fn not_found(
    session: &Session,
    mut state: State,
    what: ContainerKind,
    error: Error,
) -> Result<Progress> {
    let since = state.container_mut(what).since.unwrap_or(session.now);
    if session.now - since > FOUND_WITHIN {
        return make_anew(state, what, error);
    }
    poll_again(session, state, what)
}

/// Returns the step that follows once the post or its story is public under this id.
pub(super) fn published(mut state: State, what: ContainerKind, id: String) -> Result<Progress> {
    state.container_mut(what).published = Some(id.clone());
    Ok(continue_from(&state)?.with_remote_id(Some(id)))
}

/// Returns the step that follows once the first comment exists.
pub(super) fn commented(mut state: State, id: String) -> Result<Progress> {
    state.comment = Some(id.clone());
    Ok(continue_from(&state)?.with_remote_id(Some(id)))
}

/// Continues with this state, and marks the post as public once it is.
fn continue_from(state: &State) -> Result<Progress> {
    let mut progress = Progress::continue_with(state)?;
    if let Progress::Continue { public, .. } = &mut progress {
        *public = state.main.published.is_some();
    }
    Ok(progress)
}

/// Polls again with growing pauses, for as long as Instagram may take.
fn poll_again(session: &Session, mut state: State, what: ContainerKind) -> Result<Progress> {
    const PAUSES: [u64; 5] = [1, 2, 3, 5, 10];
    const LONGEST: u64 = 30;
    let making = state.container_mut(what);
    if session.now - making.since.unwrap_or(session.now) > PROCESSING_MAX {
        return Err(Error::transient("Instagram has not processed the post within 15 minutes."));
    }
    let place = usize::try_from(making.polls).unwrap_or(usize::MAX);
    making.polls += 1;
    let pause = PAUSES.get(place).copied().unwrap_or(LONGEST);
    Ok(continue_from(&state)?.after(Duration::from_secs(pause)))
}

/// Gives up a container that failed. Containers are valid for a day. One that is older than its processing may take was
/// prepared by an earlier attempt and is created again; otherwise the next call fails with the reason.
fn give_up(
    session: &Session,
    mut state: State,
    (what, file): (ContainerKind, usize),
    reason: String,
) -> Result<Progress> {
    let since: DateTime<Utc> = state.container_mut(what).since.unwrap_or(session.now);
    let is_old = session.now - since > PROCESSING_MAX;
    let may_pass = graph::is_fetch_failure(&failed_container(&reason))
        && state.fetched_again < graph::FETCHED_AGAIN_MAX;
    let story = what == ContainerKind::Story;
    state.broken = Some(FailedContainer { reason, since: session.now, story, file });
    if is_old || may_pass {
        state.restart();
    }
    if may_pass {
        state.fetched_again += 1;
        return Ok(continue_from(&state)?.after(graph::FETCH_PAUSE));
    }
    continue_from(&state)
}

/// Handles the refusal of a container: if Instagram could not fetch its file, the same call may succeed a moment later.
fn fetch_again(mut state: State, draft: &Draft, file: usize, error: Error) -> Result<Progress> {
    if graph::is_fetch_failure(&error) && state.fetched_again < graph::FETCHED_AGAIN_MAX {
        state.fetched_again += 1;
        return Ok(continue_from(&state)?.after(graph::FETCH_PAUSE));
    }
    Err(graph::naming_file(error, LABEL, draft, file))
}

/// Rewords the error of a part that was refused after the post became public.
fn after_publish_error(mut error: Error, part: &str) -> Error {
    // The post was made moments ago: what is not found yet will be.
    if error.is_not_found() {
        error.kind = ErrorKind::Transient;
    }
    error.message = format!("The post is public, but not its {part}: {}", error.message);
    error
}

fn file(draft: &Draft, index: usize) -> Result<&Media> {
    draft.media.get(index).ok_or_else(|| Error::media_rejected("A file of the post is missing."))
}
