//! The content of a post. Pure.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    little_text,
    settings::{Poll, Settings},
    state::{Card, Organization, State},
};
use crate::{Draft, settings::alt_text};

/// The default duration of a poll.
const POLL_DURATION: &str = "THREE_DAYS";

/// The audience of all posts.
pub(super) const VISIBILITY: &str = "PUBLIC";

/// The longest title of a document that is made from a file's name.
const TITLE_MAX: usize = 200;

/// Returns the body of `POST /rest/posts`.
pub(super) fn post(author: &str, draft: &Draft, settings: &Settings, state: &State) -> Value {
    let mut post = json!({
        "author": author,
        "commentary": commentary(draft, settings, state),
        "visibility": VISIBILITY,
        "distribution": {
            "feedDistribution": "MAIN_FEED",
            "targetEntities": [],
            "thirdPartyDistributionChannels": [],
        },
        "lifecycleState": "PUBLISHED",
        "isReshareDisabledByAuthor": false,
    });
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            post[name] = value;
        }
    };
    put("content", content(draft, settings, state));
    put(
        "contentCallToActionLabel",
        settings.content_call_to_action_label.as_ref().map(|it| json!(it)),
    );
    put("contentLandingPage", settings.content_landing_page.as_ref().map(|it| json!(it)));
    post
}

/// Returns the caption in "little text", with its mentions.
pub(super) fn commentary(draft: &Draft, settings: &Settings, state: &State) -> String {
    little_text::commentary(&draft.caption, &mentions(settings, state))
}

/// Returns the organizations by the name after the @. One that was not found stays plain text.
fn mentions(settings: &Settings, state: &State) -> BTreeMap<String, Organization> {
    let found = settings.mentions.iter().filter_map(|mention| {
        let organization = match (&mention.urn, &mention.vanity_name) {
            (Some(urn), _) => Organization { name: mention.name.clone(), urn: urn.clone() },
            (None, Some(vanity)) => state.organizations.get(vanity)?.clone()?,
            (None, None) => return None,
        };
        Some((mention.name.clone(), organization))
    });
    found.collect()
}

fn content(draft: &Draft, settings: &Settings, state: &State) -> Option<Value> {
    let alt = |index| alt_text(&settings.media_alt_texts, index);
    if let Some(poll) = &settings.poll {
        return Some(json!({"poll": poll_of(poll)}));
    }
    match state.files.as_slice() {
        [] => article(state.card.as_ref()?),
        [urn] => {
            let mut media = json!({"id": urn});
            let is_image = draft.media.first().is_some_and(crate::Media::is_image);
            if let Some(text) = alt(0).filter(|_| is_image) {
                media["altText"] = json!(text);
            }
            if let Some(title) = title(draft, settings).filter(|_| !is_image) {
                media["title"] = json!(title);
            }
            Some(json!({"media": media}))
        }
        urns => {
            let images = urns.iter().enumerate().map(|(index, urn)| match alt(index) {
                Some(text) => json!({"id": urn, "altText": text}),
                None => json!({"id": urn}),
            });
            Some(json!({"multiImage": {"images": images.collect::<Vec<_>>()}}))
        }
    }
}

fn poll_of(poll: &Poll) -> Value {
    let options: Vec<Value> = poll.options.iter().map(|text| json!({"text": text})).collect();
    let duration = poll.duration.as_deref().unwrap_or(POLL_DURATION);
    json!({"question": poll.question, "options": options, "settings": {"duration": duration}})
}

fn article(card: &Card) -> Option<Value> {
    let Card::Ready { source, title, description, thumbnail } = card else { return None };
    let mut article = json!({"source": source, "title": title, "description": description});
    if let Some(image) = thumbnail {
        article["thumbnail"] = json!(image);
    }
    Some(json!({"article": article}))
}

/// Returns the title of a document or a video. A document must have one, by default its file name.
fn title(draft: &Draft, settings: &Settings) -> Option<String> {
    if settings.title.is_some() {
        return settings.title.clone();
    }
    let media = draft.media.first().filter(|media| !media.is_video())?;
    let named = settings.filename.as_deref().unwrap_or(&media.filename);
    let stem = named.rsplit_once('.').map_or(named, |(stem, _)| stem).trim();
    let title = if stem.is_empty() { "Document" } else { stem };
    Some(title.chars().take(TITLE_MAX).collect())
}
