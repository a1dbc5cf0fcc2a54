//! Metrics of accounts and pins, <https://developers.pinterest.com/docs/api/v5/user_account-analytics>.

use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use serde_json::Value;

use super::client;
use crate::{
    Account, Result,
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

const OF_DAY: [(&str, &str); 6] = [
    ("/IMPRESSION", name::VIEWS),
    ("/SAVE", name::SAVES),
    ("/PIN_CLICK", "pin_clicks"),
    ("/OUTBOUND_CLICK", "outbound_clicks"),
    ("/PROFILE_VISIT", name::PROFILE_VIEWS),
    ("/ENGAGEMENT", "pinterest_engagements"),
];

const OF_PIN: [(&str, &str); 5] = [
    ("/IMPRESSION", name::IMPRESSIONS),
    ("/SAVE", name::SAVES),
    ("/VIDEO_MRC_VIEW", name::PLAYS),
    ("/PIN_CLICK", "pin_clicks"),
    ("/OUTBOUND_CLICK", "outbound_clicks"),
];

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
        reading.acquire_call().await?;
        let bounds = (first.date.to_string(), last.date.to_string());
        let types = OF_DAY.map(|(path, _)| path.trim_start_matches('/')).join(",");
        let path = "/v5/user_account/analytics";
        match client::analytics(reading.session, path, &bounds, &types).await {
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
        let types = OF_PIN.map(|(path, _)| path.trim_start_matches('/')).join(",");
        let mut read = Vec::new();
        for post in posts {
            reading.acquire_call().await?;
            let path = format!("/v5/pins/{}/analytics", post.id);
            let report = client::analytics(reading.session, &path, &bounds, &types).await;
            read.push(match report {
                Ok(report) => Some(pin(&report["all"])),
                Err(error) if is_not_found(&error) => None,
                Err(error) if is_forbidden(&error) => {
                    reading.note_missing_permission("pins:read");
                    Some(without_permission(&OF_PIN))
                }
                Err(error) => return Err(error),
            });
        }
        Ok(read)
    }
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

fn pin(all: &Value) -> Metrics {
    let lifetime = &all["lifetime_metrics"];
    let totals = if lifetime.is_object() { lifetime } else { &all["summary_metrics"] };
    let mut numbers = read_counts(totals, &OF_PIN);
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
