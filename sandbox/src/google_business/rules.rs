//! Validates the content of a post.

use chrono::{DateTime, NaiveDate};
use serde_json::Value;

use super::failure;
use crate::reply::Reply;

/// Longest summary, and longest title of an event, in characters.
const SUMMARY_MAX: usize = 1_500;
const TITLE_MAX: usize = 58;
const TOPICS: [&str; 4] = ["STANDARD", "EVENT", "OFFER", "ALERT"];
const ALERTS: [&str; 1] = ["COVID_19"];
const ACTIONS: [&str; 6] = ["BOOK", "ORDER", "SHOP", "LEARN_MORE", "SIGN_UP", "CALL"];
const DAYS: [&str; 7] =
    ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];

/// Validates a post, except its files.
pub(super) fn check(post: &Value) -> Result<(), Reply> {
    if !post.is_object() {
        return Err(failure::invalid("", "The body is no object."));
    }
    let topic = post["topicType"].as_str().unwrap_or("STANDARD");
    if !TOPICS.contains(&topic) {
        return Err(failure::invalid("topic_type", "Invalid topic type."));
    }
    let summary = post["summary"].as_str().unwrap_or_default();
    if summary.chars().count() > SUMMARY_MAX {
        return Err(failure::invalid("summary", "The summary is longer than 1500 characters."));
    }
    let is_plain = matches!(topic, "STANDARD" | "ALERT");
    if is_plain && summary.is_empty() && post["media"].as_array().is_none_or(Vec::is_empty) {
        return Err(failure::invalid("summary", "The post is empty."));
    }
    button(&post["callToAction"], topic)?;
    event(&post["event"], is_plain)?;
    let refused = |field, message| Err(failure::invalid(field, message));
    if topic != "OFFER" && !post["offer"].is_null() {
        return refused("offer", "Only a post of the type OFFER has an offer.");
    }
    let is_alert = ALERTS.contains(&post["alertType"].as_str().unwrap_or_default());
    match (topic == "ALERT", post["alertType"].is_null()) {
        (true, _) if !is_alert => return refused("alert_type", "An alert needs its type."),
        (false, false) => return refused("alert_type", "Only an alert has a type of alert."),
        _ => {}
    }
    if !post["scheduledTime"].is_null() && scheduled_ms(post).is_none() {
        return refused("scheduled_time", "Invalid time.");
    }
    recurrence(&post["event"]["recurrenceInfo"])
}

/// Returns the time at which a post is to appear, if it has one.
pub(super) fn scheduled_ms(post: &Value) -> Option<i64> {
    let time = DateTime::parse_from_rfc3339(post["scheduledTime"].as_str()?).ok()?;
    Some(time.timestamp_millis())
}

/// Checks how an event or offer recurs.
fn recurrence(info: &Value) -> Result<(), Reply> {
    if info.is_null() {
        return Ok(());
    }
    let refused = |message| Err(failure::invalid("event.recurrence_info", message));
    let patterns = ["dailyPattern", "weeklyPattern", "monthlyPattern"];
    let days = info["weeklyPattern"]["daysOfWeek"].as_array().map(Vec::as_slice);
    let is_day = |day: &Value| day.as_str().is_some_and(|day| DAYS.contains(&day));
    match () {
        () if !info.is_object() => refused("Invalid value."),
        () if patterns.iter().filter(|name| !info[**name].is_null()).count() != 1 => {
            refused("One pattern is required.")
        }
        () if days.unwrap_or_default().iter().any(|day| !is_day(day)) => {
            refused("Invalid day of the week.")
        }
        () => Ok(()),
    }
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
        (_, true) => return refused("event", "A post of this type has no event."),
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
