//! Rules that the descriptor cannot express.

use super::{DESCRIPTION_MAX, TAGS_MAX, content, settings::Settings};
use crate::{Draft, Violation, Warning, WarningCode, article, text};

/// Returns the violations of rules that the descriptor cannot express.
pub(super) fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found = article::title_violation(draft, settings.title.as_deref());
    let angled = |text: &str| text.contains(['<', '>']);
    let remedy = "Leave out < and >.";
    if settings.title.as_deref().is_some_and(angled) {
        found.push(invalid("title", "YouTube takes no < or > in a title.", remedy));
    }
    if angled(&draft.caption) {
        let message = "YouTube takes no < or > in a description.";
        found.push(Violation::new("caption", "caption_invalid", message, remedy));
    }
    found.extend(bytes(draft, &settings));
    found.extend(tags(&settings));
    if settings.category_id.as_deref().is_some_and(|id| !id.bytes().all(|b| b.is_ascii_digit())) {
        found.push(invalid("category_id", "A category is named by its number.", "Give a number."));
    }
    found.extend(shape(draft));
    found
}

/// Checks the bytes of the description with its additions; the descriptor covers the caption alone.
fn bytes(draft: &Draft, settings: &Settings) -> Option<Violation> {
    let whole = content::description(draft, settings);
    let told = draft.caption.len() > DESCRIPTION_MAX || whole.chars().count() > DESCRIPTION_MAX;
    let length = whole.len();
    (!told && length > DESCRIPTION_MAX).then(|| {
        let message = format!("With its hashtag the caption has {length} bytes in UTF-8; youtube allows {DESCRIPTION_MAX}.");
        let remedy = format!("Shorten the caption to {DESCRIPTION_MAX} bytes with its hashtag.");
        Violation::new("caption", "caption_too_long", message, remedy)
            .with_limit(DESCRIPTION_MAX, length)
            .in_unit("bytes")
    })
}

fn tags(settings: &Settings) -> Option<Violation> {
    let length = content::tags_length(&settings.tags);
    if length > TAGS_MAX {
        let message =
            format!("The tags have {length} characters together; youtube allows {TAGS_MAX}.");
        let remedy = "Leave out some tags; one with a space counts two more.";
        let broken = invalid("tags", &message, remedy).with_limit(TAGS_MAX, length);
        return Some(broken.in_unit("characters"));
    }
    let is_bad = |tag: &String| text::is_blank(tag) || tag.contains(['<', '>', ',', '"']);
    settings.tags.iter().any(is_bad).then(|| {
        let message = "A tag holds something, and none of < > , and quotes.";
        invalid("tags", message, "Write each tag by itself, in letters and digits.")
    })
}

/// Checks the shape: YouTube makes upright and square videos Shorts.
fn shape(draft: &Draft) -> Option<Violation> {
    let (width, height) = draft.media.first()?.dimensions?;
    (draft.post_type == "short" && width > height).then(|| {
        Violation::new(
            "media_urls[0]",
            "video_exceeds_platform_limit",
            format!("The video has {width} by {height} pixels; a Short is upright or square."),
            "Turn or crop the video, or post it as a video.",
        )
    })
}

/// Returns warnings about values without their full effect.
pub(super) fn warnings(draft: &Draft) -> Vec<Warning> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let rules = [
        (
            settings.brand_partner.is_some(),
            WarningCode::PartlyIgnored,
            "brand_partner",
            "YouTube's public API does not take who paid: the video is marked as a paid promotion and names nobody.",
        ),
        (
            settings.thumbnail_url.is_some(),
            WarningCode::DependsOnAccount,
            "thumbnail_url",
            "YouTube takes thumbnails from channels verified by phone only; from any other the video goes out without.",
        ),
    ];
    let told = rules.into_iter().filter(|(applies, ..)| *applies);
    let warning =
        |(_, code, name, message)| Warning::new(code, format!("settings.{name}"), message);
    told.map(warning).collect()
}

fn invalid(name: &str, message: &str, remedy: &str) -> Violation {
    Violation::new(format!("settings.{name}"), "setting_invalid", message, remedy)
}
