//! A text as the checks read it: normalized, and cut into words, digits and signs.

use super::words::Phrases;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Words of the longest phrase.
const LONGEST_PHRASE: usize = 5;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Digits,
    Sign,
}

/// A word, a row of digits, or another character.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub kind: Kind,
    /// Lower case, without accents.
    pub plain: String,
    /// Its place in the text, in characters.
    pub start: usize,
    pub end: usize,
    /// It follows the token before without a space.
    pub glued: bool,
    /// Something was found here.
    pub taken: bool,
}

/// A text under examination.
pub(super) struct Text {
    /// NFKC with single spaces, as it is shown.
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

    /// The text between two characters as it was written.
    pub fn fragment(&self, start: usize, end: usize) -> String {
        self.shown[start..end].iter().collect()
    }

    /// The plain text of a token that is free and of this kind.
    pub fn get(&self, at: usize, kind: Kind) -> Option<&str> {
        let token = self.tokens.get(at)?;
        (token.kind == kind && !token.taken).then_some(token.plain.as_str())
    }

    pub fn word(&self, at: usize) -> Option<&str> {
        self.get(at, Kind::Word)
    }

    /// The longest of some phrases that begins here: the number of its tokens, and what it means. A hyphen or an apostrophe may stand
    /// between its words.
    pub fn phrase<T: Clone>(&self, phrases: &Phrases<T>, at: usize) -> Option<(usize, T)> {
        self.word(at)?;
        let (mut words, mut ends, mut place) = (Vec::new(), Vec::new(), at);
        while words.len() < LONGEST_PHRASE {
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

    /// One of these signs, right behind the token before it.
    pub fn glued_sign(&self, at: usize, signs: &str) -> Option<char> {
        self.sign(at).filter(|sign| self.is_glued(at) && signs.contains(*sign))
    }

    /// Digits right behind the token before them.
    pub fn glued_digits(
        &self,
        at: usize,
        lengths: std::ops::RangeInclusive<usize>,
    ) -> Option<&str> {
        self.digits(at).filter(|digits| self.is_glued(at) && lengths.contains(&digits.len()))
    }

    /// Marks the tokens from one to another as found.
    pub fn take(&mut self, from: usize, to: usize) {
        for token in &mut self.tokens[from..to] {
            token.taken = true;
        }
    }

    /// Marks the tokens that stand between two characters as found.
    pub fn take_chars(&mut self, start: usize, end: usize) {
        for token in &mut self.tokens {
            if token.start < end && token.end > start {
                token.taken = true;
            }
        }
    }
}

/// The words of a phrase, lower case and without accents.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    let tokens = Text::of(text).tokens.into_iter();
    tokens.filter(|token| token.kind != Kind::Sign).map(|token| token.plain).collect()
}

fn collapsed(text: &str) -> Vec<char> {
    let mut shown = Vec::with_capacity(text.len());
    for c in text.nfkc() {
        // Soft hyphens and zero-width characters hide words from the reader of a table, not from people.
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

/// Digits of other scripts as those of ours.
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
        tokens.push(Token { kind, plain, start, end: at, glued, taken: false });
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
