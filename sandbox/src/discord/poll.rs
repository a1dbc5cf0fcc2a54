//! Polls in messages.

use serde_json::{Value, json};

use super::form_errors::FormErrors;
use crate::env::rfc3339;

const QUESTION: usize = 300;
const ANSWERS: usize = 10;
const ANSWER: usize = 55;
/// 32 days.
const HOURS: u64 = 768;

/// Validates a poll request and returns the poll as a message shows it.
pub(super) fn checked(poll: &Value, now_ms: i64, flaws: &mut FormErrors) -> Option<Value> {
    let question = poll["question"]["text"].as_str().unwrap_or_default();
    if question.is_empty() {
        flaws.add("poll.question.text", "BASE_TYPE_REQUIRED", "This field is required");
    }
    flaws.length("poll.question.text", question, QUESTION);
    let answers = poll["answers"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !(1..=ANSWERS).contains(&answers.len()) {
        flaws.add("poll.answers", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 10 in length.");
    }
    for (n, answer) in answers.iter().enumerate() {
        let path = format!("poll.answers.{n}.poll_media.text");
        match answer["poll_media"]["text"].as_str() {
            Some(text) if !text.is_empty() => flaws.length(&path, text, ANSWER),
            _ => flaws.add(&path, "BASE_TYPE_REQUIRED", "This field is required"),
        }
    }
    let hours = poll.get("duration").map_or(Some(24), Value::as_u64);
    let hours = hours.filter(|hours| (1..=HOURS).contains(hours));
    if hours.is_none() {
        flaws.add("poll.duration", "NUMBER_TYPE_MAX", "int value should be between 1 and 768.");
    }
    let answers: Vec<_> = (1..)
        .zip(answers)
        .map(|(n, a)| json!({"answer_id": n, "poll_media": a["poll_media"]}))
        .collect();
    let end_ms = now_ms + i64::try_from(hours?).ok()? * 3_600_000;
    Some(json!({
        "question": {"text": question},
        "answers": answers,
        "expiry": rfc3339(end_ms),
        "allow_multiselect": poll["allow_multiselect"].as_bool().unwrap_or(false),
        "layout_type": poll["layout_type"].as_u64().unwrap_or(1),
        "results": {"is_finalized": false, "answer_counts": []},
    }))
}
