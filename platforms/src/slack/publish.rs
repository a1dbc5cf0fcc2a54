//! The steps of a message.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::{
    FILE_BYTES_MAX,
    client::{self, File, Message},
    settings::Settings,
    state::{NextStep, ReservedUpload, State},
};
use crate::{
    Draft, Error, ErrorKind, Likeness, Listing, Media, Progress, ReconcileOutcome, Result, Session,
    Step, outcome::read_state, recent_posts, settings::alt_text,
};

/// Type of the metadata that a message carries.
const EVENT: &str = "fanfare_post";
/// The time to wait between two attempts to find the timestamp of a message with files, first and later, and how many to
/// make: Slack shows a file's share within seconds, or minutes late.
const POLL: Duration = Duration::from_secs(2);
const LATER_POLL: Duration = Duration::from_secs(10);
const EARLY_POLLS: u32 = 15;
const POLLS_MAX: u32 = EARLY_POLLS + 27;

/// Returns the step of the next call.
pub fn step(draft: &Draft, state: Option<&Value>) -> Step {
    read_state::<State>(state).unwrap_or_default().next(draft).step()
}

/// Makes the next call.
pub async fn publish(session: &Session, draft: &Draft, state: Option<Value>) -> Result<Progress> {
    let settings: Settings = draft.settings()?;
    let mut state: State = read_state(state.as_ref())?;
    match state.next(draft) {
        NextStep::Join => {
            join(session).await?;
            state.joined = true;
        }
        NextStep::Reserve(index) => {
            let media = file(draft, index)?;
            let length = match media.bytes {
                Some(bytes) => bytes,
                None => media.read(FILE_BYTES_MAX).await?.len() as u64,
            };
            let alt = alt_text(&settings.media_alt_texts, index);
            let place = client::request_upload_url(session, &media.filename, length, alt).await?;
            state.place =
                Some(ReservedUpload { upload_url: place.upload_url, file_id: place.file_id });
        }
        NextStep::Upload(index, place) => {
            let media = file(draft, index)?;
            let bytes = media.read(FILE_BYTES_MAX).await?;
            client::upload(session, &place.upload_url, &media.mime, bytes).await?;
            let title = Some(media.filename.clone()).filter(|name| !name.is_empty());
            state.files.push(File { id: place.file_id, title });
            state.place = None;
        }
        NextStep::Post => {
            let ts = client::post_message(session, &message(session, draft, &settings)).await?;
            return Ok(done(session, &ts));
        }
        NextStep::Complete => {
            client::complete(session, &upload(session, draft, &settings, &state)).await?;
            state.completed = Some(0);
            return Ok(public(Progress::continue_with(&state)?, &state));
        }
        NextStep::FindMessage(asked) => return find_message(session, state, asked).await,
    }
    Progress::continue_with(&state)
}

fn file(draft: &Draft, index: usize) -> Result<&Media> {
    draft.media.get(index).ok_or_else(|| Error::media_rejected("A file of the post is missing."))
}

fn channel(session: &Session) -> &str {
    session.account.meta_str("channel_id").unwrap_or_default()
}

/// Joins a public channel. The bot must be invited to a private one; posting shows whether it was.
async fn join(session: &Session) -> Result<()> {
    let reason = |error: &Error| error.reply.as_ref().and_then(|reply| reply.code.clone());
    match client::join(session, channel(session)).await {
        Err(error) if error.kind == ErrorKind::Rejected && reason(&error).is_some() => Ok(()),
        other => other,
    }
}

/// Escapes a text so that nothing in it is a link, a mention or a command.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns the message, with the post's key as metadata.
fn message(session: &Session, draft: &Draft, settings: &Settings) -> Value {
    let key = json!({"event_type": EVENT, "event_payload": {"key": draft.key}});
    let mut message = json!({"channel": channel(session), "metadata": key});
    if settings.markdown {
        message["markdown_text"] = json!(draft.caption);
    } else {
        message["text"] = json!(escaped(&draft.caption));
    }
    if !settings.blocks.is_empty() {
        message["blocks"] = json!(settings.blocks);
    }
    let flags = [("unfurl_links", settings.unfurl_links), ("unfurl_media", settings.unfurl_media)];
    for (name, flag) in flags {
        if let Some(flag) = flag {
            message[name] = json!(flag);
        }
    }
    if let Some(thread) = &settings.thread_ts {
        message["thread_ts"] = json!(thread);
        message["reply_broadcast"] = json!(settings.reply_broadcast);
    }
    message
}

/// Returns the call that creates a message with the uploaded files.
fn upload(session: &Session, draft: &Draft, settings: &Settings, state: &State) -> Value {
    let mut message = json!({"files": state.files, "channel_id": channel(session)});
    if !settings.blocks.is_empty() {
        message["blocks"] = json!(settings.blocks);
    } else if !draft.caption.is_empty() {
        message["initial_comment"] = json!(escaped(&draft.caption));
    }
    if let Some(thread) = &settings.thread_ts {
        message["thread_ts"] = json!(thread);
    }
    message
}

/// Marks the post as public once the message exists, even if its timestamp is not known yet.
fn public(progress: Progress, state: &State) -> Progress {
    let first = state.files.first().map(|file| file.id.clone());
    match progress.with_remote_id(first) {
        Progress::Continue { state, after, remote_id, .. } => {
            Progress::Continue { state, after, remote_id, public: true }
        }
        done => done,
    }
}

/// Looks for the timestamp of a message with files, which Slack creates a moment after the call. If it is never found,
/// the id of the first file is used.
async fn find_message(session: &Session, mut state: State, asked: u32) -> Result<Progress> {
    let first = state.files.first().map(|file| file.id.clone()).unwrap_or_default();
    let found = client::shared_as(session, &first, channel(session)).await.unwrap_or_default();
    if let Some(ts) = found {
        return Ok(done(session, &ts));
    }
    if asked >= POLLS_MAX {
        return Ok(Progress::done(first, None));
    }
    state.completed = Some(asked + 1);
    let pause = if asked < EARLY_POLLS { POLL } else { LATER_POLL };
    Ok(public(Progress::continue_with(&state)?, &state).after(pause))
}

/// Looks in the channel, or in the thread, for the message that carries the post's key or its files.
pub async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let settings: Settings = draft.settings()?;
    let state: State = read_state(state.as_ref())?;
    let slack = TimeDelta::minutes(10);
    let second = |time: DateTime<Utc>| format!("{}.000000", time.timestamp());
    let within =
        client::Window { oldest: second(sent_at - slack), latest: second(sent_at + slack) };
    let key = draft.key.to_string();
    let is_ours = |message: &Message| {
        let carries = message.metadata["event_payload"]["key"] == key.as_str();
        // Also a message that has only some of them.
        let has_file =
            || message.files.iter().any(|file| state.files.iter().any(|ours| ours.id == file.id));
        if carries || has_file() { Likeness::Same } else { Likeness::Different }
    };
    let channel = channel(session);
    let looked = if let Some(thread) = &settings.thread_ts {
        let ask = |next| client::replies(session, channel, thread, &within, next);
        recent_posts::search(sent_at, is_ours, ask).await?
    } else {
        let ask = |next| client::history(session, channel, &within, next);
        recent_posts::search(sent_at, is_ours, ask).await?
    };
    let listing = looked.listing(|message| Ok((message.ts.clone(), done(session, &message.ts))))?;
    // The key and the files are those of this message alone.
    Ok(match listing.candidates.into_iter().next() {
        Some(found) => ReconcileOutcome::Committed(found.progress),
        None => Listing { candidates: Vec::new(), is_whole: listing.is_whole }.into(),
    })
}

/// Returns the result for a message: its timestamp is its id and part of its address.
fn done(session: &Session, ts: &str) -> Progress {
    let home = session.account.meta_str("url").unwrap_or_default();
    let path = format!("/archives/{}/p{}", channel(session), ts.replace('.', ""));
    Progress::done(ts, session.public_url(home, &path))
}
