//! The vocabulary of prices, dates and times in seven languages.

use std::{collections::HashMap, sync::LazyLock};

use serde::Deserialize;

use super::text::plain_words;

/// One table for each language.
const TABLES: [&str; 7] = [
    include_str!("words/en.json"),
    include_str!("words/de.json"),
    include_str!("words/fr.json"),
    include_str!("words/es.json"),
    include_str!("words/it.json"),
    include_str!("words/pt.json"),
    include_str!("words/nl.json"),
];

/// Units that make the number before them a measure, in every language.
const UNITS: &str =
    "km m cm mm mi ft kg g mg lb oz l ml cl kcal cal kwh w kw v px mb gb tb mah hp ps qm sqm hz";

/// A table in its file.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Table {
    months: Vec<Vec<String>>,
    weekdays: Vec<Vec<String>>,
    currencies: HashMap<String, Vec<String>>,
    cents: Vec<String>,
    pence: Vec<String>,
    percent: Vec<String>,
    million: Vec<String>,
    thousand: Vec<String>,
    free: Vec<String>,
    not_free_after: Vec<String>,
    not_free_before: Vec<String>,
    half_price: Vec<String>,
    #[serde(rename = "for")]
    for_words: Vec<String>,
    relative: HashMap<String, Vec<String>>,
    noon: Vec<String>,
    midnight: Vec<String>,
    oclock: Vec<String>,
    range: Vec<String>,
    before_date: Vec<String>,
    links: Vec<String>,
    nouns: Vec<String>,
}

/// Phrases by their first word, longest first, each with its meaning.
pub(super) struct Phrases<T>(HashMap<String, Vec<(Vec<String>, T)>>);

impl<T> Default for Phrases<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Clone> Phrases<T> {
    fn add(&mut self, phrase: &str, meaning: T) {
        let words = plain_words(phrase);
        let Some(first) = words.first() else { return };
        let known = self.0.entry(first.clone()).or_default();
        known.push((words, meaning));
        known.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
    }

    fn add_all(&mut self, phrases: &[String], meaning: &T) {
        for phrase in phrases {
            self.add(phrase, meaning.clone());
        }
    }

    /// Returns the longest phrase at the beginning of these words: the number of its words, and its meaning.
    pub fn find(&self, said: &[&str]) -> Option<(usize, T)> {
        let known = self.0.get(*said.first()?)?;
        let fits = |words: &[String]| {
            words.len() <= said.len() && words.iter().zip(said).all(|(one, other)| one == other)
        };
        let found = known.iter().find(|(words, _)| fits(words))?;
        Some((found.0.len(), found.1.clone()))
    }

    /// Returns true if this single word is a phrase.
    pub fn has(&self, word: &str) -> bool {
        self.find(&[word]).is_some()
    }
}

/// The tables of all languages together.
#[derive(Default)]
pub(super) struct Vocabulary {
    pub months: Phrases<u8>,
    pub weekdays: Phrases<u8>,
    pub currencies: Phrases<String>,
    pub percent: Phrases<()>,
    pub multiples: Phrases<i64>,
    pub free: Phrases<()>,
    pub not_free_after: Phrases<()>,
    pub not_free_before: Phrases<()>,
    pub half_price: Phrases<()>,
    pub for_words: Phrases<()>,
    pub relative: Phrases<String>,
    pub clock: Phrases<u16>,
    pub oclock: Phrases<()>,
    pub range: Phrases<()>,
    pub before_date: Phrases<()>,
    pub links: Phrases<()>,
    pub nouns: Phrases<()>,
}

/// A hundredth of any currency, and of a pound.
pub(super) const CENTS: &str = "cents";
pub(super) const PENCE: &str = "pence";

pub(super) static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let mut words = Vocabulary::default();
    for table in TABLES {
        // A test parses each of them.
        words.add_table(&serde_json::from_str(table).unwrap_or_default());
    }
    for unit in UNITS.split(' ') {
        words.nouns.add(unit, ());
    }
    words
});

impl Vocabulary {
    fn add_table(&mut self, table: &Table) {
        for (nth, names) in (1..).zip(&table.months) {
            self.months.add_all(names, &nth);
        }
        for (nth, names) in (0..).zip(&table.weekdays) {
            self.weekdays.add_all(names, &nth);
        }
        for (currency, names) in &table.currencies {
            self.currencies.add_all(names, currency);
        }
        self.currencies.add_all(&table.cents, &CENTS.to_owned());
        self.currencies.add_all(&table.pence, &PENCE.to_owned());
        self.percent.add_all(&table.percent, &());
        self.multiples.add_all(&table.million, &1_000_000);
        self.multiples.add_all(&table.thousand, &1_000);
        self.free.add_all(&table.free, &());
        self.not_free_after.add_all(&table.not_free_after, &());
        self.not_free_before.add_all(&table.not_free_before, &());
        self.half_price.add_all(&table.half_price, &());
        self.for_words.add_all(&table.for_words, &());
        for (meaning, phrases) in &table.relative {
            self.relative.add_all(phrases, meaning);
        }
        self.clock.add_all(&table.noon, &(12 * 60));
        self.clock.add_all(&table.midnight, &0);
        self.oclock.add_all(&table.oclock, &());
        self.range.add_all(&table.range, &());
        self.before_date.add_all(&table.before_date, &());
        self.links.add_all(&table.links, &());
        self.nouns.add_all(&table.nouns, &());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_whole() {
        for text in TABLES {
            let table: Table = serde_json::from_str(text).unwrap();
            assert_eq!((table.months.len(), table.weekdays.len()), (12, 7), "{text}");
            assert_eq!(table.relative.len(), 9);
            assert!(!table.free.is_empty() && !table.currencies.is_empty());
        }
    }
}
