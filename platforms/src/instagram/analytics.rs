//! Instagram's insights, <https://developers.facebook.com/docs/instagram-platform/insights>.
//!
//! Only reach is a time series by day. The other metrics of a day are the totals of a call for that day.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::error::parse_error;
use crate::{
    Account, Result, Session,
    analytics::{
        Analytics, DailySpec, DashboardMetric, Day, DayMetrics, FetchContext, ListedPost,
        MetricValue, Metrics, MissingReason, PostRef, name,
    },
    graph::{
        self,
        insights::{Edge, between, is_missing},
    },
    recent_posts::ListPage,
};

const PERMISSION: &str = "instagram_manage_insights";

/// The most posts of an account that are read.
const LISTED_MAX: usize = 200;

const DAILY: DailySpec = DailySpec {
    zone: "America/Los_Angeles",
    lag: Duration::from_secs(48 * 3_600),
    reread: 7,
    backfill: 30,
    engagements: &[name::LIKES, name::COMMENTS, name::SHARES, name::SAVES],
    periods: &[7, 28, 30],
    display: &[
        DashboardMetric::sum("accounts_engaged", "Accounts engaged"),
        DashboardMetric::sum("profile_link_taps", "Profile link taps").of(name::CLICKS),
        DashboardMetric::sum("total_interactions", "Interactions"),
    ],
};

/// The metrics of a day's call, and their names here.
const TOTALS: [(&str, &str); 8] = [
    ("views", name::VIEWS),
    ("likes", name::LIKES),
    ("comments", name::COMMENTS),
    ("shares", name::SHARES),
    ("saves", name::SAVES),
    ("accounts_engaged", "accounts_engaged"),
    ("profile_links_taps", name::CLICKS),
    ("total_interactions", "total_interactions"),
];

const FEED: [(&str, &str); 7] = [
    ("reach", name::REACH),
    ("views", name::VIEWS),
    ("likes", name::LIKES),
    ("comments", name::COMMENTS),
    ("saved", name::SAVES),
    ("shares", name::SHARES),
    ("reposts", name::REPOSTS),
];

const STORY: [(&str, &str); 4] = [
    ("reach", name::REACH),
    ("views", name::VIEWS),
    ("replies", name::COMMENTS),
    ("shares", name::SHARES),
];

/// Reads the metrics of Instagram.
pub(super) struct MetricsReader;

#[derive(Debug, Deserialize)]
struct Profile {
    followers_count: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct Media {
    id: String,
    #[serde(default)]
    caption: String,
    permalink: Option<String>,
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    media_product_type: String,
    #[serde(deserialize_with = "graph::time")]
    timestamp: DateTime<Utc>,
}

#[async_trait]
impl Analytics for MetricsReader {
    fn daily(&self, _: &Account) -> Option<&'static DailySpec> {
        Some(&DAILY)
    }

    async fn followers(&self, reading: &FetchContext<'_>) -> Result<MetricValue> {
        let edge = edge(reading.session, &format!("/{}", reading.session.account.remote_id))?;
        let query = [("fields", "followers_count".to_owned())];
        let profile: Profile = edge.get(reading, &query).await?;
        Ok(profile.followers_count.ok_or(MissingReason::Platform))
    }

    async fn days(&self, reading: &FetchContext<'_>, days: &[Day]) -> Result<Vec<DayMetrics>> {
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(Vec::new()) };
        let edge = account_edge(reading.session)?;
        let query = with(&[("period", "day")], between(first.since, last.until));
        let reach = edge.read(reading, &["reach"], &query).await?;
        let mut read = Vec::new();
        for day in days {
            let totals = [("period", "day"), ("metric_type", "total_value")];
            let query = with(&totals, between(day.since, day.until));
            let told = edge.read(reading, &TOTALS.map(|(theirs, _)| theirs), &query).await?;
            let mut numbers: Metrics =
                TOTALS.iter().map(|(theirs, ours)| (*ours, told.total(theirs))).collect();
            numbers.insert(name::REACH, reach.of_day("reach", day.date));
            read.push(DayMetrics { date: day.date, numbers, is_final: None });
        }
        Ok(read)
    }

    async fn reach(
        &self,
        reading: &FetchContext<'_>,
        (since, until): (DateTime<Utc>, DateTime<Utc>),
    ) -> Result<MetricValue> {
        let totals = [("period", "day"), ("metric_type", "total_value")];
        let query = with(&totals, between(since, until));
        let told = account_edge(reading.session)?.read(reading, &["reach"], &query).await?;
        Ok(told.total("reach"))
    }

    async fn posts(
        &self,
        reading: &FetchContext<'_>,
        posts: &[PostRef],
    ) -> Result<Vec<Option<Metrics>>> {
        let mut read = Vec::new();
        for post in posts {
            read.push(one(reading, post).await?);
        }
        Ok(read)
    }

    async fn list_posts(
        &self,
        reading: &FetchContext<'_>,
        since: DateTime<Utc>,
    ) -> Result<Vec<ListedPost>> {
        let mut listed = media(reading, "stories", since).await?;
        listed.extend(media(reading, "media", since).await?);
        listed.truncate(LISTED_MAX);
        Ok(listed)
    }
}

async fn one(reading: &FetchContext<'_>, post: &PostRef) -> Result<Option<Metrics>> {
    let edge = edge(reading.session, &format!("/{}/insights", post.id))?;
    let wanted: &[(&'static str, &'static str)] = if post.is_story() { &STORY } else { &FEED };
    let names: Vec<&'static str> = wanted.iter().map(|(theirs, _)| *theirs).collect();
    let told = match edge.read(reading, &names, &[]).await {
        Ok(told) => told,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut numbers: Metrics =
        wanted.iter().map(|(theirs, ours)| (*ours, told.total(theirs))).collect();
    if post.post_type == "reel" || (post.post_type == "feed" && post.format == "video") {
        numbers.insert(name::PLAYS, told.total("views"));
    }
    Ok(Some(numbers))
}

/// Returns the posts of one list since then, reading it page by page.
async fn media(
    reading: &FetchContext<'_>,
    list: &str,
    since: DateTime<Utc>,
) -> Result<Vec<ListedPost>> {
    let edge = edge(reading.session, &format!("/{}/{list}", reading.session.account.remote_id))?;
    let fields = "id,caption,permalink,media_type,media_product_type,timestamp";
    let (mut found, mut next): (Vec<ListedPost>, Option<String>) = (Vec::new(), None);
    loop {
        let query = graph::list_query(fields, "100", next.as_deref());
        let query: Vec<_> = query.into_iter().map(|(name, it)| (name, it.to_owned())).collect();
        let page: ListPage<Media> =
            edge.get::<graph::List<Media>>(reading, &query).await?.into_page();
        let is_over = page.items.last().is_none_or(|post| post.timestamp < since);
        found.extend(page.items.into_iter().filter(|one| one.timestamp >= since).map(listed));
        next = page.next.filter(|_| !is_over && found.len() < LISTED_MAX);
        if next.is_none() {
            return Ok(found);
        }
    }
}

fn listed(one: Media) -> ListedPost {
    let (post_type, format) = match (one.media_product_type.as_str(), one.media_type.as_str()) {
        ("STORY", "VIDEO") => ("story", "video"),
        ("STORY", _) => ("story", "image"),
        ("REELS", _) => ("reel", "video"),
        (_, "CAROUSEL_ALBUM") => ("carousel", "carousel"),
        (_, "VIDEO") => ("feed", "video"),
        _ => ("feed", "image"),
    };
    ListedPost {
        id: one.id,
        url: one.permalink,
        post_type,
        format,
        caption: one.caption,
        published_at: one.timestamp,
    }
}

fn account_edge(session: &Session) -> Result<Edge> {
    edge(session, &format!("/{}/insights", session.account.remote_id))
}

fn edge(session: &Session, path: &str) -> Result<Edge> {
    let url = graph::url(session, path)?;
    Ok(Edge { url, parse: parse_error, permission: PERMISSION })
}

fn with<'a>(fixed: &[(&'a str, &str)], more: Vec<(&'a str, String)>) -> Vec<(&'a str, String)> {
    fixed.iter().map(|(name, value)| (*name, (*value).to_owned())).chain(more).collect()
}
