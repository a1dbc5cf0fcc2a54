//! The steps of a pin: a video is uploaded and processed first, pictures are fetched by Pinterest itself.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    SPEC, VIDEO_BYTES_MAX,
    client::{self, Pin, Processing, Registered},
    error::is_about_tags,
    settings::Settings,
};
use crate::{
    Draft, Error, Media, Progress, ReconcileOutcome, Result, Session, Step, kept,
    outcome::read_state,
    recent_posts,
    remains::{FileKind, Remains},
    settings::alt_text,
    text,
};

/// The interval at which the processing status of a video is read, and the longest time it may take.
const POLL: Duration = Duration::from_secs(15);
const PROCESSING_MAX: TimeDelta = TimeDelta::minutes(15);

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct State {
    stage: Stage,
    /// True if Pinterest does not accept product tags from this app.
    without_tags: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    /// Nothing is prepared.
    #[default]
    Start,
    /// A video must be sent.
    Upload(Registered),
    /// A video is being processed.
    Wait { media_id: String, since: DateTime<Utc> },
    /// A video is ready.
    Ready { media_id: String },
}

/// Returns the step of the next call.
pub(super) fn step(draft: &Draft, state: Option<&Value>) -> Step {
    match read_state::<State>(state).unwrap_or_default().stage {
        Stage::Start if is_video(draft) => Step::prepare("register_video"),
        Stage::Upload(_) => Step::prepare("upload_video"),
        Stage::Wait { .. } => Step::prepare("wait_for_video"),
        Stage::Start | Stage::Ready { .. } => Step::commit("create_pin"),
    }
}

fn is_video(draft: &Draft) -> bool {
    draft.media.first().is_some_and(Media::is_video)
}

/// Makes the next call.
pub(super) async fn publish(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
) -> Result<Progress> {
    let mut state: State = read_state(state.as_ref())?;
    match state.stage.clone() {
        Stage::Start if is_video(draft) => {
            let registered = client::register(session).await?;
            let id = registered.media_id.clone();
            state.stage = Stage::Upload(registered);
            Progress::continue_with(&state).map(|progress| progress.with_remote_id(Some(id)))
        }
        Stage::Upload(registered) => {
            let missing = || Error::media_rejected("The video of the pin is missing.");
            let video = draft.media.first().ok_or_else(missing)?;
            client::upload(session, &registered, video.stream(VIDEO_BYTES_MAX).await?).await?;
            state.stage = Stage::Wait { media_id: registered.media_id, since: session.now };
            Progress::continue_with(&state).map(|progress| progress.after(POLL))
        }
        Stage::Wait { media_id, since } => wait(session, state, media_id, since).await,
        Stage::Start => create(session, draft, state, None).await,
        Stage::Ready { media_id } => create(session, draft, state, Some(&media_id)).await,
    }
}

async fn wait(
    session: &Session,
    mut state: State,
    media_id: String,
    since: DateTime<Utc>,
) -> Result<Progress> {
    match client::processing(session, &media_id).await? {
        Processing::Done => {
            state.stage = Stage::Ready { media_id };
            Progress::continue_with(&state)
        }
        Processing::Failed => Err(Error::media_rejected("Pinterest could not process the video.")
            .with_remedy("Use an MP4 or MOV of 4 seconds to 15 minutes, in H.264 or H.265.")),
        Processing::Going if session.now - since > PROCESSING_MAX => {
            Err(Error::transient("Pinterest has not processed the video within 15 minutes."))
        }
        Processing::Going => Progress::continue_with(&state).map(|progress| progress.after(POLL)),
    }
}

async fn create(
    session: &Session,
    draft: &Draft,
    mut state: State,
    video: Option<&str>,
) -> Result<Progress> {
    let settings: Settings = draft.settings()?;
    let pin = pin(draft, &settings, video, !state.without_tags);
    match client::create(session, &pin).await {
        Ok(made) => {
            let shown = made.description.unwrap_or_default();
            let kept = kept::warning(&SPEC, "caption", &[], (&draft.caption, &shown));
            Ok(published(session, made.id).with_warnings(kept.into_iter().collect()))
        }
        Err(error) if is_about_tags(&error) && !state.without_tags => {
            state.without_tags = true;
            Progress::continue_with(&state)
        }
        Err(error) => Err(error),
    }
}

/// Returns the body of `POST /v5/pins`.
fn pin(draft: &Draft, settings: &Settings, video: Option<&str>, with_tags: bool) -> Value {
    let mut pin =
        json!({"board_id": settings.board, "media_source": source(draft, settings, video)});
    let alt = alt_text(&settings.media_alt_texts, 0);
    let texts = [
        ("title", settings.title.as_deref()),
        ("description", Some(draft.caption.as_str()).filter(|text| !text.is_empty())),
        ("link", settings.link.as_deref()),
        ("alt_text", alt),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            pin[name] = json!(text);
        }
    }
    if with_tags && !settings.product_tags.is_empty() {
        let tags = settings.product_tags.iter().map(|id| json!({"pin_id": id}));
        pin["product_tags"] = tags.collect();
    }
    pin
}

fn source(draft: &Draft, settings: &Settings, video: Option<&str>) -> Value {
    if let Some(media_id) = video {
        let mut source = json!({"source_type": "video_id", "media_id": media_id});
        match &settings.cover_image_url {
            Some(url) => source["cover_image_url"] = json!(url),
            None => source["cover_image_key_frame_time"] = json!(0),
        }
        return source;
    }
    match draft.media.as_slice() {
        [one] => json!({"source_type": "image_url", "url": one.url}),
        several => {
            let items: Vec<Value> = several.iter().map(|one| json!({"url": one.url})).collect();
            json!({"source_type": "multiple_image_urls", "items": items})
        }
    }
}

/// Looks for the pin among the latest of the board.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let settings: Settings = draft.settings()?;
    let words = |title: Option<&str>, text: &str, link: Option<&str>| {
        format!("{}\n{text}\n{}", title.unwrap_or_default(), link.unwrap_or_default())
    };
    let wanted = words(settings.title.as_deref(), &draft.caption, settings.link.as_deref());
    let ours = Remains { place: Some(settings.board.clone()), ..Remains::of(draft) };
    let has_words = text::has_words(&wanted);
    let likeness = |pin: &Pin| {
        let text = pin.description.as_deref().unwrap_or_default();
        let shown = words(pin.title.as_deref(), text, pin.link.as_deref());
        let alike = text::likeness(&wanted, &shown);
        ours.likeness(&remains(pin, draft.media.len()), (alike, has_words), false)
    };
    let ask = |next| client::pins(session, &settings.board, next);
    let looked = recent_posts::search(sent_at, likeness, ask).await?;
    looked.listing(|pin| Ok((pin.id.clone(), published(session, pin.id)))).map(Into::into)
}

/// Returns what is shown of a pin beside its words. Of several images Pinterest does not show the number.
fn remains(pin: &Pin, files: usize) -> Remains {
    let kinds = match pin.media.media_type.as_deref() {
        Some("image") => Some(vec![FileKind::Image]),
        Some("video") => Some(vec![FileKind::Video]),
        Some("multiple_images") => Some(vec![FileKind::Image; files.max(2)]),
        _ => None,
    };
    Remains { kinds, place: pin.board_id.clone(), ..Remains::default() }
}

fn published(session: &Session, id: String) -> Progress {
    let url = session.public_url("https://www.pinterest.com", &format!("/pin/{id}"));
    Progress::done(id, url)
}
