//! An account's way to its network: address, client, secrets.

use std::collections::BTreeMap;

use fanfare_entities::{AccountId, Millis, SecretId, account, secret};
use fanfare_platforms::{self as platforms, Account, PlatformId, Secrets, Session, oauth::App};
use sea_orm::{ColumnTrait, EntityTrait, ExprTrait, QueryFilter, sea_query::Expr};
use url::Url;

use super::TABLE;
use crate::{
    Domain,
    error::{Error, Result},
};

/// An exchange of tokens that takes longer than this, in ms, is given up on.
const REFRESH: Millis = 30_000;

/// The session of an account; `None` if it has no credentials.
///
/// # Errors
/// The database's, or the master key that closed the secret is not here.
pub async fn session(cx: &Domain, row: &account::Model) -> Result<Option<Session>> {
    let Some(id) = row.secret_id else { return Ok(None) };
    let secret = secret::Entity::find_by_id(id).one(&cx.db.read).await?;
    secret.map(|secret| session_with(cx, row, &secret)).transpose()
}

/// The session of an account whose secret was read already.
///
/// # Errors
/// The master key that closed the secret is not here.
pub fn session_with(cx: &Domain, row: &account::Model, secret: &secret::Model) -> Result<Session> {
    let plain = cx.vault.unseal(TABLE, secret)?;
    let pairs: BTreeMap<String, String> = serde_json::from_slice(&plain)
        .map_err(|_| Error::internal("stored credentials are not JSON"))?;
    let platform = crate::posts::platform(&row.platform)?;
    let mut session = anonymous(cx, platform, row.sandbox, Secrets::from_pairs(pairs))?;
    session.account = facts(row);
    Ok(session)
}

/// What is known of an account, without secrets.
#[must_use]
pub fn facts(row: &account::Model) -> Account {
    Account {
        remote_id: row.remote_id.clone(),
        username: row.username.clone(),
        meta: row.meta.as_object().cloned().unwrap_or_default(),
    }
}

/// A session that is nobody's yet.
///
/// # Errors
/// There is no simulated network here.
pub(super) fn anonymous(
    cx: &Domain,
    platform: PlatformId,
    sandbox: bool,
    secrets: Secrets,
) -> Result<Session> {
    let base = base_url(cx, platform, sandbox)?;
    let http = match &base {
        Some(base) => cx.http.trusting(std::slice::from_ref(base)),
        None => cx.http.clone(),
    };
    let http = http.counted_as(platform.as_str());
    let app = app(cx, platform, sandbox);
    Ok(Session { http, base, account: Account::default(), secrets, app, now: cx.clock.date() })
}

/// The app that speaks for us. A simulated network takes any: there the operator needs to have registered none.
pub(super) fn app(cx: &Domain, platform: PlatformId, sandbox: bool) -> Option<App> {
    let simulated = || App { client_id: "fanfare".into(), client_secret: "simulated".into() };
    if sandbox { Some(simulated()) } else { cx.settings.apps.get(&platform).cloned() }
}

fn base_url(cx: &Domain, platform: PlatformId, sandbox: bool) -> Result<Option<Url>> {
    if !sandbox {
        return Ok(cx.settings.platform_urls.get(&platform).cloned());
    }
    let root = super::sandbox::root(cx)?;
    let base = format!("{}/{platform}", root.as_str().trim_end_matches('/'));
    Url::parse(&base).map(Some).map_err(Error::internal)
}

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
    if !take(cx, id, now).await? {
        return Ok(Refreshed::Elsewhere);
    }
    let Some(session) = session(cx, &row).await? else { return Ok(Refreshed::Impossible) };
    let outcome = match platforms::find(platform).refresh(&session).await {
        Ok(Some(fresh)) => {
            replace(cx, &row, &fresh).await?;
            return Ok(Refreshed::Fresh);
        }
        Ok(None) => Refreshed::Impossible,
        Err(error) => Refreshed::Failed(error),
    };
    free(cx, id).await?;
    Ok(outcome)
}

async fn take(cx: &Domain, id: AccountId, now: Millis) -> Result<bool> {
    let idle =
        account::Column::RefreshingUntil.is_null().or(account::Column::RefreshingUntil.lt(now));
    let taken = account::Entity::update_many()
        .col_expr(account::Column::RefreshingUntil, Expr::value(now + REFRESH))
        .filter(account::Column::Id.eq(id))
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

/// Stores fresh secrets over the old ones; what the network left out stays as it was.
async fn replace(cx: &Domain, row: &account::Model, fresh: &platforms::Refreshed) -> Result<()> {
    let Some(old_session) = session(cx, row).await? else { return Ok(()) };
    let mut pairs = old_session.secrets.to_pairs();
    pairs.extend(fresh.secrets.to_pairs().into_iter().filter(|(_, value)| !value.is_empty()));
    let plain = serde_json::to_vec(&pairs).map_err(Error::internal)?;
    let now = cx.clock.now();
    let ends = fresh.expires_at.map(|end| end.timestamp_millis());
    let conn = cx.db.begin().await?;
    let secret = cx.vault.store(&conn, TABLE, &plain, now).await?;
    account::Entity::update_many()
        .col_expr(account::Column::SecretId, Expr::value(secret.0))
        .col_expr(account::Column::RefreshingUntil, Expr::value(Option::<Millis>::None))
        .col_expr(account::Column::TokenExpiresAt, Expr::value(ends))
        .col_expr(account::Column::UpdatedAt, Expr::value(now))
        .filter(account::Column::Id.eq(row.id))
        .exec(&conn)
        .await?;
    if let Some(old) = row.secret_id {
        cx.vault.forget(&conn, old).await?;
    }
    Ok(conn.commit().await?)
}
