//! Generates texts that pass the fact check: one call, at most one rewrite, and then the texts that still fail are
//! dropped.

use std::time::{Duration, Instant};

use fanfare_ai::{Failure, FailureKind, Message, MessageRole};
use fanfare_core::{Domain, error::Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    fact_check::{Facts, Finding, FindingReason},
    not_configured, provider_error,
};

/// The texts that are requested for one purpose, such as a network.
pub struct TextSlot {
    /// The name, of letters and underscores.
    pub name: String,
    /// The number of texts.
    pub count: usize,
    /// The maximum length.
    pub limit: usize,
    /// Measures the length.
    pub length: Box<dyn Fn(&str) -> usize + Send + Sync>,
    /// The maximum length in bytes, if that is limited too.
    pub max_bytes: Option<usize>,
}

/// A task for a model: texts to write.
pub struct WritingTask<'a> {
    /// The rules for the model (its system prompt).
    pub rules: String,
    /// The task, with everything that the model may use (its prompt).
    pub brief: String,
    /// The requested texts.
    pub slots: Vec<TextSlot>,
    /// The known facts.
    pub facts: &'a Facts,
    /// The longest time for all calls together.
    pub timeout: Duration,
}

/// A text that passed the checks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct TextVariant {
    /// The text.
    pub text: String,
    /// The length, as the network counts.
    pub length: usize,
    /// The longest text that the network takes.
    pub limit: usize,
}

/// A reason why a text was dropped.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct DroppedText {
    /// The number of the text, from 1.
    pub variant: usize,
    /// The flaw.
    pub reason: FindingReason,
    /// The words that it is about.
    pub fragment: String,
}

/// The texts of a slot.
#[derive(Debug, Clone)]
pub struct SlotTexts {
    /// The slot's name.
    pub name: String,
    /// The texts that passed.
    pub variants: Vec<TextVariant>,
    /// The number that was requested.
    pub requested: usize,
    /// The flaws of the dropped texts.
    pub dropped: Vec<DroppedText>,
}

/// The result of a task.
#[derive(Debug, Clone)]
pub struct CheckedTexts {
    /// The texts, in the order of the slots.
    pub slots: Vec<SlotTexts>,
    /// True if texts were rewritten.
    pub rewritten: bool,
    /// The provider that wrote them.
    pub provider: String,
    /// The model that wrote them.
    pub model: String,
    /// True if the provider is simulated.
    pub sandbox: bool,
}

/// Has a model write texts, and returns those that claim only known facts.
///
/// # Errors
/// [`fanfare_core::Code::ProviderNotConfigured`], [`fanfare_core::Code::ContentRefused`], [`fanfare_core::Code::ProviderBadAnswer`],
/// [`fanfare_core::Code::ProviderUnreachable`], [`fanfare_core::Code::ProviderDenied`] or [`fanfare_core::Code::Unavailable`].
pub async fn write_checked(cx: &Domain, task: &WritingTask<'_>) -> Result<CheckedTexts> {
    let model = crate::settings(cx).ai.text.as_ref().ok_or_else(|| not_configured("texts"))?;
    let begun = Instant::now();
    let left = || task.timeout.saturating_sub(begun.elapsed());
    let schema = schema(&task.slots);
    let message = |by, text: &str| Message { role: by, text: text.to_owned() };
    let mut messages =
        vec![message(MessageRole::System, &task.rules), message(MessageRole::User, &task.brief)];
    let first = match model.complete(&messages, &schema, left()).await {
        Err(failure) if failure.kind == FailureKind::BadAnswer => {
            model.complete(&messages, &schema, left()).await
        }
        outcome => outcome,
    };
    let mut said = first.map_err(|failure| provider_error(&failure))?;
    let mut judged = judge(task, &said);
    let is_clean = |judged: &[SlotTexts]| judged.iter().all(|slot| slot.dropped.is_empty());
    let mut rewritten = false;
    if !is_clean(&judged) {
        messages.push(message(MessageRole::Assistant, &said.to_string()));
        messages.push(message(MessageRole::User, &correction(&judged)));
        match model.complete(&messages, &schema, left()).await {
            Ok(again) => {
                rewritten = true;
                said = again;
                judged = merge(judged, judge(task, &said));
            }
            // The texts that passed the first time are kept.
            Err(failure) => record_failure(&failure),
        }
    }
    Ok(CheckedTexts {
        slots: judged,
        rewritten,
        provider: model.provider.clone(),
        model: model.model.clone(),
        sandbox: crate::settings(cx).ai.is_sandbox,
    })
}

fn record_failure(failure: &Failure) {
    tracing::warn!(%failure, "texts with findings were not rewritten, and are dropped");
}

fn schema(slots: &[TextSlot]) -> Value {
    let texts = |slot: &TextSlot| {
        let about = format!("{} texts of at most {} characters each", slot.count, slot.limit);
        json!({"type": "array", "description": about, "minItems": slot.count, "maxItems": slot.count,
            "items": {"type": "string", "maxLength": slot.limit}})
    };
    let properties: Map<String, Value> =
        slots.iter().map(|slot| (slot.name.clone(), texts(slot))).collect();
    let names: Vec<&str> = slots.iter().map(|slot| slot.name.as_str()).collect();
    json!({"type": "object", "additionalProperties": false, "required": names, "properties": properties})
}

/// Checks all texts; texts beyond the requested number are ignored.
fn judge(task: &WritingTask<'_>, said: &Value) -> Vec<SlotTexts> {
    let slot = |slot: &TextSlot| {
        let texts = said[&slot.name].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut judged = SlotTexts {
            name: slot.name.clone(),
            variants: Vec::new(),
            requested: slot.count,
            dropped: Vec::new(),
        };
        for place in 0..slot.count {
            let text = texts.get(place).and_then(Value::as_str).unwrap_or_default().trim();
            let findings = findings(task, slot, text, &judged.variants);
            if findings.is_empty() {
                let length = (slot.length)(text);
                judged.variants.push(TextVariant {
                    text: text.to_owned(),
                    length,
                    limit: slot.limit,
                });
            }
            judged.dropped.extend(findings.into_iter().map(|found| DroppedText {
                variant: place + 1,
                reason: found.reason,
                fragment: found.fragment,
            }));
        }
        judged
    };
    task.slots.iter().map(slot).collect()
}

fn findings(
    task: &WritingTask<'_>,
    slot: &TextSlot,
    text: &str,
    earlier: &[TextVariant],
) -> Vec<Finding> {
    if text.is_empty() {
        return vec![Finding { reason: FindingReason::Missing, fragment: String::new() }];
    }
    let mut findings = task.facts.check(text);
    let length = (slot.length)(text);
    let is_long = length > slot.limit || slot.max_bytes.is_some_and(|most| text.len() > most);
    if is_long {
        let fragment = format!("{length} of {}", slot.limit);
        findings.push(Finding { reason: FindingReason::TooLong, fragment });
    }
    if earlier.iter().any(|other| other.text.to_lowercase() == text.to_lowercase()) {
        let fragment = text.chars().take(80).collect();
        findings.push(Finding { reason: FindingReason::Duplicate, fragment });
    }
    findings
}

/// Returns the message that lists the flaws of the texts for the model.
fn correction(judged: &[SlotTexts]) -> String {
    let wrong: Map<String, Value> = judged
        .iter()
        .filter(|slot| !slot.dropped.is_empty())
        .map(|slot| (slot.name.clone(), json!(slot.dropped)))
        .collect();
    format!(
        "Some texts claim what is not in the facts, use what must not be said, are too long, repeat each other or are missing. Write all texts \
         again, without these fragments and without anything in their place: {}",
        Value::Object(wrong)
    )
}

/// Returns the second texts, or the first ones where more of those passed.
fn merge(first: Vec<SlotTexts>, second: Vec<SlotTexts>) -> Vec<SlotTexts> {
    let better = |(first, second): (SlotTexts, SlotTexts)| {
        if second.variants.len() >= first.variants.len() { second } else { first }
    };
    first.into_iter().zip(second).map(better).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task<'a>(facts: &'a Facts, count: usize, limit: usize) -> WritingTask<'a> {
        let slot = TextSlot {
            name: "bluesky".to_owned(),
            count,
            limit,
            length: Box::new(|text| text.chars().count()),
            max_bytes: None,
        };
        let patience = Duration::from_secs(1);
        WritingTask {
            rules: String::new(),
            brief: String::new(),
            slots: vec![slot],
            facts,
            timeout: patience,
        }
    }

    #[test]
    fn every_text_that_was_asked_for_is_there_or_has_a_reason() {
        let facts = Facts::default();
        for texts in [
            json!([]),
            json!(null),
            json!(["One"]),
            json!(["One", "", "  "]),
            json!([7, "Two", null]),
            json!(["One", "Two", "Three", "Four"]),
        ] {
            let judged = judge(&task(&facts, 3, 20), &json!({ "bluesky": texts }));
            let mut numbers: Vec<_> = judged[0].dropped.iter().map(|one| one.variant).collect();
            numbers.dedup();
            assert_eq!(judged[0].variants.len() + numbers.len(), 3, "{texts}");
            assert!(judged[0].dropped.iter().all(|one| one.reason == FindingReason::Missing));
        }
    }

    #[test]
    fn every_reason_is_named_with_the_number_of_its_text() {
        let mut facts = Facts::default();
        facts.add("Coffee 3 €");
        facts.never_say("cheap");
        let said = json!({"bluesky": ["Coffee 3 €", "coffee 3 €", "Tea 4 €, cheap", "x".repeat(30), "Fine", "Not asked for"]});
        let judged = judge(&task(&facts, 5, 20), &said);
        let texts: Vec<_> = judged[0].variants.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["Coffee 3 €", "Fine"]);
        let reasons: Vec<_> = judged[0].dropped.iter().map(|it| (it.variant, it.reason)).collect();
        assert_eq!(
            reasons,
            [
                (2, FindingReason::Duplicate),
                (3, FindingReason::NeverSay),
                (3, FindingReason::UnverifiedPrice),
                (4, FindingReason::TooLong),
            ]
        );
    }

    #[test]
    fn a_rewrite_that_is_worse_counts_for_nothing() {
        let facts = Facts::default();
        let task = task(&facts, 2, 50);
        let first = judge(&task, &json!({"bluesky": ["One", "Two for 9 €"]}));
        let worse = judge(&task, &json!({"bluesky": ["For 9 €", "For 8 €"]}));
        let better = judge(&task, &json!({"bluesky": ["One", "Two"]}));
        assert_eq!(merge(first.clone(), worse)[0].variants.len(), 1);
        assert_eq!(merge(first, better)[0].variants.len(), 2);
    }
}
