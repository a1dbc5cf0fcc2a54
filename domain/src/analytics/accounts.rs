//! Numbers of accounts by the day, as replies show them.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use chrono_tz::Tz;
use fanfare_entities::{
    AccountId, Millis, account, account::AccountStatus, account_day, analytics_sync, post_numbers,
};
use fanfare_platforms::{
    Violation, Violations,
    analytics::{Analytics, Daily, Fold, Unit, name},
};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{
    Known, days,
    formulas::{self, rounded},
    known, of, pace,
    pace::HOUR,
    sync, zone,
};
use crate::{
    Act, Reply, accounts as connections,
    clock::Time,
    error::{Code, Error, Result, violation},
};

/// A reading is due each day; without one for this long the numbers are stale.
const STALE: Millis = 36 * HOUR;

/// The days that are shown if none are asked for.
const USUAL_DAYS: u64 = 30;

/// The most days that are shown.
const MOST_DAYS: i64 = 366;

/// Which accounts and days are asked for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccountsQuery {
    /// Only this account; one that is disconnected and whose numbers are kept is shown only so.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// The first day, `YYYY-MM-DD` in the network's zone; 30 days up to `to` if left out.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub from: Option<String>,
    /// The last day; today if left out.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub to: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// The numbers of accounts.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct AccountNumbersList {
    accounts: Vec<AccountNumbers>,
}

/// The numbers of an account.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AccountNumbers {
    account: AccountName,
    /// The first day.
    from: String,
    /// The last day.
    to: String,
    /// `ok`, `syncing`, `stale`, `needs_permission`, `reconnect_required`, `not_measurable` or `archived`.
    status: &'static str,
    /// Permissions that the account's access lacks.
    missing_permissions: Vec<String>,
    /// When all was last read.
    synced_at: Option<Time>,
    /// The last day whose numbers are final.
    complete_through: Option<String>,
    /// The zone in which the network's days begin.
    day_zone: Option<&'static str>,
    /// One for each day, the oldest first.
    snapshots: Vec<Snapshot>,
    summary: Option<Summary>,
    /// What the network's own dashboard shows.
    display_metrics: Vec<DisplayMetric>,
}

/// Which account it is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AccountName {
    id: AccountId,
    platform: String,
    username: String,
}

impl AccountName {
    /// Names an account.
    pub(super) fn of(row: &account::Model) -> Self {
        Self { id: row.id, platform: row.platform.clone(), username: row.username.clone() }
    }
}

/// What was counted on a day; a number that is not known is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Snapshot {
    date: String,
    /// The network may still change the numbers.
    provisional: bool,
    /// How often a known number was changed.
    revision: i32,
    followers: Option<i64>,
    follower_delta: Option<i64>,
    reach: Option<i64>,
    views: Option<i64>,
    engagements: Option<i64>,
    likes: Option<i64>,
    comments: Option<i64>,
    shares: Option<i64>,
    saves: Option<i64>,
    clicks: Option<i64>,
    profile_views: Option<i64>,
    /// How many posts of the account became public.
    posts: i64,
}

/// The whole time, with the equally long time before.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Summary {
    #[serde(flatten)]
    period: Period,
    previous: Period,
}

/// Numbers of a time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Period {
    /// Its days.
    days: usize,
    /// Those on which reach, views or engagements were measured.
    days_measured: usize,
    followers_start: Option<i64>,
    followers_end: Option<i64>,
    follower_delta: Option<i64>,
    reach: Option<i64>,
    /// `period`: each person counts once; `sum_of_days`: once a day.
    reach_basis: Option<&'static str>,
    views: Option<i64>,
    engagements: Option<i64>,
    /// Engagements by reach or else views, in percent.
    engagement_rate: Option<f64>,
    engagement_rate_basis: Option<&'static str>,
}

/// A number of the network's own dashboard.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DisplayMetric {
    key: &'static str,
    label: &'static str,
    value: Option<i64>,
    /// `count`, `percent` or `seconds`.
    unit: &'static str,
    /// The same in the equally long time before.
    previous: Option<i64>,
}

/// The days asked for in one account's zone.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: NaiveDate,
    to: NaiveDate,
}

impl Span {
    fn of(query: &AccountsQuery, today: NaiveDate) -> Result<Self> {
        let mut broken = Violations::default();
        let mut read = |field: &'static str, text: Option<&String>| {
            let text = text?;
            let day = zone::parse(text);
            if day.is_none() {
                broken.push(wrong(
                    field,
                    format!("{text:?} is no day."),
                    "Send a day like 2026-11-24.",
                ));
            }
            day
        };
        let (from, to) = (read("from", query.from.as_ref()), read("to", query.to.as_ref()));
        Error::check(broken)?;
        let last = Days::new(USUAL_DAYS - 1);
        let to = to.unwrap_or_else(|| {
            let after = from.and_then(|from| from.checked_add_days(last));
            after.map_or(today, |after| after.min(today))
        });
        let from = from.unwrap_or_else(|| to.checked_sub_days(last).unwrap_or(to));
        let mut broken = Violations::default();
        if from > to {
            broken.push(wrong(
                "from",
                format!("{from} is after {to}."),
                "Send a day that is not after `to`.",
            ));
        }
        if to > today {
            broken.push(wrong(
                "to",
                format!("{to} is after today."),
                "Send today or an earlier day.",
            ));
        }
        if (to - from).num_days() >= MOST_DAYS {
            let message = format!("{from} to {to} are more than {MOST_DAYS} days.");
            broken.push(wrong("from", message, "Ask for 366 days at most."));
        }
        Error::check(broken).map(|()| Self { from, to })
    }

    /// The equally long time before.
    fn before(self) -> Self {
        let days = u64::try_from((self.to - self.from).num_days()).unwrap_or_default() + 1;
        Self { from: zone::before(self.from, days), to: zone::before(self.from, 1) }
    }
}

fn wrong(field: &str, message: String, remedy: &str) -> Violation {
    violation(Code::InvalidField, field, message, remedy)
}

/// Shows the numbers of one account, or of all that the caller sees and whose networks count accounts.
///
/// # Errors
/// Days that cannot be, or [`Code::AccountNotFound`].
pub async fn accounts(act: &Act, query: AccountsQuery) -> Result<Reply<AccountNumbersList>> {
    let mut rows = super::visible_accounts(act, query.account_id).await?;
    if query.account_id.is_none() {
        rows.retain(|row| of(&act.cx, row).is_some_and(|network| network.measures_accounts()));
    }
    let mut views = Vec::with_capacity(rows.len());
    for row in &rows {
        views.push(view(act, row, &query).await?);
    }
    Ok(Reply::ok(&AccountNumbersList { accounts: views }))
}

async fn view(act: &Act, row: &account::Model, query: &AccountsQuery) -> Result<AccountNumbers> {
    let network = of(&act.cx, row);
    let facts = connections::facts(row)?;
    let daily = network.and_then(|network| network.daily(&facts));
    let home = daily.map_or("UTC", |daily| daily.zone);
    let tz = zone::zone(home);
    let now = act.cx.clock.now();
    let span = Span::of(query, zone::date_at(tz, now))?;
    let sync = sync::row(&act.cx, row.id).await?;
    let mut view = AccountNumbers {
        account: AccountName::of(row),
        from: span.from.to_string(),
        to: span.to.to_string(),
        status: status(act, row, daily, sync.as_ref()),
        missing_permissions: Vec::new(),
        synced_at: None,
        complete_through: None,
        day_zone: daily.map(|daily| daily.zone),
        snapshots: Vec::new(),
        summary: None,
        display_metrics: Vec::new(),
    };
    let (Some(daily), Some(network)) = (daily, network) else { return Ok(view) };
    let story = Story::read(act, (row, network, daily), tz, span).await?;
    if let Some(sync) = &sync {
        view.missing_permissions = sync::texts(&sync.missing_permissions);
        view.synced_at = sync.synced_at.map(Time);
        view.complete_through.clone_from(&sync.complete_through);
    }
    view.snapshots = zone::days(span.from, span.to).map(|day| story.snapshot(day)).collect();
    let own = sync.as_ref().and_then(|sync| period_reach(&sync.period_reach, span));
    view.summary = Some(Summary {
        period: story.period(span, own),
        previous: story.period(span.before(), None),
    });
    view.display_metrics = daily
        .display
        .iter()
        .map(|shown| DisplayMetric {
            key: shown.key,
            label: shown.label,
            value: story.fold(shown.fold, span),
            unit: match shown.unit {
                Unit::Count => "count",
                Unit::Seconds => "seconds",
            },
            previous: story.fold(shown.fold, span.before()),
        })
        .collect();
    Ok(view)
}

fn status(
    act: &Act,
    row: &account::Model,
    daily: Option<&Daily>,
    sync: Option<&analytics_sync::Model>,
) -> &'static str {
    let (Some(_), Some(sync)) = (daily, sync) else { return "not_measurable" };
    let age = |at: Millis| pace(&act.cx, row).age(at, act.cx.clock.now());
    match (row.status, sync.synced_at) {
        (AccountStatus::Disconnected, _) => "archived",
        (AccountStatus::ReconnectRequired, _) => "reconnect_required",
        _ if !sync::texts(&sync.missing_permissions).is_empty() => "needs_permission",
        (_, None) => "syncing",
        (_, Some(at)) if age(at) > STALE => "stale",
        _ => "ok",
    }
}

/// The network's own reach of exactly these days.
fn period_reach(periods: &Value, span: Span) -> Option<i64> {
    let length = ((span.to - span.from).num_days() + 1).to_string();
    let period = &periods[length.as_str()];
    (period["to"].as_str() == Some(&span.to.to_string())).then(|| period["reach"].as_i64())?
}

/// The days of an account, and of the equally long time before.
struct Story {
    daily: &'static Daily,
    tz: Tz,
    /// Days up to this time are final.
    final_until: Millis,
    days: BTreeMap<String, account_day::Model>,
    posts: BTreeMap<NaiveDate, i64>,
}

impl Story {
    async fn read(
        act: &Act,
        (row, _network, daily): (&account::Model, &'static dyn Analytics, &'static Daily),
        tz: Tz,
        span: Span,
    ) -> Result<Self> {
        let conn = &act.cx.db.read;
        // One day more, for the difference of the first.
        let first = zone::before(span.before().from, 1);
        let bounds = (first.to_string(), span.to.to_string());
        let mut days = days::read(conn, &[row.id], (&bounds.0, &bounds.1)).await?;
        let lag = Millis::try_from(daily.lag.as_millis()).unwrap_or_default();
        Ok(Self {
            daily,
            tz,
            final_until: act.cx.clock.now() - pace(&act.cx, row).shortened(lag),
            days: days.remove(&row.id).unwrap_or_default(),
            posts: posts(act, row.id, tz, span).await?,
        })
    }

    fn numbers(&self, day: NaiveDate) -> Known {
        let row = self.days.get(&day.to_string());
        let mut numbers = row.map(|row| known(&row.numbers)).unwrap_or_default();
        if let Some(sum) = formulas::engagements(&numbers, self.daily.engagements) {
            numbers.insert(name::ENGAGEMENTS.to_owned(), sum);
        }
        numbers
    }

    /// The network's own difference, else that of two neighbouring readings.
    fn follower_delta(&self, day: NaiveDate, numbers: &Known) -> Option<i64> {
        let before = || self.numbers(zone::before(day, 1)).get(name::FOLLOWERS).copied();
        let difference = || Some(numbers.get(name::FOLLOWERS)? - before()?);
        numbers.get(name::FOLLOWER_DELTA).copied().or_else(difference)
    }

    fn snapshot(&self, day: NaiveDate) -> Snapshot {
        let (row, numbers) = (self.days.get(&day.to_string()), self.numbers(day));
        let ends = zone::start(self.tz, zone::next(day)).timestamp_millis();
        let get = |name: &str| numbers.get(name).copied();
        Snapshot {
            date: day.to_string(),
            provisional: row.map_or(ends > self.final_until, |row| !row.is_final),
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
            posts: self.posts.get(&day).copied().unwrap_or_default(),
        }
    }

    fn period(&self, span: Span, own_reach: Option<i64>) -> Period {
        let days: Vec<(NaiveDate, Known)> =
            zone::days(span.from, span.to).map(|day| (day, self.numbers(day))).collect();
        let sum =
            |name: &str| sum(days.iter().filter_map(|(_, numbers)| numbers.get(name).copied()));
        let measured = |numbers: &Known| {
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
        let bases: Known =
            bases.into_iter().filter_map(|(name, base)| Some((name.to_owned(), base?))).collect();
        let rate = formulas::rate(engagements, &bases);
        Period {
            days: days.len(),
            days_measured: days.iter().filter(|(_, numbers)| measured(numbers)).count(),
            followers_start,
            followers_end: followers.next_back(),
            follower_delta: self::sum(
                days.iter().filter_map(|(day, numbers)| self.follower_delta(*day, numbers)),
            ),
            reach,
            reach_basis: match (own_reach, reach) {
                (Some(_), _) => Some("period"),
                (None, Some(_)) => Some("sum_of_days"),
                (None, None) => None,
            },
            views,
            engagements,
            engagement_rate: rate.map(|(rate, _)| rounded(rate, 2)),
            engagement_rate_basis: rate.map(|(_, base)| base),
        }
    }

    fn fold(&self, fold: Fold, span: Span) -> Option<i64> {
        let of = |name: &str| {
            sum(zone::days(span.from, span.to)
                .filter_map(|day| self.numbers(day).get(name).copied()))
        };
        match fold {
            Fold::Sum(name) => of(name),
            Fold::Ratio(above, factor, below) => {
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

/// How many posts of the account became public on each day.
async fn posts(act: &Act, id: AccountId, tz: Tz, span: Span) -> Result<BTreeMap<NaiveDate, i64>> {
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
