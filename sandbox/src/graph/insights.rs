//! Insights in Meta's format: one refused metric fails the whole call, and an unknown value is left out.

use chrono::DateTime;
use serde_json::{Value, json};

use super::{below_version, failure};
use crate::call::Call;
use crate::metrics::{MetricSubject, MetricValue, MissingReason, days_between, parse_seconds};
use crate::network::Network;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The network's name of a metric, and ours.
pub(crate) type MetricNames = (&'static str, &'static str);

/// The requested metrics and period.
pub(crate) struct InsightsRequest {
    /// The id in the path.
    object: String,
    metrics: Vec<MetricNames>,
    since: Option<i64>,
    until: Option<i64>,
}

impl InsightsRequest {
    /// Parses the request, which fails if a name is not `known`.
    pub fn read(call: &Call, known: &[MetricNames]) -> Result<Self, Reply> {
        let names = call.query_value("metric").unwrap_or_default();
        let mut metrics = Vec::new();
        for name in names.split(',').map(str::trim) {
            let known = known.iter().find(|(theirs, _)| *theirs == name);
            metrics.push(*known.ok_or_else(invalid)?);
        }
        let time = |name: &str| parse_seconds(call.query_value(name));
        let object =
            below_version(&call.segments()).first().copied().unwrap_or_default().to_owned();
        Ok(Self { object, metrics, since: time("since"), until: time("until") })
    }

    /// Returns the requested days: their dates and ends.
    pub fn days(&self) -> Vec<(String, i64)> {
        let (Some(since), Some(until)) = (self.since, self.until) else { return Vec::new() };
        days_between(since, until).into_iter().map(|(date, end)| (date.to_string(), end)).collect()
    }

    /// Returns the response, with what `show` makes of each metric; unknown ones are left out.
    pub fn answer(
        &self,
        told: impl Fn(&str) -> Option<MetricValue>,
        show: impl Fn(&str, i64) -> Value,
    ) -> HandlerResult {
        let mut data = Vec::new();
        for (theirs, ours) in &self.metrics {
            match told(ours) {
                Some(MetricValue::Number(number)) => data.push(self.named(show(theirs, number))),
                Some(MetricValue::Not(reason)) => return Err(refusal(reason)),
                None => {}
            }
        }
        Ok(Reply::ok(&json!({ "data": data })))
    }

    /// Returns the response with each metric as a time series by day.
    pub fn series<N: Network>(&self, account: &Account<N>) -> HandlerResult {
        let (mut data, days) = (Vec::new(), self.days());
        for (theirs, ours) in &self.metrics {
            let mut values = Vec::new();
            for (date, end) in &days {
                match account.metric(MetricSubject::Day(date), ours) {
                    Some(MetricValue::Number(value)) => {
                        values.push(json!({"value": value, "end_time": time(*end)}));
                    }
                    Some(MetricValue::Not(reason)) => return Err(refusal(reason)),
                    None => {}
                }
            }
            if !values.is_empty() {
                data.push(self.named(json!({"name": theirs, "period": "day", "values": values})));
            }
        }
        Ok(Reply::ok(&json!({ "data": data })))
    }

    fn named(&self, metric: Value) -> Value {
        named(&self.object, metric)
    }
}

/// Returns a metric of an object with its id, title and description.
pub(crate) fn named(object: &str, mut metric: Value) -> Value {
    let text = |name: &str| metric[name].as_str().unwrap_or_default().to_owned();
    let (name, period) = (text("name"), text("period"));
    metric["id"] = json!(format!("{object}/insights/{name}/{period}"));
    metric["description"] = json!(format!("The number of {}", name.replace('_', " ")));
    metric["title"] = json!(name);
    metric
}

/// Returns a total in Meta's format.
pub(crate) fn total(name: &str, value: i64) -> Value {
    json!({"name": name, "period": "day", "total_value": {"value": value}})
}

/// Returns a metric of a post in Meta's format.
pub(crate) fn lifetime(name: &str, value: i64) -> Value {
    json!({"name": name, "period": "lifetime", "values": [{"value": value}]})
}

fn time(seconds: i64) -> String {
    let time = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    time.format("%Y-%m-%dT%H:%M:%S+0000").to_string()
}

fn invalid() -> Reply {
    failure::graph(400, 100, 0, "(#100) The value must be a valid insights metric")
}

fn refusal(reason: MissingReason) -> Reply {
    match reason {
        MissingReason::Refused => invalid(),
        MissingReason::TooFewViewers => {
            failure::graph(400, 10, 0, "(#10) Not enough viewers for the media to show insights")
        }
        MissingReason::Permission => {
            failure::graph(403, 10, 0, "(#10) Application does not have permission for this action")
        }
    }
}
