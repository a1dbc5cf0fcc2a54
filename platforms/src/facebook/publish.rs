//! Publishing on a page, step by step.

use std::time::Duration;

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{
    Form,
    client::{self, Params, Published},
    error::is_about_background,
    settings::Settings,
    state::{NextStep, State},
};
use crate::{
    Draft, Error, ErrorKind, Media, Progress, Result, Session, Step,
    outcome::read_state,
    settings::{alt_text, is_ai_generated},
};

/// The interval at which the status of an upload is read.
const POLL: Duration = Duration::from_secs(5);
/// The longest time Facebook may take to receive a video.
const PROCESSING_MAX: TimeDelta = TimeDelta::minutes(15);
/// The longest time it may take to encode and publish one.
const PUBLISHING_MAX: TimeDelta = TimeDelta::days(1);
/// The longest time for which a video that was just made may not be found, or not be public yet although it is ready.
const SETTLES_WITHIN: TimeDelta = TimeDelta::minutes(2);
/// The longest time for which the second name of a public video is waited for.
const NAMED_WITHIN: TimeDelta = TimeDelta::seconds(30);

/// Returns the step of the next call.
pub(super) fn step(draft: &Draft, state: Option<&Value>) -> Step {
    let settings = draft.settings::<Settings>().unwrap_or_default();
    read_state::<State>(state).unwrap_or_default().next(draft, &settings).step()
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
        NextStep::Photo(index) => {
            let alt = alt_text(&settings.media_alt_texts, index);
            let photo = client::photo(session, file(draft, index)?, alt).await?;
            state.photos.push(photo.clone());
            Ok(Progress::continue_with(&state)?.with_remote_id(Some(photo)))
        }
        NextStep::StartVideo => {
            let video = client::start_video(session, video_edge(draft)).await?;
            state.video = Some(video.clone());
            Ok(Progress::continue_with(&state)?.with_remote_id(Some(video)))
        }
        NextStep::UploadVideo(video) => {
            client::upload_video(session, &video, file(draft, 0)?).await?;
            (state.uploaded, state.since) = (true, Some(session.now));
            Progress::continue_with(&state)
        }
        NextStep::CoverReel(video, url) => {
            let image = client::read_cover(session, &url).await?;
            client::set_thumbnail(session, &video, image).await?;
            state.covered = true;
            Progress::continue_with(&state)
        }
        NextStep::WaitVideo(video) => wait_video(session, state, &video).await,
        NextStep::Commit => commit(session, draft, &settings, state).await,
        NextStep::WaitPublished(video) => wait_published(session, state, &video).await,
        NextStep::Permalink(id) => {
            let field = if Form::of(draft) == Form::CoverPhoto { "link" } else { "permalink_url" };
            // It is public even if its address cannot be read.
            let link = client::permalink(session, &id, field).await.ok().flatten();
            let names = photo_names(session, &state);
            Ok(Progress::done(id, link.map(|link| absolute(session, link))).with_names(names))
        }
    }
}

/// Returns the names by which Facebook may call a post: those of its photos, and of the posts that these are in the page's
/// albums.
fn photo_names(session: &Session, state: &State) -> Vec<String> {
    let photos = state.photos.iter();
    photos.flat_map(|id| [id.clone(), client::post_name(session, id)]).collect()
}

async fn commit(
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    mut state: State,
) -> Result<Progress> {
    let made = match send(session, draft, settings, &state).await {
        Ok(made) => made,
        Err(error) if coloured(settings, &state) && is_about_background(&error) => {
            state.plain = true;
            // Facebook failed without refusing it: it is looked up before it is sent again.
            if error.kind == ErrorKind::Server {
                return Err(error.with_next_state(&state)?);
            }
            return Progress::continue_with(&state);
        }
        Err(error) => return Err(error),
    };
    published(session, draft, state, made)
}

async fn send(
    session: &Session,
    draft: &Draft,
    settings: &Settings,
    state: &State,
) -> Result<Published> {
    match Form::of(draft) {
        Form::Feed => client::feed(session, &feed(draft, settings, state)).await,
        Form::Video => client::publish(session, "videos", &video(draft, settings)?).await,
        Form::Reel | Form::VideoStory => {
            let mut params =
                vec![("upload_phase", "finish".to_owned()), ("video_id", handle(state)?.clone())];
            if Form::of(draft) == Form::Reel {
                params.push(("video_state", "PUBLISHED".to_owned()));
                params.extend(described(draft, settings));
            }
            params.extend(ai_label(draft));
            client::publish(session, video_edge(draft), &params).await
        }
        Form::PhotoStory => {
            let params = vec![("photo_id", photo(state)?.clone())];
            client::publish(session, "photo_stories", &params).await
        }
        Form::CoverPhoto => {
            let mut params = vec![("cover", photo(state)?.clone())];
            params.extend(settings.offset_y.map(|percent| ("offset_y", percent.to_string())));
            params.push(("no_feed_story", settings.no_feed_story.to_string()));
            client::set_cover(session, &params).await
        }
    }
}

fn feed(draft: &Draft, settings: &Settings, state: &State) -> Params {
    let mut params = vec![("published", "true".to_owned())];
    if !draft.caption.is_empty() {
        params.push(("message", draft.caption.clone()));
    }
    params.extend(settings.link.iter().map(|link| ("link", link.clone())));
    if coloured(settings, state) {
        let preset = settings.text_format_preset_id.iter();
        params.extend(preset.map(|preset| ("text_format_preset_id", preset.clone())));
    }
    if !state.photos.is_empty() {
        let photos: Vec<_> = state.photos.iter().map(|id| json!({"media_fbid": id})).collect();
        params.push(("attached_media", json!(photos).to_string()));
    }
    params
}

fn video(draft: &Draft, settings: &Settings) -> Result<Params> {
    let mut params =
        vec![("file_url", file(draft, 0)?.url.clone()), ("published", "true".to_owned())];
    params.extend(described(draft, settings));
    params.extend(ai_label(draft));
    Ok(params)
}

/// Returns the label for AI, which Facebook takes with videos alone
/// (<https://developers.facebook.com/docs/graph-api/reference/page/videos>).
fn ai_label(draft: &Draft) -> Option<(&'static str, String)> {
    is_ai_generated(draft).then(|| ("is_ai_generated", "true".to_owned()))
}

fn described(draft: &Draft, settings: &Settings) -> Params {
    let mut params = Params::new();
    if !draft.caption.is_empty() {
        params.push(("description", draft.caption.clone()));
    }
    params.extend(settings.title.iter().map(|title| ("title", title.clone())));
    params
}

/// Returns the step that follows once something is public.
pub(super) fn published(
    session: &Session,
    draft: &Draft,
    mut state: State,
    made: Published,
) -> Result<Progress> {
    let form = Form::of(draft);
    let named = match form {
        // Its status is that of the video, not of the post.
        Form::Video => made.id.or(made.post_id),
        _ => made.post_id.or(made.id),
    };
    let named = named.filter(|id| !id.is_empty());
    let id = match form {
        Form::Reel => handle(&state)?.clone(),
        Form::CoverPhoto => photo(&state)?.clone(),
        Form::VideoStory => named.map_or_else(|| handle(&state).cloned(), Ok)?,
        Form::Feed | Form::Video | Form::PhotoStory => named.ok_or_else(client::missing_id)?,
    };
    if matches!(form, Form::PhotoStory | Form::VideoStory) {
        let url = session.public_url("https://www.facebook.com", &format!("/stories/{id}"));
        return Ok(Progress::done(id, url));
    }
    if let Some(link) = made.permalink_url.filter(|_| !form.is_awaited()) {
        let names = photo_names(session, &state);
        return Ok(Progress::done(id, Some(absolute(session, link))).with_names(names));
    }
    (state.published, state.since) = (Some(id.clone()), Some(session.now));
    let after = if form.is_awaited() { POLL } else { Duration::ZERO };
    Ok(Progress::continue_with(&state)?.after(after).with_remote_id(Some(id)).mark_public())
}

async fn wait_video(session: &Session, mut state: State, id: &str) -> Result<Progress> {
    let video = client::video(session, id).await?;
    if let Some(flaw) = video.status.failure_reason() {
        return Err(video_failed(flaw));
    }
    if video.status.is_uploaded() {
        state.ready = true;
        return Progress::continue_with(&state);
    }
    check_deadline(session, &state)?;
    Ok(Progress::continue_with(&state)?.after(POLL))
}

/// Waits until a video is public. Facebook has accepted it, but still fetches and encodes it, and may fail or keep it as a
/// draft.
async fn wait_published(session: &Session, mut state: State, id: &str) -> Result<Progress> {
    let waited = session.now - state.since.unwrap_or(session.now);
    let wait =
        |state: &State| Ok(Progress::continue_with(state)?.after(pause(waited)).mark_public());
    let video = match client::video(session, id).await {
        Err(error) if error.is_not_found() && waited <= SETTLES_WITHIN => return wait(&state),
        video => video?,
    };
    if let Some(flaw) = video.status.failure_reason() {
        // Facebook's own record says that it is not there.
        return Err(video_failed(flaw).nothing_done());
    }
    if video.status.is_published() {
        let name = video.post_name(session);
        let seen = *state.seen.get_or_insert(session.now);
        if name.is_none() && session.now - seen <= NAMED_WITHIN {
            return Ok(Progress::continue_with(&state)?.after(POLL).mark_public());
        }
        let link = video.permalink_url.unwrap_or_else(|| format!("/reel/{id}"));
        let names = name.into_iter().filter(|name| name != id).collect();
        return Ok(Progress::done(id, Some(absolute(session, link))).with_names(names));
    }
    if video.status.is_draft() && waited > SETTLES_WITHIN {
        return Err(kept_as_draft());
    }
    if waited > PUBLISHING_MAX {
        return Err(Error::transient("Facebook has not published the video within a day."));
    }
    wait(&state)
}

/// Returns the pause before the status of a video is read again: it is usually public within a minute, and may take
/// hours.
fn pause(waited: TimeDelta) -> Duration {
    Duration::from_secs(match waited {
        waited if waited < TimeDelta::minutes(1) => 5,
        waited if waited < TimeDelta::minutes(15) => 20,
        waited if waited < TimeDelta::hours(2) => 60,
        _ => 600,
    })
}

/// Returns the error of a video that only those see who manage the page: Facebook makes drafts of upright videos
/// (<https://github.com/gitroomhq/postiz-app/pull/1740>).
fn kept_as_draft() -> Error {
    Error::rejected("Facebook keeps the video as a draft, which nobody sees who does not manage the page.")
        .with_remedy("Publish the draft in Meta Business Suite, then retry the post, which looks again; or delete the draft and make the post anew as a reel.")
}

fn check_deadline(session: &Session, state: &State) -> Result<()> {
    let since = state.since.unwrap_or(session.now);
    if session.now - since > PROCESSING_MAX {
        return Err(Error::transient("Facebook has not processed the video within 15 minutes."));
    }
    Ok(())
}

fn video_failed(flaw: &str) -> Error {
    Error::media_rejected("Facebook could not process the video.").with_reply(200, None, Some(flaw))
}

fn coloured(settings: &Settings, state: &State) -> bool {
    settings.text_format_preset_id.is_some() && !state.plain
}

fn video_edge(draft: &Draft) -> &'static str {
    if Form::of(draft) == Form::Reel { "video_reels" } else { "video_stories" }
}

/// Completes the address of a video, which Facebook returns without a host.
fn absolute(session: &Session, link: String) -> String {
    if !link.starts_with('/') {
        return link;
    }
    session.public_url("https://www.facebook.com", &link).unwrap_or(link)
}

fn file(draft: &Draft, index: usize) -> Result<&Media> {
    draft.media.get(index).ok_or_else(|| Error::media_rejected("A file of the post is missing."))
}

fn photo(state: &State) -> Result<&String> {
    state.photos.first().ok_or_else(unexpected_state)
}

fn handle(state: &State) -> Result<&String> {
    state.video.as_ref().ok_or_else(unexpected_state)
}

fn unexpected_state() -> Error {
    Error::rejected("The stored progress of the post does not fit its content.")
}
