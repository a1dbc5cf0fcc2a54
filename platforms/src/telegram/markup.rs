//! Parses captions with markup as Telegram does: its limits apply to the text without markup, and it refuses a message
//! with invalid markup.

mod html;
mod markdown;

use super::settings::ParseMode;
use crate::text;

/// Why markup is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkupError {
    /// The fault and its position.
    pub what: String,
    /// The remedy, one sentence.
    pub remedy: String,
}

impl MarkupError {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}

/// Returns the text without markup.
pub(super) fn parse(mode: ParseMode, caption: &str) -> Result<String, MarkupError> {
    match mode {
        ParseMode::Html => html::parse(caption),
        ParseMode::MarkdownV2 => markdown::parse(caption),
    }
}

/// Returns the length of the text without markup, in UTF-16 units; of the whole text if its markup is invalid.
pub(super) fn length(mode: Option<ParseMode>, caption: &str) -> usize {
    match mode.and_then(|mode| parse(mode, caption).ok()) {
        Some(visible) => text::utf16_units(&visible),
        None => text::utf16_units(caption),
    }
}
