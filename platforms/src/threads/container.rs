//! The parameters of containers. Pure.

use serde_json::{Value, json};

use super::{
    CHAIN, CHAIN_KEY,
    settings::{Settings, Spoiler},
};
use crate::{Draft, Media};

/// Parameters of a request, in the order in which they are sent.
pub(super) type Params = Vec<(&'static str, String)>;

/// Returns true if the post is a chain.
pub(super) fn is_chain(draft: &Draft) -> bool {
    draft.post_type == CHAIN
}

/// Returns the texts to publish, one per post.
pub(super) fn segments(draft: &Draft) -> Vec<String> {
    if is_chain(draft) { draft.metadata_texts(CHAIN_KEY) } else { vec![draft.caption.clone()] }
}

/// Returns the parameters of the first post, with at most one file: a carousel consists of [`item`]s.
pub(super) fn first(draft: &Draft, settings: &Settings, text: &str) -> Params {
    let mut params = match draft.media.as_slice() {
        [] => attachment(settings),
        [media, ..] => file(media, settings.media_alt_texts.first()),
    };
    params.extend(shared(draft, settings, text));
    params
}

/// Returns the parameters of a file of a carousel, counted from 0.
pub(super) fn item(draft: &Draft, settings: &Settings, index: usize) -> Option<Params> {
    let mut params = file(draft.media.get(index)?, settings.media_alt_texts.get(index));
    params.push(("is_carousel_item", "true".to_owned()));
    Some(params)
}

/// Returns the parameters of a carousel with these items.
pub(super) fn carousel(draft: &Draft, settings: &Settings, text: &str, items: &[String]) -> Params {
    let mut params = vec![("media_type", "CAROUSEL".to_owned()), ("children", items.join(","))];
    params.extend(shared(draft, settings, text));
    params
}

/// Returns the parameters of a later segment of a chain.
pub(super) fn reply(text: &str, parent: &str) -> Params {
    vec![
        ("media_type", "TEXT".to_owned()),
        ("text", text.to_owned()),
        ("reply_to_id", parent.to_owned()),
    ]
}

fn file(media: &Media, alt_text: Option<&String>) -> Params {
    let (kind, field) =
        if media.is_video() { ("VIDEO", "video_url") } else { ("IMAGE", "image_url") };
    let mut params = vec![("media_type", kind.to_owned()), (field, media.url.clone())];
    let alt_text = alt_text.filter(|text| !text.is_empty());
    params.extend(alt_text.map(|text| ("alt_text", text.clone())));
    params
}

/// Returns the parameters that only a post without media can have.
fn attachment(settings: &Settings) -> Params {
    let mut params = vec![("media_type", "TEXT".to_owned())];
    if let Some(link) = &settings.link_attachment {
        params.push(("link_attachment", link.clone()));
    }
    if let Some(poll) = &settings.poll {
        const NAMES: [&str; 4] = ["option_a", "option_b", "option_c", "option_d"];
        let options: serde_json::Map<_, _> = NAMES
            .iter()
            .zip(&poll.options)
            .map(|(name, text)| ((*name).to_owned(), json!(text)))
            .collect();
        params.push(("poll_attachment", json!(options).to_string()));
    }
    if let Some(text) = &settings.text_attachment {
        params.push(("text_attachment", json!(text).to_string()));
    }
    if let Some(gif) = &settings.gif_attachment {
        params.push(("gif_attachment", json!(gif).to_string()));
    }
    if settings.is_ghost_post {
        params.push(("is_ghost_post", "true".to_owned()));
    }
    params
}

/// Returns the parameters that every first post can have.
fn shared(draft: &Draft, settings: &Settings, text: &str) -> Params {
    let mut params = Params::new();
    if !text.is_empty() {
        params.push(("text", text.to_owned()));
    }
    let texts = [
        ("reply_control", &settings.reply_control),
        ("topic_tag", &settings.topic_tag),
        ("quote_post_id", &settings.quote_post_id),
    ];
    for (name, value) in texts {
        params.extend(value.iter().map(|value| (name, value.clone())));
    }
    if !settings.spoilers.is_empty() {
        let entities: Vec<_> = settings.spoilers.iter().map(entity).collect();
        params.push(("text_entities", json!(entities).to_string()));
    }
    let flags = [
        ("is_spoiler_media", settings.is_spoiler_media && !draft.media.is_empty()),
        ("enable_reply_approvals", settings.enable_reply_approvals),
    ];
    params.extend(flags.iter().filter(|(_, on)| *on).map(|(name, _)| (*name, "true".to_owned())));
    params.extend(settings.share().map(|name| (name, "true".to_owned())));
    params
}

fn entity(spoiler: &Spoiler) -> Value {
    json!({"entity_type": "SPOILER", "offset": spoiler.offset, "length": spoiler.length})
}
