//! A list of violations with a maximum length.

use std::{ops::Deref, vec};

use super::Violation;

/// The most characters of a caller's input that a message quotes.
const EXCERPT: usize = 200;

/// Cuts a caller's text to the length that messages quote.
#[must_use]
pub fn excerpt(text: &str) -> &str {
    text.char_indices().nth(EXCERPT).map_or(text, |(end, _)| &text[..end])
}

/// The first violations and the number of further ones: an input can have one for each of its values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Violations {
    listed: Vec<Violation>,
    more: usize,
}

impl Violations {
    /// The most violations that are listed.
    pub const LISTED_MAX: usize = 50;

    /// Adds a violation, which is created only if it will be listed.
    pub fn push_with(&mut self, describe: impl FnOnce() -> Violation) {
        if self.listed.len() < Self::LISTED_MAX {
            self.listed.push(describe());
        } else {
            self.more += 1;
        }
    }

    /// Adds a violation.
    pub fn push(&mut self, violation: Violation) {
        self.push_with(|| violation);
    }

    /// Adds all violations of `other`, even beyond the maximum; the caller truncates the result.
    pub fn append(&mut self, other: Self) {
        self.listed.extend(other.listed);
        self.more += other.more;
    }

    /// Adds violations, even beyond the maximum.
    pub fn append_all(&mut self, violations: impl IntoIterator<Item = Violation>) {
        self.listed.extend(violations);
    }

    /// Returns the number of violations that are not listed.
    #[must_use]
    pub const fn omitted(&self) -> usize {
        self.more
    }

    /// Truncates the list to [`Self::LISTED_MAX`] entries and counts the rest.
    #[must_use]
    pub fn truncated(mut self) -> Self {
        self.more += self.listed.len().saturating_sub(Self::LISTED_MAX);
        self.listed.truncate(Self::LISTED_MAX);
        self
    }

    /// Returns a mutable iterator over the listed violations.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Violation> {
        self.listed.iter_mut()
    }

    /// Keeps the listed violations that match; if none does, the count of further ones is reset too.
    pub fn retain(&mut self, fits: impl FnMut(&Violation) -> bool) {
        self.listed.retain(fits);
        if self.listed.is_empty() {
            self.more = 0;
        }
    }

    /// Sorts the listed violations; equal ones keep their order.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(&Violation) -> K) {
        self.listed.sort_by_key(key);
    }
}

impl Deref for Violations {
    type Target = [Violation];

    fn deref(&self) -> &[Violation] {
        &self.listed
    }
}

impl Extend<Violation> for Violations {
    fn extend<I: IntoIterator<Item = Violation>>(&mut self, violations: I) {
        violations.into_iter().for_each(|violation| self.push(violation));
    }
}

impl FromIterator<Violation> for Violations {
    fn from_iter<I: IntoIterator<Item = Violation>>(violations: I) -> Self {
        let mut all = Self::default();
        all.extend(violations);
        all
    }
}

impl From<Vec<Violation>> for Violations {
    fn from(violations: Vec<Violation>) -> Self {
        violations.into_iter().collect()
    }
}

impl IntoIterator for Violations {
    type Item = Violation;
    type IntoIter = vec::IntoIter<Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.listed.into_iter()
    }
}

impl<'a> IntoIterator for &'a Violations {
    type Item = &'a Violation;
    type IntoIter = std::slice::Iter<'a, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.listed.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_are_named_and_the_rest_is_counted() {
        let mut described = 0;
        let mut all = Violations::default();
        for place in 0..20_000 {
            all.push_with(|| {
                described += 1;
                Violation::new(format!("f[{place}]"), "invalid_field", "", "")
            });
        }
        assert_eq!((all.len(), all.omitted(), described), (50, 19_950, 50));
        let mut both = all.clone();
        both.append(all);
        assert_eq!((both.len(), both.omitted()), (100, 39_900));
        let cut = both.truncated();
        assert_eq!((cut.len(), cut.omitted()), (50, 39_950));
    }

    #[test]
    fn two_hundred_characters_are_quoted() {
        assert_eq!(excerpt("short"), "short");
        assert_eq!(excerpt(&"é".repeat(201)), "é".repeat(200));
    }
}
