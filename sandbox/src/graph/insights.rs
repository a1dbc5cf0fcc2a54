//! Insights in Meta's format: one refused metric fails the whole call, and an unknown value is left out.

use chrono::DateTime;
use serde_json::{Value, json};

use super::failure;
use crate::call::Call;
use crate::network::Network;
use crate::numbers::{Of, Reason, Told, days, seconds};
use crate::reply::{Answer, Reply};
use crate::sim::Account;

/// The network's name of a metric, and ours.
pub(crate) type Known = (&'static str, &'static str);

/// The requested metrics and period.
pub(crate) struct Asked {
    metrics: Vec<Known>,
    since: Option<i64>,
    until: Option<i64>,
}

impl Asked {
    /// Parses the request, which fails if a name is not `known`.
    pub fn read(call: &Call, known: &[Known]) -> Result<Self, Reply> {
        let names = call.query_value("metric").unwrap_or_default();
        let mut metrics = Vec::new();
        for name in names.split(',').map(str::trim) {
            let known = known.iter().find(|(theirs, _)| *theirs == name);
            metrics.push(*known.ok_or_else(invalid)?);
        }
        let time = |name: &str| seconds(call.query_value(name));
        Ok(Self { metrics, since: time("since"), until: time("until") })
    }

    /// Returns the requested days: their dates and ends.
    pub fn days(&self) -> Vec<(String, i64)> {
        let (Some(since), Some(until)) = (self.since, self.until) else { return Vec::new() };
        days(since, until).into_iter().map(|(date, end)| (date.to_string(), end)).collect()
    }

    /// Returns the response, with what `show` makes of each metric; unknown ones are left out.
    pub fn answer(
        &self,
        told: impl Fn(&str) -> Option<Told>,
        show: impl Fn(&str, i64) -> Value,
    ) -> Answer {
        let mut data = Vec::new();
        for (theirs, ours) in &self.metrics {
            match told(ours) {
                Some(Told::Number(number)) => data.push(show(theirs, number)),
                Some(Told::Not(reason)) => return Err(refusal(reason)),
                None => {}
            }
        }
        Ok(Reply::ok(&json!({ "data": data })))
    }

    /// Returns the response with each metric as a time series by day.
    pub fn series<N: Network>(&self, account: &Account<N>) -> Answer {
        let (mut data, days) = (Vec::new(), self.days());
        for (theirs, ours) in &self.metrics {
            let mut values = Vec::new();
            for (date, end) in &days {
                match account.counted(Of::Day(date), ours) {
                    Some(Told::Number(value)) => {
                        values.push(json!({"value": value, "end_time": time(*end)}));
                    }
                    Some(Told::Not(reason)) => return Err(refusal(reason)),
                    None => {}
                }
            }
            if !values.is_empty() {
                data.push(
                    json!({"name": theirs, "period": "day", "title": theirs, "values": values}),
                );
            }
        }
        Ok(Reply::ok(&json!({ "data": data })))
    }
}

/// Returns a total in Meta's format.
pub(crate) fn total(name: &str, value: i64) -> Value {
    json!({"name": name, "period": "day", "title": name, "total_value": {"value": value}})
}

/// Returns a metric of a post in Meta's format.
pub(crate) fn lifetime(name: &str, value: i64) -> Value {
    json!({"name": name, "period": "lifetime", "title": name, "values": [{"value": value}]})
}

fn time(seconds: i64) -> String {
    let time = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    time.format("%Y-%m-%dT%H:%M:%S+0000").to_string()
}

fn invalid() -> Reply {
    failure::graph(400, 100, 0, "(#100) The value must be a valid insights metric")
}

fn refusal(reason: Reason) -> Reply {
    match reason {
        Reason::Refused => invalid(),
        Reason::TooFewViewers => {
            failure::graph(400, 10, 0, "(#10) Not enough viewers for the media to show insights")
        }
        Reason::Permission => {
            failure::graph(403, 10, 0, "(#10) Application does not have permission for this action")
        }
    }
}
