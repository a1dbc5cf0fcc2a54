//! The audit of business profiles: what is complete, current and answered. A pure function of the stored facts.

mod checks;
mod record;
#[cfg(test)]
mod tests;

use fanfare_core::{Act, Reply, clock::Time, error::Result, page::Listed};
use fanfare_entities::{
    AccountId, Millis, account, business_media, business_media::BusinessMediaStatus,
    business_profile, business_review,
};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde::Serialize;

use self::checks::checks;
use super::{LocationFilter, no_locations, selected_accounts, sync, title};

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CheckStatus {
    /// All its weight counts.
    Pass,
    /// Half its weight counts.
    Warn,
    /// None of its weight counts.
    Fail,
    /// It is not known, and is left out of the score.
    Unknown,
}

/// One check of a profile.
#[derive(Debug, Serialize, JsonSchema)]
struct Check {
    id: &'static str,
    label: &'static str,
    status: CheckStatus,
    weight: u32,
    detail: String,
    /// The call, or the place, that fixes it.
    remedy: &'static str,
}

/// The audit of one location.
#[derive(Debug, Serialize, JsonSchema)]
struct Audit {
    account_id: AccountId,
    location_id: String,
    title: String,
    /// 0 to 100; null if nothing is known.
    score: Option<u32>,
    checked_at: Option<Time>,
    checks: Vec<Check>,
}

/// The audits of locations.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct AuditList {
    audits: Vec<Audit>,
}

/// The facts of a location.
struct Facts {
    profile: Option<business_profile::Model>,
    reviews: Vec<business_review::Model>,
    media: Vec<business_media::Model>,
    now: Millis,
}

/// Shows the audits of locations, from facts that are at most an hour old.
///
/// # Errors
/// [`fanfare_core::Code::LocationNotFound`], [`fanfare_core::Code::PlatformMismatch`].
pub async fn audit(act: &Act, wanted: LocationFilter) -> Result<Reply<Listed<AuditList>>> {
    let mut audits = Vec::new();
    for account in selected_accounts(act, wanted.account_id, wanted.location_id.as_deref()).await? {
        let profile = sync::fresh_profile(act, &account, sync::HOUR).await?;
        sync::request_sync_if_stale(act, &account).await?;
        let reviews = business_review::Entity::find()
            .filter(business_review::Column::AccountId.eq(account.id))
            .all(&act.cx.db.read)
            .await?;
        let media = business_media::Entity::find()
            .filter(business_media::Column::AccountId.eq(account.id))
            .filter(business_media::Column::Status.eq(BusinessMediaStatus::Live))
            .all(&act.cx.db.read)
            .await?;
        let facts = Facts { profile, reviews, media, now: act.cx.clock.now() };
        audits.push(of(&account, &facts));
    }
    let why = if audits.is_empty() { Some(no_locations(act).await?) } else { None };
    Ok(Reply::ok(&Listed::new(AuditList { audits }, why)))
}

fn of(account: &account::Model, facts: &Facts) -> Audit {
    let checks = checks(facts);
    Audit {
        account_id: account.id,
        location_id: account.remote_id.clone(),
        title: title(facts.profile.as_ref(), account),
        score: score(&checks),
        checked_at: facts.profile.as_ref().and_then(|profile| profile.facts_at).map(Time),
        checks,
    }
}

/// Returns the score: 100 times the earned points divided by the weights, rounded half up.
fn score(checks: &[Check]) -> Option<u32> {
    let known = || checks.iter().filter(|check| check.status != CheckStatus::Unknown);
    let weights: u32 = known().map(|check| check.weight).sum();
    let halves: u32 = known()
        .map(|check| match check.status {
            CheckStatus::Pass => 2 * check.weight,
            CheckStatus::Warn => check.weight,
            CheckStatus::Fail | CheckStatus::Unknown => 0,
        })
        .sum();
    (weights > 0).then(|| (100 * halves + weights) / (2 * weights))
}
