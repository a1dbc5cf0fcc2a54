//! Rules that the descriptor cannot express.

use super::{LINK_MAX, settings::Settings};
use crate::{Draft, Media, Violation, Warning, WarningCode};

/// Returns the violations of rules that the descriptor cannot express.
pub(super) fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found = Vec::new();
    if !settings.board.bytes().all(|byte| byte.is_ascii_digit()) {
        found.push(invalid(
            "board",
            "A board is named by its id, a number.",
            "Give the id of one of the account's boards; pinterest.boards lists them.",
        ));
    }
    found.extend(link(&settings));
    let still = !draft.media.is_empty() && draft.media.iter().all(Media::is_image);
    if settings.cover_image_url.is_some() && still {
        found.push(invalid(
            "cover_image_url",
            "Only a video has a cover.",
            "Leave out cover_image_url.",
        ));
    }
    found.extend(sizes(draft));
    found
}

fn link(settings: &Settings) -> Option<Violation> {
    let length = settings.link.as_deref()?.chars().count();
    (length > LINK_MAX).then(|| {
        let message = format!("The link has {length} characters; pinterest allows {LINK_MAX}.");
        let remedy = format!("Give a link of at most {LINK_MAX} characters.");
        invalid("link", &message, &remedy).with_limit(LINK_MAX, length).in_unit("characters")
    })
}

/// Checks that all images of a carousel have the same size.
fn sizes(draft: &Draft) -> Option<Violation> {
    let known: Vec<_> = draft.media.iter().filter(|media| media.is_image()).collect();
    let first = known.first()?.dimensions?;
    let other =
        known.iter().position(|media| media.dimensions.is_some_and(|size| size != first))?;
    Some(Violation::new(
        format!("media_urls[{other}]"),
        "mixed_media_unsupported",
        "The images of a carousel on pinterest must all have the same width and height.",
        "Crop the images to one size.",
    ))
}

/// Returns warnings about settings that are accepted without (all of) their effect.
pub(super) fn warnings(draft: &Draft) -> Vec<Warning> {
    let mut told = Vec::new();
    if draft.settings.contains_key("product_tags") {
        let message = "Pinterest takes product tags from apps in its beta only; for any other the pin goes out without.";
        told.push(Warning::new(WarningCode::DependsOnAccount, "settings.product_tags", message));
    }
    let texts = draft.settings.get("media_alt_texts").and_then(serde_json::Value::as_array);
    if let Some(texts) = texts.filter(|texts| texts.len() > 1) {
        let message =
            "Pinterest takes one description for a whole pin: only the first has an effect.";
        let field = "settings.media_alt_texts";
        let warning = Warning::new(WarningCode::PartlyIgnored, field, message);
        told.push(warning.with_limit(1, texts.len(), "texts"));
    }
    told
}

fn invalid(name: &str, message: &str, remedy: &str) -> Violation {
    Violation::new(format!("settings.{name}"), "setting_invalid", message, remedy)
}
