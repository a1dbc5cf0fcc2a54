//! Daily numbers of accounts, as replies show them.

mod history;
mod span;

use std::borrow::Cow;

use fanfare_core::{
    Act, Reply,
    clock::Time,
    error::Result,
    page::{EmptyBecause, Listed},
};
use fanfare_entities::{AccountId, Millis, account, account::AccountStatus, analytics_sync};
use fanfare_platforms::analytics::{DailySpec, Unit, name};
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
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct AccountNumbersList {
    pub accounts: Vec<AccountNumbers>,
}

/// The numbers of an account.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct AccountNumbers {
    pub account: AccountName,
    /// The first day.
    pub from: String,
    /// The last day.
    pub to: String,
    /// The last day that was asked for, if it was cut off: it is today in some places, but has not begun in `day_zone`.
    pub cut_off: Option<String>,
    /// `ok`, `syncing`, `stale`, `needs_permission`, `reconnect_required`, `not_measurable` or `archived`.
    pub status: Cow<'static, str>,
    /// Permissions that the account's access lacks.
    pub missing_permissions: Vec<String>,
    /// The time of the last complete reading.
    pub synced_at: Option<Time>,
    /// The last day whose numbers are final.
    pub complete_through: Option<String>,
    /// The time zone of the network's days.
    pub day_zone: Option<Cow<'static, str>>,
    /// One entry for each day, oldest first.
    pub snapshots: Vec<DaySnapshot>,
    pub summary: Option<AccountSummary>,
    /// The numbers that the network's own dashboard shows.
    pub display_metrics: Vec<DisplayMetric>,
}

/// The account, with its names.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct AccountName {
    pub id: AccountId,
    pub platform: String,
    pub username: String,
}

impl AccountName {
    /// Returns the names of an account.
    pub(super) fn of(row: &account::Model) -> Self {
        Self { id: row.id, platform: row.platform.clone(), username: row.username.clone() }
    }
}

/// The numbers of a day; unknown ones are null.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct DaySnapshot {
    pub date: String,
    /// The network may still change the numbers; null for a day that nothing is known of.
    pub provisional: Option<bool>,
    /// Why the day has no numbers; null if it has some.
    pub reason: Option<DayReason>,
    /// The number of corrections of known numbers.
    pub revision: i32,
    pub followers: Option<i64>,
    pub follower_delta: Option<i64>,
    pub reach: Option<i64>,
    pub views: Option<i64>,
    pub engagements: Option<i64>,
    pub likes: Option<i64>,
    pub comments: Option<i64>,
    pub shares: Option<i64>,
    pub saves: Option<i64>,
    pub clicks: Option<i64>,
    pub profile_views: Option<i64>,
    /// The number of posts that the account published; null for a day before the account was connected of which nothing
    /// is known.
    pub posts: Option<i64>,
}

impl DaySnapshot {
    /// Returns a number by its name; `None` if it is unknown.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<i64> {
        match name {
            name::FOLLOWERS => self.followers,
            name::FOLLOWER_DELTA => self.follower_delta,
            name::REACH => self.reach,
            name::VIEWS => self.views,
            name::ENGAGEMENTS => self.engagements,
            name::LIKES => self.likes,
            name::COMMENTS => self.comments,
            name::SHARES => self.shares,
            name::SAVES => self.saves,
            name::CLICKS => self.clicks,
            name::PROFILE_VIEWS => self.profile_views,
            _ => None,
        }
    }
}

/// Why a day has no numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct AccountSummary {
    #[serde(flatten)]
    pub period: PeriodNumbers,
    pub previous: PeriodNumbers,
}

/// The numbers of a period.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct PeriodNumbers {
    /// The number of days.
    pub days: usize,
    /// The days on which reach, views or engagements were measured.
    pub days_measured: usize,
    pub followers_start: Option<i64>,
    pub followers_end: Option<i64>,
    pub follower_delta: Option<i64>,
    pub reach: Option<i64>,
    /// `period`: each person counts once; `sum_of_days`: each person counts once a day.
    pub reach_basis: Option<Cow<'static, str>>,
    pub views: Option<i64>,
    pub engagements: Option<i64>,
    /// Engagements divided by reach, or else by views, in percent.
    pub engagement_rate: Option<f64>,
    pub engagement_rate_basis: Option<Cow<'static, str>>,
}

/// A number of the network's own dashboard.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct DisplayMetric {
    pub key: Cow<'static, str>,
    pub label: Cow<'static, str>,
    pub value: Option<i64>,
    /// `count`, `percent` or `seconds`.
    pub unit: Cow<'static, str>,
    /// The same number in the period of the same length before.
    pub previous: Option<i64>,
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
        status: status(act, row, daily, sync.as_ref()).into(),
        missing_permissions: Vec::new(),
        synced_at: None,
        complete_through: None,
        day_zone: daily.map(|daily| daily.zone.into()),
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
            key: shown.key.into(),
            label: shown.label.into(),
            value: story.fold(shown.fold, span),
            unit: match shown.unit {
                Unit::Count => "count".into(),
                Unit::Seconds => "seconds".into(),
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
