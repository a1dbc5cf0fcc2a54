//! Numbers of accounts and posts, where a network has them.
//!
//! A number that is not known is missing with a reason, and never 0. A connector reads; when it is asked again, how
//! readings are merged and what is kept belongs to the caller.

mod reading;

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};

use serde_json::Value;

use crate::{Account, Error, Kind, RateLimit, Result};

pub use reading::{Calls, Findings, Reading};

/// Names of numbers, as this service calls them on every network.
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

/// The numbers of a post, in the order in which replies show them.
pub const POST_NUMBERS: [&str; 11] = [
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

/// The numbers of an account's day, in the order in which replies show them.
pub const DAY_NUMBERS: [&str; 11] = [
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

/// The reason a number is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unmeasured {
    /// The network does not have it.
    Platform,
    /// The network does not have it yet.
    Pending,
    /// The account's access does not reach it.
    Permission,
    /// The network does not tell it for so few people.
    TooFewViewers,
    /// The network no longer tells it.
    Expired,
}

impl Unmeasured {
    /// Its name in replies.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Pending => "pending",
            Self::Permission => "permission",
            Self::TooFewViewers => "too_few_viewers",
            Self::Expired => "expired",
        }
    }
}

/// A number, or why it is not known.
pub type Number = std::result::Result<i64, Unmeasured>;

/// Numbers by name. One that is left out is not there on the network.
pub type Numbers = BTreeMap<&'static str, Number>;

/// One day of a network, from its first moment to the first of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// Its date in the network's zone.
    pub date: NaiveDate,
    /// Its first moment.
    pub since: DateTime<Utc>,
    /// The first moment of the next day.
    pub until: DateTime<Utc>,
}

/// A network's numbers for one day.
#[derive(Debug, Clone)]
pub struct DayNumbers {
    /// The day.
    pub date: NaiveDate,
    /// The numbers.
    pub numbers: Numbers,
    /// True if the network says that they are final; `None`: it does not say.
    pub is_final: Option<bool>,
}

/// A post whose numbers are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedPost {
    /// The network's id.
    pub id: String,
    /// Its post type here.
    pub post_type: String,
    /// Its form: `image`, `carousel`, `video`, `text`, `link`, `document`, `thread` or `article`.
    pub format: String,
}

impl AskedPost {
    /// Returns true for a post that is seen for 24 hours.
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
    /// One of the network's post types here.
    pub post_type: &'static str,
    /// Its form, as in [`AskedPost::format`].
    pub format: &'static str,
    /// Its text.
    pub caption: String,
    /// The time at which it became public.
    pub published_at: DateTime<Utc>,
}

/// The unit of a number that a network shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A count.
    Count,
    /// Seconds.
    Seconds,
}

/// The way a number of a period follows from those of its days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// The sum of one number.
    Sum(&'static str),
    /// The sum of the first, times the factor, divided by that of the second.
    Ratio(&'static str, i64, &'static str),
}

/// A number of the network's own dashboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Display {
    /// Its name.
    pub key: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// The way it follows from the days.
    pub fold: Fold,
}

impl Display {
    /// Creates a count that is the sum of the number of the same name.
    #[must_use]
    pub const fn sum(key: &'static str, label: &'static str) -> Self {
        Self { key, label, unit: Unit::Count, fold: Fold::Sum(key) }
    }

    /// Takes the sum of another number.
    #[must_use]
    pub const fn of(mut self, name: &'static str) -> Self {
        self.fold = Fold::Sum(name);
        self
    }
}

/// The way a network counts the days of accounts.
#[derive(Debug, Clone, Copy)]
pub struct Daily {
    /// The IANA name of the zone in which its days begin.
    pub zone: &'static str,
    /// The time after its end a day's numbers may still change.
    pub lag: Duration,
    /// The number of the last days that are read again each day.
    pub reread: u16,
    /// The number of days that are read when an account is connected.
    pub backfill: u16,
    /// The numbers whose sum are the engagements; empty: the network has a number for them.
    pub engagements: &'static [&'static str],
    /// The lengths in days of the periods whose reach the network knows.
    pub periods: &'static [u16],
    /// The numbers that the network's own dashboard shows.
    pub display: &'static [Display],
}

/// A network that counts. Reads only.
#[async_trait]
pub trait Analytics: Send + Sync {
    /// Returns the number of calls the app has for all accounts together, where that is known.
    fn quota(&self) -> Option<RateLimit> {
        None
    }

    /// Returns the way the account is counted by the day; `None`: only its posts are counted.
    fn daily(&self, account: &Account) -> Option<&'static Daily> {
        let _ = account;
        None
    }

    /// Returns true if there are accounts of this network that are counted by the day.
    fn measures_accounts(&self) -> bool {
        self.daily(&Account::default()).is_some()
    }

    /// Returns the number of posts [`Analytics::posts`] takes at a time.
    fn batch(&self) -> usize {
        1
    }

    /// The numbers of a post whose sum are its engagements.
    fn engagements(&self) -> &'static [&'static str] {
        &[LIKES, COMMENTS, SHARES, SAVES, REPOSTS, QUOTES]
    }

    /// Returns true if the network asks to be paid for each reading, so that the operator has to switch it on.
    fn is_paid(&self) -> bool {
        false
    }

    /// Returns true if posts have numbers at all.
    fn measures_posts(&self) -> bool {
        true
    }

    /// Returns true if posts have a number by which engagements can be divided: reach, views or impressions.
    fn has_base(&self) -> bool {
        true
    }

    /// Returns the account's followers now.
    ///
    /// # Errors
    /// The network's.
    async fn followers(&self, reading: &Reading<'_>) -> Result<Number> {
        let _ = reading;
        Ok(Err(Unmeasured::Platform))
    }

    /// Returns what was counted on each of these days, which follow one another.
    ///
    /// # Errors
    /// The network's.
    async fn days(&self, reading: &Reading<'_>, days: &[Day]) -> Result<Vec<DayNumbers>> {
        let _ = (reading, days);
        Ok(Vec::new())
    }

    /// Returns how many people were reached in a period, each counted once.
    ///
    /// # Errors
    /// The network's.
    async fn reach(
        &self,
        reading: &Reading<'_>,
        (since, until): (DateTime<Utc>, DateTime<Utc>),
    ) -> Result<Number> {
        let _ = (reading, since, until);
        Ok(Err(Unmeasured::Platform))
    }

    /// Returns the numbers of each of these posts, in the same order; `None`: there is no such post.
    ///
    /// # Errors
    /// The network's.
    async fn posts(
        &self,
        reading: &Reading<'_>,
        posts: &[AskedPost],
    ) -> Result<Vec<Option<Numbers>>>;

    /// Returns the account's own posts since then, the newest first, 200 at most, where the network lists them.
    ///
    /// # Errors
    /// The network's.
    async fn listed(&self, reading: &Reading<'_>, since: DateTime<Utc>) -> Result<Vec<ListedPost>> {
        let _ = (reading, since);
        Ok(Vec::new())
    }
}

/// Reads counts out of an answer, each from where it stands (a JSON pointer). What is not there the network does not
/// have; of several places for one number the one that is there counts.
pub(crate) fn counted(answer: &Value, places: &[(&str, &'static str)]) -> Numbers {
    let mut numbers = Numbers::new();
    for (place, name) in places {
        let value = answer.pointer(place);
        let count = value.and_then(|value| value.as_i64().or_else(|| value.as_str()?.parse().ok()));
        let known = numbers.entry(name).or_insert(Err(Unmeasured::Platform));
        if let Some(count) = count {
            *known = Ok(count);
        }
    }
    numbers
}

/// Returns the numbers of a post that the account's access does not reach.
pub(crate) fn denied(places: &[(&str, &'static str)]) -> Numbers {
    places.iter().map(|(_, name)| (*name, Err(Unmeasured::Permission))).collect()
}

/// Returns true if the network does not let the account read this.
pub(crate) fn is_denied(error: &Error) -> bool {
    error.kind != Kind::RateLimited && status(error) == Some(403)
}

/// Returns true if there is nothing where it was looked for.
pub(crate) fn is_absent(error: &Error) -> bool {
    matches!(status(error), Some(404 | 410))
}

fn status(error: &Error) -> Option<u16> {
    error.reply.as_ref().map(|reply| reply.status)
}
