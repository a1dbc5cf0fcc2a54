//! Ends the connection of an account, at the owner's request or because the network revoked it.

use fanfare_core::{
    Act, Deleted, Domain, Reply, Tx,
    audit_trail::{self, Author, Change},
    error::{Code, Error, Result},
    events::NewEvent,
    troubles,
};
use fanfare_entities::{AccountId, Millis, SecretId, account, account::AccountStatus};
use fanfare_jobs::JobKind;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QuerySelect,
    sea_query::Expr,
};
use serde_json::json;

use super::{find, hooks::AccountHooks, session, shared_credentials::holders_of, visible};

/// Disconnects an account: deletes its credentials, after revoking them at networks that support it. Its posts keep the
/// data that is needed to show them, and to resume them when the same account is connected again.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn disconnect(act: &Act, id: AccountId) -> Result<Reply<Deleted>> {
    let is_last = is_last_holder(act, id).await?;
    let row = find(act, id).await?;
    for hook in act.cx.feature::<AccountHooks>() {
        hook.before_disconnect(&act.cx, &row).await;
    }
    let mut tx = act.begin().await?;
    let row =
        visible(act).filter(account::Column::Id.eq(id)).lock_exclusive().one(tx.conn()).await?;
    let absent = || Error::new(Code::AccountNotFound, format!("There is no account {id}."));
    let row = row.ok_or_else(absent)?;
    let now = act.cx.clock.now();
    // Tokens that can be revoked are kept until that succeeds, for a few attempts.
    let revoking = row.secret_id.filter(|_| is_last && can_revoke(&row));
    if let Some(secret) = row.secret_id.filter(|_| revoking.is_none()) {
        act.cx.vault.delete(tx.conn(), secret).await?;
    }
    let gone = account::ActiveModel {
        id: Set(row.id),
        status: Set(AccountStatus::Disconnected),
        secret_id: Set(None),
        revoking_id: Set(revoking),
        token_expires_at: Set(None),
        refresh_at: Set(None),
        due_at: Set(revoking.map(|_| now)),
        attempts: Set(0),
        lease_expirations: Set(0),
        fencing_token: Set(row.fencing_token + 1),
        updated_at: Set(now),
        ..Default::default()
    };
    let gone = gone.update(tx.conn()).await?;
    for hook in act.cx.feature::<AccountHooks>() {
        hook.disconnected(&act.cx, tx.conn(), &gone).await?;
    }
    if revoking.is_some() {
        tx.enqueue(JobKind::KeepAccount, gone.workspace_id, id.0, now);
    }
    let target = format!("account:{}", gone.id);
    let details = json!({"platform": gone.platform});
    audit_trail::note(tx.conn(), act, ("account_disconnected", target), details).await?;
    let message = format!("{} on {} was disconnected.", gone.username, gone.platform);
    tx.emit(event(&act.cx, &gone, message, Some(act.request_id.clone())));
    act.finish(tx, Reply::ok(&Deleted::number(id.0))).await
}

/// Records that the network no longer accepts the credentials `used` of an account. Emits one event until the account is
/// connected again. Returns false if the account has other credentials by now: it was connected again, or its tokens were
/// refreshed, while the network refused the earlier ones.
///
/// # Errors
/// The database's.
pub async fn mark_needs_reconnect(
    cx: &Domain,
    id: AccountId,
    used: Option<SecretId>,
) -> Result<bool> {
    let mut tx = Tx::begin(cx).await?;
    let row = account::Entity::find_by_id(id).lock_exclusive().one(tx.conn()).await?;
    let Some(row) = row else { return Ok(true) };
    if row.secret_id.is_some() && row.secret_id != used {
        return Ok(false);
    }
    if row.status != AccountStatus::Connected {
        return Ok(true);
    }
    let dead = account::ActiveModel {
        id: Set(row.id),
        status: Set(AccountStatus::ReconnectRequired),
        refresh_at: Set(None),
        due_at: Set(None),
        fencing_token: Set(row.fencing_token + 1),
        updated_at: Set(cx.clock.now()),
        ..Default::default()
    };
    let dead = dead.update(tx.conn()).await?;
    // A renewal that began and never ended got no answer.
    let message = match dead.refreshing_until {
        Some(until) if until < cx.clock.now() => format!(
            "The answer to a renewal of the access of {} was lost on the way, and {} takes each renewal once: connect \
             the account again.",
            dead.username, dead.platform
        ),
        _ => format!("{} no longer accepts the credentials of {}.", dead.platform, dead.username),
    };
    tx.emit(event(cx, &dead, message, None));
    let lost = Change {
        action: "account_lost",
        target: format!("account:{}", dead.id),
        workspace: Some(dead.workspace_id),
        details: json!({"platform": dead.platform}),
    };
    audit_trail::write(tx.conn(), &Author::system(&dead.platform), lost, tx.now()).await?;
    tx.commit().await?;
    fanfare_metrics::record::account_lost(crate::platforms::from_row(&dead.platform)?.as_str());
    troubles::refused_tokens(cx, &dead.platform, dead.workspace_id).await;
    Ok(true)
}

/// Returns true if no other account holds the same tokens. A revocation ends them for every account that holds them.
async fn is_last_holder(act: &Act, id: AccountId) -> Result<bool> {
    let row = find(act, id).await?;
    let Some(own) = session(&act.cx, &row).await? else { return Ok(true) };
    Ok(holders_of(&act.cx, &row, &own.secrets).await?.len() <= 1)
}

/// Returns true if the network can revoke this account's tokens.
fn can_revoke(row: &account::Model) -> bool {
    crate::platforms::from_row(&row.platform)
        .is_ok_and(|id| fanfare_platforms::find(id).can_revoke())
}

fn event(
    cx: &Domain,
    row: &account::Model,
    message: String,
    request_id: Option<String>,
) -> NewEvent {
    super::event(cx, row, "account.disconnected", message, request_id)
}

/// The number of accounts whose rows are deleted together.
pub const FEW: usize = 100;

/// Returns the accounts that were disconnected in the last week: what was kept of earlier ones is deleted, unless no
/// clean-up has run for as long.
///
/// # Errors
/// The database's.
pub async fn newly_disconnected(cx: &Domain) -> Result<Vec<AccountId>> {
    const WEEK: Millis = 7 * 24 * 3_600_000;
    let ids = account::Entity::find()
        .select_only()
        .column(account::Column::Id)
        // Written out, so that the index of disconnected accounts alone serves it.
        .filter(Expr::cust("status = 'disconnected'"))
        .filter(account::Column::UpdatedAt.gte(cx.clock.now() - WEEK));
    Ok(ids.into_tuple().all(&cx.db.read).await?)
}
