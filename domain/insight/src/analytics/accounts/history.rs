//! The days of an account, and the totals of periods.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use chrono_tz::Tz;
use fanfare_core::{Act, error::Result};
use fanfare_entities::{AccountId, Millis, account, account_day, post_numbers};
use fanfare_platforms::analytics::{Aggregation, DailySpec, name};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::{DayReason, DaySnapshot, PeriodNumbers, span::DayRange};
use crate::analytics::{
    Metrics, days,
    formulas::{self, rounded},
    pace, parse_metrics, zone,
};

/// The numbers of an account for the days of a range, and of the range before it.
pub(super) struct AccountHistory {
    daily: &'static DailySpec,
    tz: Tz,
    /// Days that ended before this time are final.
    final_until: Millis,
    now: Millis,
    connected_at: Millis,
    days: BTreeMap<String, account_day::Model>,
    posts: BTreeMap<NaiveDate, i64>,
}

impl AccountHistory {
    /// Reads the numbers.
    ///
    /// # Errors
    /// The database's.
    pub async fn read(
        act: &Act,
        (row, daily): (&account::Model, &'static DailySpec),
        tz: Tz,
        span: DayRange,
    ) -> Result<Self> {
        let conn = &act.cx.db.read;
        // One more day is read, for the difference of the first one.
        let first = zone::before(span.before().from, 1);
        let bounds = (first.to_string(), span.to.to_string());
        let mut days = days::read(conn, &[row.id], (&bounds.0, &bounds.1)).await?;
        let lag = Millis::try_from(daily.lag.as_millis()).unwrap_or_default();
        Ok(Self {
            daily,
            tz,
            final_until: act.cx.clock.now() - pace(&act.cx, row).shortened(lag),
            now: act.cx.clock.now(),
            connected_at: row.created_at,
            days: days.remove(&row.id).unwrap_or_default(),
            posts: posts(act, row.id, tz, span).await?,
        })
    }

    fn numbers(&self, day: NaiveDate) -> Metrics {
        let row = self.days.get(&day.to_string());
        let mut numbers = row.map(|row| parse_metrics(&row.numbers)).unwrap_or_default();
        if let Some(sum) = formulas::engagements(&numbers, self.daily.engagements) {
            numbers.insert(name::ENGAGEMENTS.to_owned(), sum);
        }
        numbers
    }

    /// Returns the network's own difference, or else that of two successive readings.
    fn follower_delta(&self, day: NaiveDate, numbers: &Metrics) -> Option<i64> {
        let before = || self.numbers(zone::before(day, 1)).get(name::FOLLOWERS).copied();
        let difference = || Some(numbers.get(name::FOLLOWERS)? - before()?);
        numbers.get(name::FOLLOWER_DELTA).copied().or_else(difference)
    }

    /// Returns the numbers of a day.
    pub fn snapshot(&self, day: NaiveDate) -> DaySnapshot {
        let (row, numbers) = (self.days.get(&day.to_string()), self.numbers(day));
        let ends = zone::start(self.tz, zone::next(day)).timestamp_millis();
        let get = |name: &str| numbers.get(name).copied();
        let (posts, known) = (self.posts.get(&day).copied(), row.is_some());
        // A network that is read for days before the connection may say nothing of them.
        let is_unknown = numbers.is_empty() && posts.is_none() && ends <= self.connected_at;
        DaySnapshot {
            date: day.to_string(),
            provisional: (!is_unknown)
                .then(|| row.map_or(ends > self.final_until, |row| !row.is_final)),
            reason: self.reason(&numbers, (known, ends)),
            revision: row.map_or(0, |row| row.revision),
            followers: get(name::FOLLOWERS),
            follower_delta: self.follower_delta(day, &numbers),
            reach: get(name::REACH),
            views: get(name::VIEWS),
            engagements: get(name::ENGAGEMENTS),
            likes: get(name::LIKES),
            comments: get(name::COMMENTS),
            shares: get(name::SHARES),
            saves: get(name::SAVES),
            clicks: get(name::CLICKS),
            profile_views: get(name::PROFILE_VIEWS),
            posts: posts.or((!is_unknown).then_some(0)),
        }
    }

    /// Returns why a day that ends at `ends` has no numbers.
    fn reason(&self, numbers: &Metrics, (known, ends): (bool, Millis)) -> Option<DayReason> {
        match () {
            () if !numbers.is_empty() => None,
            () if ends > self.now => Some(DayReason::NotOver),
            () if ends <= self.connected_at => Some(DayReason::BeforeConnection),
            () if !known => Some(DayReason::NotRead),
            () => Some(DayReason::NotReported),
        }
    }

    /// Returns the numbers of a period; `own_reach` is the network's own reach, in which each person counts once.
    pub fn period(&self, span: DayRange, own_reach: Option<i64>) -> PeriodNumbers {
        let days: Vec<(NaiveDate, Metrics)> =
            zone::days(span.from, span.to).map(|day| (day, self.numbers(day))).collect();
        let sum =
            |name: &str| sum(days.iter().filter_map(|(_, numbers)| numbers.get(name).copied()));
        let measured = |numbers: &Metrics| {
            [name::REACH, name::VIEWS, name::ENGAGEMENTS]
                .iter()
                .any(|name| numbers.contains_key(*name))
        };
        let mut followers =
            days.iter().filter_map(|(_, numbers)| numbers.get(name::FOLLOWERS).copied());
        let followers_start = followers.clone().next();
        let reach = own_reach.or_else(|| sum(name::REACH));
        let (views, engagements) = (sum(name::VIEWS), sum(name::ENGAGEMENTS));
        let bases = [(name::REACH, reach), (name::VIEWS, views)];
        let bases: Metrics =
            bases.into_iter().filter_map(|(name, base)| Some((name.to_owned(), base?))).collect();
        let rate = formulas::rate(engagements, &bases);
        PeriodNumbers {
            days: days.len(),
            days_measured: days.iter().filter(|(_, numbers)| measured(numbers)).count(),
            followers_start,
            followers_end: followers.next_back(),
            follower_delta: self::sum(
                days.iter().filter_map(|(day, numbers)| self.follower_delta(*day, numbers)),
            ),
            reach,
            reach_basis: match (own_reach, reach) {
                (Some(_), _) => Some("period".into()),
                (None, Some(_)) => Some("sum_of_days".into()),
                (None, None) => None,
            },
            views,
            engagements,
            engagement_rate: rate.map(|(rate, _)| rounded(rate, 2)),
            engagement_rate_basis: rate.map(|(_, base)| base.into()),
        }
    }

    /// Returns a number of the network's own dashboard.
    pub fn fold(&self, fold: Aggregation, span: DayRange) -> Option<i64> {
        let of = |name: &str| {
            sum(zone::days(span.from, span.to)
                .filter_map(|day| self.numbers(day).get(name).copied()))
        };
        match fold {
            Aggregation::Sum(name) => of(name),
            Aggregation::Ratio(above, factor, below) => {
                let below = of(below).filter(|below| *below > 0)?;
                Some((of(above)? * factor + below / 2) / below)
            }
        }
    }
}

fn sum(numbers: impl Iterator<Item = i64>) -> Option<i64> {
    let mut numbers = numbers.peekable();
    numbers.peek()?;
    Some(numbers.sum())
}

/// Counts the posts that the account published on each day.
async fn posts(
    act: &Act,
    id: AccountId,
    tz: Tz,
    span: DayRange,
) -> Result<BTreeMap<NaiveDate, i64>> {
    let since = zone::start(tz, span.from).timestamp_millis();
    let until = zone::start(tz, zone::next(span.to)).timestamp_millis();
    let times: Vec<Millis> = post_numbers::Entity::find()
        .select_only()
        .column(post_numbers::Column::PublishedAt)
        .filter(post_numbers::Column::AccountId.eq(id))
        .filter(post_numbers::Column::PublishedAt.gte(since))
        .filter(post_numbers::Column::PublishedAt.lt(until))
        .into_tuple()
        .all(&act.cx.db.read)
        .await?;
    let mut posts = BTreeMap::new();
    for at in times {
        *posts.entry(zone::date_at(tz, at)).or_default() += 1;
    }
    Ok(posts)
}
