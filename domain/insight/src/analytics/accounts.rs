//! Daily numbers of accounts, as replies show them.

mod history;
mod span;

use fanfare_core::{
    Act, Reply,
    clock::Time,
    error::Result,
    page::{EmptyBecause, Listed},
};
use fanfare_entities::{AccountId, Millis, account, account::AccountStatus, analytics_sync};
use fanfare_platforms::analytics::{DailySpec, Unit};
use fanfare_publishing::accounts as connections;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{analytics_of, pace, pace::HOUR, sync, zone};

use history::AccountHistory;
use span::DayRange;

/// Numbers are read daily; an account that was not read for this long is stale.
const STALE: Millis = 36 * HOUR;

/// The accounts and days to report on.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccountsQuery {
    /// Only this account. This also finds a disconnected account whose numbers are kept.
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
    /// The last day that was asked for, if it was cut off: it is today in some places, but has not begun in `day_zone`.
    cut_off: Option<String>,
    /// `ok`, `syncing`, `stale`, `needs_permission`, `reconnect_required`, `not_measurable` or `archived`.
    status: &'static str,
    /// Permissions that the account's access lacks.
    missing_permissions: Vec<String>,
    /// The time of the last complete reading.
    synced_at: Option<Time>,
    /// The last day whose numbers are final.
    complete_through: Option<String>,
    /// The time zone of the network's days.
    day_zone: Option<&'static str>,
    /// One entry for each day, oldest first.
    snapshots: Vec<DaySnapshot>,
    summary: Option<AccountSummary>,
    /// The numbers that the network's own dashboard shows.
    display_metrics: Vec<DisplayMetric>,
}

/// The account, with its names.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AccountName {
    id: AccountId,
    platform: String,
    username: String,
}

impl AccountName {
    /// Returns the names of an account.
    pub(super) fn of(row: &account::Model) -> Self {
        Self { id: row.id, platform: row.platform.clone(), username: row.username.clone() }
    }
}

/// The numbers of a day; unknown ones are null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DaySnapshot {
    date: String,
    /// The network may still change the numbers; null for a day that nothing is known of.
    provisional: Option<bool>,
    /// Why the day has no numbers; null if it has some.
    reason: Option<DayReason>,
    /// The number of corrections of known numbers.
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
    /// The number of posts that the account published; null for a day before the account was connected of which nothing
    /// is known.
    posts: Option<i64>,
}

/// Why a day has no numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DayReason {
    /// The day was over before the account was connected, and the network tells nothing of it.
    BeforeConnection,
    /// The day is not over.
    NotOver,
    /// The network's numbers of the day have not been read yet.
    NotRead,
    /// The network was asked and gave none.
    NotReported,
}

/// The totals of the period, and of the period of the same length before it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AccountSummary {
    #[serde(flatten)]
    period: PeriodNumbers,
    previous: PeriodNumbers,
}

/// The numbers of a period.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeriodNumbers {
    /// The number of days.
    days: usize,
    /// The days on which reach, views or engagements were measured.
    days_measured: usize,
    followers_start: Option<i64>,
    followers_end: Option<i64>,
    follower_delta: Option<i64>,
    reach: Option<i64>,
    /// `period`: each person counts once; `sum_of_days`: each person counts once a day.
    reach_basis: Option<&'static str>,
    views: Option<i64>,
    engagements: Option<i64>,
    /// Engagements divided by reach, or else by views, in percent.
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
    /// The same number in the period of the same length before.
    previous: Option<i64>,
}

/// Shows the numbers of one account, or of all accounts that the caller can see. Those whose networks report none are
/// `not_measurable`.
///
/// # Errors
/// Invalid days, or [`Code::AccountNotFound`](fanfare_core::error::Code::AccountNotFound).
pub async fn accounts(
    act: &Act,
    query: AccountsQuery,
) -> Result<Reply<Listed<AccountNumbersList>>> {
    let rows = super::visible_accounts(act, query.account_id).await?;
    let mut views = Vec::with_capacity(rows.len());
    for row in &rows {
        views.push(view(act, row, &query).await?);
    }
    let why = views.is_empty().then_some(EmptyBecause::NoAccounts);
    Ok(Reply::ok(&Listed::new(AccountNumbersList { accounts: views }, why)))
}

async fn view(act: &Act, row: &account::Model, query: &AccountsQuery) -> Result<AccountNumbers> {
    let network = analytics_of(&act.cx, row);
    let facts = connections::facts(row)?;
    let daily = network.and_then(|network| network.daily(&facts));
    let home = daily.map_or("UTC", |daily| daily.zone);
    let tz = zone::zone(home);
    let now = act.cx.clock.now();
    let span = DayRange::of(query, zone::date_at(tz, now), zone::date_at(zone::FIRST, now))?;
    let sync = sync::row(&act.cx, row.id).await?;
    let mut view = AccountNumbers {
        account: AccountName::of(row),
        from: span.from.to_string(),
        to: span.to.to_string(),
        cut_off: span.cut.map(|day| day.to_string()),
        status: status(act, row, daily, sync.as_ref()),
        missing_permissions: Vec::new(),
        synced_at: None,
        complete_through: None,
        day_zone: daily.map(|daily| daily.zone),
        snapshots: Vec::new(),
        summary: None,
        display_metrics: Vec::new(),
    };
    let Some(daily) = daily else { return Ok(view) };
    let story = AccountHistory::read(act, (row, daily), tz, span).await?;
    if let Some(sync) = &sync {
        view.missing_permissions = sync::string_list(&sync.missing_permissions);
        view.synced_at = sync.synced_at.map(Time);
        view.complete_through.clone_from(&sync.complete_through);
    }
    view.snapshots = zone::days(span.from, span.to).map(|day| story.snapshot(day)).collect();
    let own = sync.as_ref().and_then(|sync| period_reach(&sync.period_reach, span));
    view.summary = Some(AccountSummary {
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
    daily: Option<&DailySpec>,
    sync: Option<&analytics_sync::Model>,
) -> &'static str {
    let (Some(_), Some(sync)) = (daily, sync) else { return "not_measurable" };
    let age = |at: Millis| pace(&act.cx, row).age(at, act.cx.clock.now());
    match (row.status, sync.synced_at) {
        (AccountStatus::Disconnected, _) => "archived",
        (AccountStatus::ReconnectRequired, _) => "reconnect_required",
        _ if !sync::string_list(&sync.missing_permissions).is_empty() => "needs_permission",
        (_, None) => "syncing",
        (_, Some(at)) if age(at) > STALE => "stale",
        _ => "ok",
    }
}

/// Returns the reach that the network itself reports for exactly these days.
fn period_reach(periods: &Value, span: DayRange) -> Option<i64> {
    let length = ((span.to - span.from).num_days() + 1).to_string();
    let period = &periods[length.as_str()];
    (period["to"].as_str() == Some(&span.to.to_string())).then(|| period["reach"].as_i64())?
}
