//! The `settings` of a DEV article.

use crate::{
    Draft, Shape, Violation, article,
    settings::{alt_texts, is_ai_generated, settings},
};

/// Longest alt text in characters; Forem has no limit, this one is Fanfare's.
pub const ALT_TEXT_MAX: usize = 1_000;
/// Longest title in characters.
pub const TITLE_MAX: usize = 128;

/// DEV's levels of AI disclosure: none, some help, or made by it for the most part.
const AI_LEVELS: &[&str] = &[NO_AI, "some_ai", AI_MADE];
const NO_AI: &str = "no_ai";
const AI_MADE: &str = "fully_autonomous";

/// Returns the AI disclosure of the article, if there is one.
pub fn ai_level(draft: &Draft, settings: &Settings) -> Option<String> {
    let marked = || is_ai_generated(draft).then(|| AI_MADE.to_owned());
    settings.ai_disclosure_level.clone().or_else(marked)
}

/// Returns true if the article discloses the use of AI.
pub fn is_ai_labelled(draft: &Draft) -> bool {
    let level = draft.settings::<Settings>().ok().and_then(|it| ai_level(draft, &it));
    level.is_some_and(|level| level != NO_AI)
}

settings! {
    /// The settings of an article.
    Settings {
        /// Title; without it, the first line of the caption. A Markdown heading that serves as the title is left out of
        /// the text.
        optional title: Option<String> = Shape::Text { min: 1, max: TITLE_MAX },
        /// Up to four tags of lower-case letters and digits.
        optional tags: Vec<String> = Shape::List {
            of: &Shape::Text { min: 1, max: 30 },
            min: 0,
            max: 4,
        },
        /// Address of the original, if the article was published elsewhere first. No other article may have it.
        optional canonical_url: Option<String> = Shape::Url,
        /// Summary for lists and search engines.
        optional description: Option<String> = Shape::Text { min: 0, max: 256 },
        /// Name of the series that the article belongs to.
        optional series: Option<String> = Shape::Text { min: 1, max: 128 },
        /// Number of the organization that it is published for.
        optional organization_id: Option<i64> = Shape::Integer { min: 1, max: i64::MAX },
        /// The part that AI had in the article; without it, `ai_generated` is sent as `fully_autonomous`, and otherwise
        /// nothing is said.
        optional ai_disclosure_level: Option<String> = Shape::Choice(AI_LEVELS),
        /// Descriptions of the images below the text, in the order of all images. The cover has none.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, super::IMAGES_MAX),
    }
}

/// Checks rules that the descriptor cannot express. The descriptor reports values of the wrong type.
pub fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found = article::title_violation(draft, settings.title.as_deref());
    let is_plain = |tag: &str| tag.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    if settings.ai_disclosure_level.as_deref() == Some(NO_AI) && is_ai_generated(draft) {
        found.push(Violation::new(
            "settings.ai_disclosure_level",
            "setting_invalid",
            "The article is marked as made with AI, and ai_disclosure_level says that no AI had part in it.",
            "Set ai_disclosure_level to some_ai or fully_autonomous, or leave out the mark.",
        ));
    }
    for (index, tag) in settings.tags.iter().enumerate().filter(|(_, tag)| !is_plain(tag)) {
        found.push(Violation::new(
            format!("settings.tags[{index}]"),
            "setting_invalid",
            format!("The tag {tag:?} may hold lower-case letters and digits only."),
            "Write the tag like webdev, without #, spaces and hyphens.",
        ));
    }
    found
}
