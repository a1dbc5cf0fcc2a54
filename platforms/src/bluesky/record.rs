//! The records of a post.

use chrono::SecondsFormat;
use serde_json::{Value, json};

use super::{
    facets::{self, Feature},
    settings::Settings,
    state::{Card, State, StrongRef},
};
use crate::Draft;

/// Collection of posts.
pub const POSTS: &str = "app.bsky.feed.post";
/// The collection of postgates; a postgate has the key of its post.
const POSTGATES: &str = "app.bsky.feed.postgate";

/// Returns the writes that publish the post in one commit.
pub fn writes(
    did: &str,
    key: &str,
    draft: &Draft,
    settings: &Settings,
    state: &State,
) -> Vec<Value> {
    let mut writes = vec![create(POSTS, key, post(draft, settings, state))];
    if settings.disable_quotes {
        let gate = json!({
            "$type": POSTGATES,
            "post": format!("at://{did}/{POSTS}/{key}"),
            "embeddingRules": [{"$type": "app.bsky.feed.postgate#disableRule"}],
            "createdAt": created_at(draft),
        });
        writes.push(create(POSTGATES, key, gate));
    }
    writes
}

fn create(collection: &str, key: &str, value: Value) -> Value {
    json!({
        "$type": "com.atproto.repo.applyWrites#create",
        "collection": collection,
        "rkey": key,
        "value": value,
    })
}

/// Returns the due time, which is the same for all attempts.
fn created_at(draft: &Draft) -> String {
    draft.due_at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn post(draft: &Draft, settings: &Settings, state: &State) -> Value {
    let mut post = json!({"$type": POSTS, "text": draft.caption, "createdAt": created_at(draft)});
    let facets = facet_values(draft, state);
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            post[name] = value;
        }
    };
    set("facets", (!facets.is_empty()).then(|| json!(facets)));
    set("langs", (!settings.languages.is_empty()).then(|| json!(settings.languages)));
    set("tags", (!settings.tags.is_empty()).then(|| json!(settings.tags)));
    set("labels", settings.content_label.as_ref().map(|label| {
        json!({"$type": "com.atproto.label.defs#selfLabels", "values": [{"val": label}]})
    }));
    set("embed", embed(draft, settings, state));
    post
}

/// Returns the facets; an unknown handle stays plain text.
fn facet_values(draft: &Draft, state: &State) -> Vec<Value> {
    let value = |facet: facets::Facet| {
        let feature = match facet.feature {
            Feature::Link(uri) => json!({"$type": "app.bsky.richtext.facet#link", "uri": uri}),
            Feature::Tag(tag) => json!({"$type": "app.bsky.richtext.facet#tag", "tag": tag}),
            Feature::Mention(handle) => {
                let did = state.mentions.get(&handle)?.as_ref()?;
                json!({"$type": "app.bsky.richtext.facet#mention", "did": did})
            }
        };
        let index = json!({"byteStart": facet.range.start, "byteEnd": facet.range.end});
        Some(json!({"index": index, "features": [feature]}))
    };
    facets::detect(&draft.caption).into_iter().filter_map(value).collect()
}

fn embed(draft: &Draft, settings: &Settings, state: &State) -> Option<Value> {
    let media = images(draft, settings, state).or_else(|| card(state));
    let quote = state.quote.as_ref().map(|StrongRef { uri, cid }| {
        json!({"$type": "app.bsky.embed.record", "record": {"uri": uri, "cid": cid}})
    });
    match (quote, media) {
        (Some(record), Some(media)) => Some(json!({
            "$type": "app.bsky.embed.recordWithMedia", "record": record, "media": media,
        })),
        (quote, media) => quote.or(media),
    }
}

fn images(draft: &Draft, settings: &Settings, state: &State) -> Option<Value> {
    if state.images.is_empty() {
        return None;
    }
    let image = |(index, (blob, media)): (usize, (&Value, &crate::Media))| {
        let alt = settings.media_alt_texts.get(index).map_or("", String::as_str);
        let mut image = json!({"image": blob, "alt": alt});
        if let Some((width, height)) =
            media.dimensions.filter(|(width, height)| *width > 0 && *height > 0)
        {
            image["aspectRatio"] = json!({"width": width, "height": height});
        }
        image
    };
    let images: Vec<Value> = state.images.iter().zip(&draft.media).enumerate().map(image).collect();
    Some(json!({"$type": "app.bsky.embed.images", "images": images}))
}

fn card(state: &State) -> Option<Value> {
    let (page, thumb) = match state.card.as_ref()? {
        Card::Missing => return None,
        Card::Read { page, .. } => (page, None),
        Card::Ready { page, thumb } => (page, thumb.as_ref()),
    };
    let mut external =
        json!({"uri": page.uri, "title": page.title, "description": page.description});
    if let Some(thumb) = thumb {
        external["thumb"] = thumb.clone();
    }
    Some(json!({"$type": "app.bsky.embed.external", "external": external}))
}
