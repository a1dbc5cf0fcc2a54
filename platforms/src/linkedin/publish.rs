//! The steps of a post.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::{
    DOCUMENT_BYTES_MAX, IMAGE_BYTES_MAX, PART_BYTES_MAX, client,
    client::{Asset, Processing, UploadBody},
    content,
    error::processing_failed,
    settings::Settings,
    state::{Card, NextStep, State},
};
use crate::{
    Draft, Error, ErrorKind, Media, Progress, Result, Session, Step, Warning, outcome::read_state,
    page, visibility::Difference,
};

/// The interval at which the processing status of a file is read, and the longest time it may take.
const POLL: Duration = Duration::from_secs(20);
const PROCESSING_MAX: TimeDelta = TimeDelta::minutes(15);
/// The longest time for which a file that was just uploaded may not be found.
const FOUND_WITHIN: TimeDelta = TimeDelta::minutes(1);
/// The number of times an upload whose address no longer works is restarted.
const RESTARTS_MAX: u32 = 2;
/// Types of a thumbnail and of a card's picture.
const PICTURE_TYPES: &[&str] = &["image/jpeg", "image/png"];
/// Largest of them in bytes.
const PICTURE_BYTES_MAX: usize = 5_000_000;

/// The time before a video post that was accepted is read for the first time, and the longest time for which it is read.
const LOOK_FIRST: Duration = Duration::from_secs(5);
const LOOK_MAX: TimeDelta = TimeDelta::minutes(10);

/// Returns the step of the next call. If the settings are invalid, that call fails before it sends anything.
pub(super) fn step(draft: &Draft, state: Option<&Value>) -> Step {
    let settings = draft.settings::<Settings>().unwrap_or_default();
    read_state::<State>(state).unwrap_or_default().step(draft, &settings)
}

/// Makes the next call.
pub(super) async fn publish(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
) -> Result<Progress> {
    let settings: Settings = draft.settings()?;
    let mut state: State = read_state(state.as_ref())?;
    let mut named = None;
    match state.next(draft, &settings) {
        NextStep::Organizations(names) => {
            for name in names {
                let found = client::organization(session, &name).await?;
                state.organizations.insert(name, found);
            }
        }
        NextStep::Card(address) => {
            state.card = Some(Card::of(
                &address,
                page::read(session, &address).await.filter(|page| !page.title.is_empty()),
            ));
        }
        NextStep::Register(index) => {
            let upload = register(session, draft, &settings, index).await?;
            named = Some(upload.urn.clone());
            state.upload = Some(upload);
        }
        NextStep::Part => part(session, draft, &mut state).await?,
        NextStep::Thumbnail => thumbnail(session, &settings, &mut state).await?,
        NextStep::Finish => {
            if let Some(upload) = state.upload.take() {
                client::finalize(session, &upload).await?;
                state.uploaded(upload.urn);
            }
        }
        NextStep::Wait => return wait(session, draft, state).await,
        NextStep::Create => return create(session, draft, &settings, state).await,
        NextStep::Look(urn, since) => return look(session, state, urn, since).await,
    }
    Progress::continue_with(&state).map(|progress| progress.with_remote_id(named))
}

async fn register(
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    index: Option<usize>,
) -> Result<super::state::Upload> {
    let Some(index) = index else {
        return client::initialize(session, Asset::Image, 0, false).await;
    };
    let media = draft.media.get(index).ok_or_else(missing)?;
    let bytes = media.bytes.ok_or_else(missing)?;
    let asset = Asset::of(media);
    client::initialize(session, asset, bytes, settings.thumbnail_url.is_some()).await
}

fn missing() -> Error {
    Error::media_rejected("A file of the post is missing.")
}

/// Sends the next part of the upload under way.
async fn part(session: &Session, draft: &Draft, state: &mut State) -> Result<()> {
    let Some(upload) = state.upload.as_mut() else { return Err(missing()) };
    let part = upload.parts.first().cloned().ok_or_else(missing)?;
    let file = match &state.card {
        Some(Card::Read { image, .. }) => {
            let Some(picture) = picture(session, image).await else {
                // The card gets no picture; the registered upload is never used.
                state.upload = None;
                state.warnings.push(page::missing_picture_warning(image));
                state.card = state.card.take().map(|card| card.with(None));
                return Ok(());
            };
            (picture.0, UploadBody::Bytes(picture.1))
        }
        _ => {
            read(draft.media.get(state.files.len()).ok_or_else(missing)?, part.first, part.last)
                .await?
        }
    };
    match client::put(session, &part.url, (&file.0, file.1), false).await {
        Ok(called) => {
            upload.sent.push(called);
            upload.parts.remove(0);
            if upload.token.is_none() && upload.parts.is_empty() {
                let urn = upload.urn.clone();
                state.uploaded(urn);
            }
            Ok(())
        }
        Err(error) => restart_upload(state, error),
    }
}

/// Restarts the upload after a refused upload address, which is valid only for a while. The refusal says nothing about
/// the account.
fn restart_upload(state: &mut State, error: Error) -> Result<()> {
    let status = error.reply.as_ref().map(|reply| reply.status);
    match status {
        Some(400..=499) if status != Some(429) && state.restarts < RESTARTS_MAX => {
            state.restarts += 1;
            state.upload = None;
            Ok(())
        }
        Some(413 | 415) | None => Err(error),
        Some(400..=499) if status != Some(429) => Err(Error {
            kind: ErrorKind::MediaRejected,
            message: "LinkedIn did not take a file.".to_owned(),
            ..error
        }),
        Some(_) => Err(error),
    }
}

async fn read(media: &Media, first: u64, last: u64) -> Result<(String, UploadBody)> {
    let most = match Asset::of(media) {
        Asset::Video if last - first >= PART_BYTES_MAX => {
            return Err(Error::transient("LinkedIn asks for parts that are too large."));
        }
        Asset::Video => {
            let part = media.read_range(first..last + 1).await?;
            return Ok(("application/octet-stream".to_owned(), UploadBody::Bytes(part)));
        }
        Asset::Image => IMAGE_BYTES_MAX,
        Asset::Document => DOCUMENT_BYTES_MAX,
    };
    let (size, pieces) = media.stream(most).await?;
    Ok((media.mime.clone(), UploadBody::File(size, pieces)))
}

async fn picture(session: &Session, address: &str) -> Option<(String, bytes::Bytes)> {
    let found = page::fetch_image(session, address, PICTURE_TYPES, PICTURE_BYTES_MAX).await?;
    Some((found.0.to_owned(), found.1))
}

async fn thumbnail(session: &Session, settings: &Settings, state: &mut State) -> Result<()> {
    let address = settings.thumbnail_url.as_deref().unwrap_or_default();
    let (mime, bytes) = picture(session, address).await.ok_or_else(|| {
        Error::media_rejected("The picture at thumbnail_url cannot be fetched.")
            .with_remedy("It must be a JPEG or PNG of at most 5 MB that anybody may fetch.")
    })?;
    let Some(upload) = state.upload.as_mut() else { return Err(missing()) };
    if let Some(url) = upload.thumbnail.as_deref() {
        client::put(session, url, (&mime, UploadBody::Bytes(bytes)), true).await?;
    }
    upload.thumbnail = None;
    Ok(())
}

/// Waits until the files are processed. Apps for members may read only the status of videos; for other files there is
/// one fixed pause.
async fn wait(session: &Session, draft: &Draft, mut state: State) -> Result<Progress> {
    let media = draft.media.get(state.ready).ok_or_else(missing)?;
    let urn = state.files.get(state.ready).cloned().unwrap_or_default();
    let asset = Asset::of(media);
    let processing = if asset == Asset::Video || super::is_organization(&session.account) {
        match client::processing(session, asset, &urn).await {
            Err(error) if error.is_not_found() => return not_found(session, state, error),
            processing => processing?,
        }
    } else if state.waiting_since.is_some() {
        state.ready = state.files.len();
        return Progress::continue_with(&state);
    } else {
        Processing::Going
    };
    match processing {
        Processing::Available => {
            state.ready += 1;
            state.waiting_since = None;
            Progress::continue_with(&state)
        }
        Processing::Failed(reason) => Err(processing_failed(&reason)),
        Processing::Going => {
            let since = *state.waiting_since.get_or_insert(session.now);
            if session.now - since > PROCESSING_MAX {
                return Err(Error::transient("LinkedIn has not processed a file in 15 minutes."));
            }
            Progress::continue_with(&state).map(|progress| progress.after(POLL))
        }
    }
}

/// Waits for a file that LinkedIn does not find, and uploads the files anew if that lasts for longer than it needs.
fn not_found(session: &Session, mut state: State, error: Error) -> Result<Progress> {
    let since = *state.waiting_since.get_or_insert(session.now);
    if session.now - since <= FOUND_WITHIN {
        return Progress::continue_with(&state).map(|progress| progress.after(POLL));
    }
    if state.restarts >= RESTARTS_MAX {
        return Err(Error { kind: ErrorKind::Transient, ..error });
    }
    state.restarts += 1;
    state.files.clear();
    (state.ready, state.waiting_since) = (0, None);
    Progress::continue_with(&state)
}

async fn create(
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    mut state: State,
) -> Result<Progress> {
    let author = &session.account.remote_id;
    let urn = client::create(session, &content::post(author, draft, settings, &state)).await?;
    // Apps for members may not read posts.
    if draft.media.iter().any(Media::is_video) && super::is_organization(&session.account) {
        state.accepted = Some((urn.clone(), session.now));
        return Ok(accepted(&state, LOOK_FIRST)?.with_remote_id(Some(urn)));
    }
    Ok(published(session, urn).with_warnings(state.warnings.clone()))
}

fn accepted(state: &State, after: Duration) -> Result<Progress> {
    Ok(Progress::continue_with(state)?.after(after).mark_public())
}

/// Reads what became of a video post, which LinkedIn may still fail to publish. If that cannot be read, the answer to the call
/// stands.
async fn look(
    session: &Session,
    state: State,
    urn: String,
    since: DateTime<Utc>,
) -> Result<Progress> {
    let read = client::lifecycle(session, &urn).await;
    let is_late = session.now - since > LOOK_MAX;
    match read.as_ref().map(|seen| seen.lifecycle_state.as_str()) {
        Ok("PUBLISH_FAILED") => {
            let failed =
                Error::media_rejected("LinkedIn accepted the video and could not publish it.");
            Err(failed
                .with_remedy("Convert the video to MP4 (H.264, AAC), and try again.")
                .nothing_done())
        }
        Ok("PROCESSING" | "PUBLISH_REQUESTED") if !is_late => accepted(&state, POLL),
        Err(error) if error.is_not_found() && !is_late => accepted(&state, POLL),
        _ => {
            let hidden = read.ok().and_then(|seen| hidden(&seen.visibility));
            let warnings = state.warnings.into_iter().chain(hidden).collect();
            Ok(published(session, urn).with_warnings(warnings))
        }
    }
}

/// Returns the warning about a post that fewer people see than asked for, where LinkedIn says so.
fn hidden(visibility: &str) -> Option<Warning> {
    Difference {
        field: "account_id",
        asked: content::VISIBILITY,
        given: visibility,
        cause: "LinkedIn shows the post to fewer people than it was made for.",
        remedy: "Look at the post on LinkedIn; an admin of the page may have limited who sees it.",
    }
    .warning()
}

/// Returns the result for a post that is public under this URN.
pub(super) fn published(session: &Session, urn: String) -> Progress {
    let url = session.public_url("https://www.linkedin.com", &format!("/feed/update/{urn}"));
    let names = other_names(&urn);
    Progress::done(urn, url).with_names(names)
}

/// Returns the other names of a post: lists and refusals may name another kind of object with the same number.
fn other_names(urn: &str) -> Vec<String> {
    let Some((_, number)) = urn.rsplit_once(':') else { return Vec::new() };
    let names = ["share", "ugcPost", "activity"].map(|kind| format!("urn:li:{kind}:{number}"));
    names.into_iter().filter(|name| name != urn).collect()
}
