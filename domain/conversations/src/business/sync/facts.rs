//! The location's record: stores it, and requests a new reading if it is old.

use fanfare_core::{Act, Domain, Tx, error::Result};
use fanfare_entities::{
    AccountId, Millis,
    account::{self, AccountStatus},
    business_profile::{self, Column},
};
use fanfare_jobs::JobKind;
use fanfare_platforms::{self as platforms, ProfileFacts};
use fanfare_publishing::accounts;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};

use super::MINUTE;
use crate::inbox::{factor, shortened};

const STALE: Millis = 15 * MINUTE;

/// Requests a reading of a profile, if the stored one is old.
pub(in crate::business) async fn request_sync_if_stale(
    act: &Act,
    account: &account::Model,
) -> Result<()> {
    let (cx, now) = (&act.cx, act.cx.clock.now());
    let stale = shortened(STALE, factor(cx, account));
    let row = business_profile::Entity::find().filter(Column::AccountId.eq(account.id));
    let Some(row) = row.one(&cx.db.read).await? else { return Ok(()) };
    let fresh = row.synced_at.is_some_and(|at| now < at + stale);
    let soon = row.due_at.is_some_and(|due| due <= now + 1_000);
    if fresh || soon || row.lease_expirations > 0 || account.status != AccountStatus::Connected {
        return Ok(());
    }
    request_sync(cx, &row).await
}

/// Makes a profile due now.
pub(in crate::business) async fn request_sync(
    cx: &Domain,
    row: &business_profile::Model,
) -> Result<()> {
    let mut tx = Tx::begin(cx).await?;
    let now = tx.now();
    let change = business_profile::ActiveModel { due_at: Set(Some(now)), ..Default::default() };
    business_profile::Entity::update_many()
        .set(change)
        .filter(Column::Id.eq(row.id))
        .filter(Column::FencingToken.eq(row.fencing_token))
        .exec(tx.conn())
        .await?;
    tx.enqueue(JobKind::SyncBusiness, row.workspace_id, row.id.0, now);
    tx.commit().await
}

/// Returns the profile with a record of at most this age. An older record is read again, if possible.
pub(in crate::business) async fn fresh_profile(
    act: &Act,
    account: &account::Model,
    age: Millis,
) -> Result<Option<business_profile::Model>> {
    let cx = &act.cx;
    let known = super::super::profile_of(act, account.id).await?;
    let Some(row) = known else { return Ok(None) };
    let age = shortened(age, factor(cx, account));
    let is_fresh = row.facts_at.is_some_and(|at| cx.clock.now() < at + age);
    if is_fresh || account.status != AccountStatus::Connected {
        return Ok(Some(row));
    }
    let platform = fanfare_publishing::platforms::from_row(&account.platform)?;
    let business = platforms::find(platform).business_profile();
    if let (Some(business), Some(session)) = (business, accounts::session(cx, account).await?)
        && let Ok(facts) = business.profile(&session).await
    {
        store_facts(cx, account.id, facts).await?;
    }
    super::super::profile_of(act, account.id).await
}

/// Stores the location's record.
///
/// # Errors
/// The database's.
pub async fn store_facts(cx: &Domain, account: AccountId, facts: ProfileFacts) -> Result<()> {
    let change = business_profile::ActiveModel {
        location: Set(Some(facts.location)),
        verified: Set(facts.verified),
        last_post_at: Set(facts.last_post_at.map(|at| at.timestamp_millis())),
        posts_known: Set(facts.posts_known),
        facts_at: Set(Some(cx.clock.now())),
        ..Default::default()
    };
    business_profile::Entity::update_many()
        .set(change)
        .filter(Column::AccountId.eq(account))
        .exec(&cx.db.write)
        .await?;
    Ok(())
}
