//! Metrics of channels and videos, <https://developers.google.com/youtube/analytics>.
//!
//! Since August 2026 a view counts from the first frame; the earlier definition is now `engagedViews`.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::client;
use crate::{
    Account, LimitScope, RateLimit, Result,
    analytics::{
        Aggregation, Analytics, DailySpec, DashboardMetric, Day, DayMetrics, FetchContext,
        MetricValue, Metrics, MissingReason, PostRef, Unit, is_forbidden, is_refusal, name,
        read_counts, without_permission,
    },
};

/// The most videos per call.
const BATCH: usize = 50;

/// 10,000 units a day for a project; each of these calls costs one
/// (<https://developers.google.com/youtube/v3/determine_quota_cost>).
const QUOTA: RateLimit = RateLimit::new(LimitScope::App, 10_000, 86_400);

/// The permission that suffices for reports and for statistics
/// (<https://developers.google.com/youtube/analytics/reference/reports/query>).
const PERMISSION: &str = "https://www.googleapis.com/auth/youtube.readonly";

const DAILY: DailySpec = DailySpec {
    zone: "America/Los_Angeles",
    lag: Duration::from_secs(72 * 3_600),
    reread: 7,
    backfill: 90,
    engagements: &[name::LIKES, name::COMMENTS, name::SHARES],
    periods: &[],
    display: &[
        DashboardMetric::sum("watch_minutes", "Watch time in minutes"),
        DashboardMetric {
            key: "average_view_seconds",
            label: "Average view duration",
            unit: Unit::Seconds,
            fold: Aggregation::Ratio("watch_minutes", 60, name::VIEWS),
        },
        DashboardMetric::sum("engaged_views", "Engaged views"),
        DashboardMetric::sum("subscribers_gained", "Subscribers gained"),
        DashboardMetric::sum("subscribers_lost", "Subscribers lost"),
    ],
};

/// Columns of a report, and their names here.
const COLUMNS: [(&str, &str); 8] = [
    ("views", name::VIEWS),
    ("likes", name::LIKES),
    ("comments", name::COMMENTS),
    ("shares", name::SHARES),
    ("subscribersGained", "subscribers_gained"),
    ("subscribersLost", "subscribers_lost"),
    ("estimatedMinutesWatched", "watch_minutes"),
    ("engagedViews", "engaged_views"),
];

const COUNTS: [(&str, &str); 4] = [
    ("/statistics/likeCount", name::LIKES),
    ("/statistics/commentCount", name::COMMENTS),
    ("/statistics/viewCount", name::VIEWS),
    ("/statistics/viewCount", name::PLAYS),
];

/// Reads the metrics of YouTube.
pub(super) struct MetricsReader;

#[async_trait]
impl Analytics for MetricsReader {
    fn quota(&self) -> Option<RateLimit> {
        Some(QUOTA)
    }

    fn daily(&self, _: &Account) -> Option<&'static DailySpec> {
        Some(&DAILY)
    }

    fn batch_size(&self) -> usize {
        BATCH
    }

    async fn followers(&self, reading: &FetchContext<'_>) -> Result<MetricValue> {
        reading.acquire_call().await?;
        let channel = client::statistics(reading.session).await?;
        if channel["statistics"]["hiddenSubscriberCount"] == true {
            return Ok(Err(MissingReason::Platform));
        }
        let counts = read_counts(&channel, &[("/statistics/subscriberCount", name::FOLLOWERS)]);
        Ok(counts.get(name::FOLLOWERS).copied().unwrap_or(Err(MissingReason::Platform)))
    }

    async fn days(&self, reading: &FetchContext<'_>, days: &[Day]) -> Result<Vec<DayMetrics>> {
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(Vec::new()) };
        reading.acquire_call().await?;
        let bounds = (first.date.to_string(), last.date.to_string());
        let metrics = COLUMNS.map(|(theirs, _)| theirs).join(",");
        match client::report(reading.session, &bounds, &metrics).await {
            Ok(report) => Ok(rows(&report)),
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
        reading.acquire_call().await?;
        let ids: Vec<&str> = posts.iter().map(|post| post.id.as_str()).collect();
        match client::video_statistics(reading.session, &ids.join(",")).await {
            Ok(videos) => {
                let refused = refused(reading, &ids).await?;
                let of = |post: &PostRef| {
                    if refused.contains(&post.id) {
                        return None;
                    }
                    let video = videos.iter().find(|one| one["id"].as_str() == Some(&post.id))?;
                    Some(read_counts(video, &COUNTS))
                };
                Ok(posts.iter().map(of).collect())
            }
            // One video of several may be the reason.
            Err(error) if is_forbidden(&error) && posts.len() == 1 => {
                reading.note_missing_permission(PERMISSION);
                Ok(posts.iter().map(|_| Some(without_permission(&COUNTS))).collect())
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns those of these videos that YouTube has rejected, which it may do hours after it took one. Numbers are read without
/// that, too.
async fn refused(reading: &FetchContext<'_>, ids: &[&str]) -> Result<Vec<String>> {
    reading.acquire_call().await?;
    match client::statuses(reading.session, &ids.join(",")).await {
        Ok(videos) => {
            let refused = videos.into_iter().filter(|video| video.status.refusal().is_some());
            Ok(refused.map(|video| video.id).collect())
        }
        Err(error) if is_refusal(&error) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Returns the rows of a report: one per day.
fn rows(report: &Value) -> Vec<DayMetrics> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let headers = list(&report["columnHeaders"]);
    let place = |name: &str| headers.iter().position(|header| header["name"] == name);
    let Some(day) = place("day") else { return Vec::new() };
    let row = |row: &Value| {
        let date = row.get(day)?.as_str()?.parse().ok()?;
        let mut numbers = Metrics::new();
        for (theirs, ours) in COLUMNS {
            let number = place(theirs).and_then(|at| row.get(at)?.as_i64());
            numbers.insert(ours, number.ok_or(MissingReason::Pending));
        }
        if let (Some(Ok(gained)), Some(Ok(lost))) =
            (numbers.get("subscribers_gained"), numbers.get("subscribers_lost"))
        {
            let delta = gained - lost;
            numbers.insert(name::FOLLOWER_DELTA, Ok(delta));
        }
        Some(DayMetrics { date, numbers, is_final: None })
    };
    list(&report["rows"]).iter().filter_map(row).collect()
}
