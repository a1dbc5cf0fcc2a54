//! The schema of records: `app.bsky.feed.post` and the two gates. Records of other kinds are not checked.
//!
//! <https://github.com/bluesky-social/atproto/tree/main/lexicons>

use serde_json::{Map, Value};
use unicode_segmentation::UnicodeSegmentation;

use super::syntax::{AtUri, is_datetime};
use super::{POST, embed};

/// The result of a check. `Err` is the message for the client.
pub(super) type Check = Result<(), String>;
type Object = Map<String, Value>;

const TEXT_GRAPHEMES: usize = 300;
const TEXT_BYTES: usize = 3_000;
const LANGS: usize = 3;
const TAGS: usize = 8;
const TAG_GRAPHEMES: usize = 64;
const TAG_BYTES: usize = 640;
const LABELS: usize = 10;
const GATE_RULES: usize = 5;

/// Checks a record against its lexicon. `Ok(false)` if its collection has no lexicon here.
pub(super) fn check(collection: &str, record: &Object) -> Result<bool, String> {
    match record.get("$type").and_then(Value::as_str) {
        Some(kind) if kind == collection => {}
        kind => {
            return Err(format!(
                "Invalid $type: expected {collection}, got {}",
                kind.unwrap_or("nothing")
            ));
        }
    }
    let checked = match collection {
        POST => post(record),
        "app.bsky.feed.postgate" => gate(record, "embeddingRules"),
        "app.bsky.feed.threadgate" => gate(record, "allow"),
        _ => return Ok(false),
    };
    checked.map(|()| true).map_err(|flaw| format!("Invalid {collection} record: {flaw}"))
}

/// Returns true if record keys of this collection must be TIDs.
pub(super) fn keyed_by_time(collection: &str) -> bool {
    matches!(
        collection,
        POST | "app.bsky.feed.postgate"
            | "app.bsky.feed.threadgate"
            | "app.bsky.feed.like"
            | "app.bsky.feed.repost"
    )
}

fn post(record: &Object) -> Check {
    let text = string(record, "Record", "text")?;
    within(text, "Record/text", TEXT_GRAPHEMES, TEXT_BYTES)?;
    created_at(record)?;
    for (n, facet) in list(record, "facets", usize::MAX)?.iter().enumerate() {
        facet_of(facet, text, &format!("Record/facets/{n}"))?;
    }
    no_overlap(record)?;
    if let Some(reply) = record.get("reply") {
        let reply = object(reply, "Record/reply")?;
        for end in ["root", "parent"] {
            let place = format!("Record/reply/{end}");
            strong_ref(reply.get(end).ok_or_else(|| format!("{place} is missing"))?, &place)?;
        }
    }
    if let Some(embed) = record.get("embed") {
        embed::check(embed)?;
    }
    for lang in list(record, "langs", LANGS)? {
        let tag = lang.as_str().unwrap_or_default();
        if !is_language(tag) {
            return Err("Record/langs must be well-formed BCP 47 language tags".into());
        }
    }
    for (n, tag) in list(record, "tags", TAGS)?.iter().enumerate() {
        let place = format!("Record/tags/{n}");
        within(
            tag.as_str().ok_or_else(|| format!("{place} must be a string"))?,
            &place,
            TAG_GRAPHEMES,
            TAG_BYTES,
        )?;
    }
    labels(record)
}

/// Returns true for a language tag.
pub(super) fn is_language(tag: &str) -> bool {
    (2..=35).contains(&tag.len()) && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn labels(record: &Object) -> Check {
    let Some(labels) = record.get("labels") else {
        return Ok(());
    };
    let labels = object(labels, "Record/labels")?;
    if labels.get("$type").and_then(Value::as_str) != Some("com.atproto.label.defs#selfLabels") {
        return Err("Record/labels must be com.atproto.label.defs#selfLabels".into());
    }
    for value in list(labels, "values", LABELS)? {
        match value.get("val").and_then(Value::as_str) {
            Some(val) if !val.is_empty() && val.len() <= 128 => {}
            _ => return Err("Record/labels/values must each have a val".into()),
        }
    }
    Ok(())
}

fn gate(record: &Object, rules: &str) -> Check {
    let post = string(record, "Record", "post")?;
    if AtUri::parse(post).is_none() {
        return Err("Record/post must be a valid at-uri".into());
    }
    for rule in list(record, rules, GATE_RULES)? {
        if rule.get("$type").and_then(Value::as_str).is_none() {
            return Err(format!("Record/{rules} must each have a $type"));
        }
    }
    created_at(record)
}

fn created_at(record: &Object) -> Check {
    if is_datetime(string(record, "Record", "createdAt")?) {
        return Ok(());
    }
    Err("Record/createdAt must be an valid atproto datetime (both RFC-3339 and ISO-8601)".into())
}

fn facet_of(facet: &Value, text: &str, place: &str) -> Check {
    let index =
        facet.get("index").ok_or_else(|| format!("{place} must have the property \"index\""))?;
    let bound = |name: &str| {
        let n = index
            .get(name)
            .and_then(Value::as_u64)
            .ok_or_else(|| format!("{place}/index/{name} must be an integer"))?;
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        if text.is_char_boundary(n) {
            Ok(n)
        } else {
            Err(format!("{place}/index/{name} must lie inside the text, between two characters"))
        }
    };
    if bound("byteStart")? >= bound("byteEnd")? {
        return Err(format!("{place}/index must not be empty"));
    }
    let features = facet
        .get("features")
        .and_then(Value::as_array)
        .ok_or_else(|| format!("{place} must have the property \"features\""))?;
    for (n, feature) in features.iter().enumerate() {
        feature_of(feature, &format!("{place}/features/{n}"))?;
    }
    Ok(())
}

fn feature_of(feature: &Value, place: &str) -> Check {
    let feature = object(feature, place)?;
    match string(feature, place, "$type")? {
        "app.bsky.richtext.facet#link" => {
            uri(string(feature, place, "uri")?, &format!("{place}/uri"))
        }
        "app.bsky.richtext.facet#mention" => match string(feature, place, "did")? {
            did if did.starts_with("did:") => Ok(()),
            _ => Err(format!("{place}/did must be a valid did")),
        },
        "app.bsky.richtext.facet#tag" => within(
            string(feature, place, "tag")?,
            &format!("{place}/tag"),
            TAG_GRAPHEMES,
            TAG_BYTES,
        ),
        _ => Ok(()),
    }
}

fn no_overlap(record: &Object) -> Check {
    let bound = |facet: &Value, name: &str| facet["index"][name].as_u64().unwrap_or_default();
    let facets = list(record, "facets", usize::MAX)?.iter();
    let mut ranges: Vec<_> = facets.map(|f| (bound(f, "byteStart"), bound(f, "byteEnd"))).collect();
    ranges.sort_unstable();
    if ranges.windows(2).any(|pair| pair[1].0 < pair[0].1) {
        return Err("Record/facets must not overlap".into());
    }
    Ok(())
}

/// Returns a required string of an object.
pub(super) fn string<'a>(object: &'a Object, place: &str, name: &str) -> Result<&'a str, String> {
    match object.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("{place}/{name} must be a string")),
        None => Err(format!("{place} must have the property \"{name}\"")),
    }
}

/// Returns the value as an object.
pub(super) fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Object, String> {
    value.as_object().ok_or_else(|| format!("{place} must be an object"))
}

fn list<'a>(record: &'a Object, name: &str, most: usize) -> Result<&'a [Value], String> {
    match record.get(name) {
        None => Ok(&[]),
        Some(Value::Array(items)) if items.len() <= most => Ok(items),
        Some(Value::Array(_)) => {
            Err(format!("Record/{name} must not have more than {most} elements"))
        }
        Some(_) => Err(format!("Record/{name} must be an array")),
    }
}

/// Checks a text's length in graphemes and bytes.
pub(super) fn within(text: &str, place: &str, graphemes: usize, bytes: usize) -> Check {
    if text.len() > bytes {
        return Err(format!("{place} must not be longer than {bytes} characters"));
    }
    if text.len() > graphemes && text.graphemes(true).count() > graphemes {
        return Err(format!("{place} must not be longer than {graphemes} graphemes"));
    }
    Ok(())
}

/// Checks an address of any scheme.
pub(super) fn uri(text: &str, place: &str) -> Check {
    let scheme = text.split(':').next().unwrap_or_default();
    let named = scheme.len() < text.len() && scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    if named && !text.contains(char::is_whitespace) && text.len() <= 8_192 {
        return Ok(());
    }
    Err(format!("{place} must be a uri"))
}

/// Checks a reference to a record by address and CID.
pub(super) fn strong_ref(value: &Value, place: &str) -> Check {
    let reference = object(value, place)?;
    if AtUri::parse(string(reference, place, "uri")?).is_none() {
        return Err(format!("{place}/uri must be a valid at-uri"));
    }
    if !super::cid::is_valid(string(reference, place, "cid")?) {
        return Err(format!("{place}/cid must be a cid string"));
    }
    Ok(())
}
