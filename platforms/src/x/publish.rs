//! Publishing on X, step by step.

use std::time::Duration;

use chrono::TimeDelta;
use serde_json::Value;

use super::{
    IMAGE_BYTES_MAX, SPEC, client,
    client::{NewTweet, TweetMedia, TweetPoll, TweetReply, Upload},
    is_chain, segments,
    settings::Settings,
    state::{ChunkedUpload, NextStep, State, Uploaded},
};
use crate::{
    Draft, Error, Media, Progress, PublishedPart, PublishedPost, Result, Session, Step, Warning,
    kept, outcome::read_state, settings::is_ai_generated, text::x_units,
};

/// The longest time X may take to process a file.
const PROCESSING_MAX: TimeDelta = TimeDelta::minutes(15);
/// The time to wait between two reads of its status, unless X says so.
const POLL: Duration = Duration::from_secs(5);
/// Pause between two posts of a chain.
const BETWEEN_SEGMENTS: Duration = Duration::from_secs(1);

/// The longest text that X shows whole everywhere, in its own units.
const SHOWN_WHOLE: usize = 280;

/// Returns the step of the next call.
pub(super) fn step(draft: &Draft, state: Option<&Value>) -> Step {
    let settings = draft.settings::<Settings>().unwrap_or_default();
    read_state::<State>(state).unwrap_or_default().next(draft, &settings).step(is_chain(draft))
}

/// Makes the next call.
pub(super) async fn publish(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
) -> Result<Progress> {
    let settings: Settings = draft.settings()?;
    let mut state: State = read_state(state.as_ref())?;
    match state.next(draft, &settings) {
        NextStep::Image(index) => {
            let media = file(draft, index)?;
            let bytes = media.read(IMAGE_BYTES_MAX).await?;
            let upload = client::upload_image(session, media, bytes).await?;
            upload_done(state, upload.id)
        }
        NextStep::Initialize(index) => {
            let media = file(draft, index)?;
            let total =
                media.bytes.ok_or_else(|| Error::transient("The file's size is not known yet."))?;
            let id = client::initialize(session, media, total).await?.id;
            state.upload = Some(ChunkedUpload { id: id.clone(), total, sent: 0, finalized: None });
            Ok(Progress::continue_with(&state)?.with_remote_id(Some(id)))
        }
        NextStep::Append(index) => append(session, file(draft, index)?, state).await,
        NextStep::Finalize(_) => {
            let id = pieces(&mut state)?.id.clone();
            let upload = client::finalize(session, &id).await?;
            pieces(&mut state)?.finalized = Some(session.now);
            processed(session, state, upload)
        }
        NextStep::Status(_) => {
            let id = pieces(&mut state)?.id.clone();
            let upload = client::status(session, &id).await?;
            processed(session, state, upload)
        }
        NextStep::Describe(index, text) => {
            let uploaded = state.media.get_mut(index).ok_or_else(unexpected_state)?;
            client::describe(session, &uploaded.id, &text).await?;
            uploaded.described = true;
            Progress::continue_with(&state)
        }
        NextStep::Tweet(index) => tweet(session, draft, &settings, state, index).await,
    }
}

async fn append(session: &Session, media: &Media, mut state: State) -> Result<Progress> {
    let upload = pieces(&mut state)?;
    let start = upload.sent * upload.size();
    let end = (start + upload.size()).min(upload.total);
    let piece = media.read_range(start..end).await?;
    client::append(session, &upload.id, upload.sent, piece).await?;
    upload.sent += 1;
    Progress::continue_with(&state)
}

/// Returns the step that follows from the status of a file.
fn processed(session: &Session, mut state: State, upload: Upload) -> Result<Progress> {
    let Some(info) = &upload.processing_info else {
        state.upload = None;
        return upload_done(state, upload.id);
    };
    match info.state.as_str() {
        "succeeded" => {
            state.upload = None;
            upload_done(state, upload.id)
        }
        "failed" => Err(Error::media_rejected("X could not process the file.").with_reply(
            200,
            None,
            Some(info.reason()),
        )),
        _ => {
            let since = pieces(&mut state)?.finalized.unwrap_or(session.now);
            if session.now - since > PROCESSING_MAX {
                return Err(Error::transient("X has not processed the file within 15 minutes."));
            }
            let pause = info.check_after_secs.map_or(POLL, |secs| Duration::from_secs(secs.max(1)));
            Ok(Progress::continue_with(&state)?.after(pause))
        }
    }
}

fn upload_done(mut state: State, id: String) -> Result<Progress> {
    state.media.push(Uploaded { id: id.clone(), described: false });
    Ok(Progress::continue_with(&state)?.with_remote_id(Some(id)))
}

async fn tweet(
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    mut state: State,
    index: usize,
) -> Result<Progress> {
    let texts = segments(draft);
    let text = texts.get(index).ok_or_else(unexpected_state)?;
    let tweet = new_tweet(draft, settings, &state, text);
    let made = client::tweet(session, &tweet).await?;
    state.warnings.extend(lost(text, &made.text));
    published(session, draft, state, made.id)
}

/// Returns the warning about a text that X shows otherwise than it was sent. A long one is cut where X shows it beside others,
/// which says nothing of what it keeps.
fn lost(sent: &str, shown: &str) -> Option<Warning> {
    let is_short = x_units(sent) <= SHOWN_WHOLE;
    kept::warning(&SPEC, "caption", SPEC.alterations.text, (sent, shown)).filter(|_| is_short)
}

fn new_tweet<'a>(
    draft: &'a Draft,
    settings: &'a Settings,
    state: &'a State,
    text: &'a str,
) -> NewTweet<'a> {
    if let Some(last) = state.published.last() {
        let reply = Some(TweetReply { in_reply_to_tweet_id: last });
        return NewTweet { text, reply, ..NewTweet::default() };
    }
    let media_ids: Vec<_> = state.media.iter().map(|one| one.id.as_str()).collect();
    let poll = settings.poll.as_ref();
    NewTweet {
        text,
        media: (!media_ids.is_empty()).then_some(TweetMedia { media_ids }),
        poll: poll.map(|it| TweetPoll { options: &it.options, duration_minutes: it.minutes() }),
        reply: None,
        // Everyone may reply by default; X has no value for it.
        reply_settings: settings.reply_settings.as_deref().filter(|who| *who != "everyone"),
        made_with_ai: is_ai_generated(draft),
        paid_partnership: settings.paid_partnership,
    }
}

/// Returns the step that follows once the current post is public under this id.
pub(super) fn published(
    session: &Session,
    draft: &Draft,
    mut state: State,
    id: String,
) -> Result<Progress> {
    state.published.push(id.clone());
    if state.published.len() < segments(draft).len() {
        let progress = Progress::continue_with(&state)?.after(BETWEEN_SEGMENTS);
        return Ok(progress.with_remote_id(Some(id)).mark_public());
    }
    let mut ids = std::mem::take(&mut state.published).into_iter();
    let first = ids.next().ok_or_else(unexpected_state)?;
    let address = |id: &str| {
        let path = format!("/{}/status/{id}", session.account.username);
        session.public_url("https://x.com", &path)
    };
    let parts = (2..).zip(ids).map(|(number, id)| PublishedPart {
        name: format!("segment_{number}"),
        url: address(&id),
        id,
    });
    let url = address(&first);
    Ok(Progress::Done(PublishedPost {
        id: first,
        url,
        parts: parts.collect(),
        warnings: state.warnings,
        ..PublishedPost::default()
    }))
}

fn file(draft: &Draft, index: usize) -> Result<&Media> {
    draft.media.get(index).ok_or_else(|| Error::media_rejected("A file of the post is missing."))
}

fn pieces(state: &mut State) -> Result<&mut ChunkedUpload> {
    state.upload.as_mut().ok_or_else(unexpected_state)
}

fn unexpected_state() -> Error {
    Error::rejected("The stored progress of the post does not fit its content.")
}
