//! How much alike two posts are.

use std::collections::BTreeSet;

use fanfare_core::error::refusal::Likeness;

use super::form::NormalText;

/// The share of common sequences of three characters from which two texts are near each other.
const NEAR_SHARE: (usize, usize) = (4, 5);

/// Texts with fewer characters are near each other only if they are equal: they have too few sequences.
const SHORT: usize = 12;

/// The parts of a post's text that are compared.
#[derive(Debug, Clone, Default)]
pub(super) struct TextPrint {
    form: String,
    links: BTreeSet<String>,
    /// The sequences of three characters, in order, each once.
    sequences: Vec<u64>,
    is_short: bool,
}

/// The likeness of two texts; it depends on the files what that means for their posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    /// The texts are equal.
    Equal,
    /// The texts are near each other.
    Near,
    /// Neither post has a text.
    Nothing,
}

impl TextPrint {
    pub fn of(text: &str) -> Self {
        let NormalText { form, links } = NormalText::of(text);
        let signs: Vec<char> = form.chars().collect();
        let number = |sign: char| u64::from(u32::from(sign));
        let sequence = |of: &[char]| of.iter().fold(0, |all, sign| all << 21 | number(*sign));
        let mut sequences: Vec<u64> = signs.windows(3).map(sequence).collect();
        sequences.sort_unstable();
        sequences.dedup();
        Self { is_short: signs.len() < SHORT, form, links, sequences }
    }

    /// Returns true if there is neither a word nor a link.
    pub fn is_empty(&self) -> bool {
        self.form.is_empty() && self.links.is_empty()
    }

    /// Returns how much alike two texts are; `None` if they are not.
    pub fn compare(&self, other: &Self) -> Option<Match> {
        match (self.is_empty(), other.is_empty()) {
            (true, true) => return Some(Match::Nothing),
            (true, false) | (false, true) => return None,
            (false, false) => {}
        }
        let same_links = self.links == other.links;
        if !same_links && !self.links.is_empty() && !other.links.is_empty() {
            return None;
        }
        if self.form == other.form && same_links {
            return Some(Match::Equal);
        }
        let is_near = match self.is_short || other.is_short {
            // A text that is nothing but a link is near none without it.
            true => self.form == other.form && !self.form.is_empty(),
            false => self.share_is_near(other),
        };
        is_near.then_some(Match::Near)
    }

    fn share_is_near(&self, other: &Self) -> bool {
        let (one, two) = (&self.sequences, &other.sequences);
        let (part, whole) = NEAR_SHARE;
        // So different numbers of sequences cannot have enough in common.
        if one.len().min(two.len()) * whole < one.len().max(two.len()) * part {
            return false;
        }
        let common = common(one, two);
        common * whole >= (one.len() + two.len() - common) * part
    }
}

/// Returns the number of common entries of two lists in order, in which each stands once.
fn common(one: &[u64], two: &[u64]) -> usize {
    let (mut first, mut second, mut common) = (0, 0, 0);
    while let (Some(a), Some(b)) = (one.get(first), two.get(second)) {
        common += usize::from(a == b);
        first += usize::from(a <= b);
        second += usize::from(b <= a);
    }
    common
}

/// Returns how much alike two posts are whose texts compare like this; `None` if they are not.
pub(super) fn with_files(texts: Match, mine: &[String], theirs: &[String]) -> Option<Likeness> {
    let same_files = mine == theirs;
    match texts {
        Match::Equal if same_files => Some(Likeness::Exact),
        Match::Equal | Match::Near => Some(Likeness::Near),
        Match::Nothing => (same_files && !mine.is_empty()).then_some(Likeness::Exact),
    }
}

#[cfg(test)]
mod tests;
