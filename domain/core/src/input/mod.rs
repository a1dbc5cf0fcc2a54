//! Parses values as callers write them: times, ids, pages.

pub mod shape;
pub mod strict;
pub mod text;

use chrono::{DateTime, LocalResult, NaiveDate, NaiveDateTime, TimeZone, Utc};
use chrono_tz::Tz;
use fanfare_entities::Millis;
pub use fanfare_platforms::fix::{closest_name, know_words, whole};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sea_orm::{ColumnTrait, Value, sea_query::Expr};
use serde::{Deserialize, Deserializer, de};
use url::form_urlencoded;
use uuid::Uuid;

use crate::error::{Code, Error, Result, out_of_range, violation};

/// ISO 8601 with an offset, as RFC 3339, PHP and `strftime("%z")` write it: `+0200`, `+02`, and without seconds.
const WITH_OFFSET: [&str; 4] = [
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%dT%H:%M%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M%#z",
];

/// Parses a time: ISO 8601 with an offset, or a local time with `timezone`.
///
/// # Errors
/// [`Code::InvalidTimestamp`], or [`Code::InvalidField`] for an unknown time zone.
pub fn time(field: &str, text: &str, timezone: Option<&str>) -> Result<Millis> {
    let zone = timezone.map(zone).transpose()?;
    let given = DateTime::parse_from_rfc3339(text)
        .ok()
        .or_else(|| WITH_OFFSET.iter().find_map(|form| DateTime::parse_from_str(text, form).ok()));
    if let Some(time) = given {
        return Ok(time.timestamp_millis());
    }
    let local =
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"]
            .iter()
            .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    match (local, zone) {
        (Some(local), Some(zone)) => match zone.from_local_datetime(&local) {
            // In the hour that a clock change repeats, this is the first of the two.
            LocalResult::Single(time) | LocalResult::Ambiguous(time, _) => {
                Ok(time.timestamp_millis())
            }
            LocalResult::None => Err(Error::field(
                Code::InvalidTimestamp,
                field,
                format!("{text} does not exist in {zone}: the clocks are put forward then."),
                "Send a time before or after the change.",
            )),
        },
        (Some(_), None) => Err(Error::field(
            Code::InvalidTimestamp,
            field,
            format!("{text} has no offset, so it could mean several times."),
            format!(
                "Send {text}Z for UTC, another offset, or `timezone` with an IANA name beside it."
            ),
        )),
        (None, _) => Err(Error::field(
            Code::InvalidTimestamp,
            field,
            format!("{text:?} is not a time."),
            "Send RFC 3339, for example 2026-01-31T09:00:00Z.",
        )),
    }
}

/// Reads the values of a filter, which have commas between them; none if it is left out.
///
/// # Errors
/// The error of `read` for the first value that it refuses.
pub fn several<T>(text: Option<&str>, read: impl Fn(&str) -> Result<T>) -> Result<Option<Vec<T>>> {
    text.map(|text| text.split(',').map(|value| read(value.trim())).collect()).transpose()
}

/// Returns the condition for one of several values.
pub fn one_of<C: ColumnTrait, T: Into<Value>>(column: C, values: Vec<T>) -> Expr {
    let mut values: Vec<Value> = values.into_iter().map(Into::into).collect();
    match values.len() {
        // As an equation it is served by the same index as ever.
        1 => column.eq(values.remove(0)),
        _ => column.is_in(values),
    }
}

/// The most parameters of a query, or fields of a form, that anybody can send.
pub const MAX_PARAMETERS: usize = 50;

/// Parses a query or a form into its pairs, in the order sent.
///
/// # Errors
/// [`Code::InvalidField`] if there are more than `most`. They are counted before they are read.
pub fn pairs(encoded: &[u8], most: usize) -> Result<Vec<(String, String)>> {
    let sent = encoded.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()).count();
    if sent > most {
        let message = format!("{sent} parameters were sent; at most {most} are read.");
        let remedy = "Send only what the request needs.";
        let broken = violation(Code::InvalidField, "parameters", message, remedy);
        return Err(Error::violation(broken.with_limit(most, sent).in_unit("parameters")));
    }
    Ok(form_urlencoded::parse(encoded).into_owned().collect())
}

/// Parses the name of an IANA time zone.
///
/// # Errors
/// [`Code::InvalidField`].
pub fn zone(name: &str) -> Result<Tz> {
    name.parse().map_err(|_| {
        Error::field(
            Code::InvalidField,
            "timezone",
            format!("{name:?} is not a time zone."),
            "Send an IANA name, for example Europe/Berlin.",
        )
    })
}

/// Parses a day and returns its first millisecond in UTC.
///
/// # Errors
/// [`Code::InvalidField`].
pub fn day(field: &str, text: &str) -> Result<Millis> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| text.len() == 10);
    let midnight = day.and_then(|day| day.and_hms_opt(0, 0, 0));
    let midnight = midnight.ok_or_else(|| {
        let message = format!("{text:?} is not a date.");
        Error::field(Code::InvalidField, field, message, "Send YYYY-MM-DD.")
    })?;
    Ok(Utc.from_utc_datetime(&midnight).timestamp_millis())
}

/// Returns the number of entries on a page: 1 to 100, by default 20.
///
/// # Errors
/// [`Code::InvalidField`].
pub fn limit(asked: Option<i64>) -> Result<u64> {
    limit_to(asked, 100)
}

/// Returns the same with another maximum.
///
/// # Errors
/// [`Code::InvalidField`].
pub fn limit_to(asked: Option<i64>, most: i64) -> Result<u64> {
    match asked {
        None => Ok(20),
        Some(limit) if (1..=most).contains(&limit) => Ok(limit.unsigned_abs()),
        Some(other) => Err(Error::violation(out_of_range("limit", other, &(1..=most)))),
    }
}

/// The highest offset.
const MAX_OFFSET: i64 = 10_000;

/// Returns the number of entries before a page: 0 to 10,000, by default 0.
///
/// # Errors
/// [`Code::InvalidField`].
pub fn offset(asked: Option<i64>) -> Result<u64> {
    match asked {
        None => Ok(0),
        Some(offset @ 0..=MAX_OFFSET) => Ok(offset.unsigned_abs()),
        Some(other) => {
            let mut broken = out_of_range("offset", other, &(0..=MAX_OFFSET));
            "Send a number from 0 to 10000, or follow next_cursor.".clone_into(&mut broken.remedy);
            Err(Error::violation(broken))
        }
    }
}

/// Refuses a page with both an offset and a cursor.
///
/// # Errors
/// [`Code::ConflictingFields`].
pub fn require_one_start(offset: Option<i64>, cursor: Option<&str>) -> Result<()> {
    if offset.is_none() || cursor.is_none() {
        return Ok(());
    }
    let message = "offset and cursor both say where the page begins.";
    Err(Error::field(Code::ConflictingFields, "offset", message, "Send one of them."))
}

/// The page of a list whose pages have as many rows as fit.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CursorQuery {
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
}

/// The page of such a list in a workspace.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Parses a cursor. Callers get cursors in replies and send them back unchanged.
///
/// # Errors
/// [`Code::InvalidField`].
pub fn cursor<T: std::str::FromStr>(text: Option<&str>) -> Result<Option<T>> {
    let bad = || {
        Error::field(
            Code::InvalidField,
            "cursor",
            "The cursor is not one of ours.",
            "Send `next_cursor` of the page before, or leave it out for the first page.",
        )
    };
    text.map(|text| text.parse().map_err(|_| bad())).transpose()
}

/// Deserializes an integer that can also be sent as a string, such as `account_id`.
///
/// # Errors
/// The value is neither.
pub fn number_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(i64),
        Text(String),
    }
    match Either::deserialize(deserializer) {
        Ok(Either::Number(number)) => Ok(number),
        Ok(Either::Text(text)) => {
            text.parse().map_err(|_| de::Error::custom("expected a whole number"))
        }
        Err(_) => Err(de::Error::custom("expected a whole number")),
    }
}

/// Returns the schema of an id that can also be sent as a string.
pub fn id_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["integer", "string"], "maxLength": 20, "description": "Id of a connected account.",
    })
}

/// Returns the same schema for an optional field.
pub fn optional_id_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["integer", "string", "null"], "maxLength": 20,
        "description": "Id of a connected account.",
    })
}

/// Deserializes an optional field that must not be null; with `#[serde(default)]`. An automation that sends an empty
/// date must not publish at once.
///
/// # Errors
/// The value is null, or the inner type's.
pub fn never_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let value: Option<T> = Option::deserialize(deserializer)?;
    match value {
        None => Err(de::Error::custom("expected a value; leave the field out instead of null")),
        some => Ok(some),
    }
}

/// Distinguishes an absent field (`None`) from null (`Some(None)`); with `#[serde(default)]`.
///
/// # Errors
/// The inner type's.
pub fn absent_or_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_needs_an_offset_or_a_zone() {
        assert_eq!(time("t", "2026-01-01T00:00:00Z", None).unwrap(), 1_767_225_600_000);
        assert_eq!(time("t", "2026-01-01T01:00:00+01:00", None).unwrap(), 1_767_225_600_000);
        assert_eq!(
            time("t", "2026-01-01T01:00", Some("Europe/Berlin")).unwrap(),
            1_767_225_600_000
        );
        for text in [
            "2026-01-01T02:00:00+0200",
            "2026-01-01T02:00:00+02",
            "2026-01-01T02:00+02:00",
            "2026-01-01T00:00Z",
            "2026-01-01 00:00:00.000Z",
            "2025-12-31T14:30:00-0930",
        ] {
            assert_eq!(time("t", text, None).unwrap(), 1_767_225_600_000, "{text}");
        }
        let code = |text, zone| time("t", text, zone).unwrap_err().code();
        assert_eq!(code("2026-01-01T00:00:00+2", None), Code::InvalidTimestamp);
        assert_eq!(code("2026-01-01T00:00:00", None), Code::InvalidTimestamp);
        assert_eq!(code("tomorrow", None), Code::InvalidTimestamp);
        assert_eq!(code("2026-03-29T02:30", Some("Europe/Berlin")), Code::InvalidTimestamp);
        assert_eq!(code("2026-01-01T00:00:00Z", Some("Mars/Base")), Code::InvalidField);
    }

    #[test]
    fn a_day_is_written_in_full() {
        assert_eq!(day("from", "2026-01-01").unwrap(), 1_767_225_600_000);
        for bad in ["2026-1-1", "2026-02-30", "01.01.2026", ""] {
            assert_eq!(day("from", bad).unwrap_err().code(), Code::InvalidField, "{bad}");
        }
    }
}
