//! Metrics of accounts and pins, <https://developers.pinterest.com/docs/api/v5/user_account-analytics>.

use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use serde_json::{Value, json};

use super::client;
use crate::{
    Account, Error, Result,
    analytics::{
        Analytics, DailySpec, DashboardMetric, Day, DayMetrics, FetchContext, MetricValue, Metrics,
        MissingReason, PostRef, is_forbidden, is_not_found, name, read_counts, without_permission,
    },
};

const PERMISSION: &str = "user_accounts:read";

/// The number of days back for which metrics of a pin are read.
const WINDOW: i64 = 89;

const DAILY: DailySpec = DailySpec {
    zone: "UTC",
    // Pinterest marks each day as final or not.
    lag: Duration::from_secs(48 * 3_600),
    reread: 7,
    backfill: 89,
    engagements: &[name::SAVES, name::CLICKS],
    periods: &[],
    display: &[
        DashboardMetric::sum("pin_clicks", "Pin clicks"),
        DashboardMetric::sum("outbound_clicks", "Outbound clicks"),
        DashboardMetric::sum("saves", "Saves").of(name::SAVES),
        DashboardMetric::sum("engagements", "Engagements").of("pinterest_engagements"),
    ],
};

/// Metrics of an account's days, which has no others (<https://github.com/pinterest/api-description>, 5.23.0).
const OF_DAY: [(&str, &str); 5] = [
    ("/IMPRESSION", name::VIEWS),
    ("/SAVE", name::SAVES),
    ("/PIN_CLICK", "pin_clicks"),
    ("/OUTBOUND_CLICK", "outbound_clicks"),
    ("/ENGAGEMENT", "pinterest_engagements"),
];

/// Metrics of a pin in a period, which its summary holds.
const OF_PIN: [(&str, &str); 5] = [
    ("/IMPRESSION", name::IMPRESSIONS),
    ("/SAVE", name::SAVES),
    ("/VIDEO_MRC_VIEW", name::PLAYS),
    ("/PIN_CLICK", "pin_clicks"),
    ("/OUTBOUND_CLICK", "outbound_clicks"),
];

/// Metrics of a pin since it was made: the only ones of its lifetime.
const OF_LIFE: [(&str, &str); 2] =
    [("/TOTAL_REACTIONS", name::LIKES), ("/TOTAL_COMMENTS", name::COMMENTS)];

/// Reads the metrics of Pinterest.
pub(super) struct MetricsReader;

#[async_trait]
impl Analytics for MetricsReader {
    fn daily(&self, _: &Account) -> Option<&'static DailySpec> {
        Some(&DAILY)
    }

    fn engagements(&self) -> &'static [&'static str] {
        &[name::SAVES, name::CLICKS]
    }

    async fn followers(&self, reading: &FetchContext<'_>) -> Result<MetricValue> {
        reading.acquire_call().await?;
        let user = client::user_counts(reading.session).await?;
        let counts = read_counts(&user, &[("/follower_count", name::FOLLOWERS)]);
        Ok(counts.get(name::FOLLOWERS).copied().unwrap_or(Err(MissingReason::Platform)))
    }

    async fn days(&self, reading: &FetchContext<'_>, days: &[Day]) -> Result<Vec<DayMetrics>> {
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(Vec::new()) };
        let bounds = (first.date.to_string(), last.date.to_string());
        let metrics = OF_DAY.map(|(place, _)| metric(place));
        match report(reading, "/v5/user_account/analytics", &bounds, &metrics).await {
            Ok(report) => {
                let rows = report["all"]["daily_metrics"].as_array().cloned();
                Ok(rows.unwrap_or_default().iter().filter_map(day).collect())
            }
            Err(error) if is_forbidden(&error) => {
                reading.note_missing_permission(PERMISSION);
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }

    async fn posts(
        &self,
        reading: &FetchContext<'_>,
        posts: &[PostRef],
    ) -> Result<Vec<Option<Metrics>>> {
        let today = reading.session.now.date_naive();
        let bounds = ((today - TimeDelta::days(WINDOW)).to_string(), today.to_string());
        let metrics: Vec<&str> =
            OF_PIN.iter().chain(&OF_LIFE).map(|(place, _)| metric(place)).collect();
        let mut read = Vec::new();
        for post in posts {
            let path = format!("/v5/pins/{}/analytics", post.id);
            read.push(match report(reading, &path, &bounds, &metrics).await {
                Ok(report) => Some(pin(&report["all"])),
                Err(error) if is_not_found(&error) => None,
                Err(error) if is_forbidden(&error) => {
                    reading.note_missing_permission("pins:read");
                    let mut numbers = without_permission(&OF_PIN);
                    numbers.extend(without_permission(&OF_LIFE));
                    Some(numbers)
                }
                Err(error) => return Err(error),
            });
        }
        Ok(read)
    }
}

/// Returns Pinterest's name of the metric at a place.
fn metric(place: &'static str) -> &'static str {
    place.trim_start_matches('/')
}

/// Reads a report. A metric that Pinterest refuses fails the whole call; then each is asked for alone, and a refused one
/// not again for a day.
async fn report(
    reading: &FetchContext<'_>,
    path: &str,
    bounds: &(String, String),
    metrics: &[&str],
) -> Result<Value> {
    let asked: Vec<&str> =
        metrics.iter().copied().filter(|metric| !reading.is_skipped(metric)).collect();
    if asked.is_empty() {
        return Ok(Value::Null);
    }
    reading.acquire_call().await?;
    let refusal = match client::analytics(reading.session, path, bounds, &asked.join(",")).await {
        Err(error) if is_refused(&error) && asked.len() > 1 => error,
        other => return other,
    };
    let (mut whole, mut refused) = (json!({}), Vec::new());
    for metric in &asked {
        reading.acquire_call().await?;
        match client::analytics(reading.session, path, bounds, metric).await {
            Ok(part) => add(&mut whole, &part["all"]),
            Err(error) if is_refused(&error) => refused.push(metric),
            Err(error) => return Err(error),
        }
    }
    // If no metric is taken, something else is wrong.
    if refused.len() == asked.len() {
        return Err(refusal);
    }
    for metric in refused {
        reading.note_refused(metric);
    }
    Ok(whole)
}

fn is_refused(error: &Error) -> bool {
    error.reply.as_ref().is_some_and(|reply| reply.status == 400)
}

/// Adds the report of one metric to that of all.
fn add(whole: &mut Value, part: &Value) {
    let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
    for kind in ["summary_metrics", "lifetime_metrics"] {
        for (name, number) in fields(&part[kind]) {
            whole["all"][kind][name] = number;
        }
    }
    let mut rows = whole["all"]["daily_metrics"].as_array().cloned().unwrap_or_default();
    for row in part["daily_metrics"].as_array().into_iter().flatten() {
        match rows.iter_mut().find(|known| known["date"] == row["date"]) {
            Some(known) => {
                for (name, number) in fields(&row["metrics"]) {
                    known["metrics"][name] = number;
                }
            }
            None => rows.push(row.clone()),
        }
    }
    whole["all"]["daily_metrics"] = Value::Array(rows);
}

/// Reads a day of a report; metrics that are not ready or below a threshold are missing.
fn day(row: &Value) -> Option<DayMetrics> {
    let date = row["date"].as_str()?.parse().ok()?;
    let status = row["data_status"].as_str().unwrap_or_default();
    let is_known = matches!(status, "READY" | "PROCESSING" | "ESTIMATE");
    let mut numbers = if is_known { read_counts(&row["metrics"], &OF_DAY) } else { Metrics::new() };
    add_clicks(&mut numbers);
    Some(DayMetrics { date, numbers, is_final: Some(status == "READY") })
}

/// Reads the numbers of a pin. Those of the period are in the summary; the lifetime has none of them, and is empty unless
/// one of its own was asked for.
fn pin(all: &Value) -> Metrics {
    let mut numbers = read_counts(&all["summary_metrics"], &OF_PIN);
    numbers.extend(read_counts(&all["lifetime_metrics"], &OF_LIFE));
    add_clicks(&mut numbers);
    numbers
}

/// Adds clicks: those on a pin and those on its link.
fn add_clicks(numbers: &mut Metrics) {
    let known = |name: &str| numbers.get(name).and_then(|number| number.ok());
    let clicks = match (known("pin_clicks"), known("outbound_clicks")) {
        (None, None) => return,
        (pin, outbound) => pin.unwrap_or_default() + outbound.unwrap_or_default(),
    };
    numbers.insert(name::CLICKS, Ok(clicks));
}
