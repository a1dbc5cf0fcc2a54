//! Forbidden phrases: whole words, without accents.

use super::{
    Finding, FindingReason,
    text::{Kind, Text},
};

/// Finds the forbidden phrases in a text, each once.
pub(super) fn find(text: &Text, phrases: &[(Vec<String>, String)]) -> Vec<Finding> {
    let said: Vec<&str> = text
        .tokens
        .iter()
        .filter(|token| token.kind != Kind::Sign)
        .map(|token| token.plain.as_str())
        .collect();
    let is_said = |words: &[String]| said.windows(words.len()).any(|part| part == words);
    phrases
        .iter()
        .filter(|(words, _)| is_said(words))
        .map(|(_, phrase)| Finding { reason: FindingReason::NeverSay, fragment: phrase.clone() })
        .collect()
}
