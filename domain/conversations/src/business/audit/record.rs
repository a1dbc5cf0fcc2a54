//! The checks of a location's record.

use fanfare_entities::Millis;
use serde_json::Value;

use super::{
    Check, CheckStatus, Facts,
    checks::{EDITOR, POST, at_least, check, pass_if, within},
};

/// Checks the location's record.
pub(super) fn record_checks(facts: &Facts) -> Vec<Check> {
    let profile = facts.profile.as_ref();
    let record = profile.and_then(|profile| profile.location.as_ref());
    let known =
        |status: &dyn Fn(&Value) -> CheckStatus| record.map_or(CheckStatus::Unknown, status);
    let filled = |value: &Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    };
    let text = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
    let verified = profile.and_then(|profile| profile.verified);
    let posted = profile.filter(|profile| profile.posts_known);
    let detail = |status: CheckStatus, missing: &str| match status {
        CheckStatus::Pass => "It is there.".to_owned(),
        CheckStatus::Unknown => "It could not be read.".to_owned(),
        CheckStatus::Warn | CheckStatus::Fail => missing.to_owned(),
    };
    let one =
        |what, status: CheckStatus, missing: &str| check(what, status, detail(status, missing));
    let more = |record: &Value| {
        at_least(
            record["categories"]["additionalCategories"]
                .as_array()
                .map_or(Some(0), |all| Some(all.len())),
            1,
            1,
        )
    };
    let website = |record: &Value| match record["websiteUri"].as_str() {
        Some(url) if url.starts_with("https://") => CheckStatus::Pass,
        Some(url) if url.starts_with("http://") => CheckStatus::Warn,
        _ => CheckStatus::Fail,
    };
    vec![
        one(
            ("verified", "Verified", 12, EDITOR),
            verified.map_or(CheckStatus::Unknown, pass_if),
            "Google does not know the owner.",
        ),
        one(
            ("primary_category", "Primary category", 6, EDITOR),
            known(&|record| pass_if(filled(&record["categories"]["primaryCategory"]))),
            "There is none.",
        ),
        one(
            ("more_categories", "More categories", 4, EDITOR),
            known(&more),
            "There is none besides the primary one.",
        ),
        one(
            ("description", "Description", 8, EDITOR),
            known(&|record| at_least(Some(text(&record["profile"]["description"])), 250, 1)),
            "It has fewer than 250 characters.",
        ),
        one(
            ("phone", "Phone number", 5, EDITOR),
            known(&|record| pass_if(filled(&record["phoneNumbers"]["primaryPhone"]))),
            "There is none.",
        ),
        one(("website", "Website", 5, EDITOR), known(&website), "There is none with https."),
        one(("hours", "Opening hours", 8, EDITOR), known(&hours), "None are said."),
        one(
            ("special_hours", "Hours of holidays", 3, EDITOR),
            known(&|record| pass_if(special_hours(record, facts.now))),
            "None are ahead.",
        ),
        one(
            ("address_or_area", "Address or service area", 4, EDITOR),
            known(&|record| {
                pass_if(filled(&record["storefrontAddress"]) || filled(&record["serviceArea"]))
            }),
            "There is neither.",
        ),
        one(
            ("recent_post", "A recent post", 6, POST),
            posted.map_or(CheckStatus::Unknown, |profile| {
                within(profile.last_post_at, facts.now, (14, 30))
            }),
            "The last one is older than 14 days.",
        ),
    ]
}

/// Checks the opening hours. Google says of a closed day that it has none, so hours of any day say something of each.
fn hours(record: &Value) -> CheckStatus {
    let periods = record["regularHours"]["periods"].as_array();
    let said = |period: &Value| period["openDay"].as_str().is_some_and(|day| !day.is_empty());
    pass_if(periods.is_some_and(|periods| periods.iter().any(said)))
}

fn special_hours(record: &Value, now: Millis) -> bool {
    let today = chrono::DateTime::from_timestamp_millis(now).map(|at| at.date_naive());
    let day = |period: &Value| {
        let part = |name: &str| period["startDate"][name].as_i64();
        let (year, month, day) = (part("year")?, part("month")?, part("day")?);
        let [month, day] = [month, day].map(u32::try_from);
        chrono::NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month.ok()?, day.ok()?)
    };
    let periods = record["specialHours"]["specialHourPeriods"].as_array();
    periods.into_iter().flatten().filter_map(day).any(|day| Some(day) >= today)
}
