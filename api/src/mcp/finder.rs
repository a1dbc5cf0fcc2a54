//! Finds operations by words. A word counts for more the fewer operations have it, and for more in a name than in a
//! summary or in the sentence that says when to use it.

use std::collections::{HashMap, HashSet};

use crate::Route;

/// The most results.
const MAX_RESULTS: usize = 6;

/// The share of the best score that a result must have.
const LEAST_SHARE: f64 = 0.4;

/// The most words of a question.
const MAX_WORDS: usize = 20;

/// Words that say nothing about an operation.
const IGNORED: &str = "the an of to is and or in on for it my me do does did how what when where with that this there \
    by be at as not no so can have has had was were will would from who whom whose its your you use one own them they \
    their than then all any if only want please into out about up show get need needs why";

/// Words that people use, and the word for the same thing here.
const SYNONYMS: &[(&str, &str)] = &[
    ("film", "video"),
    ("movie clip", "video"),
    ("picture photo drawing draw drawn", "image"),
    ("remove erase", "delete"),
    ("reply respond response", "answer"),
    (
        "statistics stats metrics performance perform number kpi view reach follower engagement",
        "analytics",
    ),
    ("message dm direct chat", "conversation"),
    ("simulated simulate simulation simulator fake test try", "sandbox"),
    ("reconnect renew reauthorize", "connect"),
    ("expired expires", "credential"),
    ("unanswered waiting", "wait"),
    ("time timetable schedule hour", "slot"),
    ("client customer", "brand"),
    ("network", "platform"),
    ("token", "secret"),
    ("cheaper smaller lower", "downgrade"),
    ("price costs costing estimate", "cost"),
    ("wallet balance", "credit"),
    ("plan tier billing", "subscription"),
    ("campaign", "group"),
    ("tone", "voice"),
    ("receiver address", "webhook"),
    ("reject refuse", "dismiss"),
    ("idea suggested", "suggestion"),
    ("permission", "access"),
    ("stolen compromised", "leak"),
    ("upload", "file"),
    ("quota remaining left", "limit"),
    ("stop disable", "pause"),
    ("google location", "business"),
    ("resend repeat redeliver", "again"),
    ("error failure", "fault"),
    ("incoming inbound arrives", "somebody"),
    ("day period", "month"),
    ("make new add generate", "create"),
    ("which see find are", "list"),
    ("edit modify set update", "change"),
    ("help question", "ask"),
    ("refresh reload", "sync"),
];

/// The index of some operations.
pub struct Finder {
    entries: Vec<Entry>,
    /// The weight of each word.
    weights: HashMap<String, f64>,
    vocabulary: Vocabulary,
}

struct Entry {
    name: HashSet<String>,
    /// Summary, sentence and chapter, with what a word in them counts.
    rest: [(HashSet<String>, f64); 3],
}

impl Finder {
    /// Returns the index of these operations.
    #[must_use]
    pub fn new(routes: &[&Route]) -> Self {
        let vocabulary = Vocabulary::new();
        let set = |text: &str| vocabulary.words(text).into_iter().collect::<HashSet<_>>();
        let entry = |route: &&Route| Entry {
            name: set(&route.name.replace('_', " ")),
            rest: [
                (set(route.summary), 2.0),
                (set(purpose(route.when)), 1.0),
                (set(route.tag), 1.0),
            ],
        };
        let entries: Vec<_> = routes.iter().map(entry).collect();
        let mut counts: HashMap<String, u32> = HashMap::new();
        for entry in &entries {
            let all: HashSet<_> = entry.rest.iter().flat_map(|(words, _)| words).collect();
            for word in all.union(&entry.name.iter().collect()) {
                *counts.entry((*word).clone()).or_default() += 1;
            }
        }
        let all = f64::from(u32::try_from(entries.len()).unwrap_or(u32::MAX));
        let weight = |(word, count): (String, u32)| (word, (1.0 + all / f64::from(count)).ln());
        let weights = counts.into_iter().map(weight).collect();
        Self { entries, weights, vocabulary }
    }

    /// Returns the places of the operations that a question may mean, best first. `is_open` tells which may be found.
    #[must_use]
    pub fn find(&self, question: &str, is_open: impl Fn(usize) -> bool) -> Vec<usize> {
        let words = self.vocabulary.words(question);
        let scored = self.entries.iter().enumerate().filter(|(place, _)| is_open(*place));
        let mut found: Vec<_> = scored
            .map(|(place, entry)| (self.score(entry, &words), place))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let least = found.first().map_or(0.0, |(best, _)| best * LEAST_SHARE);
        let fit = found.into_iter().take_while(|(score, _)| *score >= least);
        fit.take(MAX_RESULTS).map(|(_, place)| place).collect()
    }

    fn score(&self, entry: &Entry, words: &[String]) -> f64 {
        let one = |word: &String| {
            let weight = self.weights.get(word).copied().unwrap_or_default();
            let in_name = if entry.name.contains(word) { 3.0 } else { 0.0 };
            let rest = entry.rest.iter().filter(|(words, _)| words.contains(word));
            weight * (in_name + rest.map(|(_, counts)| counts).sum::<f64>())
        };
        // A name that was asked for as a whole is meant rather than one with more to it.
        let named = entry.name.iter().filter(|word| words.contains(word)).count();
        let share = named as f64 / entry.name.len().max(1) as f64;
        words.iter().map(one).sum::<f64>() * (0.5 + 0.5 * share)
    }
}

/// Returns what a "Use it when …" says an operation is for, without what it is not for.
fn purpose(when: &str) -> &str {
    when.split("; not ").next().unwrap_or(when)
}

/// Turns a text into words of which different spellings are the same.
struct Vocabulary {
    ignored: HashSet<&'static str>,
    meant: HashMap<&'static str, &'static str>,
}

impl Vocabulary {
    fn new() -> Self {
        let pairs = SYNONYMS
            .iter()
            .flat_map(|(words, meant)| words.split_whitespace().map(|word| (word, *meant)));
        Self { ignored: IGNORED.split_whitespace().collect(), meant: pairs.collect() }
    }

    /// Returns the words of a text, each once.
    fn words(&self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        let parts = text.split(|mark: char| !mark.is_alphanumeric());
        for part in parts.map(str::to_lowercase).filter(|part| part.len() > 1) {
            if words.len() == MAX_WORDS {
                break;
            }
            let word = self.meaning(&part);
            if !self.ignored.contains(part.as_str()) && !words.contains(&word) {
                words.push(word);
            }
        }
        words
    }

    fn meaning(&self, word: &str) -> String {
        let stem = stem(word);
        let meant = self.meant.get(word).or_else(|| self.meant.get(stem.as_str()));
        meant.map_or(stem, |meant| (*meant).to_owned())
    }
}

/// Cuts the usual endings.
fn stem(word: &str) -> String {
    let cut = ["ing", "ed"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.len() > 3));
    let word = cut.unwrap_or(word);
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() > 1) {
        return format!("{rest}y");
    }
    let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    word.strip_suffix('s').filter(|_| is_plural).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_word_are_one() {
        let words = |text: &str| Vocabulary::new().words(text);
        assert_eq!(words("Replies to the reply, replying"), ["answer"]);
        assert_eq!(words("What are my posts?"), ["list", "post"]);
        assert_eq!(words("reconnecting accounts"), words("connected account"));
        assert_eq!(words(""), [""; 0]);
        assert_eq!(words(&"word ".repeat(1_000)).len(), 1);
    }
}
