//! Validates the content of a post.

use chrono::NaiveDate;
use serde_json::Value;

use super::failure;
use crate::reply::Reply;

/// Longest summary, and longest title of an event, in characters.
const SUMMARY_MAX: usize = 1_500;
const TITLE_MAX: usize = 58;
const TOPICS: [&str; 3] = ["STANDARD", "EVENT", "OFFER"];
const ACTIONS: [&str; 6] = ["BOOK", "ORDER", "SHOP", "LEARN_MORE", "SIGN_UP", "CALL"];
/// The fields of a post, and the fields of its parts.
const FIELDS: [&str; 8] = [
    "languageCode",
    "summary",
    "topicType",
    "callToAction",
    "media",
    "event",
    "offer",
    "recurrenceInfo",
];
const PARTS: [(&str, &[&str]); 3] = [
    ("callToAction", &["actionType", "url"]),
    ("event", &["title", "schedule"]),
    ("offer", &["couponCode", "redeemOnlineUrl", "termsConditions"]),
];

/// Validates a post, except its files.
pub(super) fn check(post: &Value) -> Result<(), Reply> {
    let object = post.as_object().ok_or_else(|| failure::invalid("", "The body is no object."))?;
    unknown("", object.keys().map(String::as_str), &FIELDS)?;
    for (part, fields) in PARTS {
        let keys = post[part].as_object().into_iter().flat_map(|part| part.keys());
        unknown(part, keys.map(String::as_str), fields)?;
    }
    let topic = post["topicType"].as_str().unwrap_or("STANDARD");
    if !TOPICS.contains(&topic) {
        return Err(failure::invalid("topic_type", "Invalid topic type."));
    }
    let summary = post["summary"].as_str().unwrap_or_default();
    if summary.chars().count() > SUMMARY_MAX {
        return Err(failure::invalid("summary", "The summary is longer than 1500 characters."));
    }
    let is_plain = topic == "STANDARD";
    if is_plain && summary.is_empty() && post["media"].as_array().is_none_or(Vec::is_empty) {
        return Err(failure::invalid("summary", "The post is empty."));
    }
    button(&post["callToAction"], topic)?;
    event(&post["event"], is_plain)?;
    let refused = |field, message| Err(failure::invalid(field, message));
    if topic != "OFFER" && !post["offer"].is_null() {
        return refused("offer", "Only a post of the type OFFER has an offer.");
    }
    match &post["recurrenceInfo"] {
        Value::Null => Ok(()),
        Value::Object(_) if !is_plain => Ok(()),
        Value::Object(_) => refused("recurrence_info", "Only events and offers recur."),
        _ => refused("recurrence_info", "Invalid value."),
    }
}

/// Refuses unknown fields.
fn unknown<'a>(
    part: &str,
    given: impl Iterator<Item = &'a str>,
    known: &[&str],
) -> Result<(), Reply> {
    let mut given = given.filter(|name| !known.contains(name));
    given.next().map_or(Ok(()), |name| {
        let message = format!("Invalid JSON payload received. Unknown name \"{name}\" at 'local_post.{part}': Cannot find field.");
        Err(failure::invalid(part, &message))
    })
}

fn button(button: &Value, topic: &str) -> Result<(), Reply> {
    if button.is_null() {
        return Ok(());
    }
    let refused = |message| Err(failure::invalid("call_to_action", message));
    let action = button["actionType"].as_str().unwrap_or_default();
    let url = button["url"].as_str().unwrap_or_default();
    match () {
        () if topic == "OFFER" => refused("An offer takes no call to action."),
        () if !ACTIONS.contains(&action) => refused("Invalid action type."),
        () if action == "CALL" && !url.is_empty() => refused("CALL takes no URL."),
        () if action != "CALL" && !url.starts_with("http") => refused("A valid URL is required."),
        () => Ok(()),
    }
}

fn event(event: &Value, is_plain: bool) -> Result<(), Reply> {
    let refused = |field, message| Err(failure::invalid(field, message));
    match (event, is_plain) {
        (Value::Null, true) => return Ok(()),
        (Value::Null, false) => return refused("event", "An event is required."),
        (_, true) => return refused("event", "A post of the type STANDARD has no event."),
        _ => {}
    }
    let title = event["title"].as_str().unwrap_or_default();
    if title.is_empty() || title.chars().count() > TITLE_MAX {
        return refused("event.title", "The title has 1 to 58 characters.");
    }
    let schedule = &event["schedule"];
    for name in ["startTime", "endTime"] {
        let time = &schedule[name];
        let part = |name: &str| time[name].as_u64().unwrap_or(0);
        if !time.is_null() && (part("hours") > 23 || part("minutes") > 59) {
            return refused("event.schedule", "Invalid time.");
        }
    }
    match (day(&schedule["startDate"]), day(&schedule["endDate"])) {
        (Some(start), Some(end)) if start <= end => Ok(()),
        (Some(_), Some(_)) => refused("event.schedule", "The end is before the start."),
        _ => refused("event.schedule", "Start date and end date are required."),
    }
}

fn day(date: &Value) -> Option<NaiveDate> {
    let part = |name: &str| date[name].as_u64().and_then(|part| u32::try_from(part).ok());
    NaiveDate::from_ymd_opt(i32::try_from(part("year")?).ok()?, part("month")?, part("day")?)
}

/// Returns true if a text violates the content policy. Only phone numbers are detected.
pub(super) fn breaks_rules(post: &Value) -> bool {
    const DIGITS: usize = 10;
    let mut row = 0;
    post["summary"].as_str().unwrap_or_default().chars().any(|c| {
        row = match c {
            '0'..='9' => row + 1,
            ' ' | '-' | '(' | ')' | '+' => row,
            _ => 0,
        };
        row >= DIGITS
    })
}
