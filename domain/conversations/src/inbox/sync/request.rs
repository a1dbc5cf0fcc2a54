//! Reads inboxes at a caller's request.

use fanfare_core::{Act, Reply, Tx, clock::Time, error::Result};
use fanfare_entities::{
    AccountId, Millis,
    account::{self, AccountStatus},
    inbox_sync::{self, Column},
};
use fanfare_jobs::JobKind;
use fanfare_publishing::accounts;
use schemars::JsonSchema;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::{factor, shortened};
use super::{MINUTE, on_connect};

/// An inbox is not read again at a caller's request within this time.
const COOLDOWN: Millis = MINUTE;

/// The accounts to read.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyncRequest {
    /// Only this account; left out: all that have an inbox.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// The answer to a request to read an account's inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncStatus {
    /// The account is read next.
    Queued,
    /// The account is being read.
    Running,
    /// The account was read within the last minute.
    Cooldown,
    /// The account did not grant the required permission: connect it again with all permissions.
    NeedsPermission,
    /// The account must be connected again.
    ReconnectRequired,
    /// The network has no inbox in this service.
    NotSupported,
}

/// The answer for one account.
#[derive(Debug, Serialize, JsonSchema)]
struct SyncRequested {
    account_id: AccountId,
    status: SyncStatus,
    last_synced_at: Option<Time>,
}

/// The answers for all requested accounts.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SyncRequestedList {
    sync: Vec<SyncRequested>,
}

/// Requests readings of inboxes.
///
/// # Errors
/// [`fanfare_core::Code::AccountNotFound`].
pub async fn request(act: &Act, wanted: SyncRequest) -> Result<Reply<SyncRequestedList>> {
    let accounts = match wanted.account_id {
        Some(id) => vec![accounts::find(act, AccountId(id)).await?],
        None => {
            let all = accounts::visible(act).order_by_asc(account::Column::Id);
            let mut all = all.all(&act.cx.db.read).await?;
            all.retain(|account| super::super::rules(account).is_some());
            all
        }
    };
    let mut tx = act.begin().await?;
    let mut sync = Vec::new();
    for account in &accounts {
        sync.push(request_one(act, &mut tx, account).await?);
    }
    act.finish(tx, Reply::ok(&SyncRequestedList { sync }).with_status(202)).await
}

async fn request_one(act: &Act, tx: &mut Tx, account: &account::Model) -> Result<SyncRequested> {
    let answer = |status, last: Option<Millis>| SyncRequested {
        account_id: account.id,
        status,
        last_synced_at: last.map(Time),
    };
    if super::super::rules(account).is_none() {
        return Ok(answer(SyncStatus::NotSupported, None));
    }
    if account.status != AccountStatus::Connected {
        return Ok(answer(SyncStatus::ReconnectRequired, None));
    }
    let row = inbox_sync::Entity::find()
        .filter(Column::AccountId.eq(account.id))
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    let Some(row) = row else {
        on_connect(tx.conn(), account, tx.now() - MINUTE).await?;
        return Ok(answer(SyncStatus::Queued, None));
    };
    let (now, last) = (tx.now(), row.last_synced_at);
    let cooldown = shortened(COOLDOWN, factor(&act.cx, account));
    let recent = |at: Option<Millis>| at.is_some_and(|at| now < at + cooldown);
    if row.lease_expirations > 0 {
        return Ok(answer(SyncStatus::Running, last));
    }
    if recent(last) || recent(row.asked_at) {
        let status = if row.needs_permission && row.due_at.is_none_or(|due| due > now) {
            SyncStatus::NeedsPermission
        } else {
            SyncStatus::Cooldown
        };
        return Ok(answer(status, last));
    }
    let change = inbox_sync::ActiveModel {
        asked_at: Set(Some(now)),
        due_at: Set(Some(now)),
        updated_at: Set(now),
        ..Default::default()
    };
    inbox_sync::Entity::update_many()
        .set(change)
        .filter(Column::Id.eq(row.id))
        .exec(tx.conn())
        .await?;
    tx.enqueue(JobKind::SyncInbox, row.workspace_id, row.id.0, now);
    let status =
        if row.needs_permission { SyncStatus::NeedsPermission } else { SyncStatus::Queued };
    Ok(answer(status, last))
}
