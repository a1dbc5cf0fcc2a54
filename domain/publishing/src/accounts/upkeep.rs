//! Upkeep of accounts: refreshes tokens before they expire, warns when scheduled posts will outlive a token, and revokes
//! the tokens of disconnected accounts.
//!
//! The account's row is the work; `refresh_schedule.rs` says when it is due.

use fanfare_core::{
    Domain, Tx,
    clock::to_rfc3339,
    durable::{self, MAX_LEASE_EXPIRATIONS},
    error::Result,
    events::NewEvent,
};
use fanfare_entities::{
    AccountId, Millis, account, account::AccountStatus, post, post::PostStatus,
};
use fanfare_jobs::JobKind;
use fanfare_platforms as platforms;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter,
    sea_query::Expr,
};
use serde_json::json;

use super::{
    Account, RefreshOutcome, account_event, mark_needs_reconnect, profile_picture, refresh,
    refresh_schedule::{self, RefreshSchedule, WARNINGS},
    session,
};

const MINUTE: Millis = 60_000;

/// The most attempts to revoke tokens at a network before they are only forgotten.
const MAX_REVOCATIONS: i32 = 4;

/// The delay until the next check while another process is refreshing, in ms.
const RECHECK_DELAY: Millis = 5_000;

/// Claims an account, if its upkeep is due.
///
/// # Errors
/// The database's.
pub async fn claim(cx: &Domain, holder: &str, id: AccountId) -> Result<Option<account::Model>> {
    let taken =
        durable::claim(&cx.db.write, JobKind::KeepAccount, &[id.0], (holder, cx.clock.now()))
            .await?;
    Ok(taken.into_iter().next())
}

/// Does the upkeep of a claimed account, and releases it until the next time.
///
/// # Errors
/// The database's; then the lease expires.
pub async fn run(cx: &Domain, row: account::Model) -> Result<()> {
    if row.lease_expirations > MAX_LEASE_EXPIRATIONS {
        tracing::error!(
            account.id = row.id.0,
            "an account is left alone: three workers were lost over it"
        );
        return finish(cx, &row, NextUpkeep::at(cx.clock.now() + 24 * 60 * MINUTE, &row)).await;
    }
    match row.status {
        AccountStatus::Disconnected => revoke_tokens(cx, row).await,
        AccountStatus::ReconnectRequired => finish(cx, &row, NextUpkeep::default()).await,
        AccountStatus::Connected => {
            let mut row = row;
            profile_picture::copy(cx, &mut row).await?;
            check(cx, row).await
        }
    }
}

/// The columns to write when upkeep ends.
#[derive(Debug, Clone, Copy, Default)]
struct NextUpkeep {
    due_at: Option<Millis>,
    refresh_at: Option<Millis>,
    warned: i32,
    attempts: i32,
}

impl NextUpkeep {
    /// Returns the same columns with a later time.
    const fn at(due_at: Millis, row: &account::Model) -> Self {
        let (refresh_at, warned, attempts) = (row.refresh_at, row.warned, row.attempts);
        Self { due_at: Some(due_at), refresh_at, warned, attempts }
    }
}

async fn check(cx: &Domain, row: account::Model) -> Result<()> {
    let now = cx.clock.now();
    let platform = crate::platforms::from_row(&row.platform)?;
    let Some(refresh_at) = row.refresh_at else { return warn_before_expiry(cx, &row).await };
    if now < refresh_at {
        return finish(cx, &row, NextUpkeep::at(refresh_at, &row)).await;
    }
    match refresh(cx, platform, row.id, row.secret_id).await? {
        // The process that stored the new tokens has scheduled the next refresh.
        RefreshOutcome::Fresh => Ok(()),
        // Its end is planned.
        RefreshOutcome::Ending(_) => Ok(()),
        RefreshOutcome::Elsewhere => {
            finish(cx, &row, NextUpkeep::at(now + RECHECK_DELAY, &row)).await
        }
        RefreshOutcome::Impossible => {
            let next = NextUpkeep { refresh_at: None, ..NextUpkeep::at(now, &row) };
            finish(cx, &row, next).await
        }
        RefreshOutcome::Failed(error) if error.kind == platforms::ErrorKind::Reconnect => {
            // With other credentials by now, who stored them has scheduled the next upkeep.
            mark_needs_reconnect(cx, row.id, row.secret_id).await.map(|_| ())
        }
        RefreshOutcome::Failed(error) => retry_later(cx, &row, &error).await,
    }
}

/// Schedules another attempt after a failed refresh, each after a longer delay, and warns before the tokens expire.
async fn retry_later(cx: &Domain, row: &account::Model, error: &platforms::Error) -> Result<()> {
    let now = cx.clock.now();
    let attempts = row.attempts.saturating_add(1);
    let usual = MINUTE << attempts.clamp(0, 8).unsigned_abs();
    let told = error.retry_after.and_then(|after| Millis::try_from(after.as_millis()).ok());
    let again = now + told.unwrap_or(usual).clamp(MINUTE, 6 * 60 * MINUTE);
    tracing::warn!(account.id = row.id.0, kind = ?error.kind, attempts, "tokens were not refreshed");
    let next = NextUpkeep { attempts, ..NextUpkeep::at(again, row) };
    warn(cx, row, next).await
}

/// Warns before the tokens expire, for an account that cannot be refreshed.
async fn warn_before_expiry(cx: &Domain, row: &account::Model) -> Result<()> {
    let now = cx.clock.now();
    if let Some(plan) = first_schedule(cx, row, now).await? {
        let next = NextUpkeep { refresh_at: plan.refresh_at, ..NextUpkeep::default() };
        return finish(cx, row, NextUpkeep { due_at: plan.due_at, ..next }).await;
    }
    let due_at = refresh_schedule::next_check(row.token_expires_at, now);
    warn(cx, row, NextUpkeep { due_at, ..NextUpkeep::at(now, row) }).await
}

/// Returns a schedule for an account that was connected before there were schedules.
async fn first_schedule(
    cx: &Domain,
    row: &account::Model,
    now: Millis,
) -> Result<Option<RefreshSchedule>> {
    let Some(session) = session(cx, row).await? else { return Ok(None) };
    let platform = platforms::find(crate::platforms::from_row(&row.platform)?);
    let plan = RefreshSchedule::new(platform, &session.secrets, row.token_expires_at, now);
    Ok(Some(plan).filter(|plan| plan.refresh_at.is_some()))
}

/// Warns of posts that are scheduled after the expiry, once for each of [`WARNINGS`], and releases the account.
async fn warn(cx: &Domain, row: &account::Model, next: NextUpkeep) -> Result<()> {
    let (now, stage) =
        (cx.clock.now(), refresh_schedule::warnings_due(row.token_expires_at, cx.clock.now()));
    let given = usize::try_from(row.warned).unwrap_or_default();
    let posts = match row.token_expires_at {
        Some(end) if stage > given && end > now => posts_after(cx, row.id, end).await?,
        _ => 0,
    };
    let Some((_, before)) =
        stage.checked_sub(1).and_then(|at| WARNINGS.get(at)).filter(|_| posts > 0)
    else {
        return finish(cx, row, next).await;
    };
    let mut tx = Tx::begin(cx).await?;
    let warned = i32::try_from(stage).unwrap_or_default();
    if write_next(cx, tx.conn(), row, NextUpkeep { warned, ..next }).await? {
        tx.emit(warning(cx, row, before, posts));
        tx.commit().await?;
    }
    Ok(())
}

/// Counts the posts that are scheduled for a time after the token expires.
pub(super) async fn posts_after(cx: &Domain, id: AccountId, end: Millis) -> Result<u64> {
    let posts = post::Entity::find()
        .filter(post::Column::AccountId.eq(id))
        .filter(post::Column::Status.eq(PostStatus::Scheduled))
        .filter(post::Column::ScheduledAt.gt(end));
    Ok(posts.count(&cx.db.read).await?)
}

fn warning(cx: &Domain, row: &account::Model, before: &str, posts: u64) -> NewEvent {
    let end = row.token_expires_at.map(to_rfc3339).unwrap_or_default();
    let one = if posts == 1 { "post is" } else { "posts are" };
    let data = json!({
        "account": Account::of(cx, row), "token_expires_at": end, "warning": before, "posts": posts,
    });
    let message = format!(
        "The access of {} on {} ends within {before}, at {end}, and {posts} {one} scheduled for later. Connect the account \
         again.",
        row.username, row.platform
    );
    account_event(row, ("account.token_expiring", true), &data, message)
}

/// Revokes the tokens of a disconnected account at its network, then forgets them. After the last attempt they are
/// forgotten without that.
async fn revoke_tokens(cx: &Domain, row: account::Model) -> Result<()> {
    let Some(secret) = row.revoking_id else {
        return finish(cx, &row, NextUpkeep::default()).await;
    };
    // The session of the account as it was connected.
    let before = account::Model { secret_id: Some(secret), ..row.clone() };
    let revoked = match session(cx, &before).await? {
        Some(session) => {
            platforms::find(crate::platforms::from_row(&row.platform)?).revoke(&session).await
        }
        None => Ok(false),
    };
    let attempts = row.attempts.saturating_add(1);
    if let Err(error) = revoked {
        let transient = error.kind != platforms::ErrorKind::Reconnect
            && !error.kind.is_refusal_of_the_account();
        if transient && attempts < MAX_REVOCATIONS {
            let again = cx.clock.now() + (MINUTE << attempts.unsigned_abs());
            return finish(cx, &row, NextUpkeep { attempts, ..NextUpkeep::at(again, &row) }).await;
        }
        tracing::warn!(account.id = row.id.0, kind = ?error.kind, "tokens were forgotten without being given back");
    }
    let tx = cx.db.begin().await?;
    let change = account::ActiveModel { revoking_id: Set(None), ..Default::default() };
    account::Entity::update_many()
        .set(change)
        .filter(account::Column::Id.eq(row.id))
        .filter(account::Column::RevokingId.eq(secret))
        .exec(&tx)
        .await?;
    cx.vault.delete(&tx, secret).await?;
    write_next(cx, &tx, &row, NextUpkeep::default()).await?;
    Ok(tx.commit().await?)
}

async fn finish(cx: &Domain, row: &account::Model, next: NextUpkeep) -> Result<()> {
    write_next(cx, &cx.db.write, row, next).await.map(drop)
}

/// Writes the next times. Returns false if the account was claimed or changed meanwhile.
async fn write_next<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    row: &account::Model,
    next: NextUpkeep,
) -> Result<bool> {
    let picture =
        profile_picture::due(&row.meta).filter(|_| row.status == AccountStatus::Connected);
    let change = account::ActiveModel {
        due_at: Set(next.due_at.into_iter().chain(picture).min()),
        refresh_at: Set(next.refresh_at),
        warned: Set(next.warned),
        attempts: Set(next.attempts),
        lease_expirations: Set(0),
        updated_at: Set(cx.clock.now()),
        ..Default::default()
    };
    let given = account::Entity::update_many()
        .set(change)
        .col_expr(account::Column::FencingToken, Expr::value(row.fencing_token + 1))
        .filter(account::Column::Id.eq(row.id))
        .filter(account::Column::FencingToken.eq(row.fencing_token))
        .exec(conn)
        .await?;
    Ok(given.rows_affected == 1)
}
