//! Publishing on Telegram: one call after the other.

use std::time::Duration;

use serde_json::Value;

use super::{
    SPEC, client,
    credentials::Credentials,
    error::messages_sent_before,
    message::{self, ALBUM, Call},
    settings::Settings,
    state::{Sent, State},
};
use crate::{
    Draft, Error, ErrorKind, Progress, PublishedPost, Result, Session, Step, outcome::read_state,
};

/// The pause between two messages: Telegram asks for about one per second in a chat.
const BETWEEN_MESSAGES: Duration = Duration::from_secs(1);

/// Returns the step of the next call.
pub(super) fn step(draft: &Draft, state: Option<&Value>) -> Step {
    let name = settings_and_state(draft, state)
        .ok()
        .and_then(|(settings, state)| next(draft, &settings, &state).map(|call| call.step));
    Step::commit(name.unwrap_or("send_message"))
}

/// Makes the next call.
pub(super) async fn publish(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
) -> Result<Progress> {
    let (settings, mut state) = settings_and_state(draft, state.as_ref())?;
    let credentials = Credentials::of(session).map_err(as_reconnect)?;
    let call = next(draft, &settings, &state)
        .ok_or_else(|| Error::rejected("The post has neither text, nor media, nor a poll."))?;
    let step = call.step.to_owned();
    let sent = match client::post(session, &credentials, call, SPEC.commit_deadline).await {
        Err(error) if step == ALBUM => return album_refused(draft, state, error),
        sent => sent?,
    };
    let ids = sent.ids();
    if ids.is_empty() {
        return Err(Error::new(ErrorKind::Ambiguous, "Telegram answered without a message id."));
    }
    let remote_id = ids.first().map(i64::to_string);
    state.sent.push(Sent { step, ids });
    if next(draft, &settings, &state).is_some() {
        let state = state.write();
        return Ok(Progress::Continue { state, after: BETWEEN_MESSAGES, remote_id, public: true });
    }
    done(session, &state)
}

/// Handles the refusal of an album, of which Telegram sends one message after the other: those before the one that it
/// names are out (<https://github.com/rubenlagus/TelegramBots/issues/1520>). What is left goes out in a call of its own,
/// after the time that the sentence names.
fn album_refused(draft: &Draft, mut state: State, error: Error) -> Result<Progress> {
    let sent = messages_sent_before(&error).unwrap_or(0);
    if sent == 0 || state.album_sent + sent >= draft.media.len() {
        return Err(told_in_part(draft, &state, error));
    }
    state.album_sent += sent;
    let after = error.retry_after.unwrap_or(BETWEEN_MESSAGES);
    Ok(Progress::Continue { state: state.write(), after, remote_id: None, public: true })
}

/// Says of an album that cannot go on how much of it is out.
fn told_in_part(draft: &Draft, state: &State, mut error: Error) -> Error {
    if state.album_sent > 0 {
        let (out, all) = (state.album_sent, draft.media.len());
        error.message = format!("{out} of {all} files are public. {}", error.message);
    }
    error
}

fn settings_and_state(draft: &Draft, state: Option<&Value>) -> Result<(Settings, State)> {
    Ok((draft.settings()?, read_state(state)?))
}

fn next<'a>(draft: &'a Draft, settings: &Settings, state: &State) -> Option<Call<'a>> {
    message::calls(draft, settings, state.album_sent).into_iter().nth(state.sent.len())
}

/// Converts an error of stored credentials, which were valid when they were stored.
fn as_reconnect(mut error: Error) -> Error {
    error.kind = ErrorKind::Reconnect;
    error
}

fn done(session: &Session, state: &State) -> Result<Progress> {
    let id = state
        .first_id()
        .ok_or_else(|| Error::rejected("The stored progress of the post cannot be read."))?;
    let (url, parts) = (permalink(session, id), state.further_parts(|id| permalink(session, id)));
    Ok(Progress::Done(PublishedPost { id: id.to_string(), url, parts, ..PublishedPost::default() }))
}

/// Returns the address of a message. Only channels and supergroups have addresses; without a public name, only members
/// can open them.
fn permalink(session: &Session, message_id: i64) -> Option<String> {
    let place = match session.account.meta_str("chat_username") {
        Some(name) => name.to_owned(),
        None => format!("c/{}", session.account.remote_id.strip_prefix("-100")?),
    };
    session.public_url("https://t.me", &format!("/{place}/{message_id}"))
}
