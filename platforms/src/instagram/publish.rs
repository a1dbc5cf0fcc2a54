//! Publishing on Instagram, step by step.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::{
    Form,
    client::{self, ContainerStatus},
    container,
    error::{broken, is_not_ready},
    reconcile,
    settings::Settings,
    state::{Broken, Making, Next, State, What},
};
use crate::{Draft, Error, Kind, Media, Progress, Result, Session, Step, outcome::read_state};

/// The longest time Instagram may take to process a container.
const PROCESSING_MAX: TimeDelta = TimeDelta::minutes(15);
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
            return Err(broken(&given_up.reason));
        }
        state.restart();
    }
    match state.next(draft, &settings) {
        Next::CheckQuota => {
            if client::posts_left(session).await? == 0 {
                return Err(client::used_up());
            }
            state.may_post = true;
            Progress::go_on(&state)
        }
        Next::Item(index) => {
            let params = container::item(&settings, file(draft, index)?, index);
            let item = client::create_container(session, &params).await?;
            state.items.push(item.clone());
            state.main.since = Some(session.now);
            Ok(Progress::go_on(&state)?.naming(Some(item)))
        }
        Next::WaitItems => wait_items(session, state).await,
        Next::Create(what) => create(session, draft, &settings, state, what).await,
        Next::Wait(what, container) => wait(session, state, what, &container).await,
        Next::Publish(what, container) => commit(session, draft, state, what, &container).await,
        Next::Comment(media, text) => {
            let comment = client::comment(session, &media, &text).await;
            let id = comment.map_err(|error| not_said(error, "first comment"))?;
            commented(state, id)
        }
        Next::Permalink(id) => {
            // The post is public even if its address cannot be read.
            let url = client::permalink(session, &id).await.ok();
            Ok(Progress::Done(state.result(id, url)))
        }
    }
}

async fn create(
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    mut state: State,
    what: What,
) -> Result<Progress> {
    let params = match (what, Form::of(draft)) {
        (What::Story, _) => container::companion(file(draft, 0)?),
        (What::Main, Form::Carousel) => container::carousel(draft, settings, &state.items),
        (What::Main, _) => container::single(draft, settings, file(draft, 0)?),
    };
    let container = client::create_container(session, &params).await?;
    let since = Some(session.now);
    *state.making(what) = Making { container: Some(container.clone()), since, ..Making::default() };
    Ok(Progress::go_on(&state)?.naming(Some(container)))
}

async fn wait_items(session: &Session, mut state: State) -> Result<Progress> {
    while let Some(item) = state.items.get(state.items_ready) {
        match client::status(session, item).await? {
            ContainerStatus::Finished | ContainerStatus::Published => state.items_ready += 1,
            ContainerStatus::InProgress => return again(session, state, What::Main),
            ContainerStatus::Dead(reason) => return give_up(session, state, What::Main, reason),
        }
    }
    Progress::go_on(&state)
}

async fn wait(
    session: &Session,
    mut state: State,
    what: What,
    container: &str,
) -> Result<Progress> {
    match client::status(session, container).await? {
        ContainerStatus::Finished | ContainerStatus::Published => {
            state.making(what).ready = true;
            told(&state)
        }
        ContainerStatus::InProgress => again(session, state, what),
        ContainerStatus::Dead(reason) => give_up(session, state, what, reason),
    }
}

async fn commit(
    session: &Session,
    draft: &Draft,
    mut state: State,
    what: What,
    container: &str,
) -> Result<Progress> {
    let error = match client::publish(session, container).await {
        Ok(id) => return published(state, what, id),
        Err(error) => error,
    };
    let about_container =
        matches!(error.kind, Kind::Rejected | Kind::MediaRejected | Kind::Transient);
    if error.reply.is_none() || !about_container {
        return Err(error);
    }
    // The container's status may explain the refusal.
    match client::status(session, container).await {
        Ok(ContainerStatus::Dead(reason)) => give_up(session, state, what, reason),
        Ok(ContainerStatus::Published) => {
            let since = state.making(what).since.unwrap_or(session.now);
            match reconcile::find(session, draft, what, since).await? {
                Some(id) => published(state, what, id),
                None => Err(Error::new(Kind::Ambiguous, "The post is public, but not listed yet.")),
            }
        }
        _ if is_not_ready(&error) => {
            state.making(what).ready = false;
            again(session, state, what)
        }
        _ => Err(error),
    }
}

/// Returns the step that follows once the post or its story is public under this id.
pub(super) fn published(mut state: State, what: What, id: String) -> Result<Progress> {
    state.making(what).published = Some(id.clone());
    Ok(told(&state)?.naming(Some(id)))
}

/// Returns the step that follows once the first comment exists.
pub(super) fn commented(mut state: State, id: String) -> Result<Progress> {
    state.comment = Some(id.clone());
    Ok(told(&state)?.naming(Some(id)))
}

/// Continues with this state, and marks the post as public once it is.
fn told(state: &State) -> Result<Progress> {
    let mut progress = Progress::go_on(state)?;
    if let Progress::Continue { public, .. } = &mut progress {
        *public = state.main.published.is_some();
    }
    Ok(progress)
}

/// Polls again with growing pauses, for as long as Instagram may take.
fn again(session: &Session, mut state: State, what: What) -> Result<Progress> {
    const PAUSES: [u64; 5] = [1, 2, 3, 5, 10];
    const LONGEST: u64 = 30;
    let making = state.making(what);
    if session.now - making.since.unwrap_or(session.now) > PROCESSING_MAX {
        return Err(Error::transient("Instagram has not processed the post within 15 minutes."));
    }
    let place = usize::try_from(making.polls).unwrap_or(usize::MAX);
    making.polls += 1;
    let pause = PAUSES.get(place).copied().unwrap_or(LONGEST);
    Ok(told(&state)?.after(Duration::from_secs(pause)))
}

/// Gives up a container that failed. Containers are valid for a day. One that is older than its processing may take was
/// prepared by an earlier attempt and is created again; otherwise the next call fails with the reason.
fn give_up(session: &Session, mut state: State, what: What, reason: String) -> Result<Progress> {
    let since: DateTime<Utc> = state.making(what).since.unwrap_or(session.now);
    let is_old = session.now - since > PROCESSING_MAX;
    state.broken = Some(Broken { reason, since: session.now, story: what == What::Story });
    if is_old {
        state.restart();
    }
    told(&state)
}

/// Rewords the error of a part that was refused after the post became public.
fn not_said(mut error: Error, part: &str) -> Error {
    error.message = format!("The post is public, but not its {part}: {}", error.message);
    error
}

fn file(draft: &Draft, index: usize) -> Result<&Media> {
    draft.media.get(index).ok_or_else(|| Error::media_rejected("A file of the post is missing."))
}
