//! Insights of pages and posts, <https://developers.facebook.com/docs/graph-api/reference/insights>.
//!
//! A page's posts, its videos and its photos are nodes of different types: only a post has shares and reactions, and a
//! video has no insights but `video_insights`, which returns all its metrics without taking names
//! (<https://developers.facebook.com/docs/graph-api/reference/video>, <https://developers.facebook.com/docs/graph-api/reference/photo>).

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::{COVER_PHOTO, client, error::parse_error};
use crate::{
    Account, Result, Session,
    analytics::{
        Analytics, DailySpec, DashboardMetric, Day, DayMetrics, FetchContext, MetricValue, Metrics,
        MissingReason, PostNews, PostRef, name, or_refused, read_counts,
    },
    graph::{
        self,
        insights::{Edge, between, is_missing},
    },
};

const PERMISSION: &str = "read_insights";

/// Pages with fewer likes have no insights.
const LIKES_MIN: i64 = 100;

const DAILY: DailySpec = DailySpec {
    zone: "America/Los_Angeles",
    lag: Duration::from_secs(48 * 3_600),
    reread: 7,
    backfill: 90,
    engagements: &[],
    periods: &[7, 28, 30],
    display: &[
        DashboardMetric::sum("post_engagements", "Post engagements").of(name::ENGAGEMENTS),
        DashboardMetric::sum("page_views", "Page views").of(name::PROFILE_VIEWS),
    ],
};

const OF_DAY: [(&str, &str); 6] = [
    ("page_total_media_view_unique", name::REACH),
    ("page_media_view", name::VIEWS),
    ("page_post_engagements", name::ENGAGEMENTS),
    ("page_views_total", name::PROFILE_VIEWS),
    ("page_daily_follows_unique", "follows"),
    ("page_daily_unfollows_unique", "unfollows"),
];

const OF_POST: [(&str, &str); 3] = [
    ("post_total_media_view_unique", name::REACH),
    ("post_media_view", name::VIEWS),
    ("post_clicks", name::CLICKS),
];

/// The fields of a post itself, and where its counts are.
const POST_FIELDS: &str =
    "reactions.summary(total_count).limit(0),comments.summary(total_count).limit(0),shares";
const POST_COUNTS: [(&str, &str); 3] = [
    ("/reactions/summary/total_count", name::LIKES),
    ("/comments/summary/total_count", name::COMMENTS),
    ("/shares/count", name::SHARES),
];

/// The same of a video or a photo.
const MEDIA_FIELDS: &str =
    "likes.summary(total_count).limit(0),comments.summary(total_count).limit(0)";
const MEDIA_COUNTS: [(&str, &str); 2] = [
    ("/likes/summary/total_count", name::LIKES),
    ("/comments/summary/total_count", name::COMMENTS),
];

/// The names of the plays of a video; the first that it has counts. Those of reels come first.
const PLAYS: [&str; 3] = ["blue_reels_play_count", "fb_reels_total_plays", "total_video_views"];

/// All that the network could tell of a post.
const NAMES: [&str; 6] =
    [name::LIKES, name::COMMENTS, name::SHARES, name::REACH, name::VIEWS, name::CLICKS];

/// Reads the metrics of Facebook.
pub(super) struct MetricsReader;

#[async_trait]
impl Analytics for MetricsReader {
    fn daily(&self, _: &Account) -> Option<&'static DailySpec> {
        Some(&DAILY)
    }

    async fn followers(&self, reading: &FetchContext<'_>) -> Result<MetricValue> {
        let page = edge(reading.session, &format!("/{}", reading.session.account.remote_id))?;
        let query = [("fields", "followers_count".to_owned())];
        let page: Value = page.get(reading, &query).await?;
        Ok(page["followers_count"].as_i64().ok_or(MissingReason::Platform))
    }

    async fn days(&self, reading: &FetchContext<'_>, days: &[Day]) -> Result<Vec<DayMetrics>> {
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(Vec::new()) };
        let page = edge(reading.session, &format!("/{}", reading.session.account.remote_id))?;
        let about: Value = page.get(reading, &[("fields", "fan_count".to_owned())]).await?;
        if about["fan_count"].as_i64().is_some_and(|likes| likes < LIKES_MIN) {
            return Ok(Vec::new());
        }
        let mut query = vec![("period", "day".to_owned())];
        query.extend(between(first.since, last.until));
        let insights = account_edge(reading.session)?;
        let told = insights.read(reading, &OF_DAY.map(|(theirs, _)| theirs), &query).await?;
        let of_day = |day: &Day| {
            let mut numbers: Metrics = OF_DAY
                .iter()
                .map(|(theirs, ours)| (*ours, told.of_day(theirs, day.date)))
                .collect();
            let (follows, unfollows) = (numbers.remove("follows"), numbers.remove("unfollows"));
            if let (Some(Ok(follows)), Some(Ok(unfollows))) = (follows, unfollows) {
                numbers.insert(name::FOLLOWER_DELTA, Ok(follows - unfollows));
            }
            DayMetrics { date: day.date, numbers, is_final: None }
        };
        Ok(days.iter().map(of_day).collect())
    }

    async fn reach(
        &self,
        reading: &FetchContext<'_>,
        (since, until): (chrono::DateTime<chrono::Utc>, chrono::DateTime<chrono::Utc>),
    ) -> Result<MetricValue> {
        let mut query = vec![("period", "total_over_range".to_owned())];
        query.extend(between(since, until));
        let metric = "page_total_media_view_unique";
        let told = account_edge(reading.session)?.read(reading, &[metric], &query).await?;
        Ok(told.total(metric))
    }

    /// The post in the feed that shows a video has a name of its own, which may come after the video was called published.
    fn awaits_news(&self, post: &PostRef) -> bool {
        Node::of(post) == Node::Video
    }

    async fn news(&self, reading: &FetchContext<'_>, post: &PostRef) -> Result<PostNews> {
        reading.acquire_call().await?;
        let video = client::video(reading.session, &post.id).await?;
        let name = video.post_name(reading.session).filter(|name| *name != post.id);
        Ok(PostNews { names: name.into_iter().collect(), ..PostNews::default() })
    }

    async fn posts(
        &self,
        reading: &FetchContext<'_>,
        posts: &[PostRef],
    ) -> Result<Vec<Option<Metrics>>> {
        let mut read = Vec::new();
        for post in posts {
            read.push(match one(reading, post).await {
                Ok(numbers) => Some(numbers),
                Err(error) if is_missing(&error) => None,
                Err(error) => return Err(error),
            });
        }
        Ok(read)
    }
}

/// The type of the node under whose id a post is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Post,
    Video,
    Photo,
    /// Its fields are not documented.
    Story,
}

impl Node {
    /// Returns the type: the id of a post names its page before an underscore, other ids are bare numbers.
    fn of(post: &PostRef) -> Self {
        match post {
            post if post.is_story() => Self::Story,
            post if post.id.contains('_') => Self::Post,
            post if post.post_type == COVER_PHOTO => Self::Photo,
            _ => Self::Video,
        }
    }
}

async fn one(reading: &FetchContext<'_>, post: &PostRef) -> Result<Metrics> {
    let mut numbers = unmeasured();
    match Node::of(post) {
        Node::Story => {}
        Node::Photo => numbers.extend(media_counts(reading, post).await?),
        Node::Video => {
            let counts = media_counts(reading, post).await;
            numbers.extend(or_refused(counts, MEDIA_COUNTS.map(|(_, name)| name))?);
            let insights = edge(reading.session, &format!("/{}/video_insights", post.id))?;
            let told = insights.read_all(reading, &PLAYS).await?;
            let plays = PLAYS.map(|name| told.total(name));
            let plays = plays.iter().copied().find(MetricValue::is_ok).unwrap_or(plays[0]);
            numbers.extend([(name::PLAYS, plays), (name::VIEWS, plays)]);
        }
        Node::Post => {
            let counts = counts(reading, post, POST_FIELDS, &POST_COUNTS).await;
            numbers.extend(or_refused(counts, POST_COUNTS.map(|(_, name)| name))?);
            let insights = edge(reading.session, &format!("/{}/insights", post.id))?;
            let told = insights.read(reading, &OF_POST.map(|(theirs, _)| theirs), &[]).await?;
            numbers.extend(OF_POST.iter().map(|(theirs, ours)| (*ours, told.total(theirs))));
        }
    }
    Ok(numbers)
}

/// Returns all numbers as those that the network does not tell.
fn unmeasured() -> Metrics {
    NAMES.iter().map(|name| (*name, Err(MissingReason::Platform))).collect()
}

async fn media_counts(reading: &FetchContext<'_>, post: &PostRef) -> Result<Metrics> {
    counts(reading, post, MEDIA_FIELDS, &MEDIA_COUNTS).await
}

async fn counts(
    reading: &FetchContext<'_>,
    post: &PostRef,
    fields: &str,
    places: &[(&'static str, &'static str)],
) -> Result<Metrics> {
    let itself = edge(reading.session, &format!("/{}", post.id))?;
    let object: Value = itself.get(reading, &[("fields", fields.to_owned())]).await?;
    Ok(read_counts(&object, places))
}

fn account_edge(session: &Session) -> Result<Edge> {
    edge(session, &format!("/{}/insights", session.account.remote_id))
}

fn edge(session: &Session, path: &str) -> Result<Edge> {
    let url = graph::url(session, path)?;
    Ok(Edge { url, parse: parse_error, permission: PERMISSION })
}

#[cfg(test)]
mod tests {
    use super::{Node, PostRef};

    fn node(id: &str, post_type: &str, format: &str) -> Node {
        Node::of(&PostRef {
            id: id.into(),
            post_type: post_type.into(),
            format: format.into(),
            url: None,
        })
    }

    #[test]
    fn each_post_is_read_as_the_node_that_it_is() {
        assert_eq!(node("12_34", "feed", "image"), Node::Post);
        assert_eq!(
            node("12_34", "feed", "video"),
            Node::Post,
            "a video that is stored as its post"
        );
        assert_eq!(node("34", "feed", "video"), Node::Video);
        assert_eq!(node("34", "reel", "video"), Node::Video);
        assert_eq!(node("34", "cover_photo", "image"), Node::Photo);
        assert_eq!(node("34", "story", "video"), Node::Story);
    }
}
