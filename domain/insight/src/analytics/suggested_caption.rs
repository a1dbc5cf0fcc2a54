//! Writes the caption of a suggestion: a new version of an old post's caption that claims only known facts.

use std::time::{Duration, Instant};

use fanfare_core::{Domain, error::Result};
use fanfare_entities::account;
use fanfare_platforms as platforms;

use crate::ai::{TextSlot, WritingTask, fact_check::Facts, known_facts, write_checked};

/// The longest wait for the model.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time that the model has for all captions of a round.
const ROUND_PATIENCE: Duration = Duration::from_secs(90);

const RULES: &str = "You write captions for posts on social networks. The text is a caption that did well; write a fresh one for a new post \
     like it. Never invent prices, discounts, dates, times, phone numbers, links or handles, and repeat none of them from the old \
     caption. Answer with JSON of the schema alone.";

/// Writes the captions of one round, for which the model has a time in all.
pub(super) struct Writer<'a> {
    cx: &'a Domain,
    row: &'a account::Model,
    known: known_facts::KnownFacts,
    /// The time that the model still has.
    left: Duration,
}

impl<'a> Writer<'a> {
    /// Reads what may be claimed of an account's workspace or brand.
    ///
    /// # Errors
    /// The database's.
    pub(super) async fn new(cx: &'a Domain, row: &'a account::Model) -> Result<Self> {
        let known = known_facts::read(cx, row.workspace_id, row.brand_id).await?;
        Ok(Self { cx, row, known, left: ROUND_PATIENCE })
    }

    /// Writes a new version of an old caption. Without a model, or if it fails or has no time left, returns the old
    /// caption without the sentences whose claims are not known; `None` if nothing is left.
    ///
    /// # Errors
    /// The database's.
    pub(super) async fn write(&mut self, old: &str) -> Result<Option<String>> {
        let facts = &self.known.facts;
        let platform = fanfare_publishing::platforms::from_row(&self.row.platform)?;
        let rules = platforms::find(platform).spec().caption;
        let kept = || without_claims(old, facts).filter(|kept| (rules.count)(kept) <= rules.max);
        if self.left.is_zero() {
            return Ok(kept());
        }
        let mut brief = old.to_owned();
        known_facts::append_notes(&mut brief, &self.known.notes);
        let slot = TextSlot {
            name: self.row.platform.clone(),
            count: 1,
            limit: rules.max,
            length: Box::new(rules.count),
            max_bytes: rules.max_bytes,
        };
        let task = WritingTask {
            rules: RULES.to_owned(),
            brief,
            slots: vec![slot],
            facts,
            timeout: PATIENCE.min(self.left),
        };
        let begun = Instant::now();
        let written = match write_checked(self.cx, &task).await {
            Ok(written) => written.slots.into_iter().flat_map(|slot| slot.variants).next(),
            Err(error) => {
                let account = self.row.id.0;
                tracing::debug!(account.id = account, %error, "a suggestion keeps its old caption");
                None
            }
        };
        self.left = self.left.saturating_sub(begun.elapsed());
        Ok(written.map(|one| one.text).or_else(kept))
    }
}

/// Returns the sentences of a text whose claims are known.
fn without_claims(text: &str, facts: &Facts) -> Option<String> {
    let kept: String =
        sentences(text).into_iter().filter(|one| facts.check(one).is_empty()).collect();
    Some(kept.trim().to_owned()).filter(|kept| !kept.is_empty())
}

/// Returns the sentences of a text, each with the characters up to the next one.
fn sentences(text: &str) -> Vec<&str> {
    let (mut sentences, mut start) = (Vec::new(), 0);
    let mut chars = text.char_indices().peekable();
    while let Some((place, char)) = chars.next() {
        let next_is_blank = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        if char == '\n' || (matches!(char, '.' | '!' | '?' | '…') && next_is_blank) {
            let end = place + char.len_utf8();
            sentences.push(&text[start..end]);
            start = end;
        }
    }
    sentences.push(&text[start..]);
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_with_claims_that_are_not_known_go() {
        let mut facts = Facts::default();
        facts.add("cafe-luna.de");
        let old = "Come for brunch. Only 9.50 EUR until Sunday! See cafe-luna.de\nAll are welcome";
        let kept = without_claims(old, &facts);
        assert_eq!(kept.as_deref(), Some("Come for brunch. See cafe-luna.de\nAll are welcome"));
        assert_eq!(without_claims("Half price on 3 May", &facts), None);
    }
}
