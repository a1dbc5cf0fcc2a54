//! Webhooks from Meta's networks: each event is stored once, and applied by a worker.

use fanfare_core::{
    Domain, Tx, batches,
    durable::{self, Lease, MAX_LEASE_EXPIRATIONS},
    error::{Code, Error, Result},
};
use fanfare_entities::{
    AccountId, Millis, account, account::AccountStatus, inbound_event, inbound_event::Column,
};
use fanfare_jobs::JobKind;
use fanfare_outbound::odd_json;
use fanfare_platforms::{InboundEvent, InboundItem, PlatformId};
use fanfare_publishing::accounts;
use hmac::{Hmac, KeyInit, Mac};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, ExprTrait, QueryFilter, QueryOrder, QuerySelect, UpdateMany,
    sea_query::{Expr, OnConflict},
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::{
    store::{self, Intake},
    sync::has_inbox_plan,
};
use crate::outgoing::hash;

/// The most events of an account that are applied together.
const MAX_BATCH: u64 = 200;

/// The first delay of an event whose comment is not known yet, in ms; later ones are as long as the event is old.
const FIRST_WAIT: Millis = 5_000;

/// The age in ms at which an event stops waiting, because Meta repeats events for as long. Attempts do not count,
/// because each new comment of the account causes one.
const MAX_WAIT: Millis = 45 * 3_600_000;

/// The accounts that an event can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AccountScope {
    /// All accounts of the network.
    All,
    /// Accounts on the simulated network.
    Simulated,
}

/// Returns the text that confirms to the network that a webhook is ours.
///
/// # Errors
/// [`Code::WebhookNotVerified`] if the token is not the operator's.
pub fn challenge(cx: &Domain, mode: &str, token: &str, challenge: &str) -> Result<String> {
    let ours = crate::settings(cx).meta.verify_token.as_ref().map(ExposeSecret::expose_secret);
    let is_ours = ours.is_some_and(|ours| bool::from(ours.as_bytes().ct_eq(token.as_bytes())));
    if mode == "subscribe" && is_ours {
        return Ok(challenge.to_owned());
    }
    Err(Error::new(Code::WebhookNotVerified, "The verify token is not this service's."))
}

/// Stores the events that a network sent. Events that are already known, or are about no account of ours, are ignored.
///
/// # Errors
/// [`Code::HookSignatureInvalid`], [`Code::InvalidJson`], or the database's; then the network sends them again.
pub async fn receive(
    cx: &Domain,
    platform: PlatformId,
    body: &[u8],
    signature: &str,
) -> Result<()> {
    let reach = verify(cx, platform, body, signature)?;
    let inbox = fanfare_platforms::find(platform).inbox();
    let inbox = inbox.ok_or_else(|| Error::new(Code::PlatformNotFound, "It has no inbox."))?;
    let body: Value = odd_json::read(body)
        .map_err(|error| Error::new(Code::InvalidJson, format!("The body is no JSON: {error}.")))?;
    let mut events = inbox.read_webhook(&body);
    events.iter_mut().for_each(|event| event.item.bound());
    if events.is_empty() {
        return Ok(());
    }
    let accounts = accounts_named(cx, platform, &events, reach).await?;
    write(cx, &accounts, &events).await
}

/// Verifies the signature, before the body is parsed.
fn verify(cx: &Domain, platform: PlatformId, body: &[u8], signature: &str) -> Result<AccountScope> {
    let refused = || Error::new(Code::HookSignatureInvalid, "The signature is not the app's.");
    let hex = signature.strip_prefix("sha256=").ok_or_else(refused)?;
    let given = unhex(hex).ok_or_else(refused)?;
    if let Some(app) = fanfare_publishing::settings(cx).apps.get(&platform)
        && is_signature_of(&app.client_secret, body, &given)
    {
        return Ok(AccountScope::All);
    }
    if let Some(simulator) = &cx.settings.simulator
        && is_signature_of(&simulator.app_secret(platform)?, body, &given)
    {
        return Ok(AccountScope::Simulated);
    }
    Err(refused())
}

fn is_signature_of(secret: &SecretString, body: &[u8], given: &[u8]) -> bool {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()) else {
        return false;
    };
    mac.update(body);
    bool::from(mac.finalize().into_bytes().as_slice().ct_eq(given))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let digit = |place: usize| u8::from_str_radix(text.get(place..place + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(digit).collect()
}

async fn accounts_named(
    cx: &Domain,
    platform: PlatformId,
    events: &[InboundEvent],
    reach: AccountScope,
) -> Result<Vec<account::Model>> {
    let mut ids: Vec<&str> = events.iter().map(|event| event.account.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut query = account::Entity::find()
        .filter(account::Column::Platform.eq(platform.as_str()))
        .filter(account::Column::RemoteId.is_in(ids))
        .filter(account::Column::Status.ne(AccountStatus::Disconnected));
    if reach == AccountScope::Simulated {
        query = query.filter(account::Column::Sandbox.eq(true));
    }
    Ok(query.all(&cx.db.read).await?)
}

/// Returns the key that all deliveries of one event share. It includes the time if the same thing can happen more than
/// once: a comment that was removed may come back, and be removed again.
fn key(account: &account::Model, event: &InboundEvent) -> String {
    let is_message = matches!(event.item, InboundItem::Message(_) | InboundItem::Unsent { .. });
    let once = is_message && matches!(event.verb.as_str(), "add" | "unsend" | "remove");
    let at = if once { String::new() } else { event.at.timestamp_millis().to_string() };
    let parts = [
        account.platform.as_str(),
        &account.id.to_string(),
        &event.field,
        &event.id,
        &event.verb,
        &at,
    ];
    hash(&parts.join("\n"))
}

/// Returns the network's id of the comment that must be known before the event can be applied.
fn required_comment(item: &InboundItem) -> Option<&str> {
    match item {
        InboundItem::CommentDeleted { id, .. } | InboundItem::CommentHidden { id, .. } => Some(id),
        InboundItem::Message(_) | InboundItem::Unsent { .. } | InboundItem::Comment(_) => None,
    }
}

async fn write(cx: &Domain, accounts: &[account::Model], events: &[InboundEvent]) -> Result<()> {
    let mut tx = Tx::begin(cx).await?;
    let now = tx.now();
    let (mut rows, mut keys) = (Vec::new(), Vec::new());
    for event in events {
        for account in accounts.iter().filter(|account| account.remote_id == event.account) {
            let key = key(account, event);
            keys.push(key.clone());
            rows.push(inbound_event::ActiveModel {
                workspace_id: Set(account.workspace_id),
                account_id: Set(account.id),
                dedup_key: Set(key),
                happened_at: Set(event.at.timestamp_millis()),
                subject_hash: Set(required_comment(&event.item).map(hash)),
                item: Set(Some(json!(event.item))),
                due_at: Set(Some(now)),
                fencing_token: Set(0),
                attempts: Set(0),
                lease_expirations: Set(0),
                created_at: Set(now),
                updated_at: Set(now),
                ..Default::default()
            });
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    let known = OnConflict::column(Column::DedupKey).do_nothing().to_owned();
    for part in rows.chunks(500) {
        inbound_event::Entity::insert_many(part.to_vec())
            .on_conflict(known.clone())
            .exec_without_returning(tx.conn())
            .await?;
    }
    // One job of each account applies all of its due events. An event that waits or is held would not cause that.
    for account in accounts {
        let first = inbound_event::Entity::find()
            .filter(Column::AccountId.eq(account.id))
            .filter(Column::DueAt.lte(now))
            .order_by_asc(Column::HappenedAt)
            .order_by_asc(Column::Id)
            .limit(1)
            .one(tx.conn())
            .await?;
        if let Some(first) = first {
            tx.enqueue(JobKind::ApplyInbound, account.workspace_id, first.id.0, now);
        }
    }
    tx.commit().await
}

/// Applies an event, if it is due, together with all other due events of its account, ordered by time.
///
/// # Errors
/// The database's; then their leases expire.
pub async fn run(cx: &Domain, holder: &str, id: i64) -> Result<()> {
    let Some(row) = claim(cx, holder, &[id]).await?.into_iter().next() else { return Ok(()) };
    let mut rows = vec![row];
    let others: Vec<fanfare_entities::InboundId> = inbound_event::Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::AccountId.eq(rows[0].account_id))
        .filter(Column::DueAt.lte(cx.clock.now()))
        .order_by_asc(Column::HappenedAt)
        .order_by_asc(Column::Id)
        .limit(MAX_BATCH)
        .into_tuple()
        .all(&cx.db.write)
        .await?;
    let others: Vec<i64> = others.into_iter().map(|id| id.0).filter(|other| *other != id).collect();
    if !others.is_empty() {
        rows.extend(claim(cx, holder, &others).await?);
    }
    rows.sort_by_key(|row| (row.happened_at, row.id));
    cx.failpoint.reach("inbound_claimed").await;
    apply(cx, &rows).await
}

async fn claim(cx: &Domain, holder: &str, ids: &[i64]) -> Result<Vec<inbound_event::Model>> {
    let now = cx.clock.now();
    Ok(durable::claim(&cx.db.write, JobKind::ApplyInbound, ids, (holder, now)).await?)
}

async fn apply(cx: &Domain, rows: &[inbound_event::Model]) -> Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    let account = accounts::row(cx, first.account_id).await?;
    let account = account.filter(|account| account.status != AccountStatus::Disconnected);
    let Some(account) = account else {
        for row in rows {
            done(cx, row).await?;
        }
        return Ok(());
    };
    let live = has_inbox_plan(cx, account.workspace_id).await?;
    for row in rows {
        if let Err(error) = apply_one(cx, &account, row, Intake { live, is_listed: false }).await {
            tracing::warn!(account.id = account.id.0, %error, "an event of a network was not applied");
            if row.lease_expirations > MAX_LEASE_EXPIRATIONS || age(cx, row) >= MAX_WAIT {
                done(cx, row).await?;
            }
        }
    }
    Ok(())
}

/// Applies an event and records that, in one transaction.
async fn apply_one(
    cx: &Domain,
    account: &account::Model,
    row: &inbound_event::Model,
    how: Intake,
) -> Result<()> {
    let Some(item) = row.item.clone() else { return done(cx, row).await };
    let item: InboundItem = serde_json::from_value(item).map_err(Error::internal)?;
    let mut tx = Tx::begin(cx).await?;
    lock(&tx, account.id).await?;
    let there = store::inbound(&mut tx, account, item, row.happened_at, how).await?;
    let age = age(cx, row);
    let change = if !there && age < MAX_WAIT {
        let due_at = tx.now() + Ord::max(age, FIRST_WAIT);
        tx.enqueue(JobKind::ApplyInbound, row.workspace_id, row.id.0, due_at);
        let attempts = Set(row.attempts + 1);
        let change = inbound_event::ActiveModel { attempts, ..Default::default() };
        durable::give_back::<inbound_event::Entity>(lease(row), Some(due_at), tx.now()).set(change)
    } else {
        ended_update(row, tx.now())
    };
    let written = change.exec(tx.conn()).await?;
    if written.rows_affected == 1 {
        tx.commit().await?;
    }
    Ok(())
}

fn age(cx: &Domain, row: &inbound_event::Model) -> Millis {
    cx.clock.now() - row.created_at
}

/// Makes the events due that wait for this comment of an account, by the network's id, because it is known now.
pub(super) async fn wake(tx: &Tx, account: AccountId, comment: &str) -> Result<()> {
    let now = tx.now();
    inbound_event::Entity::update_many()
        .col_expr(Column::DueAt, Expr::value(now))
        .filter(Column::AccountId.eq(account))
        .filter(Column::SubjectHash.eq(hash(comment)))
        .filter(Column::DueAt.gt(now))
        .filter(Column::Attempts.gt(0))
        .filter(Column::LeaseExpirations.eq(0))
        .exec(tx.conn())
        .await?;
    Ok(())
}

/// Locks an account's inbox, so that one process at a time stores its messages and comments.
pub(crate) async fn lock(tx: &Tx, account: AccountId) -> Result<()> {
    use fanfare_entities::inbox_sync;
    inbox_sync::Entity::find()
        .filter(inbox_sync::Column::AccountId.eq(account))
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    Ok(())
}

/// Returns the update of an event that needs no more work; its content is deleted.
fn ended_update(row: &inbound_event::Model, now: Millis) -> UpdateMany<inbound_event::Entity> {
    let change = inbound_event::ActiveModel { item: Set(None), ..Default::default() };
    durable::give_back::<inbound_event::Entity>(lease(row), None, now).set(change)
}

async fn done(cx: &Domain, row: &inbound_event::Model) -> Result<()> {
    ended_update(row, cx.clock.now()).exec(&cx.db.write).await?;
    Ok(())
}

/// Returns the lease of an event.
#[must_use]
pub const fn lease(row: &inbound_event::Model) -> Lease {
    Lease::new(row.id.0, row.fencing_token)
}

/// Deletes events that were applied before then: the network does not repeat them any more.
///
/// # Errors
/// The database's.
pub(super) async fn prune(cx: &Domain, before: Millis) -> Result<u64> {
    let ended = Column::DueAt.is_null().and(Column::UpdatedAt.lt(before));
    batches::delete::<inbound_event::Entity>(cx, Column::UpdatedAt, ended).await
}
