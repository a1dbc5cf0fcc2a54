//! X's way of counting: most letters count as one, all others and each emoji as two, each address as 23. The weights
//! are those of twitter-text's configuration 3, <https://docs.x.com/fundamentals/counting-characters>.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::{
    emoji,
    link::{LinkRules, is_accented, links},
};

/// The length of any address: X replaces it with a short link.
const ADDRESS: usize = 23;

/// Code points that count as one.
const LIGHT: [(u32, u32); 4] = [(0, 4_351), (8_192, 8_205), (8_208, 8_223), (8_242, 8_247)];

/// X's rules for addresses.
const RULES: LinkRules = LinkRules {
    schemes: &["https://", "http://"],
    bare: true,
    path: |c| is_letter(c) || "!*';:=+,.$/%#[]-\u{2013}_~@|&".contains(c),
    path_end: |c| is_letter(c) || "+-=_#/".contains(c),
    query: |c| c.is_ascii_alphanumeric() || "!?*'@();:&=+$/%#[]-_.,~|".contains(c),
    query_end: |c| c.is_ascii_alphanumeric() || "-_&=#/".contains(c),
};

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || is_accented(c) || matches!(c, '\u{400}'..='\u{4ff}')
}

/// Counts a text as X does.
#[must_use]
pub fn x_units(text: &str) -> usize {
    let text: String = text.nfc().collect();
    let mut counted = 0;
    let mut at = 0;
    for Range { start, end } in links(&text, &RULES) {
        counted += plain(&text[at..start]) + ADDRESS;
        at = end;
    }
    counted + plain(&text[at..])
}

/// Returns the addresses that X turns into links, with or without a scheme.
#[must_use]
pub fn x_links(text: &str) -> Vec<&str> {
    links(text, &RULES).into_iter().map(|range| &text[range]).collect()
}

/// Returns the text without the addresses that X turns into links.
#[must_use]
pub fn without_x_links(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for link in links(text, &RULES) {
        kept.push_str(&text[at..link.start]);
        at = link.end;
    }
    kept + &text[at..]
}

fn plain(text: &str) -> usize {
    text.graphemes(true)
        .map(|one| if emoji::is_emoji(one) { 2 } else { one.chars().map(weight).sum() })
        .sum()
}

fn weight(c: char) -> usize {
    let code = u32::from(c);
    if LIGHT.iter().any(|(first, last)| (*first..=*last).contains(&code)) { 1 } else { 2 }
}

#[cfg(test)]
mod tests;
