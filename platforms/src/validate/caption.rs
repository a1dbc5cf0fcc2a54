//! Rules of the text.

use serde_json::json;

use super::{Violation, split};
use crate::{Draft, Fix, Platform, Spec, ThreadRules, text};

pub fn violations(platform: &dyn Platform, spec: &Spec, draft: &Draft) -> Vec<Violation> {
    let mut found = Vec::new();
    found.extend(missing(platform, spec, draft));
    if spec.shows_caption(draft) {
        found.extend(too_long(platform, spec, draft));
        found.extend(too_many_bytes(spec, draft));
    }
    found
}

fn missing(platform: &dyn Platform, spec: &Spec, draft: &Draft) -> Option<Violation> {
    let is_thread = spec.thread.is_some_and(|rules| rules.post_type == draft.post_type);
    let empty = text::is_blank(&draft.caption) && draft.media.is_empty();
    if !empty || is_thread || platform.settings_suffice(draft) {
        return None;
    }
    let (message, remedy) = if spec.media.total_max == 0 {
        ("The post has no text.", "Write a caption.")
    } else {
        ("The post has neither text nor media.", "Write a caption or add media.")
    };
    Some(Violation::new("caption", "caption_required", message, remedy))
}

fn too_long(platform: &dyn Platform, spec: &Spec, draft: &Draft) -> Option<Violation> {
    let (id, unit) = (spec.id, spec.caption.unit);
    let (limit, place) = spec.caption_max(draft);
    let length = platform.caption_length(draft);
    if length <= limit {
        return None;
    }
    let chain = spec.thread.and_then(|rules| Some((rules, chain(platform, spec, rules, draft)?)));
    let message = format!("Caption is {length} {unit}; {id} allows {limit}{place}.");
    let bound = format!("the caption to {limit} {unit}.");
    let (remedy, fix) = match chain {
        Some((rules, parts)) => {
            let (kind, count) = (rules.post_type, parts.len());
            let remedy = format!(
                "Publish it as {count} connected posts: `fix` sets post_type to {kind} and splits the text at \
                 sentences. Or shorten {bound}"
            );
            let metadata = json!({ (rules.metadata_key): parts });
            (remedy, vec![Fix::add("post_type", kind), Fix::add("metadata", metadata)])
        }
        None => (format!("Shorten {bound}"), Vec::new()),
    };
    let broken = Violation::new("caption", "caption_too_long", message, remedy).with_fix(fix);
    Some(broken.with_limit(limit, length).in_unit(unit))
}

/// Returns the texts of a chain that says what the caption says, if the network takes such a chain as it is.
fn chain(
    platform: &dyn Platform,
    spec: &Spec,
    rules: ThreadRules,
    draft: &Draft,
) -> Option<Vec<String>> {
    let usual = spec.post_types.first().map(|kind| kind.name);
    if usual != Some(draft.post_type.as_str()) || !draft.metadata.is_empty() {
        return None;
    }
    let parts = split::at_sentences(&draft.caption, rules.segment_max, spec.caption.count)?;
    let mut draft = Draft { post_type: rules.post_type.to_owned(), ..draft.clone() };
    draft.metadata.insert(rules.metadata_key.to_owned(), json!(parts));
    let fits = parts.len() <= rules.segments_max
        && super::metadata::violations(spec, &draft).is_empty()
        && platform.check(&draft).is_empty();
    fits.then_some(parts)
}

fn too_many_bytes(spec: &Spec, draft: &Draft) -> Option<Violation> {
    let limit = spec.caption.max_bytes?;
    let length = draft.caption.len();
    (length > limit).then(|| {
        Violation::new(
            "caption",
            "caption_too_long",
            format!("Caption is {length} bytes in UTF-8; {} allows {limit}.", spec.id),
            format!(
                "Shorten the caption to {limit} bytes; emoji and accented letters take several."
            ),
        )
        .with_limit(limit, length)
        .in_unit("bytes")
    })
}
