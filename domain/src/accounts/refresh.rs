//! Fresh tokens for an account, got by one process at a time.

use fanfare_entities::{AccountId, Millis, SecretId, account};
use fanfare_platforms::{self as platforms, PlatformId};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, ExprTrait, QueryFilter, sea_query::Expr,
};

use super::{TABLE, plan::Plan, session::session};
use crate::{
    Domain,
    error::{Error, Result},
};

/// An exchange of tokens that takes longer than this, in ms, is given up on.
const REFRESH: Millis = 30_000;

/// What came of an exchange of tokens.
#[derive(Debug, Clone)]
pub enum Refreshed {
    /// There are fresh tokens: read the account again.
    Fresh,
    /// Another process is at it: look again in a moment.
    Elsewhere,
    /// This network's tokens cannot be exchanged.
    Impossible,
    /// The network did not give fresh ones.
    Failed(platforms::Error),
}

/// Exchanges an account's tokens, one process at a time, and counts what came of it. `used` is the secret that was found to be expired.
///
/// # Errors
/// The database's.
pub async fn refresh(
    cx: &Domain,
    platform: PlatformId,
    id: AccountId,
    used: Option<SecretId>,
) -> Result<Refreshed> {
    let outcome = exchange(cx, platform, id, used).await;
    let name = match &outcome {
        Ok(Refreshed::Fresh) => "fresh",
        Ok(Refreshed::Elsewhere) => "elsewhere",
        Ok(Refreshed::Impossible) => "impossible",
        Ok(Refreshed::Failed(_)) | Err(_) => "failed",
    };
    fanfare_metrics::record::token_refresh(platform.as_str(), name);
    outcome
}

async fn exchange(
    cx: &Domain,
    platform: PlatformId,
    id: AccountId,
    used: Option<SecretId>,
) -> Result<Refreshed> {
    let now = cx.clock.now();
    let row = account::Entity::find_by_id(id).one(&cx.db.write).await?;
    let Some(row) = row.filter(|row| row.secret_id.is_some()) else {
        return Ok(Refreshed::Impossible);
    };
    if row.secret_id != used {
        return Ok(Refreshed::Fresh);
    }
    if !take(cx, &row, now).await? {
        return Ok(Refreshed::Elsewhere);
    }
    let Some(session) = session(cx, &row).await? else { return Ok(Refreshed::Impossible) };
    let outcome = match platforms::find(platform).refresh(&session).await {
        Ok(Some(fresh)) => {
            cx.failpoint.reach("tokens_exchanged").await;
            replace(cx, &row, &session.secrets, &fresh).await?;
            return Ok(Refreshed::Fresh);
        }
        Ok(None) => Refreshed::Impossible,
        Err(error) => Refreshed::Failed(error),
    };
    free(cx, id).await?;
    Ok(outcome)
}

/// Takes the turn, if nobody has it and the tokens are still those that were looked at: whoever was first may have used
/// a refresh token that is good only once.
async fn take(cx: &Domain, row: &account::Model, now: Millis) -> Result<bool> {
    let idle =
        account::Column::RefreshingUntil.is_null().or(account::Column::RefreshingUntil.lt(now));
    let taken = account::Entity::update_many()
        .col_expr(account::Column::RefreshingUntil, Expr::value(now + REFRESH))
        .filter(account::Column::Id.eq(row.id))
        .filter(account::Column::SecretId.eq(row.secret_id))
        .filter(idle)
        .exec(&cx.db.write)
        .await?;
    Ok(taken.rows_affected == 1)
}

async fn free(cx: &Domain, id: AccountId) -> Result<()> {
    account::Entity::update_many()
        .col_expr(account::Column::RefreshingUntil, Expr::value(Option::<Millis>::None))
        .filter(account::Column::Id.eq(id))
        .exec(&cx.db.write)
        .await?;
    Ok(())
}

/// Stores fresh secrets over the old ones, with a new plan; what the network left out stays as it was. An account that
/// was connected anew or disconnected meanwhile keeps what it has.
async fn replace(
    cx: &Domain,
    row: &account::Model,
    old: &platforms::Secrets,
    fresh: &platforms::Refreshed,
) -> Result<()> {
    let mut pairs = old.to_pairs();
    pairs.extend(fresh.secrets.to_pairs().into_iter().filter(|(_, value)| !value.is_empty()));
    let plain = serde_json::to_vec(&pairs).map_err(Error::internal)?;
    let now = cx.clock.now();
    let ends_at = fresh.expires_at.map(|end| end.timestamp_millis());
    let platform = platforms::find(crate::posts::platform(&row.platform)?);
    let plan = Plan::new(platform, &platforms::Secrets::from_pairs(pairs), ends_at, now);
    let conn = cx.db.begin().await?;
    let secret = cx.vault.store(&conn, TABLE, &plain, now).await?;
    let change = account::ActiveModel {
        secret_id: Set(Some(secret)),
        refreshing_until: Set(None),
        token_expires_at: Set(ends_at),
        refresh_at: Set(plan.refresh_at),
        due_at: Set(plan.due_at),
        rung_at: Set(None),
        warned: Set(0),
        attempts: Set(0),
        laps: Set(0),
        updated_at: Set(now),
        ..Default::default()
    };
    let kept = account::Entity::update_many()
        .set(change)
        .col_expr(account::Column::Fence, Expr::col(account::Column::Fence).add(1))
        .filter(account::Column::Id.eq(row.id))
        .filter(account::Column::SecretId.eq(row.secret_id))
        .exec(&conn)
        .await?;
    if kept.rows_affected == 0 {
        return Ok(());
    }
    if let Some(old) = row.secret_id {
        cx.vault.forget(&conn, old).await?;
    }
    Ok(conn.commit().await?)
}
