//! The wallet and its ledger as replies show them.

use std::time::Duration;

use fanfare_core::{
    Act, Domain, Reply,
    access::{PlanTier, Role},
    clock::Time,
    error::{Code, Error, Result},
    input,
    page::{self, Listed},
    webhooks::DeliveryQuery,
};
use fanfare_entities::{
    CreditEntryId, KeyId, Millis, UserId, WorkspaceId,
    billing_subscription::BillingStatus,
    credit_entry,
    credit_entry::{EntryKind, Pool},
    credit_reservation,
    credit_reservation::ReservationStatus,
    credit_wallet, workspace,
};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};

use super::{grants, payer, store};
use crate::billing::subscriptions;

/// The longest wait for a wallet.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The `Retry-After` for a wallet that could not be read, in seconds.
const RETRY_AFTER: u64 = 5;

/// The credits of a workspace's billing owner, shared by all its members.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Wallet {
    /// Credits that can be spent now: `included.remaining` and `purchased_balance`.
    pub available: i64,
    pub included: IncludedCredits,
    /// Purchased credits. They never expire.
    pub purchased_balance: i64,
    /// Reserved credits of operations in progress; they are in neither pool.
    pub reserved: i64,
    /// The workspace's plan; null without one.
    pub plan_tier: Option<PlanTier>,
    /// The time at which the included credits expire and are renewed; null while nothing grants them.
    pub resets_at: Option<Time>,
    pub workspace: WalletWorkspace,
}

/// The included credits of the current period.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct IncludedCredits {
    /// Credits that the plan grants for the period.
    pub allowance: i64,
    /// Credits of it that were spent.
    pub used: i64,
    /// Credits of it that are left.
    pub remaining: i64,
}

/// The workspace that the request is about.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct WalletWorkspace {
    pub id: WorkspaceId,
    /// Name for people.
    pub name: String,
    /// The caller's role there.
    pub role: Role,
}

/// A wallet.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct OneWallet {
    pub wallet: Wallet,
}

/// A change of a wallet.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct CreditEntry {
    pub id: CreditEntryId,
    /// The reason for the change.
    pub kind: EntryKind,
    /// The pool that changed.
    pub pool: Pool,
    /// The change of the pool, in credits.
    pub amount: i64,
    /// The pool's balance after it.
    pub balance: i64,
    /// The workspace of the operation; null for what concerns the whole wallet.
    pub workspace_id: Option<WorkspaceId>,
    /// The operation that the credits were reserved for.
    pub operation: Option<String>,
    /// The key that the operation was asked for with, or the grant of a tool; null for people at pages.
    pub key_id: Option<KeyId>,
    /// The `reference` of the request.
    pub reference: Option<String>,
    /// The period of a grant, or the payment of a pack; null for everybody but the payer.
    pub r#ref: Option<String>,
    pub created_at: Time,
}

/// Changes of a wallet, newest first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct EntryPage {
    pub ledger: Vec<CreditEntry>,
    /// The cursor of the next page; null on the last one.
    pub next_cursor: Option<String>,
}

/// Shows the wallet that pays for the membership's workspace.
///
/// # Errors
/// [`Code::WalletUnavailable`] if it cannot be read within two seconds.
pub async fn show(act: &Act) -> Result<Reply<OneWallet>> {
    let wallet = with_timeout(async {
        let found = workspace::Entity::find_by_id(act.membership.workspace_id);
        let found = found.one(&act.cx.db.read).await?;
        let place = found.ok_or_else(|| Error::internal("a workspace with members is gone"))?;
        let row = wallet_of(&act.cx, place.owner_id).await?;
        let plan_tier = plan(act, place.owner_id).await?;
        Ok(wallet_view(act, row, plan_tier, place))
    });
    Ok(Reply::ok(&OneWallet { wallet: wallet.await? }))
}

/// Returns the workspace whose operations alone the caller sees; `None` for the payer, whose credential reaches all.
pub(super) fn seen_workspace(act: &Act, payer: UserId) -> Option<WorkspaceId> {
    let is_payer = act.caller.user_id == payer && act.caller.key_workspace.is_none();
    (!is_payer).then_some(act.membership.workspace_id)
}

/// Shows the ledger of the wallet that pays for the membership's workspace, newest first: the payer sees all of it,
/// everybody else the operations of the workspace, and what concerns the whole wallet.
///
/// # Errors
/// An invalid query, or [`Code::WalletUnavailable`].
pub async fn ledger(act: &Act, part: DeliveryQuery) -> Result<Reply<Listed<EntryPage>>> {
    let limit = input::limit(part.limit)?;
    let cursor = input::cursor::<i64>(part.cursor.as_deref())?.map(CreditEntryId);
    let page = with_timeout(async {
        let person = payer(&act.cx.db.read, act.membership.workspace_id).await?;
        let seen = seen_workspace(act, person);
        let mut lines = credit_entry::Entity::find()
            .filter(credit_entry::Column::UserId.eq(person))
            .order_by_desc(credit_entry::Column::Id);
        if let Some(workspace) = seen {
            let theirs = Condition::any()
                .add(credit_entry::Column::WorkspaceId.eq(workspace))
                .add(credit_entry::Column::Operation.is_null());
            lines = lines.filter(theirs);
        }
        let from = |last: Option<&credit_entry::Model>| {
            let lines = lines.clone();
            let below = last.map(|row| row.id).or(cursor);
            below.map_or(lines.clone(), |id| lines.filter(credit_entry::Column::Id.lt(id)))
        };
        let page = page::read(&act.cx.db.read, limit, from, |_| 400).await?;
        let place = (page.rows.is_empty(), cursor.is_some());
        let why = page::why_empty(&act.cx.db.read, place, lines.clone()).await?;
        Ok((page, seen, why))
    });
    let (page, seen, why) = page.await?;
    let next_cursor = page.next(|row| row.id.to_string());
    let ledger = page.rows.into_iter().map(|row| entry(row, seen.is_none())).collect();
    Ok(Reply::ok(&Listed::new(EntryPage { ledger, next_cursor }, why)))
}

/// Credits that are reserved for an operation in progress.
#[derive(Debug, Clone)]
pub struct OpenReservation {
    /// The operation.
    pub operation: String,
    /// The number of credits.
    pub credits: i64,
    /// The time they were reserved.
    pub since: Millis,
    /// The time at which they are refunded if the operation has not ended by then.
    pub until: Millis,
}

/// Lists the open reservations of the wallet that pays for the membership's workspace, the newest 100: the payer sees
/// all of them, everybody else those of the workspace.
///
/// # Errors
/// [`Code::WalletUnavailable`] if they cannot be read within two seconds.
pub async fn reservations(act: &Act) -> Result<Vec<OpenReservation>> {
    with_timeout(async {
        let person = payer(&act.cx.db.read, act.membership.workspace_id).await?;
        let mut open = credit_reservation::Entity::find()
            .filter(credit_reservation::Column::UserId.eq(person));
        if let Some(workspace) = seen_workspace(act, person) {
            open = open.filter(credit_reservation::Column::WorkspaceId.eq(workspace));
        }
        let open = open
            .filter(credit_reservation::Column::Status.eq(ReservationStatus::Open))
            .order_by_desc(credit_reservation::Column::CreatedAt)
            .limit(100)
            .all(&act.cx.db.read)
            .await?;
        let shown = |row: credit_reservation::Model| OpenReservation {
            operation: row.operation,
            credits: row.included + row.purchased,
            since: row.created_at,
            until: row.expires_at,
        };
        Ok(open.into_iter().map(shown).collect())
    })
    .await
}

/// Returns how many credits can be spent now in a workspace.
///
/// # Errors
/// [`Code::WalletUnavailable`] if it cannot be read within two seconds.
pub async fn available(cx: &Domain, id: WorkspaceId) -> Result<i64> {
    with_timeout(async {
        let row = wallet_of(cx, payer(&cx.db.read, id).await?).await?;
        Ok(row.included + row.purchased)
    })
    .await
}

/// Returns a user's wallet, brought up to date.
///
/// # Errors
/// The database's.
pub async fn wallet_of(cx: &Domain, person: UserId) -> Result<credit_wallet::Model> {
    if let Some(row) = grants::current(cx, person).await? {
        return Ok(row);
    }
    grants::update(cx, person).await?;
    let row = store::read(&cx.db.write, person).await?;
    row.ok_or_else(|| Error::internal("a wallet that was made is gone"))
}

/// Runs a read of the wallet with a timeout, so that no caller waits long.
pub(super) async fn with_timeout<T>(read: impl Future<Output = Result<T>>) -> Result<T> {
    let unreadable = || {
        let message = "The wallet cannot be read right now.";
        Error::new(Code::WalletUnavailable, message).with_retry_after(RETRY_AFTER)
    };
    match tokio::time::timeout(TIMEOUT, read).await {
        Err(_) => Err(unreadable()),
        Ok(Err(error)) if error.status() >= 500 => Err(unreadable()),
        Ok(outcome) => outcome,
    }
}

/// Returns the workspace's plan, also while a subscription is paused.
async fn plan(act: &Act, owner: UserId) -> Result<Option<PlanTier>> {
    let place = &act.membership;
    if place.active {
        return Ok(Some(place.plan));
    }
    let live = subscriptions::live(&act.cx.db.read, owner).await?;
    let paused = live.filter(|row| row.status == BillingStatus::Paused);
    Ok(paused.map(|row| row.plan_tier))
}

fn wallet_view(
    act: &Act,
    row: credit_wallet::Model,
    plan_tier: Option<PlanTier>,
    place: workspace::Model,
) -> Wallet {
    Wallet {
        available: row.included + row.purchased,
        included: IncludedCredits {
            allowance: row.allowance,
            used: (row.allowance - row.included - row.included_held).max(0),
            remaining: row.included,
        },
        purchased_balance: row.purchased,
        reserved: row.held,
        plan_tier,
        resets_at: row.period.map(|_| Time(row.period_end)),
        workspace: WalletWorkspace { id: place.id, name: place.name, role: act.membership.role },
    }
}

fn entry(row: credit_entry::Model, is_for_payer: bool) -> CreditEntry {
    CreditEntry {
        id: row.id,
        kind: row.kind,
        pool: row.pool,
        amount: row.amount,
        balance: row.balance,
        workspace_id: row.workspace_id,
        operation: row.operation,
        key_id: row.key_id,
        reference: row.caller_reference,
        r#ref: row.reference.filter(|_| is_for_payer),
        created_at: Time(row.created_at),
    }
}
