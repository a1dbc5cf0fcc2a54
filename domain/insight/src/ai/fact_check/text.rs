//! A text as the checks read it: normalized, and split into words, digits and other characters.

use super::vocabulary::Phrases;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The most words of a phrase.
const MAX_PHRASE_WORDS: usize = 5;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Digits,
    Sign,
}

/// A word, a run of digits, or another character.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub kind: Kind,
    /// Lower case, without accents.
    pub plain: String,
    /// Its position in the text, in characters.
    pub start: usize,
    pub end: usize,
    /// There is no space between it and the token before it.
    pub glued: bool,
    /// It belongs to a claim that was found.
    pub claimed: bool,
}

/// A text to check.
pub(super) struct Text {
    /// NFKC with single spaces, as it is displayed.
    pub shown: Vec<char>,
    /// The same in lower case, character by character.
    pub folded: Vec<char>,
    pub tokens: Vec<Token>,
}

impl Text {
    pub fn of(text: &str) -> Self {
        let shown = collapsed(text);
        let folded: Vec<char> = shown.iter().map(|c| lower(*c)).collect();
        let tokens = tokens(&folded);
        Self { shown, folded, tokens }
    }

    /// Returns the text between two characters as it was written.
    pub fn fragment(&self, start: usize, end: usize) -> String {
        self.shown[start..end].iter().collect()
    }

    /// Returns the plain text of a token if it is of this kind and belongs to no claim yet.
    pub fn get(&self, at: usize, kind: Kind) -> Option<&str> {
        let token = self.tokens.get(at)?;
        (token.kind == kind && !token.claimed).then_some(token.plain.as_str())
    }

    pub fn word(&self, at: usize) -> Option<&str> {
        self.get(at, Kind::Word)
    }

    /// Returns the longest of some phrases that begins here: the number of its tokens, and its meaning. A hyphen or an
    /// apostrophe can be between its words.
    pub fn phrase<T: Clone>(&self, phrases: &Phrases<T>, at: usize) -> Option<(usize, T)> {
        self.word(at)?;
        let (mut words, mut ends, mut place) = (Vec::new(), Vec::new(), at);
        while words.len() < MAX_PHRASE_WORDS {
            let Some(word) = self.word(place) else { break };
            words.push(word);
            ends.push(place + 1);
            place += 1 + usize::from(self.glued_sign(place + 1, "-'’").is_some());
        }
        let (length, meaning) = phrases.find(&words)?;
        Some((ends.get(length - 1)? - at, meaning))
    }

    pub fn digits(&self, at: usize) -> Option<&str> {
        self.get(at, Kind::Digits)
    }

    pub fn sign(&self, at: usize) -> Option<char> {
        self.get(at, Kind::Sign)?.chars().next()
    }

    pub fn is_glued(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.glued)
    }

    /// Returns one of these characters, if it follows the token before it without a space.
    pub fn glued_sign(&self, at: usize, signs: &str) -> Option<char> {
        self.sign(at).filter(|sign| self.is_glued(at) && signs.contains(*sign))
    }

    /// Returns digits that follow the token before them without a space.
    pub fn glued_digits(
        &self,
        at: usize,
        lengths: std::ops::RangeInclusive<usize>,
    ) -> Option<&str> {
        self.digits(at).filter(|digits| self.is_glued(at) && lengths.contains(&digits.len()))
    }

    /// Marks the tokens of a range as found.
    pub fn mark_claimed(&mut self, from: usize, to: usize) {
        for token in &mut self.tokens[from..to] {
            token.claimed = true;
        }
    }

    /// Marks the tokens between two characters as found.
    pub fn mark_claimed_chars(&mut self, start: usize, end: usize) {
        for token in &mut self.tokens {
            if token.start < end && token.end > start {
                token.claimed = true;
            }
        }
    }
}

/// Returns the words of a phrase, in lower case and without accents.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    let tokens = Text::of(text).tokens.into_iter();
    tokens.filter(|token| token.kind != Kind::Sign).map(|token| token.plain).collect()
}

fn collapsed(text: &str) -> Vec<char> {
    let mut shown = Vec::with_capacity(text.len());
    for c in text.nfkc() {
        // Soft hyphens and zero-width characters hide words from this check, but not from people.
        if matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}') {
            continue;
        }
        let c = if c.is_whitespace() { ' ' } else { latin_digit(c) };
        if c == ' ' && shown.last().is_none_or(|last| *last == ' ') {
            continue;
        }
        shown.push(c);
    }
    shown
}

/// Converts digits of other scripts to ASCII.
fn latin_digit(c: char) -> char {
    for zero in ['\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{e50}'] {
        let nth = u32::from(c).wrapping_sub(u32::from(zero));
        if nth < 10 {
            return char::from_digit(nth, 10).unwrap_or(c);
        }
    }
    c
}

fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

fn kind(c: char) -> Kind {
    if c.is_ascii_digit() {
        Kind::Digits
    } else if c.is_alphabetic() || is_combining_mark(c) {
        Kind::Word
    } else {
        Kind::Sign
    }
}

fn tokens(folded: &[char]) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < folded.len() {
        if folded[at] == ' ' {
            at += 1;
            continue;
        }
        let (start, kind) = (at, kind(folded[at]));
        at += 1;
        while kind != Kind::Sign && at < folded.len() && self::kind(folded[at]) == kind {
            at += 1;
        }
        let glued = tokens.last().is_some_and(|last| last.end == start);
        let plain = plain(&folded[start..at], kind);
        tokens.push(Token { kind, plain, start, end: at, glued, claimed: false });
    }
    tokens
}

fn plain(folded: &[char], kind: Kind) -> String {
    if kind != Kind::Word {
        return folded.iter().collect();
    }
    let stripped = folded.iter().flat_map(|c| std::iter::once(*c).nfd());
    let mut plain = String::with_capacity(folded.len());
    for c in stripped.filter(|c| !is_combining_mark(*c)) {
        match c {
            'ß' => plain.push_str("ss"),
            c => plain.push(c),
        }
    }
    plain
}
