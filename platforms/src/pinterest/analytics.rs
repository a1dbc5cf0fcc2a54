//! Metrics of accounts and pins, <https://developers.pinterest.com/docs/api/v5/user_account-analytics>.

use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use serde_json::Value;

use super::client;
use crate::{
    Account, Result,
    analytics::{
        Analytics, AskedPost, Daily, Day, DayNumbers, Display, Number, Numbers, Reading,
        Unmeasured, counted, denied, is_absent, is_denied, name,
    },
};

const PERMISSION: &str = "user_accounts:read";

/// How many days back metrics of a pin are read.
const WINDOW: i64 = 89;

const DAILY: Daily = Daily {
    zone: "UTC",
    // Pinterest marks each day as final or not.
    lag: Duration::from_secs(48 * 3_600),
    reread: 7,
    backfill: 89,
    engagements: &[name::SAVES, name::CLICKS],
    periods: &[],
    display: &[
        Display::sum("pin_clicks", "Pin clicks"),
        Display::sum("outbound_clicks", "Outbound clicks"),
        Display::sum("saves", "Saves").of(name::SAVES),
        Display::sum("engagements", "Engagements").of("pinterest_engagements"),
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
pub(super) struct Reports;

#[async_trait]
impl Analytics for Reports {
    fn daily(&self, _: &Account) -> Option<&'static Daily> {
        Some(&DAILY)
    }

    fn engagements(&self) -> &'static [&'static str] {
        &[name::SAVES, name::CLICKS]
    }

    async fn followers(&self, reading: &Reading<'_>) -> Result<Number> {
        reading.allow().await?;
        let user = client::user_counts(reading.session).await?;
        let counts = counted(&user, &[("/follower_count", name::FOLLOWERS)]);
        Ok(counts.get(name::FOLLOWERS).copied().unwrap_or(Err(Unmeasured::Platform)))
    }

    async fn days(&self, reading: &Reading<'_>, days: &[Day]) -> Result<Vec<DayNumbers>> {
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(Vec::new()) };
        reading.allow().await?;
        let bounds = (first.date.to_string(), last.date.to_string());
        let types = OF_DAY.map(|(path, _)| path.trim_start_matches('/')).join(",");
        let path = "/v5/user_account/analytics";
        match client::analytics(reading.session, path, &bounds, &types).await {
            Ok(report) => {
                let rows = report["all"]["daily_metrics"].as_array().cloned();
                Ok(rows.unwrap_or_default().iter().filter_map(day).collect())
            }
            Err(error) if is_denied(&error) => {
                reading.lacks(PERMISSION);
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }

    async fn posts(
        &self,
        reading: &Reading<'_>,
        posts: &[AskedPost],
    ) -> Result<Vec<Option<Numbers>>> {
        let today = reading.session.now.date_naive();
        let bounds = ((today - TimeDelta::days(WINDOW)).to_string(), today.to_string());
        let types = OF_PIN.map(|(path, _)| path.trim_start_matches('/')).join(",");
        let mut read = Vec::new();
        for post in posts {
            reading.allow().await?;
            let path = format!("/v5/pins/{}/analytics", post.id);
            let report = client::analytics(reading.session, &path, &bounds, &types).await;
            read.push(match report {
                Ok(report) => Some(pin(&report["all"])),
                Err(error) if is_absent(&error) => None,
                Err(error) if is_denied(&error) => {
                    reading.lacks("pins:read");
                    Some(denied(&OF_PIN))
                }
                Err(error) => return Err(error),
            });
        }
        Ok(read)
    }
}

/// Reads a day of a report; metrics that are not ready or below a threshold are missing.
fn day(row: &Value) -> Option<DayNumbers> {
    let date = row["date"].as_str()?.parse().ok()?;
    let status = row["data_status"].as_str().unwrap_or_default();
    let is_known = matches!(status, "READY" | "PROCESSING" | "ESTIMATE");
    let mut numbers = if is_known { counted(&row["metrics"], &OF_DAY) } else { Numbers::new() };
    add_clicks(&mut numbers);
    Some(DayNumbers { date, numbers, is_final: Some(status == "READY") })
}

fn pin(all: &Value) -> Numbers {
    let lifetime = &all["lifetime_metrics"];
    let totals = if lifetime.is_object() { lifetime } else { &all["summary_metrics"] };
    let mut numbers = counted(totals, &OF_PIN);
    add_clicks(&mut numbers);
    numbers
}

/// Adds clicks: those on a pin and those on its link.
fn add_clicks(numbers: &mut Numbers) {
    let known = |name: &str| numbers.get(name).and_then(|number| number.ok());
    let clicks = match (known("pin_clicks"), known("outbound_clicks")) {
        (None, None) => return,
        (pin, outbound) => pin.unwrap_or_default() + outbound.unwrap_or_default(),
    };
    numbers.insert(name::CLICKS, Ok(clicks));
}
