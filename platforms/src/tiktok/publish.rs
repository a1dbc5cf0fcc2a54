//! The steps of a post. A video is public soon after its last byte, a slideshow soon after it was started.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::{
    client::{self, ListedPost, Status},
    content,
    error::{failed, is_stale},
    settings::Settings,
    state::{Stage, State, chunk_end, chunks},
};
use crate::{
    Draft, Error, ErrorKind, Media, Progress, ReconcileOutcome, Result, Session, Step, Warning,
    outcome::read_state, recent_posts, remains::Remains, text, visibility::Difference,
};

/// The number of times an upload whose address no longer works is restarted.
const RESTARTS_MAX: u32 = 2;
/// The time that the id may be missing after a post became public.
const ID_LATE: TimeDelta = TimeDelta::minutes(2);
/// The time for which the status is polled every few seconds, and how long every hour: moderation can take that long.
const SOON: TimeDelta = TimeDelta::minutes(10);
const LATEST: TimeDelta = TimeDelta::hours(24);
/// A post that failed longer ago than this belongs to an earlier attempt, and a new one is started.
const EARLIER_TRY: TimeDelta = TimeDelta::seconds(20);

/// The parts of addresses that name slideshows and videos.
const PHOTOS: &str = "photo";
const VIDEOS: &str = "video";

/// The audience of a post that everybody sees.
const EVERYONE: &str = "PUBLIC_TO_EVERYONE";

/// Returns the step of the next call.
pub(super) fn step(draft: &Draft, state: Option<&Value>) -> Step {
    let state: State = read_state(state).unwrap_or_default();
    match state.stage {
        Stage::Ask | Stage::Failed { .. } => Step::prepare("creator_info"),
        Stage::Begin if content::is_video(draft) => Step::prepare("begin_video"),
        Stage::Begin => Step::commit("begin_slideshow"),
        Stage::Upload { .. } if state.stale => Step::prepare("begin_video"),
        Stage::Upload { size, sent, .. } if chunk_end(size, sent) == size => {
            Step::commit("upload_last_chunk")
        }
        Stage::Upload { sent, .. } => {
            Step::prepare(format!("upload_chunk_{}", sent / super::state::CHUNK + 1))
        }
        Stage::Wait { .. } => Step::confirm("wait_until_public"),
    }
}

/// Makes the next call.
pub(super) async fn publish(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
) -> Result<Progress> {
    let settings: Settings = draft.settings()?;
    let mut state: State = read_state(state.as_ref())?;
    match state.stage.clone() {
        Stage::Failed { reason, since } if session.now - since <= EARLIER_TRY => {
            Err(failed(&reason))
        }
        Stage::Ask | Stage::Failed { .. } => {
            state.creator = client::creator(session).await?;
            content::fits(draft, &settings, &state.creator)?;
            state.stage = Stage::Begin;
            Progress::continue_with(&state)
        }
        Stage::Begin if content::is_video(draft) => begin(session, draft, &settings, state).await,
        Stage::Begin => {
            let body = content::photos(draft, &settings, &state.creator);
            let begun = client::init_photos(session, &body).await?;
            sent(session, state, begun.publish_id)
        }
        Stage::Upload { .. } if state.stale => begin(session, draft, &settings, state).await,
        Stage::Upload { publish_id, upload_url, size, sent } => {
            upload(session, draft, state, (publish_id, upload_url), (size, sent)).await
        }
        Stage::Wait { publish_id, since } => {
            wait(session, draft, &settings, state, publish_id, since).await
        }
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
    let body = content::video(draft, settings, &state.creator, size, chunks(size));
    let begun = client::init_video(session, &body).await?;
    if begun.publish_id.is_empty() || begun.upload_url.is_empty() {
        return Err(Error::transient("TikTok began a video without saying where it goes."));
    }
    let named = begun.publish_id.clone();
    state.stale = false;
    state.stage =
        Stage::Upload { publish_id: begun.publish_id, upload_url: begun.upload_url, size, sent: 0 };
    Progress::continue_with(&state).map(|progress| progress.with_remote_id(Some(named)))
}

fn missing() -> Error {
    Error::media_rejected("The video of the post is missing.")
}

/// Sends the next chunk. Nothing is public before the last.
async fn upload(
    session: &Session,
    draft: &Draft,
    mut state: State,
    (publish_id, upload_url): (String, String),
    (size, start): (u64, u64),
) -> Result<Progress> {
    let video: &Media = draft.media.first().ok_or_else(missing)?;
    let end = chunk_end(size, start);
    let bytes = video.read_range(start..end).await?;
    let range = (start, end.saturating_sub(1), size);
    match client::put(session, &upload_url, (&video.mime, bytes), range).await {
        Ok(()) if end == size => sent(session, state, publish_id),
        Ok(()) => {
            state.stage = Stage::Upload { publish_id, upload_url, size, sent: end };
            Progress::continue_with(&state)
        }
        Err(error) if end == size && is_stale(&error) => {
            after_last(session, state, publish_id, size, error).await
        }
        Err(error) if is_stale(&error) && state.restarts < RESTARTS_MAX => {
            state.restarts += 1;
            state.stage = Stage::Begin;
            Progress::continue_with(&state)
        }
        Err(error) => Err(error),
    }
}

/// Handles a refusal of the last chunk. TikTok refuses one that it has already with 416
/// (<https://github.com/elizaOS/eliza/pull/23972>), and the address of a video that it works on is over, so the post is
/// asked: another one is begun only if TikTok says that this one failed, or that its bytes are not there, which it says
/// late.
async fn after_last(
    session: &Session,
    mut state: State,
    publish_id: String,
    size: u64,
    error: Error,
) -> Result<Progress> {
    let may_restart = state.restarts < RESTARTS_MAX;
    match client::status(session, &publish_id).await {
        Ok(it) if it.status == "FAILED" && may_restart => {
            state.restarts += 1;
            state.stage = Stage::Begin;
            return Progress::continue_with(&state);
        }
        Ok(it) if it.status == "FAILED" => return Err(error.nothing_done()),
        Ok(it) if has_all(&it, size) => return sent(session, state, publish_id),
        _ => {}
    }
    let is_repeated = error.reply.as_ref().is_some_and(|reply| reply.status == 416);
    if !is_repeated && may_restart {
        state.restarts += 1;
        state.stale = true;
    }
    let kind = if is_repeated || may_restart { ErrorKind::Transient } else { error.kind };
    Err(Error { kind, ..error }.left_open().with_next_state(&state)?)
}

/// Continues with waiting: TikTok has everything.
fn sent(session: &Session, mut state: State, publish_id: String) -> Result<Progress> {
    state.stage = Stage::Wait { publish_id: publish_id.clone(), since: session.now };
    waiting(&state, Duration::from_secs(5), Some(publish_id))
}

fn waiting(state: &State, after: Duration, remote_id: Option<String>) -> Result<Progress> {
    Ok(Progress::continue_with(state)?.after(after).with_remote_id(remote_id).mark_public())
}

async fn wait(
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    mut state: State,
    publish_id: String,
    since: DateTime<Utc>,
) -> Result<Progress> {
    let status = client::status(session, &publish_id).await.map_err(not_yet)?;
    let waited = session.now - since;
    if status.status == "FAILED" {
        state.stage = Stage::Failed { reason: status.fail_reason, since: session.now };
        return waiting(&state, Duration::ZERO, None);
    }
    if status.status == "PUBLISH_COMPLETE" {
        let is_private = content::privacy(settings, &state.creator) == "SELF_ONLY";
        let id = status.post_id();
        if id.is_some() || is_private || waited > ID_LATE {
            let warnings = hidden(settings, &state, id.is_some()).into_iter().collect();
            return Ok(public(session, draft, &state, id, publish_id).with_warnings(warnings));
        }
    }
    if waited > LATEST {
        return Err(Error::new(
            ErrorKind::Transient,
            "TikTok has not decided on the post in a day.",
        ));
    }
    waiting(&state, pause(waited), None)
}

/// Returns true if TikTok has every byte of a video of this size, or is done with it.
fn has_all(status: &Status, size: u64) -> bool {
    status.uploaded_bytes >= size || status.status != "PROCESSING_UPLOAD"
}

/// Rewords the error of a post that TikTok does not find: it took the post moments ago.
fn not_yet(error: Error) -> Error {
    let code = error.reply.as_ref().and_then(|reply| reply.code.as_deref());
    let is_missing = error.is_not_found() || code == Some("invalid_publish_id");
    Error { kind: if is_missing { ErrorKind::Transient } else { error.kind }, ..error }
}

/// Returns the pause before the next poll: 5 s, then 10, then 20, and after ten minutes an hour.
fn pause(waited: TimeDelta) -> Duration {
    let seconds = match waited {
        waited if waited < TimeDelta::seconds(15) => 5,
        waited if waited < TimeDelta::seconds(45) => 10,
        waited if waited < SOON => 20,
        _ => 3_600,
    };
    Duration::from_secs(seconds)
}

/// Returns the path of a post that everybody sees.
pub(super) fn post_path(creator: &str, is_video: bool, id: &str) -> String {
    let kind = if is_video { VIDEOS } else { PHOTOS };
    format!("/@{creator}/{kind}/{id}")
}

/// Returns the result. A post without its own id (a private one) gets its publish id, and the creator's page as its
/// address.
fn public(
    session: &Session,
    draft: &Draft,
    state: &State,
    id: Option<String>,
    publish_id: String,
) -> Progress {
    let name = match state.creator.creator_username.as_str() {
        "" => session.account.username.as_str(),
        name => name,
    };
    let path = match &id {
        Some(id) => post_path(name, content::is_video(draft), id),
        None => format!("/@{name}"),
    };
    let url = session.public_url("https://www.tiktok.com", &path);
    Progress::done(id.unwrap_or(publish_id), url)
}

/// Returns the warning about a post that fewer people see than asked for. TikTok gives an id only to what everybody sees
/// (<https://developers.tiktok.com/doc/content-posting-api-reference-get-video-status>).
fn hidden(settings: &Settings, state: &State, has_id: bool) -> Option<Warning> {
    let level = content::privacy(settings, &state.creator);
    let is_chosen = settings.privacy_level.is_some();
    let (asked, given, cause, remedy) = match (level, is_chosen, has_id) {
        ("SELF_ONLY", false, _) => (
            EVERYONE,
            level,
            "TikTok offers the account no wider audience, which is so for private accounts and for apps that it has not audited.",
            "Make the account public, or ask the operator of this service to have its TikTok app audited.",
        ),
        (EVERYONE, _, false) => (
            EVERYONE,
            "nobody",
            "TikTok has taken the post and not shown it to others yet: it may still look at it.",
            "Look at the post in TikTok's app in some hours.",
        ),
        _ => return None,
    };
    Difference { field: "settings.privacy_level", asked, given, cause, remedy }.warning()
}

/// Finds the result of a lost call. TikTok reports how many bytes of a video have arrived. A slideshow is looked up
/// among the creator's public posts; one that is missing may still appear.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let state: State = read_state(state.as_ref())?;
    if let Stage::Upload { publish_id, size, .. } = &state.stage {
        let is_whole = has_all(&client::status(session, publish_id).await?, *size);
        let publish_id = publish_id.clone();
        return if is_whole {
            let state = State { stale: false, ..state };
            sent(session, state, publish_id).map(ReconcileOutcome::Committed)
        } else {
            Ok(ReconcileOutcome::NotCommitted)
        };
    }
    let settings: Settings = draft.settings()?;
    let title = settings.title.as_deref().unwrap_or_default();
    let wanted = format!("{title}\n{}", draft.caption);
    let ours = Remains { place: Some(PHOTOS.to_owned()), ..Remains::default() };
    let has_words = text::has_words(&wanted);
    let likeness = |one: &ListedPost| {
        let words = text::likeness(&wanted, &format!("{}\n{}", one.title, one.video_description));
        ours.likeness(&remains(one), (words, has_words), false)
    };
    let looked =
        recent_posts::search(sent_at, likeness, |next| client::videos(session, next)).await?;
    let listing = looked.listing(|one| {
        let id = one.id;
        Ok((id.clone(), public(session, draft, &state, Some(id.clone()), id)))
    });
    // A slideshow that is not public is not listed.
    listing.map(|listing| listing.in_part().into())
}

/// Returns what is shown of a post beside its words: its address names its kind.
fn remains(one: &ListedPost) -> Remains {
    let is_of = |kind: &&str| one.share_url.contains(&format!("/{kind}/"));
    let place = [PHOTOS, VIDEOS].into_iter().find(is_of);
    Remains { place: place.map(str::to_owned), ..Remains::default() }
}
