//! Rules that the descriptor cannot express.

use std::collections::BTreeSet;

use super::{CHAIN_KEY, IMAGE_BYTES_MAX, segments, settings::Settings};
use crate::{Draft, Media, Violation, Warning, WarningCode};

/// The most cashtags in one post: more require another contract with X.
const CASHTAGS_MAX: usize = 1;

/// Returns the violations of rules that the descriptor cannot express.
pub(super) fn check(draft: &Draft) -> Vec<Violation> {
    let mut found = cashtags(draft);
    found.extend(images(draft));
    found.extend(duplicate_texts(draft));
    let poll = draft.settings::<Settings>().ok().and_then(|settings| settings.poll);
    if poll.is_some() && !draft.media.is_empty() {
        found.push(Violation::new(
            "settings.poll",
            "setting_invalid",
            "A poll stands in a post without media.",
            "Leave out the poll or the media.",
        ));
    }
    found
}

fn text_field(draft: &Draft, index: usize) -> String {
    if super::is_chain(draft) {
        format!("metadata.{CHAIN_KEY}[{index}]")
    } else {
        "caption".to_owned()
    }
}

fn cashtags(draft: &Draft) -> Vec<Violation> {
    let texts = segments(draft);
    let counted = texts.iter().map(|text| text.split_whitespace().filter(is_cashtag).count());
    let over = counted.enumerate().filter(|(_, actual)| *actual > CASHTAGS_MAX);
    over.map(|(index, actual)| {
        let message = format!("The text has {actual} cashtags; x allows {CASHTAGS_MAX}.");
        let remedy = "Keep one word like $ABC.";
        Violation::new(text_field(draft, index), "caption_too_many_cashtags", message, remedy)
            .with_limit(CASHTAGS_MAX, actual)
            .in_unit("cashtags")
    })
    .collect()
}

/// Returns true for `$ABC`: one to six letters after the sign.
fn is_cashtag(word: &&str) -> bool {
    let Some(name) = word.strip_prefix('$') else { return false };
    let name = name.trim_end_matches(|c: char| c.is_ascii_punctuation());
    (1..=6).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Checks images: a GIF must be alone, and may be larger than others.
fn images(draft: &Draft) -> Vec<Violation> {
    let is_gif = |media: &Media| media.mime == "image/gif";
    let mut found = Vec::new();
    if draft.media.iter().any(is_gif) && draft.media.len() > 1 {
        found.push(Violation::new(
            "media_urls",
            "mixed_media_unsupported",
            "x takes a GIF alone, not beside other files.",
            "Keep either the GIF or the other files.",
        ));
    }
    for (index, media) in draft.media.iter().enumerate() {
        let is_too_large = |bytes: &u64| *bytes > IMAGE_BYTES_MAX;
        let is_still = media.is_image() && !is_gif(media);
        if let Some(actual) = media.bytes.filter(is_too_large).filter(|_| is_still) {
            let limit = IMAGE_BYTES_MAX;
            let message = format!("The image has {actual} bytes; x allows {limit}.");
            let remedy = format!("Make the image smaller than {limit} bytes.");
            let field = format!("media_urls[{index}]");
            let violation = Violation::new(field, "media_too_large", message, remedy);
            found.push(violation.with_limit(limit, actual).in_unit("bytes"));
        }
    }
    found
}

/// Checks for repeated texts in a chain: X refuses a text that was posted a moment ago.
fn duplicate_texts(draft: &Draft) -> Vec<Violation> {
    let texts = segments(draft);
    let mut known = BTreeSet::new();
    let again = texts.iter().enumerate().filter(|(_, text)| !known.insert(text.trim()));
    again
        .map(|(index, _)| {
            let message = "The segment says the same as an earlier one; x refuses a text twice.";
            Violation::new(
                text_field(draft, index),
                "setting_invalid",
                message,
                "Change the segment.",
            )
        })
        .collect()
}

/// Returns warnings about values without effect.
pub(super) fn warnings(draft: &Draft) -> Vec<Warning> {
    let settings = draft.settings::<Settings>().unwrap_or_default();
    let mut found = restricted(draft);
    if !settings.media_alt_texts.is_empty() && draft.media.iter().any(Media::is_video) {
        let message =
            "X takes alt texts of images and GIFs only: that of a video is not published.";
        let warning = Warning::new(WarningCode::PartlyIgnored, "settings.media_alt_texts", message);
        found.push(warning.because("media_urls"));
    }
    found
}

/// Warns of what X restricts for programs: mentions, and replies, to which it names no exception for those to oneself
/// (<https://docs.x.com/changelog>).
fn restricted(draft: &Draft) -> Vec<Warning> {
    let mentions = |text: &String| {
        text.split_whitespace().any(|word| {
            let name = word.trim_start_matches(|c: char| "([{\"'.".contains(c)).strip_prefix('@');
            name.is_some_and(|name| {
                name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            })
        })
    };
    let message = "X restricts posts of programs that mention others: it may refuse this one.";
    let texts = segments(draft);
    let named = texts.iter().enumerate().filter(|(_, text)| mentions(text));
    let mut found: Vec<Warning> = named
        .map(|(index, _)| {
            Warning::new(WarningCode::MentionMayBeRefused, text_field(draft, index), message)
        })
        .collect();
    if super::is_chain(draft) && texts.len() > 1 {
        let field = format!("metadata.{CHAIN_KEY}");
        let message = "X restricts replies of programs: it may refuse the second post of a chain and the rest.";
        found.push(Warning::new(WarningCode::ChainMayBeRefused, field, message));
    }
    found
}
