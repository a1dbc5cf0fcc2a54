//! Numbers of accounts and posts: read from the networks, stored, and shown.
//!
//! A row of `analytics_syncs` is the work for one account (`sync/`). `pace.rs` decides when it is due; `days.rs` and
//! `sync/posts.rs` merge new readings. A number that is not known is absent, and replies show null.

mod accounts;
mod days;
mod formulas;
mod hooks;
pub mod insights;
mod pace;
mod posts;
pub mod profile;
mod read_error;
mod readings;
mod start;
mod suggested_caption;
pub mod suggestions;
pub mod sync;
mod zone;

pub use accounts::{
    AccountName, AccountNumbers, AccountNumbersList, AccountSummary, AccountsQuery, DayReason,
    DaySnapshot, DisplayMetric, PeriodNumbers, accounts,
};
pub use hooks::ReadsNumbers;
pub use pace::{CHECKPOINTS, Checkpoint, Pace};
pub use posts::{PostNumbers, PostNumbersPage, PostsQuery, posts};
pub use readings::{PostReading, readings};
pub(crate) use start::{is_archived, on_connect, on_disconnect};
pub use start::{on_posts_published, prune};

use std::collections::BTreeMap;

use fanfare_core::{
    Act, Domain,
    access::PlanTier,
    error::{Code, Error, Result, out_of_range},
    page::EmptyBecause,
};
use fanfare_entities::{AccountId, WorkspaceId, account, account::AccountStatus, analytics_sync};
use fanfare_platforms::{PlatformId, analytics::Analytics, find};
use fanfare_publishing::{accounts as connections, media};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::Value;

/// Known numbers by name.
pub(crate) type Metrics = BTreeMap<String, i64>;

/// Parses the numbers of a column; numbers that cannot be parsed are left out.
pub(crate) fn parse_metrics(column: &Value) -> Metrics {
    let pairs = column.as_object().into_iter().flatten();
    pairs.filter_map(|(name, value)| Some((name.clone(), value.as_i64()?))).collect()
}

/// Returns how to read numbers from an account's network, if it has any and they are read here.
pub(crate) fn analytics_of(cx: &Domain, row: &account::Model) -> Option<&'static dyn Analytics> {
    reader_of(cx, row).filter(|network| network.has_numbers())
}

/// Returns how to look at the posts of an account, with numbers or without.
pub(crate) fn reader_of(cx: &Domain, row: &account::Model) -> Option<&'static dyn Analytics> {
    let platform: PlatformId = row.platform.parse().ok()?;
    find(platform).analytics().filter(|network| crate::settings(cx).x_metrics || !network.is_paid())
}

/// Returns the time scale of an account.
pub(crate) fn pace(cx: &Domain, row: &account::Model) -> Pace {
    Pace::new(if row.sandbox { fanfare_publishing::settings(cx).sandbox_time_factor } else { 1.0 })
}

/// Returns true if a workspace's plan includes profiles, insights and suggestions.
pub(crate) async fn includes_insights(cx: &Domain, workspace: WorkspaceId) -> Result<bool> {
    Ok(media::sizes::plan_of(cx, workspace).await? >= PlanTier::Pro)
}

/// Returns the accounts that the caller can see, or the named one, which may also be a disconnected account whose
/// numbers are kept.
async fn visible_accounts(act: &Act, id: Option<i64>) -> Result<Vec<account::Model>> {
    let Some(id) = id.map(AccountId) else { return connections::all(act).await };
    match connections::find(act, id).await {
        Ok(row) => Ok(vec![row]),
        Err(error) if error.code() == Code::AccountNotFound => {
            Ok(vec![archived(act, id).await?.ok_or(error)?])
        }
        Err(error) => Err(error),
    }
}

async fn archived(act: &Act, id: AccountId) -> Result<Option<account::Model>> {
    let conn = &act.cx.db.read;
    let kept = analytics_sync::Entity::find_by_id(id)
        .filter(analytics_sync::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(analytics_sync::Column::Archived.eq(true))
        .one(conn)
        .await?;
    if kept.is_none() {
        return Ok(None);
    }
    let row = account::Entity::find_by_id(id)
        .filter(account::Column::Status.eq(AccountStatus::Disconnected))
        .one(conn)
        .await?;
    Ok(row.filter(|row| act.membership.sees(row.brand_id)))
}

/// Returns why a list of what follows from numbers is empty; `any` is true if there is something beyond its filter.
async fn why_empty(act: &Act, any: bool) -> Result<EmptyBecause> {
    if any {
        return Ok(EmptyBecause::Filtered);
    }
    let all = connections::all(act).await?;
    Ok(if all.is_empty() {
        EmptyBecause::NoAccounts
    } else if all.iter().all(|row| analytics_of(&act.cx, row).is_none()) {
        EmptyBecause::NotMeasurable
    } else {
        EmptyBecause::NothingYet
    })
}

/// Returns the limit of a query.
fn limit(asked: Option<i64>, usual: u64, most: u64) -> Result<u64> {
    within("limit", asked, usual, 1, most)
}

/// Returns the offset of a query.
fn offset(asked: Option<i64>) -> Result<u64> {
    within("offset", asked, 0, 0, 10_000)
}

fn within(field: &str, asked: Option<i64>, usual: u64, least: u64, most: u64) -> Result<u64> {
    let Some(asked) = asked else { return Ok(usual) };
    let fitting = u64::try_from(asked).ok().filter(|asked| (least..=most).contains(asked));
    fitting.ok_or_else(|| {
        let range = least.cast_signed()..=most.cast_signed();
        Error::violation(out_of_range(field, asked, &range))
    })
}
