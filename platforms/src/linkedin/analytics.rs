//! Statistics of pages, and of posts of pages and members,
//! <https://learn.microsoft.com/linkedin/marketing/community-management/organizations/share-statistics>,
//! <https://learn.microsoft.com/linkedin/marketing/community-management/organizations/page-statistics>,
//! <https://learn.microsoft.com/linkedin/marketing/community-management/members/post-statistics>.

use std::time::Duration;

use async_trait::async_trait;
use chrono::DateTime;
use serde_json::Value;

use super::{client, is_organization};
use crate::{
    Account, LimitScope, RateLimit, Result, Secrets,
    analytics::{
        Analytics, DailySpec, DashboardMetric, Day, DayMetrics, FetchContext, MetricValue, Metrics,
        MissingReason, PostRef, is_forbidden, is_not_found, is_refusal, name, read_counts,
        without_permission,
    },
    oauth,
};

const OF_PAGES: &str = "rw_organization_admin";
const OF_MEMBERS: &str = "r_member_postAnalytics";

/// 100,000 calls a day for an app.
const QUOTA: RateLimit = RateLimit::new(LimitScope::App, 100_000, 86_400);

/// The views of the page itself, not of its posts.
const PAGE_VIEWS: &str = "page_views";

const DAILY: DailySpec = DailySpec {
    zone: "UTC",
    lag: Duration::from_secs(48 * 3_600),
    reread: 7,
    backfill: 90,
    engagements: &[name::LIKES, name::COMMENTS, name::SHARES],
    periods: &[],
    display: &[
        DashboardMetric::sum(PAGE_VIEWS, "Page views"),
        DashboardMetric::sum("unique_impressions", "Unique impressions").of(name::REACH),
        DashboardMetric::sum("clicks", "Clicks").of(name::CLICKS),
    ],
};

const STATISTICS: [(&str, &str); 6] = [
    ("/totalShareStatistics/uniqueImpressionsCount", name::REACH),
    ("/totalShareStatistics/impressionCount", name::IMPRESSIONS),
    ("/totalShareStatistics/likeCount", name::LIKES),
    ("/totalShareStatistics/commentCount", name::COMMENTS),
    ("/totalShareStatistics/shareCount", name::SHARES),
    ("/totalShareStatistics/clickCount", name::CLICKS),
];

/// The metrics of a member's post; each needs its own call. Those of saves and of clicks on links exist since 202604.
const OF_MEMBER: [(&str, &str); 7] = [
    ("REACTION", name::LIKES),
    ("COMMENT", name::COMMENTS),
    ("MEMBERS_REACHED", name::REACH),
    ("IMPRESSION", name::IMPRESSIONS),
    ("RESHARE", name::SHARES),
    ("POST_SAVE", name::SAVES),
    ("LINK_CLICKS", name::CLICKS),
];

/// Reads the metrics of LinkedIn.
pub(super) struct MetricsReader;

#[async_trait]
impl Analytics for MetricsReader {
    fn quota(&self) -> Option<RateLimit> {
        Some(QUOTA)
    }

    fn daily(&self, account: &Account) -> Option<&'static DailySpec> {
        is_organization(account).then_some(&DAILY)
    }

    async fn followers(&self, reading: &FetchContext<'_>) -> Result<MetricValue> {
        reading.acquire_call().await?;
        match client::network_size(reading.session).await {
            Ok(found) => Ok(found["firstDegreeSize"].as_i64().ok_or(MissingReason::Platform)),
            Err(error) if is_forbidden(&error) => {
                reading.note_missing_permission(OF_PAGES);
                Ok(Err(MissingReason::Permission))
            }
            Err(error) => Err(error),
        }
    }

    async fn days(&self, reading: &FetchContext<'_>, days: &[Day]) -> Result<Vec<DayMetrics>> {
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(Vec::new()) };
        let range = (first.since.timestamp_millis(), last.until.timestamp_millis());
        let mut read: Vec<DayMetrics> = days
            .iter()
            .map(|day| DayMetrics { date: day.date, numbers: Metrics::new(), is_final: None })
            .collect();
        for finder in [
            Some("organizationalEntityShareStatistics"),
            Some("organizationalEntityFollowerStatistics"),
            None,
        ] {
            reading.acquire_call().await?;
            let found = match finder {
                Some(finder) => client::statistics(reading.session, finder, range).await,
                None => client::page_statistics(reading.session, range).await,
            };
            match found {
                Ok(elements) => elements.iter().for_each(|element| add(&mut read, element)),
                Err(error) if is_forbidden(&error) => reading.note_missing_permission(OF_PAGES),
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    async fn posts(
        &self,
        reading: &FetchContext<'_>,
        posts: &[PostRef],
    ) -> Result<Vec<Option<Metrics>>> {
        let mut read = Vec::new();
        for post in posts {
            let is_page = is_organization(&reading.session.account);
            read.push(if is_page {
                of_page(reading, post).await?
            } else {
                of_member(reading, post).await?
            });
        }
        Ok(read)
    }
}

/// Adds the metrics of an element to its day.
fn add(days: &mut [DayMetrics], element: &Value) {
    let start = element["timeRange"]["start"].as_i64().and_then(DateTime::from_timestamp_millis);
    let Some(date) = start.map(|start| start.date_naive()) else { return };
    let Some(day) = days.iter_mut().find(|day| day.date == date) else { return };
    if element["totalShareStatistics"].is_object() {
        let mut numbers = read_counts(element, &STATISTICS);
        if let Some(views) = numbers.remove(name::IMPRESSIONS) {
            numbers.insert(name::VIEWS, views);
        }
        day.numbers.extend(numbers);
    }
    let gains = &element["followerGains"];
    if let (Some(organic), Some(paid)) =
        (gains["organicFollowerGain"].as_i64(), gains["paidFollowerGain"].as_i64())
    {
        day.numbers.insert(name::FOLLOWER_DELTA, Ok(organic + paid));
    }
    let seen = &element["totalPageStatistics"]["views"]["allPageViews"]["pageViews"];
    if let Some(seen) = seen.as_i64() {
        day.numbers.insert(PAGE_VIEWS, Ok(seen));
    }
}

async fn of_page(reading: &FetchContext<'_>, post: &PostRef) -> Result<Option<Metrics>> {
    reading.acquire_call().await?;
    match client::share_statistics(reading.session, &post.id).await {
        Ok(elements) => Ok(Some(match elements.first() {
            Some(element) => read_counts(element, &STATISTICS),
            None => {
                STATISTICS.iter().map(|(_, ours)| (*ours, Err(MissingReason::Pending))).collect()
            }
        })),
        Err(error) if is_not_found(&error) => Ok(None),
        Err(error) if is_forbidden(&error) => {
            reading.note_missing_permission(OF_PAGES);
            Ok(Some(without_permission(&STATISTICS)))
        }
        Err(error) => Err(error),
    }
}

async fn of_member(reading: &FetchContext<'_>, post: &PostRef) -> Result<Option<Metrics>> {
    if !may_read_members(&reading.session.secrets) {
        note_members_permission(reading);
        return Ok(Some(without_permission(&OF_MEMBER)));
    }
    let mut numbers = Metrics::new();
    for (theirs, ours) in OF_MEMBER {
        reading.acquire_call().await?;
        let told = match client::member_statistics(reading.session, &post.id, theirs).await {
            Ok(elements) => count(&elements, theirs).ok_or(MissingReason::Pending),
            Err(error) if is_not_found(&error) => return Ok(None),
            Err(error) if is_forbidden(&error) => {
                note_members_permission(reading);
                return Ok(Some(without_permission(&OF_MEMBER)));
            }
            Err(error) if is_refusal(&error) => Err(MissingReason::Refused),
            Err(error) => return Err(error),
        };
        numbers.insert(ours, told);
    }
    Ok(Some(numbers))
}

/// Returns false if the network listed the permissions of the token, and the one for members' posts is not among them.
fn may_read_members(secrets: &Secrets) -> bool {
    let granted = oauth::granted_permissions(secrets);
    granted.is_empty() || granted.contains(&OF_MEMBERS)
}

/// Notes the missing permission, if to connect again would ask for it: LinkedIn gives it to approved apps alone.
fn note_members_permission(reading: &FetchContext<'_>) {
    if super::OAUTH.permissions().any(|one| one.name == OF_MEMBERS) {
        reading.note_missing_permission(OF_MEMBERS);
    }
}

/// Returns the count of a metric. Before version 202605 its name was no part of the answer, and its form has changed.
fn count(elements: &[Value], metric: &str) -> Option<i64> {
    let is_it = |one: &&Value| {
        let named = &one["metricType"];
        let name = named.as_str().or_else(|| named.as_object()?.values().find_map(Value::as_str));
        name.is_none_or(|name| name == metric)
    };
    elements.iter().find(is_it)?["count"].as_i64()
}
