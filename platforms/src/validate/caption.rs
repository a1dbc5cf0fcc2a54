//! Rules of the text.

use super::Violation;
use crate::{Draft, Platform, Spec, text};

pub fn violations(platform: &dyn Platform, spec: &Spec, draft: &Draft) -> Vec<Violation> {
    let mut found = Vec::new();
    found.extend(missing(platform, spec, draft));
    found.extend(too_long(platform, spec, draft));
    found.extend(too_many_bytes(spec, draft));
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
    Some(
        Violation::new(
            "caption",
            "caption_too_long",
            format!("Caption is {length} {unit}; {id} allows {limit}{place}."),
            format!("Shorten the caption to {limit} {unit}."),
        )
        .with_limit(limit, length),
    )
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
    })
}
