//! The `settings` of a Mastodon status; names as in Mastodon's own API.

use super::{ALT_TEXT_MAX, MEDIA_MAX};
use crate::{
    Draft, Shape, Violation, Warning, WarningCode,
    settings::{alt_texts, settings},
    text,
};

settings! {
    /// The settings of a status.
    Settings {
        /// The visibility of the status; public unless given.
        optional visibility: Option<String> = Shape::Choice(&["public", "unlisted", "private"]),
        /// Warning shown in place of the text until it is opened. It counts with the text.
        optional spoiler_text: Option<String> = Shape::Text { min: 1, max: 500 },
        /// Hides the media until tapped.
        optional sensitive: bool = Shape::Bool,
        /// Language of the text as a BCP 47 tag, for example en or pt-BR.
        optional language: Option<String> = Shape::Id { min: 2, max: text::TAG_MAX },
        /// Id of a status to quote, on an instance from version 4.5 on.
        optional quoted_status_id: Option<String> = Shape::Id { min: 1, max: 64 },
        /// A poll below the text.
        optional poll: Option<Poll> = Shape::Object(Poll::FIELDS),
        /// Descriptions of the files for people who cannot see them, in the order of the files.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, MEDIA_MAX),
    }

    /// A poll.
    Poll {
        /// The answers to choose from.
        required options: Vec<String> = Shape::List {
            of: &Shape::Text { min: 1, max: 50 },
            min: 2,
            max: 4,
        },
        /// The time it lasts, in seconds: five minutes to a month.
        required expires_in: i64 = Shape::Integer { min: 300, max: 2_629_746 },
        /// Lets people choose several.
        optional multiple: bool = Shape::Bool,
        /// Hides the counts until it ends.
        optional hide_totals: bool = Shape::Bool,
    }
}

/// Checks rules that the descriptor cannot express. The descriptor reports values of the wrong type.
pub fn check(draft: &Draft) -> Vec<Violation> {
    let mut found = Vec::new();
    if draft.media.len() > 1 {
        let animations = draft.media.iter().enumerate().filter(|(_, one)| one.mime == "image/gif");
        found.extend(animations.map(|(index, _)| {
            let message = "Mastodon takes an animated GIF only alone.";
            let remedy = "Post the GIF alone, or leave it out.";
            Violation::new(
                format!("media_urls[{index}]"),
                "mixed_media_unsupported",
                message,
                remedy,
            )
        }));
    }
    let Ok(settings) = draft.settings::<Settings>() else { return found };
    let tag = settings.language.as_deref();
    found.extend(tag.and_then(|tag| text::language_violation("settings.language", tag)));
    let options = settings.poll.map(|poll| poll.options).unwrap_or_default();
    let repeated = |index: usize| options[..index].contains(&options[index]);
    let is_blank = |index: usize| text::is_blank(&options[index]);
    for index in (0..options.len()).filter(|index| repeated(*index) || is_blank(*index)) {
        let message = "The answers of a poll must differ, and none may be blank.";
        let field = format!("settings.poll.options[{index}]");
        found.push(Violation::new(field, "setting_invalid", message, "Write another answer."));
    }
    found
}

/// Returns warnings about settings that only newer instances have.
pub fn warnings(draft: &Draft) -> Vec<Warning> {
    let has_both = draft.settings.contains_key("poll") && !draft.media.is_empty();
    let message = "Instances before 2026 take no media beside a poll; such a one refuses the post.";
    let warning =
        || Warning::new(WarningCode::MayBeRefused, "settings.poll", message).because("media_urls");
    has_both.then(warning).into_iter().collect()
}
