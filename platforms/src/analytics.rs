//! Metrics of accounts and posts, where a network has them.
//!
//! An unknown metric has a reason and is never 0. A connector only reads; the caller decides when to read again, how to
//! merge results and what to store.

mod fetch_context;

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};

use serde_json::Value;

use crate::{Account, Error, ErrorKind, RateLimit, Result};

pub use fetch_context::{CallBudget, FetchContext, Findings};

/// Names of metrics, the same on every network.
#[expect(missing_docs, reason = "each constant is the number of the same name")]
pub mod name {
    pub const FOLLOWERS: &str = "followers";
    pub const FOLLOWER_DELTA: &str = "follower_delta";
    pub const REACH: &str = "reach";
    pub const VIEWS: &str = "views";
    pub const ENGAGEMENTS: &str = "engagements";
    pub const LIKES: &str = "likes";
    pub const COMMENTS: &str = "comments";
    pub const SHARES: &str = "shares";
    pub const SAVES: &str = "saves";
    pub const CLICKS: &str = "clicks";
    pub const PROFILE_VIEWS: &str = "profile_views";
    pub const IMPRESSIONS: &str = "impressions";
    pub const REPOSTS: &str = "reposts";
    pub const QUOTES: &str = "quotes";
    pub const PLAYS: &str = "plays";
}

use name::{COMMENTS, LIKES, QUOTES, REPOSTS, SAVES, SHARES};

/// The metrics of a post, in the order in which the API lists them.
pub const POST_METRICS: [&str; 11] = [
    LIKES,
    COMMENTS,
    name::REACH,
    name::IMPRESSIONS,
    SAVES,
    SHARES,
    REPOSTS,
    QUOTES,
    name::PLAYS,
    name::VIEWS,
    name::CLICKS,
];

/// The daily metrics of an account, in the order in which the API lists them.
pub const DAY_METRICS: [&str; 11] = [
    name::FOLLOWERS,
    name::FOLLOWER_DELTA,
    name::REACH,
    name::VIEWS,
    name::ENGAGEMENTS,
    LIKES,
    COMMENTS,
    SHARES,
    SAVES,
    name::CLICKS,
    name::PROFILE_VIEWS,
];

/// The reason a metric is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MissingReason {
    /// The network does not have it.
    Platform,
    /// The network does not have it yet.
    Pending,
    /// The account's token lacks the permission for it.
    Permission,
    /// The network does not report it for so few viewers.
    TooFewViewers,
    /// The network no longer reports it.
    Expired,
    /// The network refuses the reading.
    Refused,
}

impl MissingReason {
    /// Returns its name in API responses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Pending => "pending",
            Self::Permission => "permission",
            Self::TooFewViewers => "too_few_viewers",
            Self::Expired => "expired",
            Self::Refused => "refused",
        }
    }
}

/// A metric's value, or why it is not known.
pub type MetricValue = std::result::Result<i64, MissingReason>;

/// Metrics by name. One that is left out does not exist on the network.
pub type Metrics = BTreeMap<&'static str, MetricValue>;

/// One day in a network's time zone, from its start to the start of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// Its date in the network's zone.
    pub date: NaiveDate,
    /// Its start.
    pub since: DateTime<Utc>,
    /// The start of the next day.
    pub until: DateTime<Utc>,
}

/// A network's metrics for one day.
#[derive(Debug, Clone)]
pub struct DayMetrics {
    /// The day.
    pub date: NaiveDate,
    /// The metrics.
    pub numbers: Metrics,
    /// True if the network says that they are final; `None`: it does not say.
    pub is_final: Option<bool>,
}

/// A post whose metrics are requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostRef {
    /// The network's id.
    pub id: String,
    /// Its post type in Fanfare.
    pub post_type: String,
    /// Its form: `image`, `carousel`, `video`, `text`, `link`, `document`, `thread` or `article`.
    pub format: String,
    /// Its address for people, if it is known.
    pub url: Option<String>,
}

/// The news that a network has of a post since it was published.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostNews {
    /// Its own id and address, in place of the name that it had until others could see it.
    pub public_id: Option<(String, Option<String>)>,
    /// Further names, by which lists and webhooks call it.
    pub names: Vec<String>,
    /// True if the network's own record says that the post came to nothing.
    pub is_gone: bool,
}

impl PostRef {
    /// Returns true for a post that is visible for 24 hours.
    #[must_use]
    pub fn is_story(&self) -> bool {
        self.post_type.ends_with("story")
    }
}

/// A post of the account as its network lists it, wherever it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPost {
    /// The network's id.
    pub id: String,
    /// Its address for people.
    pub url: Option<String>,
    /// One of the network's post types in Fanfare.
    pub post_type: &'static str,
    /// Its form, as in [`PostRef::format`].
    pub format: &'static str,
    /// Its text.
    pub caption: String,
    /// The time at which it became public.
    pub published_at: DateTime<Utc>,
}

/// The unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A count.
    Count,
    /// Seconds.
    Seconds,
}

/// The way in which a period's value is calculated from its days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregation {
    /// The sum of one metric.
    Sum(&'static str),
    /// The sum of the first metric, times the factor, divided by the sum of the second.
    Ratio(&'static str, i64, &'static str),
}

/// A metric of the network's own dashboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DashboardMetric {
    /// Its name.
    pub key: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// The way in which it is calculated from the days.
    pub fold: Aggregation,
}

impl DashboardMetric {
    /// Creates a count that is the sum of the metric of the same name.
    #[must_use]
    pub const fn sum(key: &'static str, label: &'static str) -> Self {
        Self { key, label, unit: Unit::Count, fold: Aggregation::Sum(key) }
    }

    /// Uses the sum of another metric.
    #[must_use]
    pub const fn of(mut self, name: &'static str) -> Self {
        self.fold = Aggregation::Sum(name);
        self
    }
}

/// The way in which a network reports daily metrics of accounts.
#[derive(Debug, Clone, Copy)]
pub struct DailySpec {
    /// The IANA name of the zone in which its days begin.
    pub zone: &'static str,
    /// The time after its end in which a day's metrics may still change.
    pub lag: Duration,
    /// The number of the last days that are read again each day.
    pub reread: u16,
    /// The number of days that are read when an account is connected.
    pub backfill: u16,
    /// The metrics whose sum are the engagements; empty: the network reports engagements itself.
    pub engagements: &'static [&'static str],
    /// The lengths in days of the periods for which the network reports reach.
    pub periods: &'static [u16],
    /// The metrics that the network's own dashboard shows.
    pub display: &'static [DashboardMetric],
}

/// Reads a network's metrics. Never changes anything.
#[async_trait]
pub trait Analytics: Send + Sync {
    /// Returns the number of calls the app has for all accounts together, where that is known.
    fn quota(&self) -> Option<RateLimit> {
        None
    }

    /// Returns how the account's daily metrics are reported; `None`: only its posts have metrics.
    fn daily(&self, account: &Account) -> Option<&'static DailySpec> {
        let _ = account;
        None
    }

    /// Returns how many posts [`Analytics::posts`] accepts at a time.
    fn batch_size(&self) -> usize {
        1
    }

    /// Returns the metrics of a post whose sum are its engagements.
    fn engagements(&self) -> &'static [&'static str] {
        &[LIKES, COMMENTS, SHARES, SAVES, REPOSTS, QUOTES]
    }

    /// Returns true if the network charges for each read, so that the operator has to switch it on.
    fn is_paid(&self) -> bool {
        false
    }

    /// Returns true if posts have metrics at all.
    fn measures_posts(&self) -> bool {
        true
    }

    /// Returns true if there are metrics at all. A network without any may have its posts looked at.
    fn has_numbers(&self) -> bool {
        true
    }

    /// Returns true if published posts are looked at again, with their metrics or without: the network may drop what it took.
    fn watches_posts(&self) -> bool {
        self.measures_posts()
    }

    /// Returns true for a post of which the network has more to tell than its metrics, as long as no further name is known.
    fn awaits_news(&self, post: &PostRef) -> bool {
        let _ = post;
        false
    }

    /// Reads what the network tells of a post since it was published.
    ///
    /// # Errors
    /// The network's error.
    async fn news(&self, reading: &FetchContext<'_>, post: &PostRef) -> Result<PostNews> {
        let _ = (reading, post);
        Ok(PostNews::default())
    }

    /// Returns true if posts have a metric by which engagements can be divided: reach, views or impressions.
    fn has_denominator(&self) -> bool {
        true
    }

    /// Returns the current number of followers.
    ///
    /// # Errors
    /// The network's error.
    async fn followers(&self, reading: &FetchContext<'_>) -> Result<MetricValue> {
        let _ = reading;
        Ok(Err(MissingReason::Platform))
    }

    /// Returns the metrics of each of these consecutive days.
    ///
    /// # Errors
    /// The network's error.
    async fn days(&self, reading: &FetchContext<'_>, days: &[Day]) -> Result<Vec<DayMetrics>> {
        let _ = (reading, days);
        Ok(Vec::new())
    }

    /// Returns how many people were reached in a period, each counted once.
    ///
    /// # Errors
    /// The network's error.
    async fn reach(
        &self,
        reading: &FetchContext<'_>,
        (since, until): (DateTime<Utc>, DateTime<Utc>),
    ) -> Result<MetricValue> {
        let _ = (reading, since, until);
        Ok(Err(MissingReason::Platform))
    }

    /// Returns the metrics of each of these posts, in the same order; `None`: there is no such post.
    ///
    /// # Errors
    /// The network's error.
    async fn posts(
        &self,
        reading: &FetchContext<'_>,
        posts: &[PostRef],
    ) -> Result<Vec<Option<Metrics>>>;

    /// Returns the account's own posts since then, newest first and 200 at most, if the network can list them.
    ///
    /// # Errors
    /// The network's error.
    async fn list_posts(
        &self,
        reading: &FetchContext<'_>,
        since: DateTime<Utc>,
    ) -> Result<Vec<ListedPost>> {
        let _ = (reading, since);
        Ok(Vec::new())
    }
}

/// Reads counts from a response, each at a JSON pointer. A missing one does not exist on the network; if several
/// pointers are given for one metric, the one that exists is used.
pub(crate) fn read_counts(answer: &Value, places: &[(&str, &'static str)]) -> Metrics {
    let mut numbers = Metrics::new();
    for (place, name) in places {
        let value = answer.pointer(place);
        let count = value.and_then(|value| value.as_i64().or_else(|| value.as_str()?.parse().ok()));
        let known = numbers.entry(name).or_insert(Err(MissingReason::Platform));
        if let Some(count) = count {
            *known = Ok(count);
        }
    }
    numbers
}

/// Returns the metrics of a post as missing for lack of a permission.
pub(crate) fn without_permission(places: &[(&str, &'static str)]) -> Metrics {
    places.iter().map(|(_, name)| (*name, Err(MissingReason::Permission))).collect()
}

/// Returns true if an error of a reading is about the account or the app: nothing else can be read either. Any other is
/// about what was asked for alone; so is a 403, even where a post could not be published with it.
#[must_use]
pub fn ends_all_readings(error: &Error) -> bool {
    match error.kind {
        ErrorKind::Reconnect => status(error) != Some(403),
        kind => matches!(
            kind,
            ErrorKind::TokenExpired
                | ErrorKind::InvalidCredentials
                | ErrorKind::RateLimited
                | ErrorKind::QuotaExhausted
        ),
    }
}

/// Returns true if an error of a reading says nothing about what was asked for: the network failed, or did not answer.
#[must_use]
pub const fn is_trouble(error: &Error) -> bool {
    matches!(
        error.kind,
        ErrorKind::Transient | ErrorKind::Server | ErrorKind::Ambiguous | ErrorKind::Unreachable
    )
}

/// Returns true if an error of a reading refuses what was asked for, and nothing else.
#[must_use]
pub fn is_refusal(error: &Error) -> bool {
    !ends_all_readings(error) && !is_trouble(error)
}

/// Returns the metrics of one of several calls for a post; those of a call that was refused are missing for that alone.
pub(crate) fn or_refused(
    read: Result<Metrics>,
    names: impl IntoIterator<Item = &'static str>,
) -> Result<Metrics> {
    match read {
        Err(error) if is_refusal(&error) && !error.is_not_found() => {
            Ok(names.into_iter().map(|name| (name, Err(MissingReason::Refused))).collect())
        }
        read => read,
    }
}

/// Returns true if the network denies the account access.
pub(crate) fn is_forbidden(error: &Error) -> bool {
    error.kind != ErrorKind::RateLimited && status(error) == Some(403)
}

/// Returns true if the requested object does not exist.
pub(crate) fn is_not_found(error: &Error) -> bool {
    matches!(status(error), Some(404 | 410))
}

fn status(error: &Error) -> Option<u16> {
    error.reply.as_ref().map(|reply| reply.status)
}
