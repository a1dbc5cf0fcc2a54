//! Reads captions with markup the way Telegram does: its limits count what is left after that, and it refuses a
//! message whose markup it cannot read.

mod html;
mod markdown;

use super::settings::ParseMode;
use crate::text;

/// The reason markup cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// The fault and its place.
    pub what: String,
    /// The remedy, one sentence.
    pub remedy: String,
}

impl Problem {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}

/// The text that people will see.
pub(super) fn parse(mode: ParseMode, caption: &str) -> Result<String, Problem> {
    match mode {
        ParseMode::Html => html::parse(caption),
        ParseMode::MarkdownV2 => markdown::parse(caption),
    }
}

/// Length of the text that people will see in UTF-16 units; of the text as it is where it cannot be read.
pub(super) fn length(mode: Option<ParseMode>, caption: &str) -> usize {
    match mode.and_then(|mode| parse(mode, caption).ok()) {
        Some(visible) => text::utf16_units(&visible),
        None => text::utf16_units(caption),
    }
}
