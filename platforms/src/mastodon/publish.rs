//! The steps of a status.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    client::{Instance, NewStatus, Status},
    limits,
    settings::Settings,
};
use crate::{
    Draft, Error, ErrorKind, Likeness, Progress, PublishedPost, ReconcileOutcome, Result, Session,
    Step, Warning, WarningCode, outcome::read_state, recent_posts, recent_posts::SearchResult,
    remains::Remains, settings::alt_text, text, visibility::Difference,
};

/// The time to wait between two reads of a file's status, and how many to make.
const POLL: Duration = Duration::from_secs(3);
const POLLS_MAX: u32 = 200;

/// Files that belong to no status are removed after a day
/// (<https://github.com/mastodon/mastodon/blob/main/app/lib/vacuum/media_attachments_vacuum.rb>). Well before, they are
/// uploaded again.
const MEDIA_LIFETIME: TimeDelta = TimeDelta::hours(20);

/// The number of times files that the instance has lost are uploaded again.
const UPLOADED_AGAIN_MAX: u32 = 3;

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct State {
    /// Ids of the uploaded files, in order.
    media: Vec<String>,
    /// The number of times the status of the last one was read, while it is still being processed.
    waiting: Option<u32>,
    /// When the first of them was uploaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    uploaded_at: Option<DateTime<Utc>>,
    /// The instance no longer has one of them: unless the status is there, all are uploaded again.
    lost: bool,
    /// The number of times they were uploaded again.
    again: u32,
}

/// The next step.
enum NextStep {
    Upload(usize),
    Wait(u32),
    Create,
}

impl State {
    fn next(&self, draft: &Draft) -> NextStep {
        match self.waiting {
            _ if self.lost => NextStep::Upload(0),
            Some(asked) => NextStep::Wait(asked),
            None if self.media.len() < draft.media.len() => NextStep::Upload(self.media.len()),
            None => NextStep::Create,
        }
    }

    /// Begins with the first file again.
    fn again(&self) -> Self {
        Self { again: self.again + 1, ..Self::default() }
    }

    fn is_too_old(&self, now: DateTime<Utc>) -> bool {
        self.uploaded_at.is_some_and(|at| now - at > MEDIA_LIFETIME)
    }
}

/// Returns the step of the next call.
pub fn step(draft: &Draft, state: Option<&Value>) -> Step {
    let state: State = read_state(state).unwrap_or_default();
    match state.next(draft) {
        NextStep::Upload(index) => Step::prepare(format!("upload_file_{}", index + 1)),
        NextStep::Wait(_) => Step::prepare(format!("wait_for_file_{}", state.media.len())),
        NextStep::Create => Step::commit("create_status"),
    }
}

/// Makes the next call.
pub async fn publish(session: &Session, draft: &Draft, state: Option<Value>) -> Result<Progress> {
    let settings: Settings = draft.settings()?;
    let mut state: State = read_state(state.as_ref())?;
    let there = Instance::of(session)?;
    match state.next(draft) {
        NextStep::Upload(index) => {
            if state.lost {
                state = state.again();
            }
            let (id, is_ready) = upload(&there, session, draft, &settings, index).await?;
            state.media.push(id.clone());
            let _ = state.uploaded_at.get_or_insert(session.now);
            state.waiting = (!is_ready).then_some(0);
            let wait = if is_ready { Duration::ZERO } else { POLL };
            Ok(Progress::continue_with(&state)?.after(wait).with_remote_id(Some(id)))
        }
        NextStep::Wait(asked) => wait(&there, state, asked).await,
        NextStep::Create => create(&there, session, draft, &settings, &state).await,
    }
}

async fn upload(
    there: &Instance<'_>,
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    index: usize,
) -> Result<(String, bool)> {
    let media =
        draft.media.get(index).ok_or_else(|| Error::media_rejected("A file is missing."))?;
    let rules = limits::with_instance_limits(super::SPEC, &session.account).media;
    let most = if media.is_video() { rules.video_bytes_max } else { rules.image_bytes_max };
    let bytes = media.read(most).await?;
    let alt = alt_text(&settings.media_alt_texts, index);
    there.upload(&media.filename, &media.mime, bytes, alt).await
}

async fn wait(there: &Instance<'_>, mut state: State, asked: u32) -> Result<Progress> {
    let id = state.media.last().map(String::as_str).unwrap_or_default();
    match there.is_ready(id).await.map_err(media_gone) {
        Ok(true) => {
            state.waiting = None;
            return Progress::continue_with(&state);
        }
        Ok(false) => {}
        Err(error) if error.is_not_found() && state.again < UPLOADED_AGAIN_MAX => {
            return Progress::continue_with(&state.again());
        }
        Err(error) => return Err(error),
    }
    if asked >= POLLS_MAX {
        return Err(Error::media_rejected(
            "The instance has not processed a file of the post in ten minutes.",
        ));
    }
    state.waiting = Some(asked + 1);
    Ok(Progress::continue_with(&state)?.after(POLL))
}

/// Converts the error of a file that failed or disappeared while it was processed.
fn media_gone(error: Error) -> Error {
    match error.kind {
        ErrorKind::Rejected => Error { kind: ErrorKind::MediaRejected, ..error },
        _ => error,
    }
}

async fn create(
    there: &Instance<'_>,
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    state: &State,
) -> Result<Progress> {
    if settings.quoted_status_id.is_some() && !limits::supports_quotes(&session.account) {
        return Err(Error::rejected("The instance does not know quotes.").with_remedy(
            "Leave out settings.quoted_status_id, or use an account on a newer instance.",
        ));
    }
    if state.is_too_old(session.now) {
        return Progress::continue_with(&state.again());
    }
    let status = NewStatus {
        status: &draft.caption,
        media_ids: &state.media,
        poll: settings.poll.as_ref(),
        visibility: settings.visibility.as_deref(),
        spoiler_text: settings.spoiler_text.as_deref(),
        sensitive: settings.sensitive,
        language: settings.language.as_deref(),
        quoted_status_id: settings.quoted_status_id.as_deref(),
    };
    let made = there.create(&draft.key.to_string(), &status).await;
    let made = match made {
        // The status is looked up before: it has the files that another one cannot have.
        Err(error) if is_media_lost(&error) && state.again < UPLOADED_AGAIN_MAX => {
            let error = Error { kind: ErrorKind::Transient, ..error }.left_open();
            return Err(error.with_next_state(&State { lost: true, ..state.clone() })?);
        }
        made => made,
    };
    let made = made.map_err(|error| match error.kind {
        ErrorKind::Rejected if status.poll.is_some() && !state.media.is_empty() => error
            .with_remedy("The instance may take no media beside a poll: leave out one of them."),
        _ => error,
    })?;
    Ok(Progress::Done(public(made, draft, settings)))
}

/// Returns true if the status was refused since a file is not there, or belongs to a status already
/// (<https://github.com/mastodon/mastodon/blob/main/config/locales/en.yml>, `media_attachments.validations.not_found`).
fn is_media_lost(error: &Error) -> bool {
    let said = error.reply.as_ref().and_then(|reply| reply.message.as_deref()).unwrap_or_default();
    said.contains("Media") && said.contains("not found")
}

/// Looks for the status among the account's latest: created since the call, with the same text and files.
pub async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let there = Instance::of(session)?;
    let state: State = read_state(state.as_ref())?;
    let id = session.account.remote_id.rsplit(':').next().unwrap_or_default();
    let ours = Remains { files: Some(state.media.clone()), ..Remains::default() };
    let has_words = text::has_words(&draft.caption);
    // The words are asked for below, of those alone that the files do not exclude.
    let by_files =
        |status: &Status| ours.likeness(&remains(status), (Likeness::Similar, has_words), false);
    let looked = recent_posts::search(sent_at, by_files, |next| there.latest(id, next)).await?;
    let looked = looked.prefer(|status| ours.owns(&remains(status)));
    let mut found = Vec::new();
    for (_, status) in looked.found {
        let words = text::likeness(&draft.caption, &there.source(&status).await?);
        let likeness = ours.likeness(&remains(&status), (words, has_words), false);
        if likeness != Likeness::Different {
            found.push((likeness, status));
        }
    }
    let looked = SearchResult { found, ..looked };
    let settings: Settings = draft.settings()?;
    let done =
        |status: Status| (status.id.clone(), Progress::Done(public(status, draft, &settings)));
    looked.listing(|status| Ok(done(status))).map(Into::into)
}

/// Returns what is shown of a status beside its words.
fn remains(status: &Status) -> Remains {
    let files = status.media_attachments.iter().map(|one| one.id.clone()).collect();
    Remains { files: Some(files), ..Remains::default() }
}

/// Returns what is public. Some servers leave out files that they do not find.
fn public(status: Status, draft: &Draft, settings: &Settings) -> PublishedPost {
    let difference = Difference {
        field: "settings.visibility",
        asked: settings.visibility.as_deref().unwrap_or("public"),
        given: &status.visibility,
        cause: "The server decides who sees the posts of an account that its moderators limit, or whose settings ask for it.",
        remedy: "Look at the account's settings and at the notices of the server's moderators, then post again.",
    };
    let mut warnings: Vec<Warning> = difference.warning().into_iter().collect();
    let (asked, there) = (draft.media.len(), status.media_attachments.len());
    if there < asked {
        let message = format!("The instance published {there} of the {asked} files.");
        let warning = Warning::new(WarningCode::FewerFiles, "media_urls", message);
        warnings.push(warning.with_limit(asked, there, "files"));
    }
    PublishedPost { id: status.id, url: status.url, parts: Vec::new(), names: Vec::new(), warnings }
}
