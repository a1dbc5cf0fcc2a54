//! Refreshes the tokens of an account, in one process at a time.

use std::collections::BTreeMap;

use fanfare_core::{
    Domain,
    db_retry::retry_while_unavailable,
    error::{Error, Result},
    troubles,
};
use fanfare_entities::{AccountId, Millis, SecretId, account};
use fanfare_platforms::{
    self as platforms, ErrorKind, PlatformId, RefreshedTokens, Secrets, Session,
};
use sea_orm::{
    ActiveValue::{NotSet, Set},
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, ExprTrait, QueryFilter,
    QueryOrder, QuerySelect,
    sea_query::Expr,
};

use super::{
    TABLE, ending,
    refresh_schedule::RefreshSchedule,
    session::session,
    shared_credentials::{Holder, holders_of},
};

/// A refresh that takes longer than this, in ms, is given up.
const REFRESH_TIMEOUT: Millis = 30_000;

/// The number of times that a network is asked whose answer is lost.
const TRIES: u32 = 3;

/// The longest time for which new tokens are kept while the database is away, in ms.
const KEEP_TOKENS: Millis = 300_000;

/// The result of a token refresh.
#[derive(Debug, Clone)]
pub enum RefreshOutcome {
    /// The tokens are fresh: read the account again.
    Fresh,
    /// Another process is refreshing them: check again soon.
    Elsewhere,
    /// The network's tokens cannot be refreshed.
    Impossible,
    /// The network did not return new tokens.
    Failed(platforms::Error),
    /// The network renews the tokens no more, and still takes the access token. Its owner has been warned, and it is used
    /// to its end.
    Ending(platforms::Error),
}

/// Refreshes an account's tokens, in one process at a time, and counts the outcome. `used` is the secret that turned
/// out to be expired.
///
/// # Errors
/// The database's.
pub async fn refresh(
    cx: &Domain,
    platform: PlatformId,
    id: AccountId,
    used: Option<SecretId>,
) -> Result<RefreshOutcome> {
    let outcome = exchange(cx, platform, id, used).await;
    let name = match &outcome {
        Ok(RefreshOutcome::Fresh) => "fresh",
        Ok(RefreshOutcome::Elsewhere) => "elsewhere",
        Ok(RefreshOutcome::Impossible) => "impossible",
        Ok(RefreshOutcome::Failed(_) | RefreshOutcome::Ending(_)) | Err(_) => "failed",
    };
    fanfare_metrics::record::token_refresh(platform.as_str(), name);
    outcome
}

async fn exchange(
    cx: &Domain,
    platform: PlatformId,
    id: AccountId,
    used: Option<SecretId>,
) -> Result<RefreshOutcome> {
    let now = cx.clock.now();
    let row = account::Entity::find_by_id(id).one(&cx.db.write).await?;
    let Some(row) = row.filter(|row| row.secret_id.is_some()) else {
        return Ok(RefreshOutcome::Impossible);
    };
    if row.secret_id != used {
        return Ok(RefreshOutcome::Fresh);
    }
    let Some(session) = session(cx, &row).await? else {
        return secret_replaced(cx, id, used).await;
    };
    // A refresh token that can be used once is exchanged for all accounts that hold it.
    let sharing = holders_of(cx, &row, &session.secrets).await?;
    let Some(is_unfinished) = begin_refresh(cx, &sharing, now).await? else {
        return Ok(RefreshOutcome::Elsewhere);
    };
    let (answer, is_lost) = ask(cx, platform, &session, &sharing).await?;
    match answer {
        Ok(Some(fresh)) => {
            cx.failpoint.reach("tokens_exchanged").await;
            // The network has taken the old tokens back, and nobody else knows the new ones.
            let write = || replace(cx, &sharing, &session.secrets, &fresh);
            retry_while_unavailable((&cx.clock, &cx.failpoint), KEEP_TOKENS, write).await?;
            Ok(RefreshOutcome::Fresh)
        }
        Ok(None) => {
            end_refresh(cx, &sharing, None).await?;
            Ok(RefreshOutcome::Impossible)
        }
        Err(error) => {
            let was_lost = is_lost || is_unfinished;
            failed(cx, (&row, &session), &sharing, (error, was_lost)).await
        }
    }
}

/// Asks the network for new tokens, and at once again when its answer is lost: some give the same answer to the same
/// token for a while. Returns the answer, and whether one was lost.
async fn ask(
    cx: &Domain,
    platform: PlatformId,
    session: &Session,
    sharing: &[Holder],
) -> Result<(platforms::Result<Option<RefreshedTokens>>, bool)> {
    let mut is_lost = false;
    for _ in 1..TRIES {
        let answer = platforms::find(platform).refresh(session).await;
        if !answer.as_ref().is_err_and(may_have_renewed) {
            return Ok((answer, is_lost));
        }
        is_lost = true;
        set_refreshing_until(&cx.db.write, sharing, Some(cx.clock.now() + REFRESH_TIMEOUT)).await?;
    }
    let answer = platforms::find(platform).refresh(session).await;
    is_lost |= answer.as_ref().is_err_and(may_have_renewed);
    Ok((answer, is_lost))
}

/// Returns true if the network may have renewed the tokens although it gave none.
fn may_have_renewed(error: &platforms::Error) -> bool {
    let is_fault = error.reply.as_ref().is_some_and(|reply| reply.status >= 500);
    match error.kind {
        ErrorKind::Ambiguous | ErrorKind::Server => true,
        ErrorKind::Transient => is_fault,
        _ => false,
    }
}

/// Handles an answer without tokens. If one was lost before, that is remembered with the account, and said.
async fn failed(
    cx: &Domain,
    (row, session): (&account::Model, &Session),
    sharing: &[Holder],
    (error, was_lost): (platforms::Error, bool),
) -> Result<RefreshOutcome> {
    let is_dead = matches!(
        error.kind,
        ErrorKind::Reconnect | ErrorKind::TokenExpired | ErrorKind::InvalidCredentials
    );
    let error = match is_dead && was_lost {
        true => ending::of_lost_answer(row, error),
        false => error,
    };
    let is_ending = is_dead && ending::note(cx, (row, session), sharing, &error).await?;
    end_refresh(cx, sharing, was_lost.then(|| cx.clock.now() - 1)).await?;
    if is_ending {
        return Ok(RefreshOutcome::Ending(error));
    }
    // Those of an account that is lost are counted with it.
    let refused = [
        ErrorKind::TokenExpired,
        ErrorKind::InvalidCredentials,
        ErrorKind::Misconfigured,
        ErrorKind::PermissionMissing,
        ErrorKind::Restricted,
        ErrorKind::Rejected,
    ];
    if refused.contains(&error.kind) {
        troubles::refused_tokens(cx, &row.platform, row.workspace_id).await;
    }
    Ok(RefreshOutcome::Failed(error))
}

/// Decides when the secret is gone: another process has just replaced it, or the account has none.
async fn secret_replaced(
    cx: &Domain,
    id: AccountId,
    used: Option<SecretId>,
) -> Result<RefreshOutcome> {
    let row = account::Entity::find_by_id(id).one(&cx.db.write).await?;
    let is_fresh = row.is_some_and(|row| row.secret_id.is_some() && row.secret_id != used);
    Ok(if is_fresh { RefreshOutcome::Fresh } else { RefreshOutcome::Impossible })
}

/// Reserves the refresh for this process, unless another one has it or the tokens have changed since they were read:
/// the other process may have used a refresh token that can be used once. Returns whether an earlier one got no answer.
async fn begin_refresh(cx: &Domain, sharing: &[Holder], now: Millis) -> Result<Option<bool>> {
    let tx = cx.db.begin().await?;
    let rows = account::Entity::find()
        .filter(account::Column::Id.is_in(ids(sharing)))
        .order_by_asc(account::Column::Id)
        .lock_exclusive()
        .all(&tx)
        .await?;
    let is_free = |row: &account::Model| row.refreshing_until.is_none_or(|until| until < now);
    let is_same = |(row, (seen, _)): (&account::Model, &Holder)| row.secret_id == seen.secret_id;
    let all = !sharing.is_empty() && rows.len() == sharing.len();
    if !all || !rows.iter().all(is_free) || !rows.iter().zip(sharing).all(is_same) {
        return Ok(None);
    }
    let is_unfinished = rows.iter().any(|row| row.refreshing_until.is_some());
    set_refreshing_until(&tx, sharing, Some(now + REFRESH_TIMEOUT)).await?;
    tx.commit().await?;
    Ok(Some(is_unfinished))
}

fn ids(sharing: &[Holder]) -> impl Iterator<Item = AccountId> {
    sharing.iter().map(|(row, _)| row.id)
}

/// Ends the reservation. One that ended earlier stays on the accounts: it says that its answer was lost.
async fn end_refresh(cx: &Domain, sharing: &[Holder], ended: Option<Millis>) -> Result<()> {
    set_refreshing_until(&cx.db.write, sharing, ended).await
}

async fn set_refreshing_until<C: ConnectionTrait>(
    conn: &C,
    sharing: &[Holder],
    until: Option<Millis>,
) -> Result<()> {
    account::Entity::update_many()
        .col_expr(account::Column::RefreshingUntil, Expr::value(until))
        .filter(account::Column::Id.is_in(ids(sharing)))
        .exec(conn)
        .await?;
    Ok(())
}

/// Stores the new secrets with a new refresh schedule. Values that the network left out are kept, and so are those that
/// an account has for itself alone. An account that was reconnected or disconnected meanwhile is not changed.
async fn replace(
    cx: &Domain,
    sharing: &[Holder],
    old: &Secrets,
    fresh: &RefreshedTokens,
) -> Result<()> {
    let known = old.to_pairs();
    let is_new =
        |(name, value): &(String, String)| !value.is_empty() && known.get(name) != Some(value);
    let news: Vec<_> = fresh.secrets.to_pairs().into_iter().filter(is_new).collect();
    let ends_at = fresh.expires_at.map(|end| end.timestamp_millis());
    let conn = cx.db.begin().await?;
    for (row, own) in sharing {
        let mut pairs = own.to_pairs();
        pairs.extend(news.iter().cloned());
        let moved_to = free_id(&conn, row, fresh.remote_id.as_deref()).await?;
        store_secrets(cx, &conn, row, (pairs, ends_at, moved_to)).await?;
    }
    Ok(conn.commit().await?)
}

/// Returns the id that an account has at its network by now, unless another account of ours has it.
async fn free_id<C: ConnectionTrait>(
    conn: &C,
    row: &account::Model,
    id: Option<&str>,
) -> Result<Option<String>> {
    let Some(id) = id else { return Ok(None) };
    let holder = account::Entity::find()
        .filter(account::Column::WorkspaceId.eq(row.workspace_id))
        .filter(account::Column::Platform.eq(row.platform.as_str()))
        .filter(account::Column::Sandbox.eq(row.sandbox))
        .filter(account::Column::RemoteId.eq(id))
        .one(conn)
        .await?;
    Ok(holder.is_none().then(|| id.to_owned()))
}

async fn store_secrets(
    cx: &Domain,
    conn: &DatabaseTransaction,
    row: &account::Model,
    (pairs, ends_at, moved_to): (BTreeMap<String, String>, Option<Millis>, Option<String>),
) -> Result<()> {
    let now = cx.clock.now();
    let plain = serde_json::to_vec(&pairs).map_err(Error::internal)?;
    let platform = platforms::find(crate::platforms::from_row(&row.platform)?);
    let plan = RefreshSchedule::new(platform, &Secrets::from_pairs(pairs), ends_at, now);
    let secret = cx.vault.store(conn, TABLE, &plain, now).await?;
    let change = account::ActiveModel {
        secret_id: Set(Some(secret)),
        remote_id: moved_to.map_or(NotSet, Set),
        refreshing_until: Set(None),
        token_expires_at: Set(ends_at),
        refresh_at: Set(plan.refresh_at),
        due_at: Set(plan.due_at),
        warned: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        updated_at: Set(now),
        ..Default::default()
    };
    let kept = account::Entity::update_many()
        .set(change)
        .col_expr(account::Column::FencingToken, Expr::col(account::Column::FencingToken).add(1))
        .filter(account::Column::Id.eq(row.id))
        .filter(account::Column::SecretId.eq(row.secret_id))
        .exec(conn)
        .await?;
    // No row refers to the secret that was just stored, or to the one before it.
    let unused = if kept.rows_affected == 0 { Some(secret) } else { row.secret_id };
    if let Some(unused) = unused {
        cx.vault.delete(conn, unused).await?;
    }
    Ok(())
}
