//! Rules of the files of a post, and of their alt texts.

use serde_json::Value;

use super::{Violation, Violations, conversion, frame, pdf_requires_linkedin, rules};
use crate::{DocumentRules, Draft, Media, MediaRules, PlatformId, Spec};

pub fn violations(spec: &Spec, draft: &Draft) -> Violations {
    let rules = rules(spec, &draft.post_type);
    let mut found = Violations::default();
    found.extend(count(spec.id, &rules, &draft.media));
    found.extend(mixture(spec.id, &rules, &draft.media));
    for (index, media) in draft.media.iter().enumerate().take(rules.total_max.max(1)) {
        let field = format!("media_urls[{index}]");
        found.extend(match spec.documents.filter(|rules| rules.post_type == draft.post_type) {
            Some(rules) => document(spec.id, &rules, media, field),
            None => file(spec, &rules, media, field),
        });
    }
    found
}

fn count(id: PlatformId, rules: &MediaRules, media: &[Media]) -> Option<Violation> {
    let total = media.len();
    if total < rules.min {
        let (least, more) = (rules.min, rules.min - total);
        let message = format!("{id} needs at least {least} {} in this kind of post.", files(least));
        let remedy = if total == 0 {
            format!("Add {more} {}.", files(more))
        } else {
            format!("Add {more} more {}.", files(more))
        };
        let violation = Violation::new("media_urls", "media_required", message, remedy);
        return Some(violation.with_limit(least, total).in_unit("files"));
    }
    if let Some(violation) = over_limit(id, rules, total) {
        return Some(violation);
    }
    let images = media.iter().filter(|media| media.is_image()).count();
    let videos = media.iter().filter(|media| media.is_video()).count();
    let counted = [("images", rules.images_max, images), ("videos", rules.videos_max, videos)];
    // A kind that is not accepted at all is reported for each file, not as too many.
    let over = counted.into_iter().find(|(_, limit, actual)| actual > limit && *limit > 0);
    over.map(|(what, limit, actual)| too_many_of(id, what, limit, actual))
}

/// Returns the violation if a post of this type has too many files.
#[must_use]
pub fn too_many(spec: &Spec, post_type: &str, files: usize) -> Option<Violation> {
    over_limit(spec.id, &rules(spec, post_type), files)
}

fn over_limit(id: PlatformId, rules: &MediaRules, files: usize) -> Option<Violation> {
    let limit = rules.total_max;
    if files <= limit {
        return None;
    }
    if limit > 0 {
        return Some(too_many_of(id, "files", limit, files));
    }
    let message = format!("{id} takes no media in this kind of post.");
    let violation = Violation::new("media_urls", "too_many_media", message, "Leave the media out.");
    Some(violation.with_limit(limit, files).in_unit("files"))
}

fn too_many_of(id: PlatformId, what: &'static str, limit: usize, actual: usize) -> Violation {
    let message = format!("The post has {actual} {what}; {id} allows {limit}.");
    let remedy = format!("Keep at most {limit} of the {what}.");
    let broken = Violation::new("media_urls", "too_many_media", message, remedy);
    broken.with_limit(limit, actual).in_unit(what)
}

fn files(number: usize) -> &'static str {
    if number == 1 { "file" } else { "files" }
}

fn mixture(id: PlatformId, rules: &MediaRules, media: &[Media]) -> Option<Violation> {
    let both = media.iter().any(Media::is_image) && media.iter().any(Media::is_video);
    let takes_both = rules.images_max > 0 && rules.videos_max > 0;
    (both && takes_both && !rules.mixed).then(|| {
        Violation::new(
            "media_urls",
            "mixed_media_unsupported",
            format!("{id} does not take images and videos in one post."),
            "Keep either the images or the video.",
        )
    })
}

/// Checks a file of a document post.
fn document(id: PlatformId, rules: &DocumentRules, media: &Media, field: String) -> Vec<Violation> {
    if !media.mime.is_empty() && !rules.types.contains(&media.mime.as_str()) {
        return vec![unsupported(id, &field, media, rules.types)];
    }
    too_large(id, "document", rules.bytes_max, media, &field).into_iter().collect()
}

fn file(spec: &Spec, rules: &MediaRules, media: &Media, field: String) -> Vec<Violation> {
    let id = spec.id;
    if is_pdf(media) {
        return vec![spec.documents.map_or_else(
            || pdf_requires_linkedin(&field),
            |documents| {
                let message = format!("{id} takes a PDF as a post of its own.");
                let remedy = format!("Set post_type to {:?}.", documents.post_type);
                Violation::new(&field, "media_type_unsupported", message, remedy)
            },
        )];
    }
    if media.mime.is_empty() || rules.total_max == 0 {
        return Vec::new();
    }
    let converted = conversion::of(rules, media).is_some();
    let mut found = Vec::new();
    if media.is_video() && rules.videos_max > 0 {
        if !converted {
            found.extend(wrong_type(id, &field, media, rules.video_types));
        }
        found.extend(too_long(id, rules, media, &field));
        found.extend(too_large(id, "video", rules.video_bytes_max, media, &field));
        found.extend(frame::video(id, rules, media, &field));
    } else if media.is_image() && rules.images_max > 0 {
        if !converted {
            found.extend(wrong_type(id, &field, media, rules.image_types));
            found.extend(too_large(id, "image", rules.image_bytes_max, media, &field));
        }
        found.extend(frame::image(id, rules, media, &field));
    } else {
        found.push(unsupported(id, &field, media, &taken(rules)));
    }
    found
}

fn is_pdf(media: &Media) -> bool {
    let path = media.url.split(['?', '#']).next().unwrap_or_default();
    media.mime == "application/pdf" || path.to_ascii_lowercase().ends_with(".pdf")
}

fn wrong_type(id: PlatformId, field: &str, media: &Media, taken: &[&str]) -> Option<Violation> {
    (!taken.contains(&media.mime.as_str())).then(|| unsupported(id, field, media, taken))
}

fn unsupported(id: PlatformId, field: &str, media: &Media, taken: &[&str]) -> Violation {
    Violation::new(
        field,
        "media_type_unsupported",
        format!("{id} does not take {} in this kind of post.", media.mime),
        format!("Use one of: {}.", taken.join(", ")),
    )
    .with_limit(taken, &media.mime)
}

/// Returns all media types that the post may have.
fn taken(rules: &MediaRules) -> Vec<&'static str> {
    let images = rules.image_types.iter().filter(|_| rules.images_max > 0);
    images.chain(rules.video_types.iter().filter(|_| rules.videos_max > 0)).copied().collect()
}

fn too_long(id: PlatformId, rules: &MediaRules, media: &Media, field: &str) -> Option<Violation> {
    let (limit, actual) = (rules.video_ms_max?, media.duration_ms?);
    (actual > limit).then(|| {
        Violation::new(
            field,
            "video_too_long",
            format!("The video lasts {} s; {id} allows {} s.", seconds(actual), seconds(limit)),
            format!("Shorten the video to {} s.", seconds(limit)),
        )
        .with_limit(limit, actual)
        .in_unit("milliseconds")
    })
}

fn seconds(milliseconds: u64) -> String {
    format!("{}", std::time::Duration::from_millis(milliseconds).as_secs_f64())
}

fn too_large(
    id: PlatformId,
    what: &str,
    limit: u64,
    media: &Media,
    field: &str,
) -> Option<Violation> {
    let actual = media.bytes.filter(|bytes| *bytes > limit)?;
    let code = if what == "video" { "video_exceeds_platform_limit" } else { "media_too_large" };
    let message = format!("The {what} has {actual} bytes; {id} allows {limit}.");
    let remedy = format!("Make the {what} smaller than {limit} bytes.");
    let broken = Violation::new(field, code, message, remedy);
    Some(broken.with_limit(limit, actual).in_unit("bytes"))
}

/// Checks the alt texts in the settings, one per file; `already` holds the violations of the settings so far.
pub fn alt_texts(spec: &Spec, draft: &Draft, already: &[Violation]) -> Violations {
    const FIELD: &str = "settings.media_alt_texts";
    let mut found = Violations::default();
    let Some(texts) = draft.settings.get("media_alt_texts").and_then(Value::as_array) else {
        return found;
    };
    if spec.alt_text_max == 0 {
        return found;
    }
    let (given, files) = (texts.len(), draft.media.len());
    if given > files {
        let message = format!("There are {given} alt texts for {files} media files.");
        let remedy = "Give one alt text per file, in the order of the files.";
        let violation = Violation::new(FIELD, "setting_invalid", message, remedy);
        found.push(violation.with_limit(files, given).in_unit("texts"));
    }
    for (index, text) in texts.iter().enumerate().take(files.max(1)) {
        let field = format!("{FIELD}[{index}]");
        let length = text.as_str().map_or(0, |text| text.chars().count());
        if length > spec.alt_text_max && already.iter().all(|other| other.field != field) {
            let limit = spec.alt_text_max;
            let message =
                format!("The alt text has {length} characters; {} allows {limit}.", spec.id);
            let remedy = format!("Shorten the alt text to {limit} characters.");
            let violation = Violation::new(field, "setting_invalid", message, remedy);
            found.push(violation.with_limit(limit, length).in_unit("characters"));
        }
    }
    found
}
