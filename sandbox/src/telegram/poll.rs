//! Polls.

use serde_json::{Value, json};

use super::{bad, entities};
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::Reply;

const QUESTION: usize = 300;
const OPTIONS: usize = 12;
const OPTION: usize = 100;
const DESCRIPTION: usize = 1_024;
const PERIOD: std::ops::RangeInclusive<i64> = 5..=2_628_000;

/// Parses the poll of `sendPoll`, as a message shows it. `now` is in seconds since 1970.
pub(super) fn poll(params: &Params, now: i64) -> Result<Value, Reply> {
    let question = params.text("question").unwrap_or_default();
    let question = formatted(&question, &params.text("question_parse_mode").unwrap_or_default())?;
    match entities::units(&question.text) {
        0 => return Err(bad("poll question must be non-empty")),
        n if n > QUESTION => return Err(bad("poll question length must not exceed 300")),
        _ => {}
    }
    let options = options(params)?;
    if params.text("is_anonymous").is_some() && !params.flag("is_anonymous") {
        return Err(bad("non-anonymous polls can't be sent to channel chats"));
    }
    let kind = params.filled("type").unwrap_or_else(|| "regular".into());
    if !matches!(kind.as_str(), "regular" | "quiz") {
        return Err(bad("unsupported poll type specified"));
    }
    let mut poll = json!({
        "id": random::text(BASE62, 18),
        "question": question.text,
        "question_entities": question.entities,
        "options": options.iter().enumerate().map(|(place, text)| {
            json!({"persistent_id": place.to_string(), "text": text, "voter_count": 0})
        }).collect::<Vec<_>>(),
        "total_voter_count": 0,
        "is_closed": params.flag("is_closed"),
        "is_anonymous": true,
        "type": kind,
        "allows_multiple_answers": params.flag("allows_multiple_answers"),
        "allows_revoting": params.flag("allows_revoting"),
        "members_only": params.flag("members_only"),
    });
    if kind == "quiz" {
        let right = params
            .integers("correct_option_ids")
            .into_iter()
            .chain(params.integer("correct_option_id"))
            .collect::<Vec<_>>();
        if right.is_empty()
            || right.iter().any(|n| usize::try_from(*n).is_ok_and(|n| n >= options.len()) || *n < 0)
        {
            return Err(bad("wrong correct option ID specified"));
        }
        poll["correct_option_ids"] = json!(right);
    }
    if let Some(description) = params.filled("description") {
        let description =
            formatted(&description, &params.text("description_parse_mode").unwrap_or_default())?;
        if entities::units(&description.text) > DESCRIPTION {
            return Err(bad("poll description is too long"));
        }
        poll["description"] = json!(description.text);
    }
    end(params, now, &mut poll)?;
    Ok(poll)
}

fn options(params: &Params) -> Result<Vec<String>, Reply> {
    let options = params.json("options").ok_or_else(|| bad("parameter \"options\" is required"))?;
    let options = options.map_err(|_| bad("can't parse options JSON object"))?;
    let options = options
        .as_array()
        .ok_or_else(|| bad("expected an Array of PollOption as options"))?
        .clone();
    let mut texts = Vec::new();
    for option in &options {
        let text = option.as_str().or_else(|| option["text"].as_str());
        let text = text
            .ok_or_else(|| bad("can't parse poll option: Field \"text\" must be of type String"))?;
        let text = formatted(text, option["text_parse_mode"].as_str().unwrap_or_default())?.text;
        match entities::units(&text) {
            0 => return Err(bad("poll options must be non-empty")),
            n if n > OPTION => return Err(bad("poll options length must not exceed 100")),
            _ => texts.push(text),
        }
    }
    match texts.len() {
        0 => Err(bad("poll must have at least 1 option")),
        n if n > OPTIONS => Err(bad("poll can't have more than 12 options")),
        _ => Ok(texts),
    }
}

fn end(params: &Params, now: i64, poll: &mut Value) -> Result<(), Reply> {
    let (period, date) = (params.integer("open_period"), params.integer("close_date"));
    if period.is_some() && date.is_some() {
        return Err(bad("open_period and close_date can't be used together"));
    }
    if let Some(seconds) = period.or_else(|| date.map(|date| date - now)) {
        if !PERIOD.contains(&seconds) {
            return Err(bad("poll can't be open for that time"));
        }
        poll["open_period"] = json!(seconds);
        poll["close_date"] = json!(now + seconds);
    }
    Ok(())
}

fn formatted(text: &str, mode: &str) -> Result<entities::Formatted, Reply> {
    entities::parse(text, mode).map_err(|flaw| bad(&format!("can't parse entities: {flaw}")))
}
