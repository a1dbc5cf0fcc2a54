//! Insights of Threads, <https://developers.facebook.com/docs/threads/insights>.
//!
//! Profile views are a time series by day; all other metrics are totals of the requested period.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::{SPEC, error::parse_error};
use crate::{
    Account, Result, Session,
    analytics::{
        Analytics, DailySpec, DashboardMetric, Day, DayMetrics, FetchContext, ListedPost,
        MetricValue, Metrics, PostRef, name,
    },
    graph::{
        self,
        insights::{Edge, between, is_missing},
    },
};

const PERMISSION: &str = "threads_manage_insights";

/// The most posts of an account that are read.
const LISTED_MAX: usize = 200;

const DAILY: DailySpec = DailySpec {
    zone: "America/Los_Angeles",
    lag: Duration::from_secs(48 * 3_600),
    reread: 7,
    backfill: 90,
    engagements: &[name::LIKES, name::COMMENTS, name::SHARES],
    periods: &[],
    display: &[
        DashboardMetric::sum("profile_views", "Profile views").of(name::VIEWS),
        DashboardMetric::sum("link_clicks", "Link clicks").of(name::CLICKS),
    ],
};

const TOTALS: [&str; 5] = ["likes", "replies", "reposts", "quotes", "clicks"];

const OF_POST: [(&str, &str); 6] = [
    ("views", name::VIEWS),
    ("likes", name::LIKES),
    ("replies", name::COMMENTS),
    ("reposts", name::REPOSTS),
    ("quotes", name::QUOTES),
    ("shares", name::SHARES),
];

/// Reads the metrics of Threads.
pub(super) struct MetricsReader;

#[derive(Debug, Deserialize)]
struct Post {
    id: String,
    #[serde(default)]
    text: String,
    permalink: Option<String>,
    #[serde(default)]
    media_type: String,
    #[serde(deserialize_with = "graph::time")]
    timestamp: DateTime<Utc>,
}

#[async_trait]
impl Analytics for MetricsReader {
    fn daily(&self, _: &Account) -> Option<&'static DailySpec> {
        Some(&DAILY)
    }

    async fn followers(&self, reading: &FetchContext<'_>) -> Result<MetricValue> {
        let told = user_edge(reading.session)?.read(reading, &["followers_count"], &[]).await?;
        Ok(told.total("followers_count"))
    }

    async fn days(&self, reading: &FetchContext<'_>, days: &[Day]) -> Result<Vec<DayMetrics>> {
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(Vec::new()) };
        let edge = user_edge(reading.session)?;
        let views = edge.read(reading, &["views"], &between(first.since, last.until)).await?;
        let mut read = Vec::new();
        for day in days {
            let told = edge.read(reading, &TOTALS, &between(day.since, day.until)).await?;
            let shares = sum(told.total("reposts"), told.total("quotes"));
            let numbers = Metrics::from([
                (name::VIEWS, views.of_day("views", day.date)),
                (name::LIKES, told.total("likes")),
                (name::COMMENTS, told.total("replies")),
                (name::SHARES, shares),
                (name::CLICKS, told.total("clicks")),
            ]);
            read.push(DayMetrics { date: day.date, numbers, is_final: None });
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
            let edge = edge(reading.session, &format!("/v1.0/{}/insights", post.id))?;
            let told = edge.read(reading, &OF_POST.map(|(theirs, _)| theirs), &[]).await;
            read.push(match told {
                Ok(told) => {
                    Some(OF_POST.iter().map(|(theirs, ours)| (*ours, told.total(theirs))).collect())
                }
                Err(error) if is_missing(&error) => None,
                Err(error) => return Err(error),
            });
        }
        Ok(read)
    }

    async fn list_posts(
        &self,
        reading: &FetchContext<'_>,
        since: DateTime<Utc>,
    ) -> Result<Vec<ListedPost>> {
        let session = reading.session;
        let edge = edge(session, &format!("/v1.0/{}/threads", session.account.remote_id))?;
        let fields = "id,text,permalink,media_type,timestamp";
        let (mut found, mut next): (Vec<ListedPost>, Option<String>) = (Vec::new(), None);
        loop {
            let query = graph::list_query(fields, "100", next.as_deref());
            let query: Vec<_> = query.into_iter().map(|(name, it)| (name, it.to_owned())).collect();
            let page = edge.get::<graph::List<Post>>(reading, &query).await?.into_page();
            let is_over = page.items.last().is_none_or(|post| post.timestamp < since);
            found.extend(page.items.into_iter().filter(|one| one.timestamp >= since).map(listed));
            next = page.next.filter(|_| !is_over && found.len() < LISTED_MAX);
            if next.is_none() {
                found.truncate(LISTED_MAX);
                return Ok(found);
            }
        }
    }
}

/// Returns the sum of two metrics, of those that are known.
fn sum(one: MetricValue, other: MetricValue) -> MetricValue {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok(one + other),
        (Ok(known), Err(_)) | (Err(_), Ok(known)) => Ok(known),
        (Err(why), Err(_)) => Err(why),
    }
}

fn listed(one: Post) -> ListedPost {
    let format = match one.media_type.as_str() {
        "IMAGE" => "image",
        "VIDEO" => "video",
        "CAROUSEL_ALBUM" => "carousel",
        _ => "text",
    };
    ListedPost {
        id: one.id,
        url: one.permalink,
        post_type: "feed",
        format,
        caption: one.text,
        published_at: one.timestamp,
    }
}

fn user_edge(session: &Session) -> Result<Edge> {
    edge(session, &format!("/v1.0/{}/threads_insights", session.account.remote_id))
}

fn edge(session: &Session, path: &str) -> Result<Edge> {
    Ok(Edge { url: session.url(SPEC.base_url, path)?, parse: parse_error, permission: PERMISSION })
}
