//! Rejects oversized input before anything is counted or parsed.

use std::borrow::Cow;

use serde_json::Value;

use super::Violation;
use crate::{Draft, Spec, ThreadRules};

/// The most bytes that one unit of a text has in practice: a family emoji has 25, and an address counts as several
/// units.
const BYTES_PER_UNIT: usize = 32;

/// Texts up to this size are always counted, whatever the network's limit.
const BYTES_ALWAYS: usize = 64 << 10;

/// The longest list that is validated: no network accepts a longer one.
const LIST_MAX: usize = 256;

/// Returns the most bytes of a text that is counted; a larger one is refused without counting.
fn bytes_max(units: usize) -> usize {
    units.saturating_mul(BYTES_PER_UNIT).max(BYTES_ALWAYS)
}

/// Returns the draft with oversized values cut, and a violation for each field that was cut.
pub fn truncate_draft<'a>(spec: &Spec, draft: &'a Draft) -> (Cow<'a, Draft>, Vec<Violation>) {
    let mut kept = Cow::Borrowed(draft);
    let mut found = Vec::new();
    let (limit, place) = spec.caption_max(draft);
    let most = bytes_max(limit);
    if draft.caption.len() > most {
        let message = format!(
            "Caption has {} bytes; {} allows {limit} {}{place}, which never take more than {most}.",
            draft.caption.len(),
            spec.id,
            spec.caption.unit,
        );
        let remedy = format!("Shorten the caption to {limit} {}.", spec.caption.unit);
        let violation = Violation::new("caption", "caption_too_long", message, remedy);
        found.push(violation.with_limit(most, draft.caption.len()).in_unit("bytes"));
        shorten(&mut kept.to_mut().caption);
    }
    if let Some(rules) = spec.thread.filter(|rules| rules.post_type == draft.post_type) {
        segments(spec, &rules, &mut kept, &mut found);
    }
    if draft.settings.values().any(is_large) {
        kept.to_mut().settings.values_mut().for_each(shrink);
    }
    (kept, found)
}

/// Cuts the segments of a thread: too many, and those that are too large.
fn segments(
    spec: &Spec,
    rules: &ThreadRules,
    draft: &mut Cow<'_, Draft>,
    found: &mut Vec<Violation>,
) {
    let (id, limit, field) =
        (spec.id, rules.segments_max, format!("metadata.{}", rules.metadata_key));
    let Some(given) = draft.metadata.get(rules.metadata_key).and_then(Value::as_array) else {
        return;
    };
    let most = bytes_max(rules.segment_max);
    let count = given.len();
    let is_large = |item: &Value| item.as_str().is_some_and(|text| text.len() > most);
    if count <= limit && !given.iter().any(is_large) {
        return;
    }
    if count > limit {
        let message = format!("The thread has {count} segments; {id} allows {limit}.");
        let remedy = format!("Keep at most {limit} segments.");
        let violation = Violation::new(field.clone(), "setting_invalid", message, remedy);
        found.push(violation.with_limit(limit, count).in_unit("segments"));
    }
    let given = draft.to_mut().metadata.get_mut(rules.metadata_key).and_then(Value::as_array_mut);
    let Some(given) = given else { return };
    given.truncate(limit.max(LIST_MAX));
    for (index, item) in given.iter_mut().enumerate() {
        let Value::String(text) = item else { continue };
        if text.len() > most {
            let (unit, allowed) = (spec.caption.unit, rules.segment_max);
            let message = format!(
                "The segment has {} bytes; {id} allows {allowed} {unit}, which never take more than {most}.",
                text.len()
            );
            let remedy = format!("Shorten the segment to {allowed} {unit}.");
            let field = format!("{field}[{index}]");
            let violation = Violation::new(field, "thread_segment_too_long", message, remedy);
            found.push(violation.with_limit(most, text.len()).in_unit("bytes"));
            shorten(text);
        }
    }
}

/// Cuts a text to its beginning.
fn shorten(text: &mut String) {
    text.truncate(text.floor_char_boundary(1 << 10));
}

fn is_large(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() > BYTES_ALWAYS,
        Value::Array(list) => list.len() > LIST_MAX || list.iter().any(is_large),
        Value::Object(map) => map.values().any(is_large),
        _ => false,
    }
}

fn shrink(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > BYTES_ALWAYS => {
            text.truncate(text.floor_char_boundary(BYTES_ALWAYS));
        }
        Value::Array(list) => {
            list.truncate(LIST_MAX);
            list.iter_mut().for_each(shrink);
        }
        Value::Object(map) => map.values_mut().for_each(shrink),
        _ => {}
    }
}
