//! Performance of a location, <https://developers.google.com/my-business/reference/performance/rest>. Posts have no
//! numbers, and are looked at again, since Google may reject one hours after it took it.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{Datelike, NaiveDate};
use serde_json::Value;

use super::{client, publish::REJECTED, verify::location};
use crate::{
    Account, LimitScope, RateLimit, Result,
    analytics::{
        Analytics, DailySpec, DashboardMetric, Day, DayMetrics, FetchContext, Metrics,
        MissingReason, PostRef, is_forbidden, is_not_found, name,
    },
};

const PERMISSION: &str = "https://www.googleapis.com/auth/business.manage";

/// 300 calls a minute for a project. The quota covers the calls of all accounts of the app.
pub(super) const QUOTA: RateLimit = RateLimit::new(LimitScope::App, 300, 60);

const DAILY: DailySpec = DailySpec {
    zone: "America/Los_Angeles",
    lag: Duration::from_secs(5 * 86_400),
    reread: 14,
    backfill: 90,
    engagements: &[name::CLICKS],
    periods: &[],
    display: &[
        DashboardMetric::sum("search_views", "Views on Search"),
        DashboardMetric::sum("map_views", "Views on Maps"),
        DashboardMetric::sum("calls", "Calls"),
        DashboardMetric::sum("website_clicks", "Website clicks"),
        DashboardMetric::sum("directions", "Requests for directions"),
        DashboardMetric::sum("messaging_clicks", "Clicks on messages"),
        DashboardMetric::sum("bookings", "Bookings"),
        DashboardMetric::sum("food_menu_clicks", "Clicks on the menu"),
    ],
};

/// Google's metrics, and the metrics here that they add to. Conversations and food orders are deprecated there, and stay
/// empty (<https://developers.google.com/my-business/reference/performance/rest/v1/DailyMetric>).
const METRICS: [(&str, &[&str]); 10] = [
    ("BUSINESS_IMPRESSIONS_DESKTOP_MAPS", &[name::VIEWS, "map_views"]),
    ("BUSINESS_IMPRESSIONS_DESKTOP_SEARCH", &[name::VIEWS, "search_views"]),
    ("BUSINESS_IMPRESSIONS_MOBILE_MAPS", &[name::VIEWS, "map_views"]),
    ("BUSINESS_IMPRESSIONS_MOBILE_SEARCH", &[name::VIEWS, "search_views"]),
    ("CALL_CLICKS", &[name::CLICKS, "calls"]),
    ("WEBSITE_CLICKS", &[name::CLICKS, "website_clicks"]),
    ("BUSINESS_DIRECTION_REQUESTS", &[name::CLICKS, "directions"]),
    ("BUSINESS_BOOKINGS", &[name::CLICKS, "bookings"]),
    ("MESSAGING_CLICKS", &["messaging_clicks"]),
    ("BUSINESS_FOOD_MENU_CLICKS", &["food_menu_clicks"]),
];

/// Reads the metrics of Google Business Profile.
pub(super) struct MetricsReader;

#[async_trait]
impl Analytics for MetricsReader {
    fn quota(&self) -> Option<RateLimit> {
        Some(QUOTA)
    }

    fn daily(&self, _: &Account) -> Option<&'static DailySpec> {
        Some(&DAILY)
    }

    fn has_denominator(&self) -> bool {
        false
    }

    fn measures_posts(&self) -> bool {
        false
    }

    fn watches_posts(&self) -> bool {
        true
    }

    async fn days(&self, reading: &FetchContext<'_>, days: &[Day]) -> Result<Vec<DayMetrics>> {
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(Vec::new()) };
        reading.acquire_call().await?;
        let metrics: Vec<&str> = METRICS.iter().map(|(metric, _)| *metric).collect();
        let range = (first.date, last.date);
        match client::performance(reading.session, &metrics, range).await {
            Ok(report) => Ok(days.iter().map(|day| of_day(&report, day.date)).collect()),
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
        let mut read = Vec::with_capacity(posts.len());
        for post in posts {
            read.push(is_there(reading, post).await?.then(Metrics::new));
        }
        Ok(read)
    }
}

/// Returns false for a post that Google has rejected or no longer has. A place that was merged into another is not found
/// either, with all its posts: then the list of its posts is refused, too.
async fn is_there(reading: &FetchContext<'_>, post: &PostRef) -> Result<bool> {
    reading.acquire_call().await?;
    match client::post(reading.session, &post.id).await {
        Ok(found) => Ok(found.state != REJECTED),
        Err(error) if is_not_found(&error) => {
            reading.acquire_call().await?;
            client::latest(reading.session, &location(reading.session)?, None).await?;
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Adds up a day. Within the period of the report a missing value is 0; after its end it is unknown.
fn of_day(report: &Value, date: NaiveDate) -> DayMetrics {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut series = Vec::new();
    for group in list(&report["multiDailyMetricTimeSeries"]) {
        for one in list(&group["dailyMetricTimeSeries"]) {
            let values = list(&one["timeSeries"]["datedValues"]);
            series.push((one["dailyMetric"].as_str().unwrap_or_default().to_owned(), values));
        }
    }
    let ends = series.iter().flat_map(|(_, values)| values).filter_map(|one| {
        one["value"].as_str()?;
        date_of(&one["date"])
    });
    let is_covered = ends.max().is_some_and(|end| date <= end);
    let mut numbers = Metrics::new();
    for (metric, names) in METRICS {
        let values = series.iter().find(|(found, _)| found == metric).map(|(_, values)| values);
        let Some(values) = values else { continue };
        let of_date = values.iter().find(|one| date_of(&one["date"]) == Some(date));
        let told = of_date.and_then(|one| one["value"].as_str()?.parse::<i64>().ok());
        let number = told.or(is_covered.then_some(0)).ok_or(MissingReason::Pending);
        for name in names {
            let sum = match (numbers.get(name).copied(), number) {
                (Some(Ok(one)), Ok(other)) => Ok(one + other),
                (Some(known @ Ok(_)), Err(_)) => known,
                (_, number) => number,
            };
            numbers.insert(name, sum);
        }
    }
    DayMetrics { date, numbers, is_final: None }
}

fn date_of(value: &Value) -> Option<NaiveDate> {
    let part = |name: &str| value[name].as_i64();
    let (month, day) = (u32::try_from(part("month")?).ok()?, u32::try_from(part("day")?).ok()?);
    NaiveDate::from_ymd_opt(i32::try_from(part("year")?).ok()?, month, day)
}

/// Returns a date as query parameters.
pub(super) fn date_query(name: &str, date: NaiveDate) -> [(String, String); 3] {
    [
        (format!("dailyRange.{name}.year"), date.year().to_string()),
        (format!("dailyRange.{name}.month"), date.month().to_string()),
        (format!("dailyRange.{name}.day"), date.day().to_string()),
    ]
}
