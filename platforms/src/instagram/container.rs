//! The parameters of containers. Pure.

use serde_json::{Map, json};

use super::{Form, settings::Settings};
use crate::{Draft, Media, settings::alt_text};

/// Parameters of a request, in the order in which they are sent.
pub(super) type Params = Vec<(&'static str, String)>;

/// Returns the parameters of a post that is not a carousel.
pub(super) fn single(draft: &Draft, settings: &Settings, media: &Media) -> Params {
    match Form::of(draft) {
        Form::Story => story(settings, media),
        Form::Reel => reel(draft, settings, media),
        Form::Image | Form::Carousel => {
            let mut params = image(settings, media, 0);
            params.extend(shared(draft, settings));
            params
        }
    }
}

/// Returns the parameters of a file of a carousel, counted from 0.
pub(super) fn item(settings: &Settings, media: &Media, index: usize) -> Params {
    let mut params = if media.is_video() {
        vec![("media_type", "VIDEO".to_owned()), ("video_url", media.url.clone())]
    } else {
        image(settings, media, index)
    };
    params.push(("is_carousel_item", "true".to_owned()));
    params
}

/// Returns the parameters of a carousel with these items.
pub(super) fn carousel(draft: &Draft, settings: &Settings, items: &[String]) -> Params {
    let mut params = vec![("media_type", "CAROUSEL".to_owned()), ("children", items.join(","))];
    params.extend(shared(draft, settings));
    params
}

/// Returns the parameters of the story that accompanies a post.
pub(super) fn companion_story(media: &Media) -> Params {
    story(&Settings::default(), media)
}

fn image(settings: &Settings, media: &Media, index: usize) -> Params {
    let mut params = vec![("image_url", media.url.clone())];
    let alt = alt_text(&settings.media_alt_texts, index);
    params.extend(alt.map(|alt| ("alt_text", alt.to_owned())));
    if index == 0 && !settings.user_tags.is_empty() {
        params.push(("user_tags", json!(settings.user_tags).to_string()));
    }
    params
}

fn reel(draft: &Draft, settings: &Settings, media: &Media) -> Params {
    let mut params = vec![("media_type", "REELS".to_owned()), ("video_url", media.url.clone())];
    params.extend(settings.reel_cover_url.iter().map(|url| ("cover_url", url.clone())));
    params.extend(settings.reel_thumb_offset.iter().map(|at| ("thumb_offset", at.to_string())));
    params.extend(tags_of_video(settings));
    if settings.is_trial_reel {
        let strategy = settings.graduation_strategy.as_deref().unwrap_or("MANUAL");
        params.push(("trial_params", json!({"graduation_strategy": strategy}).to_string()));
    } else {
        params.push(("share_to_feed", "true".to_owned()));
    }
    let audio = settings.audio_id.iter();
    params.extend(audio.map(|id| ("audio_configuration", json!({"audio_id": id}).to_string())));
    params.extend(shared(draft, settings));
    params
}

fn story(settings: &Settings, media: &Media) -> Params {
    let mut params = vec![("media_type", "STORIES".to_owned())];
    if media.is_video() {
        params.push(("video_url", media.url.clone()));
        params.extend(tags_of_video(settings));
    } else {
        params.push(("image_url", media.url.clone()));
        if !settings.user_tags.is_empty() {
            params.push(("user_tags", json!(settings.user_tags).to_string()));
        }
    }
    params
}

fn tags_of_video(settings: &Settings) -> Option<(&'static str, String)> {
    let tags: Vec<_> = settings.user_tags.iter().map(|tag| tag.in_video()).collect();
    (!tags.is_empty()).then(|| ("user_tags", json!(tags).to_string()))
}

/// Returns the parameters that only the published container may have, such as labels: on an item of a carousel they are
/// an error.
fn shared(draft: &Draft, settings: &Settings) -> Params {
    let mut params = Params::new();
    if !draft.caption.is_empty() {
        params.push(("caption", draft.caption.clone()));
    }
    if !settings.collaborators.is_empty() && !settings.is_trial_reel {
        params.push(("collaborators", json!(settings.collaborators).to_string()));
    }
    if settings.is_ai(draft) {
        params.push(("is_ai_generated", "true".to_owned()));
    }
    params.extend(addon(settings));
    params
}

/// Returns the parameters of a poll or a prompt
/// (<https://developers.facebook.com/docs/instagram-platform/content-publishing/caption-add-ons>).
fn addon(settings: &Settings) -> Params {
    const OPTIONS: [&str; 4] = ["option_a", "option_b", "option_c", "option_d"];
    let Some(poll) = &settings.poll else {
        let prompt = settings.comment_prompt.then(|| ("is_comment_prompt_used", "true".to_owned()));
        return prompt.into_iter().collect();
    };
    let named = OPTIONS.iter().zip(&poll.options);
    let named: Map<_, _> = named.map(|(name, text)| ((*name).to_owned(), json!(text))).collect();
    let mut params = vec![("poll_attachment", json!(named).to_string())];
    if poll.open_ended {
        params.push(("is_poll_duration_extended", "true".to_owned()));
    }
    params
}
