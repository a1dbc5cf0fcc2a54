//! Metrics of an account and its posts, as set through the control API. A metric that was never set is unknown.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::network::{Network, Refusal};
use crate::reply::Reply;
use crate::sim::Account;

/// Values by metric name.
pub(crate) type Values = BTreeMap<String, MetricValue>;

/// The value of a metric, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum MetricValue {
    /// A number.
    Number(i64),
    /// No value, for a reason.
    Not(MissingReason),
}

/// Why a network does not return a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MissingReason {
    /// The network does not know the name, and fails the whole call.
    Refused,
    /// Too few people saw it.
    TooFewViewers,
    /// The caller lacks a permission.
    Permission,
}

/// The subject of a metric.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MetricSubject<'a> {
    /// The account now.
    Now,
    /// A day, `YYYY-MM-DD` in the network's zone.
    Day(&'a str),
    /// A post.
    Post(&'a str),
}

/// The metrics of an account.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    now: Values,
    days: BTreeMap<String, Values>,
    posts: BTreeMap<String, Values>,
}

/// Metrics to set; null removes one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Change {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<String>,
    pub metrics: BTreeMap<String, Option<MetricValue>>,
}

impl Metrics {
    /// Sets metrics.
    pub fn apply(&mut self, change: Change) {
        let values = match (change.post, change.date) {
            (Some(post), _) => self.posts.entry(post).or_default(),
            (None, Some(date)) => self.days.entry(date).or_default(),
            (None, None) => &mut self.now,
        };
        for (name, value) in change.metrics {
            match value {
                Some(value) => drop(values.insert(name, value)),
                None => drop(values.remove(&name)),
            }
        }
    }

    /// Returns the value of a metric; `None` if it is unknown.
    pub fn get(&self, of: MetricSubject<'_>, name: &str) -> Option<MetricValue> {
        let values = match of {
            MetricSubject::Now => Some(&self.now),
            MetricSubject::Day(date) => self.days.get(date),
            MetricSubject::Post(post) => self.posts.get(post),
        };
        values?.get(name).copied()
    }

    /// Returns the value of a metric, if it is a number.
    pub fn number(&self, of: MetricSubject<'_>, name: &str) -> Option<i64> {
        match self.get(of, name)? {
            MetricValue::Number(number) => Some(number),
            MetricValue::Not(_) => None,
        }
    }
}

/// Sets the metrics of a post in its JSON representation, each at a JSON pointer. One that was never set stays as it
/// is there; one that the network does not return is null.
pub(crate) fn fill_metrics<N: Network>(
    account: &Account<N>,
    of: MetricSubject<'_>,
    view: &mut Value,
    places: &[(&str, &str)],
) -> Result<(), Reply> {
    for (place, name) in places {
        let (parent, field) = place.rsplit_once('/').unwrap_or(("", place));
        let Some(Value::Object(shown)) = view.pointer_mut(parent) else { continue };
        match account.metric(of, name) {
            Some(MetricValue::Number(number)) => {
                drop(shown.insert(field.to_owned(), json!(number)))
            }
            Some(MetricValue::Not(MissingReason::Permission)) => {
                let (status, retry_ms, now_ms) = (403, 0, 0);
                return Err(N::refuse(Refusal { status, retry_ms, now_ms }));
            }
            Some(MetricValue::Not(_)) => drop(shown.insert(field.to_owned(), Value::Null)),
            None => {}
        }
    }
    Ok(())
}

/// Parses a time in Unix seconds.
pub(crate) fn parse_seconds(text: Option<String>) -> Option<i64> {
    text?.parse().ok()
}

/// Returns the days from `since` to `until` in Unix seconds: their dates and ends. The date is that of noon, which is
/// the same in UTC whether the day begins in UTC or in California.
pub(crate) fn days_between(since: i64, until: i64) -> Vec<(NaiveDate, i64)> {
    const DAY: i64 = 86_400;
    // A day may be an hour longer or shorter.
    let count = (until - since + 2 * 3_600) / DAY;
    (0..count.clamp(0, 400))
        .filter_map(|n| {
            let start = since + n * DAY;
            let date = DateTime::from_timestamp(start + DAY / 2, 0)?.date_naive();
            Some((date, start + DAY))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_set_is_not_known_and_null_takes_away() {
        let mut numbers = Metrics::default();
        let set = |json: &str| serde_json::from_str::<Change>(json).unwrap();
        numbers.apply(set(r#"{"post": "1", "metrics": {"likes": 0, "views": "refused"}}"#));
        assert_eq!(numbers.number(MetricSubject::Post("1"), "likes"), Some(0));
        assert_eq!(numbers.number(MetricSubject::Post("1"), "shares"), None);
        let refused = Some(MetricValue::Not(MissingReason::Refused));
        assert_eq!(numbers.get(MetricSubject::Post("1"), "views"), refused);
        numbers.apply(set(r#"{"post": "1", "metrics": {"likes": null}}"#));
        assert_eq!(numbers.get(MetricSubject::Post("1"), "likes"), None);
    }

    #[test]
    fn days_are_named_alike_in_both_zones() {
        let dates = |since, until| {
            days_between(since, until)
                .into_iter()
                .map(|(date, _)| date.to_string())
                .collect::<Vec<_>>()
        };
        // 2026-11-24T08:00Z, midnight in California, and midnight in UTC.
        assert_eq!(dates(1_795_507_200, 1_795_507_200 + 2 * 86_400), ["2026-11-24", "2026-11-25"]);
        assert_eq!(dates(1_795_478_400, 1_795_478_400 + 86_400), ["2026-11-24"]);
    }
}
