//! Finds web addresses, handles and tags in a text, with their positions in UTF-8 bytes.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::text::{Addresses, bare_address};

/// Something in the text that becomes a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facet {
    /// Bytes of the text, half-open.
    pub range: Range<usize>,
    /// The feature there.
    pub feature: Feature,
}

/// The feature of a facet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feature {
    /// A web address.
    Link(String),
    /// A handle without the `@`, in lower case.
    Mention(String),
    /// A tag without the `#`.
    Tag(String),
}

/// Returns all facets in order; they never overlap.
pub fn detect(text: &str) -> Vec<Facet> {
    let mut found = Vec::new();
    let mut addresses = Addresses::default();
    let mut at = 0;
    let mut before = None;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let facet = match first {
            'a'..='z' | 'A'..='Z' => match addresses.at(text, at) {
                Some(range) => Some((range.len(), Feature::Link(text[range].to_owned()))),
                None => bare_link(rest, before),
            },
            '@' => mention(rest, before),
            '#' | '＃' => tag(rest, before),
            _ => None,
        };
        let length = facet.as_ref().map_or(first.len_utf8(), |(length, _)| *length);
        found.extend(facet.map(|(_, feature)| Facet { range: at..at + length, feature }));
        at += length;
        before = text[..at].chars().next_back();
    }
    found
}

/// A facet at the start of `rest`: its length in bytes, and what it is.
type Match = Option<(usize, Feature)>;

/// Matches an address without a scheme, which must start a word or follow an opening bracket.
fn bare_link(rest: &str, before: Option<char>) -> Match {
    if before.is_some_and(|c| !c.is_whitespace() && c != '(') {
        return None;
    }
    let address = bare_address(rest)?;
    Some((address.len(), Feature::Link(format!("https://{address}"))))
}

fn mention(rest: &str, before: Option<char>) -> Match {
    if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '@' | '.' | '/' | '_' | '-')) {
        return None;
    }
    let name = &rest[1..];
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-'));
    let end = end.unwrap_or(name.len());
    let handle = name[..end].trim_end_matches(['.', '-']);
    let goes_on = name[end..].starts_with(['@', '_']);
    (!goes_on && is_handle(handle))
        .then(|| (1 + handle.len(), Feature::Mention(handle.to_ascii_lowercase())))
}

/// Returns true for a handle: a domain name of at least two labels whose last does not start with a digit.
pub fn is_handle(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = text.rsplit('.').next().unwrap_or_default();
    text.len() <= 253
        && text.contains('.')
        && text.split('.').all(is_label)
        && last.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Longest tag (lexicon `app.bsky.richtext.facet`).
const TAG_GRAPHEMES_MAX: usize = 64;
const TAG_BYTES_MAX: usize = 640;

fn tag(rest: &str, before: Option<char>) -> Match {
    if before.is_some_and(|c| !c.is_whitespace() && !matches!(c, '(' | '[' | '（' | '「')) {
        return None;
    }
    let sign = rest.chars().next()?.len_utf8();
    let body = &rest[sign..];
    let end = body.find(ends_tag).unwrap_or(body.len());
    let tag = body[..end].trim_end_matches(is_punctuation);
    let has_letter = tag.chars().any(|c| !c.is_numeric() && !is_punctuation(c) && !is_mark(c));
    let fits = tag.len() <= TAG_BYTES_MAX && tag.graphemes(true).count() <= TAG_GRAPHEMES_MAX;
    // The keycap emoji is a # followed by a mark.
    let keycap = body.starts_with(is_mark);
    (has_letter && fits && !keycap).then(|| (sign + tag.len(), Feature::Tag(tag.to_owned())))
}

fn ends_tag(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '#' | '＃' | '\u{ad}' | '\u{200a}'..='\u{200c}' | '\u{2060}' | '\u{20e3}')
}

/// Returns true for variation selectors and the keycap mark, which modify the character before them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{20e3}' | '\u{200d}')
}

/// Returns true for Unicode punctuation, in the common blocks.
fn is_punctuation(c: char) -> bool {
    match c {
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' => false,
        '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' => true,
        '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' => true,
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' => true,
        '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff3f}' => true,
        '\u{ff5b}' | '\u{ff5d}' | '\u{ff5f}'..='\u{ff65}' | '\u{30fb}' => true,
        other => other.is_ascii_punctuation(),
    }
}

#[cfg(test)]
mod tests;
