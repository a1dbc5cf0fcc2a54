//! The steps of a video: it exists after its last byte; thumbnail and playlist follow, and if they fail the video does
//! not.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::{
    client::{self, UploadProgress},
    content,
    error::{failed, is_gone, is_misplaced},
    settings::Settings,
    state::{CHUNK, Stage, State, chunk_end},
    uploads::{self, Upload},
};
use crate::{
    Draft, Error, ErrorKind, Progress, PublishedPart, PublishedPost, ReconcileOutcome, Result,
    Session, Step, Warning, outcome::read_state, page, recent_posts, text::likeness,
    visibility::Difference,
};

/// The number of times an upload whose address no longer works is restarted.
const RESTARTS_MAX: u32 = 2;
/// The number of times a stage is tried before it is skipped, or a stuck upload is given up.
const TRIES_MAX: u32 = 3;
/// The time for which the status of a video is checked. Processing of long videos continues after that.
const LOOK_MAX: TimeDelta = TimeDelta::minutes(10);
const PAUSE: Duration = Duration::from_secs(10);
/// A video that was rejected longer ago than this belongs to an earlier attempt, and a new one is started.
const EARLIER_TRY: TimeDelta = TimeDelta::seconds(20);
/// The largest thumbnail (<https://developers.google.com/youtube/v3/docs/thumbnails/set>).
const THUMBNAIL_BYTES_MAX: usize = 50 << 20;

/// Returns the step of the next call.
pub(super) fn step(state: Option<&Value>) -> Step {
    let state: State = read_state(state).unwrap_or_default();
    match state.stage {
        Stage::Begin | Stage::Failed { .. } => Step::prepare("begin_upload"),
        Stage::Upload { .. } if state.forgotten => Step::prepare("begin_upload"),
        Stage::Upload { size, sent, .. } if chunk_end(size, sent) == size => {
            Step::commit("upload_last_chunk")
        }
        Stage::Upload { sent, .. } => Step::prepare(format!("upload_chunk_{}", sent / CHUNK + 1)),
        Stage::Thumbnail => Step::confirm("set_thumbnail"),
        Stage::Playlist => Step::confirm("add_to_playlist"),
        Stage::Look { .. } => Step::confirm("look_at_processing"),
    }
}

/// Makes the next call.
pub(super) async fn publish(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
) -> Result<Progress> {
    let settings: Settings = draft.settings()?;
    let state: State = read_state(state.as_ref())?;
    match state.stage.clone() {
        Stage::Failed { reason, since } if session.now - since <= EARLIER_TRY => {
            Err(failed(&reason))
        }
        Stage::Begin => begin(session, draft, &settings, state).await,
        Stage::Failed { .. } => begin(session, draft, &settings, State::default()).await,
        Stage::Upload { .. } if state.forgotten => begin(session, draft, &settings, state).await,
        Stage::Upload { address, size, sent } => {
            upload(session, draft, &settings, state, &address, (sent, size)).await
        }
        Stage::Thumbnail => {
            let made = thumbnail(session, &settings, &state.id).await;
            after_extra(session, &settings, state, "thumbnail", made)
        }
        Stage::Playlist => {
            let playlist = settings.playlist_id.as_deref().unwrap_or_default();
            let made = client::add_to_playlist(session, playlist, &state.id).await;
            after_extra(session, &settings, state, "playlist_item", made)
        }
        Stage::Look { since } => look(session, &settings, state, since).await,
    }
}

async fn begin(
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    mut state: State,
) -> Result<Progress> {
    let video = draft.media.first().ok_or_else(missing)?;
    let size = video.bytes.filter(|size| *size > 0).ok_or_else(missing)?;
    let notify = settings.notify_subscribers.unwrap_or(true);
    let body = content::video(draft, settings);
    let address = client::begin(session, &body, notify, (&video.mime, size)).await?;
    state.stage = Stage::Upload { address, size, sent: 0 };
    state.forgotten = false;
    Progress::continue_with(&state)
}

fn missing() -> Error {
    Error::media_rejected("The video of the post is missing.")
}

/// Sends the next chunk. There is no video before the last.
async fn upload(
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    mut state: State,
    address: &str,
    (start, size): (u64, u64),
) -> Result<Progress> {
    let video = draft.media.first().ok_or_else(missing)?;
    let end = chunk_end(size, start);
    let bytes = video.read_range(start..end).await?;
    let answer = client::put(session, address, (&video.mime, bytes), (start, end, size)).await;
    let answer = match answer {
        // Part of a chunk whose response was lost may have arrived.
        Err(error) if is_misplaced(&error) => match client::probe(session, address, size).await {
            Ok(UploadProgress::Part(there)) if there == start => Err(error),
            Ok(found) => Ok(found),
            Err(_) => Err(error),
        },
        answer => answer,
    };
    match answer {
        Ok(UploadProgress::Whole(id)) => upload_finished(session, settings, state, id),
        Ok(UploadProgress::Part(sent)) => {
            state.tries = if sent > start { 0 } else { state.tries + 1 };
            if state.tries > TRIES_MAX {
                return Err(Error::transient("YouTube does not keep what is uploaded."));
            }
            state.stage = Stage::Upload { address: address.to_owned(), size, sent };
            Progress::continue_with(&state)
        }
        // An upload that is complete may be forgotten: the video is looked for before another one is made.
        Err(error) if is_gone(&error) && end == size => {
            let may_restart = state.restarts < RESTARTS_MAX;
            let kind = if may_restart { ErrorKind::Transient } else { error.kind };
            state.restarts += u32::from(may_restart);
            state.forgotten = may_restart;
            Err(Error { kind, ..error }.left_open().with_next_state(&state)?)
        }
        Err(error) if is_gone(&error) && state.restarts < RESTARTS_MAX => {
            state.restarts += 1;
            state.stage = Stage::Begin;
            Progress::continue_with(&state)
        }
        Err(error) => Err(error),
    }
}

/// Continues after the last byte: with the thumbnail, the playlist or the check.
fn upload_finished(
    session: &Session,
    settings: &Settings,
    mut state: State,
    id: String,
) -> Result<Progress> {
    state.id = id.clone();
    state.stage = match (&settings.thumbnail_url, &settings.playlist_id) {
        (Some(_), _) => Stage::Thumbnail,
        (None, Some(_)) => Stage::Playlist,
        (None, None) => Stage::Look { since: session.now },
    };
    state.tries = 0;
    Ok(waiting(&state, Duration::ZERO)?.with_remote_id(Some(id)))
}

fn waiting(state: &State, after: Duration) -> Result<Progress> {
    Ok(Progress::continue_with(state)?.after(after).mark_public())
}

/// Sets the thumbnail. It has no id, so the video's id is returned.
async fn thumbnail(session: &Session, settings: &Settings, id: &str) -> Result<String> {
    const TYPES: &[&str] = &["image/jpeg", "image/png"];
    let address = settings.thumbnail_url.as_deref().unwrap_or_default();
    let picture = page::fetch_image(session, address, TYPES, THUMBNAIL_BYTES_MAX).await;
    let picture = picture
        .ok_or_else(|| Error::media_rejected("The picture at thumbnail_url cannot be fetched."))?;
    client::set_thumbnail(session, id, picture).await.map(|()| id.to_owned())
}

/// Returns the step after the thumbnail or the playlist. A temporary failure is retried and then skipped, a refusal is
/// skipped at once; what was created is added to the parts of the post.
fn after_extra(
    session: &Session,
    settings: &Settings,
    mut state: State,
    name: &str,
    made: Result<String>,
) -> Result<Progress> {
    match made {
        Ok(id) => state.made.push((name.to_owned(), id)),
        // A fresh token may be allowed to do this.
        Err(error) if error.kind == ErrorKind::TokenExpired && state.tries == 0 => {
            return Err(error);
        }
        // It is unknown whether the video is in the playlist; adding it twice is worse than not at all.
        Err(error) if may_repeat(&error, &state.stage) && state.tries < TRIES_MAX => {
            state.tries += 1;
            let wait = error.retry_after.filter(|wait| *wait < Duration::from_secs(600));
            return waiting(&state, wait.unwrap_or(PAUSE));
        }
        Err(_) => {}
    }
    state.tries = 0;
    state.stage = match (&state.stage, &settings.playlist_id) {
        (Stage::Thumbnail, Some(_)) => Stage::Playlist,
        _ => Stage::Look { since: session.now },
    };
    waiting(&state, Duration::ZERO)
}

fn may_repeat(error: &Error, stage: &Stage) -> bool {
    match error.kind {
        ErrorKind::Transient | ErrorKind::RateLimited => true,
        ErrorKind::Server | ErrorKind::Ambiguous => *stage == Stage::Thumbnail,
        _ => false,
    }
}

async fn look(
    session: &Session,
    settings: &Settings,
    mut state: State,
    since: DateTime<Utc>,
) -> Result<Progress> {
    let status = client::status(session, &state.id).await?;
    if let Some(reason) = status.as_ref().and_then(client::Status::refusal) {
        state.stage = Stage::Failed { reason: reason.to_owned(), since: session.now };
        return waiting(&state, Duration::ZERO);
    }
    let is_over = session.now - since > LOOK_MAX;
    let Some(status) = status else {
        return if is_over { Err(unlisted()) } else { waiting(&state, PAUSE) };
    };
    state.privacy.clone_from(&status.privacy_status);
    if is_over || status.upload_status == "processed" {
        return Ok(public(session, settings, state));
    }
    waiting(&state, PAUSE)
}

/// Returns the error of a video that YouTube took and does not list: nobody is known to see it.
fn unlisted() -> Error {
    Error::transient("YouTube does not list the video.").with_remedy(
        "Look for the video in YouTube Studio; if it is there, do not upload it again.",
    )
}

fn public(session: &Session, settings: &Settings, state: State) -> Progress {
    let url = session.public_url("https://www.youtube.com", &format!("/watch?v={}", state.id));
    let warnings = locked(settings, &state).into_iter().collect();
    let made = state.made.into_iter();
    let parts = made.map(|(name, id)| PublishedPart { name, id, url: None }).collect();
    Progress::Done(PublishedPost { id: state.id, url, parts, warnings, names: Vec::new() })
}

/// Returns the warning about a video that others see than asked for. Uploads of projects that Google has not audited are
/// private, and stay so (<https://developers.google.com/youtube/v3/docs/videos/insert>).
fn locked(settings: &Settings, state: &State) -> Option<Warning> {
    Difference {
        field: "settings.privacy_status",
        asked: content::privacy(settings),
        given: &state.privacy,
        cause: "YouTube keeps the uploads of an API project private that Google has not audited.",
        remedy: "Ask the operator of this service to have its Google project audited, and then upload the video again; an owner may also have changed it in YouTube Studio.",
    }
    .warning()
}

/// Finds the result of a lost call: the upload address reports whether the last byte has arrived. Once it is forgotten,
/// the channel's own list decides.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let settings: Settings = draft.settings()?;
    let state: State = read_state(state.as_ref())?;
    let Stage::Upload { address, size, .. } = &state.stage else {
        return Ok(ReconcileOutcome::Unknown);
    };
    match client::probe(session, address, *size).await {
        Ok(UploadProgress::Whole(id)) => {
            upload_finished(session, &settings, state, id).map(ReconcileOutcome::Committed)
        }
        Ok(UploadProgress::Part(_)) => Ok(ReconcileOutcome::NotCommitted),
        Err(error) if is_gone(&error) => {
            look_in_list(session, draft, &settings, state, sent_at).await
        }
        Err(error) => Err(error),
    }
}

async fn look_in_list(
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    state: State,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let list = uploads::list_id(session).await?;
    let wanted =
        format!("{}\n{}", content::title(draft, settings), content::description(draft, settings));
    let likeness = |one: &Upload| likeness(&wanted, &one.text());
    let ask = |next| uploads::page(session, &list, next);
    let looked = recent_posts::search(sent_at, likeness, ask).await?;
    let listing = looked.listing(|one| {
        let id = one.id().to_owned();
        let state = State { forgotten: false, ..state.clone() };
        Ok((id.clone(), upload_finished(session, settings, state, id)?))
    });
    listing.map(Into::into)
}
