//! Ways networks count text.

use unicode_segmentation::UnicodeSegmentation;

/// Unicode scalar values.
#[must_use]
pub fn characters(text: &str) -> usize {
    text.chars().count()
}

/// What a person sees as one character.
#[must_use]
pub fn graphemes(text: &str) -> usize {
    text.graphemes(true).count()
}

/// UTF-16 code units.
#[must_use]
pub fn utf16_units(text: &str) -> usize {
    text.encode_utf16().count()
}
