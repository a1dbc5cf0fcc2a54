//! Publishing on Threads, step by step.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::{
    SHARE, SPEC,
    client::{self, ContainerStatus},
    container::{self, Params},
    error::{failed_container, is_too_early},
    settings::Settings,
    state::{Stage, State},
};
use crate::{
    Draft, Error, ErrorKind, Progress, Result, Session, Step, graph, oauth, outcome::read_state,
};

/// The network's name, for people.
const LABEL: &str = "Threads";

/// The interval at which the status of a container is read.
const POLL: Duration = Duration::from_secs(3);
/// The longest time Threads may take to process a container.
const PROCESSING_MAX: TimeDelta = TimeDelta::minutes(10);
/// The time to wait before a container that was published too early is published again, and how often.
const EARLY_PAUSE: Duration = Duration::from_secs(5);
const EARLY_MAX: u32 = 12;
/// The longest time for which a container that was just made may not be found.
const FOUND_WITHIN: TimeDelta = TimeDelta::minutes(1);
/// The number of containers that take the place of one that Threads has lost.
const REMADE_MAX: u32 = 3;
/// Pause between two segments.
const BETWEEN_SEGMENTS: Duration = Duration::from_secs(2);
/// A container that failed longer ago than this belongs to an earlier attempt, and a new one is created.
const EARLIER_TRY: TimeDelta = TimeDelta::seconds(20);

/// Returns the step of the next call.
pub(super) fn step(draft: &Draft, state: Option<&Value>) -> Step {
    let mut state: State = read_state(state).unwrap_or_default();
    if matches!(state.stage, Stage::Broken { .. }) {
        state.restart();
    }
    let number = container::is_chain(draft).then(|| state.segment() + 1);
    let named = |name: &str| match number {
        Some(number) => format!("{name}_segment_{number}"),
        None => name.to_owned(),
    };
    match &state.stage {
        Stage::Create | Stage::Broken { .. } if is_carousel(draft, &state) => {
            Step::prepare(format!("create_item_{}", state.items.len() + 1))
        }
        Stage::Create | Stage::Broken { .. } => Step::prepare(match number {
            Some(_) => named("create"),
            None => "create_container".to_owned(),
        }),
        Stage::Items { .. } => Step::prepare("wait_items"),
        Stage::Carousel => Step::prepare("create_carousel"),
        Stage::Wait { .. } => Step::prepare(match number {
            Some(_) => named("wait"),
            None => "wait_container".to_owned(),
        }),
        Stage::Publish { .. } => Step::commit(named("publish")),
        Stage::Permalink => Step::confirm("permalink"),
    }
}

/// Makes the next call.
pub(super) async fn publish(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
) -> Result<Progress> {
    let mut state: State = read_state(state.as_ref())?;
    if let Stage::Broken { reason, since, file } = &state.stage {
        if session.now - *since <= EARLIER_TRY {
            return Err(graph::naming_file(failed_container(reason), LABEL, draft, *file));
        }
        state.restart();
    }
    match std::mem::take(&mut state.stage) {
        Stage::Create | Stage::Broken { .. } => create(session, draft, state).await,
        Stage::Items { since, ready } => wait_items(session, state, since, ready).await,
        Stage::Carousel => create_carousel(session, draft, state).await,
        Stage::Wait { container, since } => wait(session, state, container, since).await,
        Stage::Publish { container, since, early } => {
            commit(session, draft, state, container, since, early).await
        }
        Stage::Permalink => {
            // The post is public even if its address cannot be read.
            let mut urls = Vec::with_capacity(state.published.len());
            for id in &state.published {
                urls.push(client::permalink(session, id).await.ok());
            }
            state.result(urls).map(Progress::Done)
        }
    }
}

fn is_carousel(draft: &Draft, state: &State) -> bool {
    state.segment() == 0 && draft.media.len() > 1
}

/// Returns the settings of the next container, without what the account's owner has not permitted.
fn settings(session: &Session, draft: &Draft, state: &mut State) -> Result<Settings> {
    let mut settings: Settings = draft.settings()?;
    let granted = oauth::granted_permissions(&session.secrets);
    if settings.share().is_some() && !granted.is_empty() && !granted.contains(&SHARE) {
        state.unshared = true;
    }
    if state.unshared {
        settings.without_share();
    }
    Ok(settings)
}

async fn create(session: &Session, draft: &Draft, mut state: State) -> Result<Progress> {
    let settings = settings(session, draft, &mut state)?;
    if is_carousel(draft, &state) {
        let index = state.items.len();
        let params = container::item(draft, &settings, index).ok_or_else(no_segment_left)?;
        let item = match client::create_container(session, &params).await {
            Ok(item) => item,
            Err(error) => return fetch_again(state, draft, index, error),
        };
        state.items.push(item.clone());
        let last = state.items.len() == draft.media.len();
        let since = session.now;
        state.stage = if last { Stage::Items { since, ready: 0 } } else { Stage::Create };
        let after = if last { POLL } else { Duration::ZERO };
        return Ok(continue_with(&state, after, Some(item)));
    }
    let text = text(draft, &state)?;
    let (params, after) = match state.published.last() {
        Some(parent) => (container::reply(&text, parent), Duration::ZERO),
        None if draft.media.is_empty() => {
            (container::first(draft, &settings, &text), Duration::ZERO)
        }
        None => (container::first(draft, &settings, &text), POLL),
    };
    make_container(session, draft, state, (&params, after)).await
}

async fn create_carousel(session: &Session, draft: &Draft, mut state: State) -> Result<Progress> {
    let settings = settings(session, draft, &mut state)?;
    let text = text(draft, &state)?;
    let params = container::carousel(draft, &settings, &text, &state.items);
    make_container(session, draft, state, (&params, POLL)).await
}

async fn make_container(
    session: &Session,
    draft: &Draft,
    mut state: State,
    (params, after): (&Params, Duration),
) -> Result<Progress> {
    let is_shared = params.iter().any(|(name, _)| name.starts_with("crossreshare"));
    let container = match client::create_container(session, params).await {
        // The post goes out on Threads whatever keeps it from Instagram. Nothing was made: the next call leaves it out.
        Err(error) if is_shared && error.kind == ErrorKind::PermissionMissing => {
            state.unshared = true;
            state.stage = if state.items.is_empty() { Stage::Create } else { Stage::Carousel };
            return Ok(continue_with(&state, Duration::ZERO, None));
        }
        Err(error) => return fetch_again(state, draft, 0, error),
        Ok(container) => container,
    };
    state.stage = Stage::Wait { container: container.clone(), since: session.now };
    Ok(continue_with(&state, after, Some(container)))
}

async fn wait_items(
    session: &Session,
    mut state: State,
    since: DateTime<Utc>,
    ready: usize,
) -> Result<Progress> {
    for (index, item) in state.items.iter().enumerate().skip(ready) {
        let status = match client::status(session, item).await {
            Err(error) if error.is_not_found() => {
                let waiting = Stage::Items { since, ready: index };
                return not_found(session, state, waiting, since, error);
            }
            status => status?,
        };
        match status {
            ContainerStatus::Finished | ContainerStatus::Published => {}
            ContainerStatus::InProgress => {
                check_deadline(session, since)?;
                state.stage = Stage::Items { since, ready: index };
                return Ok(continue_with(&state, POLL, None));
            }
            ContainerStatus::Dead(reason) => {
                return Ok(give_up(session, state, (reason, index), since));
            }
        }
    }
    state.stage = Stage::Carousel;
    Ok(continue_with(&state, Duration::ZERO, None))
}

async fn wait(
    session: &Session,
    mut state: State,
    container: String,
    since: DateTime<Utc>,
) -> Result<Progress> {
    let status = match client::status(session, &container).await {
        Err(error) if error.is_not_found() => {
            return not_found(session, state, Stage::Wait { container, since }, since, error);
        }
        status => status?,
    };
    let after = match status {
        ContainerStatus::Finished | ContainerStatus::Published => {
            state.stage = Stage::Publish { container, since, early: 0 };
            Duration::ZERO
        }
        ContainerStatus::InProgress => {
            check_deadline(session, since)?;
            state.stage = Stage::Wait { container, since };
            POLL
        }
        ContainerStatus::Dead(reason) => return Ok(give_up(session, state, (reason, 0), since)),
    };
    Ok(continue_with(&state, after, None))
}

async fn commit(
    session: &Session,
    draft: &Draft,
    mut state: State,
    container: String,
    since: DateTime<Utc>,
    early: u32,
) -> Result<Progress> {
    let error = match client::publish(session, &container, SPEC.commit_deadline).await {
        Ok(id) => return Ok(published(draft, state, id)),
        Err(error) => error,
    };
    if error.reply.is_none() || error.kind == ErrorKind::Server {
        return Err(error);
    }
    let about_container =
        matches!(error.kind, ErrorKind::Rejected | ErrorKind::MediaRejected | ErrorKind::Transient);
    // The container's status may explain the refusal, or show that there was none: posts went out although their call
    // was refused with code 10, https://github.com/tirthpatell/threads-go (1.9.3).
    match client::status(session, &container).await {
        Ok(ContainerStatus::Dead(reason)) if about_container => {
            Ok(give_up(session, state, (reason, 0), since))
        }
        Ok(ContainerStatus::Dead(_)) => Err(error.nothing_done()),
        Ok(ContainerStatus::Published) => {
            Err(Error::new(ErrorKind::Ambiguous, "The post is public; its id is not known yet."))
        }
        _ if is_too_early(&error) && early < EARLY_MAX => {
            state.stage = Stage::Publish { container, since, early: early + 1 };
            Ok(continue_with(&state, EARLY_PAUSE, None))
        }
        // It is looked up before another one takes its place.
        _ if is_too_early(&error) && early == EARLY_MAX => {
            state.stage = Stage::Publish { container, since, early: early + 1 };
            Err(error.with_next_state(&state)?)
        }
        _ if is_too_early(&error) => make_anew(state, error),
        _ => Err(error),
    }
}

/// Discards a container that Threads has lost, which a new one replaces, a few times. Threads has answered 24/4279009 for
/// good after FINISHED (<https://github.com/gitroomhq/postiz-app/pull/2047>).
fn make_anew(mut state: State, error: Error) -> Result<Progress> {
    if state.remade >= REMADE_MAX {
        return Err(error.nothing_done());
    }
    state.restart();
    state.remade += 1;
    Ok(continue_with(&state, Duration::ZERO, None))
}

/// Waits for a container that is not found, and makes it anew if it is not found for longer than Threads needs.
fn not_found(
    session: &Session,
    mut state: State,
    stage: Stage,
    since: DateTime<Utc>,
    error: Error,
) -> Result<Progress> {
    let error = Error { kind: ErrorKind::Transient, ..error };
    if session.now - since > FOUND_WITHIN {
        return make_anew(state, error);
    }
    state.stage = stage;
    Ok(continue_with(&state, POLL, None))
}

/// Returns the step that follows once the current segment is public under this id.
pub(super) fn published(draft: &Draft, mut state: State, id: String) -> Progress {
    state.published.push(id.clone());
    state.restart();
    let more = state.segment() < container::segments(draft).len();
    let after = if more { BETWEEN_SEGMENTS } else { Duration::ZERO };
    if !more {
        state.stage = Stage::Permalink;
    }
    Progress::Continue { state: state.write(), after, remote_id: Some(id), public: true }
}

/// Gives up a container that failed. Containers are valid for a day. One that is older than its processing may take was
/// prepared by an earlier attempt and is created again; otherwise the next call fails with the reason.
fn give_up(
    session: &Session,
    mut state: State,
    (reason, file): (String, usize),
    since: DateTime<Utc>,
) -> Progress {
    let mut after = Duration::ZERO;
    if graph::is_fetch_failure(&failed_container(&reason))
        && state.fetched_again < graph::FETCHED_AGAIN_MAX
    {
        state.fetched_again += 1;
        state.restart();
        after = graph::FETCH_PAUSE;
    } else if session.now - since > PROCESSING_MAX {
        state.restart();
    } else {
        state.stage = Stage::Broken { reason, since: session.now, file };
    }
    continue_with(&state, after, None)
}

/// Handles the refusal of a container: if Threads could not fetch its file, the same call may succeed a moment later.
fn fetch_again(mut state: State, draft: &Draft, file: usize, error: Error) -> Result<Progress> {
    if graph::is_fetch_failure(&error) && state.fetched_again < graph::FETCHED_AGAIN_MAX {
        state.fetched_again += 1;
        return Ok(continue_with(&state, graph::FETCH_PAUSE, None));
    }
    Err(graph::naming_file(error, LABEL, draft, file))
}

fn check_deadline(session: &Session, since: DateTime<Utc>) -> Result<()> {
    if session.now - since > PROCESSING_MAX {
        return Err(Error::transient("Threads has not processed the post within 10 minutes."));
    }
    Ok(())
}

fn text(draft: &Draft, state: &State) -> Result<String> {
    container::segments(draft).into_iter().nth(state.segment()).ok_or_else(no_segment_left)
}

fn no_segment_left() -> Error {
    Error::rejected("The stored progress of the post does not fit its content.")
}

fn continue_with(state: &State, after: Duration, remote_id: Option<String>) -> Progress {
    let public = !state.published.is_empty();
    Progress::Continue { state: state.write(), after, remote_id, public }
}
