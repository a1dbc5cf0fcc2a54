//! The records of a post.

use chrono::{SecondsFormat, TimeDelta};
use serde_json::{Value, json};

use super::{
    cid,
    facets::{self, Feature},
    is_chain, reply_rules,
    settings::Settings,
    state::{Card, State, StrongRef},
    texts, tid, video,
};
use crate::{Draft, Media, Result};

/// Collection of posts.
pub const POSTS: &str = "app.bsky.feed.post";
/// The collection of postgates; a postgate has the key of its post.
const POSTGATES: &str = "app.bsky.feed.postgate";

/// The collection of threadgates; a threadgate has the key of the first post.
const THREADGATES: &str = "app.bsky.feed.threadgate";

/// A post, or the posts of a chain, as they will be on the server.
#[derive(Debug)]
pub struct Chain {
    /// The writes of the one commit that publishes all of them: first the posts, in order.
    pub writes: Vec<Value>,
    /// The posts.
    pub posts: Vec<StrongRef>,
}

/// Returns the address of a part's post, from 0.
pub fn uri(did: &str, draft: &Draft, part: u64) -> String {
    format!("at://{did}/{POSTS}/{}", tid::nth(draft.key, part))
}

/// Returns the writes that publish the posts in one commit. Each reply names the posts before it by what they will be.
pub fn chain(did: &str, draft: &Draft, settings: &Settings, state: &State) -> Result<Chain> {
    let (mut writes, mut posts) = (Vec::new(), Vec::<StrongRef>::new());
    for (part, text) in (0..).zip(texts(draft)) {
        let mut record = post(draft, part, &text, settings, state);
        if let (Some(root), Some(parent)) = (posts.first(), posts.last()) {
            record["reply"] = json!({"root": root, "parent": parent});
        }
        // A post that nothing refers to needs no identifier.
        let cid = if is_chain(draft) { cid::of_record(&record)? } else { String::new() };
        posts.push(StrongRef { uri: uri(did, draft, part), cid });
        writes.push(create(POSTS, &tid::nth(draft.key, part), record));
    }
    if reply_rules::are_set(settings) {
        let allow = reply_rules::allow(settings, &state.mentions)?;
        let gate = json!({
            "$type": THREADGATES, "post": uri(did, draft, 0), "allow": allow, "createdAt": created_at(draft, 0),
        });
        writes.push(create(THREADGATES, &tid::from_key(draft.key), gate));
    }
    if settings.disable_quotes {
        for (part, post) in (0..).zip(&posts) {
            let gate = json!({
                "$type": POSTGATES,
                "post": post.uri,
                "embeddingRules": [{"$type": "app.bsky.feed.postgate#disableRule"}],
                "createdAt": created_at(draft, part),
            });
            writes.push(create(POSTGATES, &tid::nth(draft.key, part), gate));
        }
    }
    Ok(Chain { writes, posts })
}

fn create(collection: &str, key: &str, value: Value) -> Value {
    json!({
        "$type": "com.atproto.repo.applyWrites#create",
        "collection": collection,
        "rkey": key,
        "value": value,
    })
}

/// Returns the due time, which is the same for all attempts; each part of a chain is a millisecond after the one
/// before.
fn created_at(draft: &Draft, part: u64) -> String {
    let later = TimeDelta::milliseconds(i64::try_from(part).unwrap_or(0));
    (draft.due_at + later).to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn post(draft: &Draft, part: u64, text: &str, settings: &Settings, state: &State) -> Value {
    let mut post = json!({"$type": POSTS, "text": text, "createdAt": created_at(draft, part)});
    let facets = facet_values(text, state);
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            post[name] = value;
        }
    };
    set("facets", (!facets.is_empty()).then(|| json!(facets)));
    set("langs", (!settings.languages.is_empty()).then(|| json!(settings.languages)));
    let tags = (part == 0 && !settings.tags.is_empty()).then(|| json!(settings.tags));
    set("tags", tags);
    set("labels", settings.content_label.as_ref().map(|label| {
        json!({"$type": "com.atproto.label.defs#selfLabels", "values": [{"val": label}]})
    }));
    set("embed", if part == 0 { embed(draft, settings, state) } else { card(state, part) });
    post
}

/// Returns the facets; an unknown handle stays plain text.
fn facet_values(text: &str, state: &State) -> Vec<Value> {
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
    facets::detect(text).into_iter().filter_map(value).collect()
}

fn embed(draft: &Draft, settings: &Settings, state: &State) -> Option<Value> {
    let files = video::embed(draft, settings, state).or_else(|| images(draft, settings, state));
    let media = files.or_else(|| card(state, 0));
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

/// Returns the width and height of a file, if they are known.
pub fn sides(media: &Media) -> Option<(u32, u32)> {
    media.dimensions.filter(|(width, height)| *width > 0 && *height > 0)
}

fn images(draft: &Draft, settings: &Settings, state: &State) -> Option<Value> {
    if state.images.is_empty() {
        return None;
    }
    let image = |(index, (blob, media)): (usize, (&Value, &Media))| {
        let alt = settings.media_alt_texts.get(index).map_or("", String::as_str);
        let mut image = json!({"image": blob, "alt": alt});
        if let Some((width, height)) = sides(media) {
            image["aspectRatio"] = json!({"width": width, "height": height});
        }
        image
    };
    let images: Vec<Value> = state.images.iter().zip(&draft.media).enumerate().map(image).collect();
    Some(json!({"$type": "app.bsky.embed.images", "images": images}))
}

fn card(state: &State, part: u64) -> Option<Value> {
    let (page, thumb) = match state.card_of(usize::try_from(part).ok()?)? {
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
