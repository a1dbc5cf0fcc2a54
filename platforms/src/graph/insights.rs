//! Insights (metrics) of Meta's networks.
//!
//! One unsupported metric fails the whole call, so it is repeated for each metric alone. A metric that is not ready yet
//! is an empty list, not 0.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use fanfare_outbound::Reply;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use url::Url;

use super::{List, send, time};
use crate::{
    Error, Result,
    analytics::{FetchContext, MetricValue, MissingReason},
};

/// An edge that returns metrics.
pub struct Edge {
    /// Its address.
    pub url: Url,
    /// Reads the network's errors.
    pub parse: fn(&Reply) -> Error,
    /// The permission it requires.
    pub permission: &'static str,
}

/// The metrics that an edge returned.
#[derive(Debug, Default)]
pub struct Insights(BTreeMap<&'static str, std::result::Result<Vec<Point>, MissingReason>>);

/// A value, and the end of the period in which it was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    value: i64,
    end: Option<DateTime<Utc>>,
}

#[derive(Debug, Deserialize)]
struct Metric {
    name: String,
    #[serde(default)]
    values: Vec<Dated>,
    total_value: Option<Dated>,
}

#[derive(Debug, Deserialize)]
struct Dated {
    value: Value,
    #[serde(default, deserialize_with = "maybe_time")]
    end_time: Option<DateTime<Utc>>,
}

fn maybe_time<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<DateTime<Utc>>, D::Error> {
    time(deserializer).map(Some)
}

impl Insights {
    /// Returns the single value of a metric.
    pub fn total(&self, metric: &str) -> MetricValue {
        match self.0.get(metric) {
            Some(Ok(points)) => {
                points.last().map(|point| point.value).ok_or(MissingReason::Pending)
            }
            Some(Err(why)) => Err(*why),
            None => Err(MissingReason::Platform),
        }
    }

    /// Returns the value of a time series for a day.
    pub fn of_day(&self, metric: &str, date: NaiveDate) -> MetricValue {
        match self.0.get(metric) {
            Some(Ok(points)) => {
                let of_day = points.iter().find(|point| point.date() == Some(date));
                of_day.map(|point| point.value).ok_or(MissingReason::Pending)
            }
            Some(Err(why)) => Err(*why),
            None => Err(MissingReason::Platform),
        }
    }
}

impl Point {
    /// Returns its day: twelve hours before the end of a day is its date in UTC, whether the day begins in UTC or in
    /// California.
    fn date(self) -> Option<NaiveDate> {
        self.end.map(|end| (end - TimeDelta::hours(12)).date_naive())
    }
}

impl Edge {
    /// Reads these metrics.
    ///
    /// # Errors
    /// The network's error, unless it is about a single metric.
    pub async fn read(
        &self,
        reading: &FetchContext<'_>,
        metrics: &[&'static str],
        also: &[(&str, String)],
    ) -> Result<Insights> {
        let mut told = Insights::default();
        let (asked, skipped): (Vec<_>, Vec<_>) =
            metrics.iter().copied().partition(|metric| !reading.is_skipped(metric));
        told.0.extend(skipped.into_iter().map(|metric| (metric, Err(MissingReason::Platform))));
        if asked.is_empty() {
            return Ok(told);
        }
        match self.fetch(reading, &asked, also).await {
            Ok(list) => told.record(&asked, list),
            Err(error) if is_about_a_metric(&error) => {
                for metric in asked {
                    self.read_one(reading, metric, also, &mut told).await?;
                }
            }
            Err(error) => told.mark_missing(&asked, self.missing_reason(reading, error)?),
        }
        Ok(told)
    }

    /// Reads all metrics of an edge that takes no names. Those that it leaves out are not ready.
    ///
    /// # Errors
    /// As for [`Edge::read`].
    pub async fn read_all(
        &self,
        reading: &FetchContext<'_>,
        metrics: &[&'static str],
    ) -> Result<Insights> {
        let mut told = Insights::default();
        match self.get::<List<Metric>>(reading, &[]).await {
            Ok(list) => told.record(metrics, list.data),
            Err(error) => told.mark_missing(metrics, self.missing_reason(reading, error)?),
        }
        Ok(told)
    }

    async fn read_one(
        &self,
        reading: &FetchContext<'_>,
        metric: &'static str,
        also: &[(&str, String)],
        told: &mut Insights,
    ) -> Result<()> {
        match self.fetch(reading, &[metric], also).await {
            Ok(list) => told.record(&[metric], list),
            Err(error) if is_about_a_metric(&error) => {
                reading.note_refused(metric);
                told.mark_missing(&[metric], MissingReason::Platform);
            }
            Err(error) => told.mark_missing(&[metric], self.missing_reason(reading, error)?),
        }
        Ok(())
    }

    async fn fetch(
        &self,
        reading: &FetchContext<'_>,
        metrics: &[&str],
        also: &[(&str, String)],
    ) -> Result<Vec<Metric>> {
        let mut query = vec![("metric", metrics.join(","))];
        query.extend(also.iter().cloned());
        Ok(self.get::<List<Metric>>(reading, &query).await?.data)
    }

    /// Reads any object from the address.
    ///
    /// # Errors
    /// The network's error.
    pub async fn get<T: DeserializeOwned>(
        &self,
        reading: &FetchContext<'_>,
        query: &[(&str, String)],
    ) -> Result<T> {
        reading.acquire_call().await?;
        let pairs: Vec<(&str, &str)> =
            query.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let request = reading.session.http.get(self.url.clone()).query(&pairs);
        send(reading.session, request, self.parse).await
    }

    /// Converts an error into the reason why the requested metrics are missing, or returns it.
    fn missing_reason(&self, reading: &FetchContext<'_>, error: Error) -> Result<MissingReason> {
        if mentions(&error, "not enough viewers") {
            return Ok(MissingReason::TooFewViewers);
        }
        if is_permission(&error) {
            reading.note_missing_permission(self.permission);
            return Ok(MissingReason::Permission);
        }
        Err(error)
    }
}

impl Insights {
    fn record(&mut self, asked: &[&'static str], list: Vec<Metric>) {
        self.0.extend(asked.iter().map(|metric| (*metric, Ok(Vec::new()))));
        for metric in list {
            let Some(Ok(points)) = self.0.get_mut(metric.name.as_str()) else { continue };
            let dated = metric.values.into_iter().chain(metric.total_value);
            points
                .extend(dated.filter_map(|one| {
                    Some(Point { value: count(&one.value)?, end: one.end_time })
                }));
        }
    }

    fn mark_missing(&mut self, asked: &[&'static str], why: MissingReason) {
        self.0.extend(asked.iter().map(|metric| (*metric, Err(why))));
    }
}

/// Returns a number, or the sum of an object of numbers.
fn count(value: &Value) -> Option<i64> {
    match value {
        Value::Object(kinds) => Some(kinds.values().filter_map(Value::as_i64).sum()),
        value => value.as_i64(),
    }
}

/// Returns true if the requested id does not exist.
pub fn is_missing(error: &Error) -> bool {
    let code = error.reply.as_ref().and_then(|reply| reply.code.as_deref()).unwrap_or_default();
    matches!(code, "100/33" | "803") || (code == "100" && mentions(error, "does not exist"))
}

fn is_about_a_metric(error: &Error) -> bool {
    let code = error.reply.as_ref().and_then(|reply| reply.code.as_deref()).unwrap_or_default();
    (code == "100" || code.starts_with("100/")) && !is_missing(error) && mentions(error, "metric")
}

fn is_permission(error: &Error) -> bool {
    let code = error.reply.as_ref().and_then(|reply| reply.code.as_deref()).unwrap_or_default();
    let code = code.split('/').next().and_then(|code| code.parse().ok());
    matches!(code, Some(10 | 200..=299))
}

fn mentions(error: &Error, part: &str) -> bool {
    let message = error.reply.as_ref().and_then(|reply| reply.message.as_deref());
    message.unwrap_or_default().to_ascii_lowercase().contains(part)
}

/// Returns the query for a period.
pub fn between(since: DateTime<Utc>, until: DateTime<Utc>) -> Vec<(&'static str, String)> {
    vec![("since", since.timestamp().to_string()), ("until", until.timestamp().to_string())]
}
