//! The statements of webhook delivery, each for a batch.

use std::{collections::BTreeSet, sync::Arc};

use fanfare_entities::{
    Millis, WebhookId, WorkspaceId, event, secret, webhook, webhook_delivery,
    webhook_delivery::DeliveryStatus,
};
use fanfare_jobs::JobKind;
use sea_orm::{
    ActiveEnum, ActiveModelTrait, ActiveValue::Set, ColumnTrait, Condition, ConnectionTrait, DbErr,
    EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect, Statement, sea_query::Expr,
};
use secrecy::SecretString;
use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::{disabled_event, fail_pending, secrets::TABLE};
use crate::{
    Domain, Tx,
    activity::Event,
    db::statement,
    durable::{self, Lease},
    error::{Error, Result},
    rows::{Columns, Rows, Type},
};

/// The time after which a webhook is disabled whose attempts have all failed, in ms.
const DISABLE_AFTER: Millis = 5 * 24 * 3_600_000;

/// A claimed delivery, with what is needed to make it.
#[derive(Debug, Clone)]
pub struct ClaimedDelivery {
    /// The row.
    pub delivery: webhook_delivery::Model,
    /// The webhook; absent if it was deleted.
    pub webhook: Option<webhook::Model>,
    /// The payload; absent if the event is no longer kept.
    pub body: Option<Json>,
    /// The request that caused the event.
    pub request_id: Option<String>,
    /// The secrets that sign, newest first.
    pub secrets: Vec<SecretString>,
}

/// Claims those of `ids` that are due.
///
/// # Errors
/// The database's. The rows may have been claimed nevertheless; then their leases expire.
pub async fn claim(cx: &Domain, holder: &str, ids: Vec<i64>) -> Result<Vec<ClaimedDelivery>> {
    let now = cx.clock.now();
    let taken: Vec<webhook_delivery::Model> =
        durable::claim(&cx.db.write, JobKind::DeliverWebhook, &ids, (holder, now)).await?;
    if taken.is_empty() {
        return Ok(Vec::new());
    }
    let db = &cx.db.read;
    let hooks: BTreeSet<_> = taken.iter().map(|row| row.webhook_id.0).collect();
    let query = select_by_ids(db, "webhooks", hooks.clone());
    let webhooks = async { Ok(webhook::Entity::find().from_raw_sql(query).all(db).await?) };
    let query = select_by_ids(db, "events", taken.iter().map(|row| row.event_id).collect());
    let events = async { Ok(event::Entity::find().from_raw_sql(query).all(db).await?) };
    let (webhooks, events, keys) =
        futures_util::try_join!(webhooks, events, signing_secrets(cx, hooks, now))?;
    Ok(taken
        .into_iter()
        .map(|delivery| {
            let hook = delivery.webhook_id;
            let told = events.iter().find(|event| event.id.0 == delivery.event_id);
            let mine = keys.iter().filter(|(id, _)| *id == hook);
            ClaimedDelivery {
                webhook: webhooks.iter().find(|webhook| webhook.id == hook).cloned(),
                request_id: told.and_then(|event| event.request_id.clone()),
                body: delivery.body.clone().or_else(|| told.map(payload)),
                secrets: mine.map(|(_, secret)| secret.clone()).collect(),
                delivery,
            }
        })
        .collect())
}

/// Returns an event as webhooks and `GET /events` have it.
#[must_use]
pub fn payload(row: &event::Model) -> Json {
    json!(Event::of(row.clone()))
}

/// Returns the statement for rows of a table by their ids; its text does not change with their number.
fn select_by_ids<C: ConnectionTrait>(conn: &C, table: &str, ids: BTreeSet<Uuid>) -> Statement {
    let asked = Rows::of_uuids(conn, ids);
    let from = asked.from("asked", 1);
    let sql = format!("SELECT {table}.* FROM {from} JOIN {table} ON {table}.id = asked.id");
    statement(conn, sql, asked.values())
}

/// Returns the signing secrets of these webhooks, newest first.
async fn signing_secrets(
    cx: &Domain,
    hooks: BTreeSet<Uuid>,
    now: Millis,
) -> Result<Vec<(WebhookId, SecretString)>> {
    let db = &cx.db.read;
    let asked = Rows::of_uuids(db, hooks);
    let sql = format!(
        "SELECT s.webhook_id, secrets.* FROM {} JOIN webhook_secrets AS s ON s.webhook_id = asked.id \
         JOIN secrets ON secrets.id = s.secret_id WHERE s.expires_at IS NULL OR s.expires_at > $1 \
         ORDER BY s.secret_id DESC",
        asked.from("asked", 2)
    );
    let values = std::iter::once(now.into()).chain(asked.values());
    let rows = db.query_all_raw(statement(db, sql, values)).await?;
    let mut keys = Vec::with_capacity(rows.len());
    for row in &rows {
        let secret = secret::Model::from_query_result(row, "")?;
        let plain = cx.vault.unseal(TABLE, &secret)?;
        let plain = String::from_utf8(plain).map_err(|_| Error::internal("a secret is no text"))?;
        keys.push((row.try_get("", "webhook_id")?, SecretString::from(plain)));
    }
    Ok(keys)
}

/// The result of an attempt.
#[derive(Debug, Clone)]
pub struct DeliveryOutcome {
    /// The row.
    pub lease: Lease,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The webhook.
    pub webhook_id: WebhookId,
    /// Its new status.
    pub status: DeliveryStatus,
    /// The time at which it is tried again.
    pub due_at: Option<Millis>,
    /// The number of attempts so far.
    pub attempts: i32,
    /// The HTTP status of the reply, if there was one.
    pub last_status: Option<i32>,
    /// The error.
    pub last_error: Option<String>,
    /// True if the receiver said that it is gone for good.
    pub gone: bool,
}

/// Writes the outcomes of attempts, and disables webhooks that are gone or have failed for days. Returns for each
/// whether the row was still held.
///
/// # Errors
/// The database's.
pub async fn finish(cx: &Domain, outcomes: &[Arc<DeliveryOutcome>]) -> Result<Vec<bool>> {
    const COLUMNS: Columns = &[
        ("id", Type::Big),
        ("fencing_token", Type::Big),
        ("status", Type::Text),
        ("due_at", Type::Big),
        ("attempts", Type::Int),
        ("last_status", Type::Int),
        ("last_error", Type::Text),
    ];
    let now = cx.clock.now();
    let mut tx = Tx::begin(cx).await?;
    lock_webhooks(&tx, outcomes).await?;
    let conn = tx.conn();
    let mut values = Rows::new(conn, COLUMNS);
    for one in outcomes {
        values.push([
            one.lease.id.into(),
            one.lease.fencing_token.into(),
            one.status.to_value().as_str().into(),
            one.due_at.into(),
            one.attempts.into(),
            one.last_status.into(),
            one.last_error.as_ref().into(),
        ]);
    }
    let sql = format!(
        "UPDATE webhook_deliveries AS t SET fencing_token = t.fencing_token + 1, lease_expirations = 0, \
         status = u.status, due_at = u.due_at, attempts = u.attempts, last_status = u.last_status, \
         last_error = u.last_error, updated_at = $1 FROM {} \
         WHERE t.id = u.id AND t.fencing_token = u.fencing_token RETURNING {}id",
        values.from("u", 2),
        if cx.db.is_postgres() { "t." } else { "" }
    );
    let query = statement(conn, sql, std::iter::once(now.into()).chain(values.values()));
    let written = conn.query_all_raw(query).await?;
    let written: Vec<i64> =
        written.iter().map(|row| row.try_get("", "id")).collect::<Result<_, DbErr>>()?;
    let kept = |one: &&Arc<DeliveryOutcome>| written.contains(&one.lease.id);
    update_webhooks(&mut tx, outcomes.iter().filter(kept).map(AsRef::as_ref), now).await?;
    for one in outcomes.iter().filter(kept) {
        if let Some(due_at) = one.due_at {
            tx.enqueue(JobKind::DeliverWebhook, one.workspace_id, one.lease.id, due_at);
        }
    }
    tx.commit().await?;
    Ok(outcomes.iter().map(|one| written.contains(&one.lease.id)).collect())
}

/// Locks the webhooks that [`judge`] may change, in the order of their ids and before their deliveries, because
/// disabling one changes deliveries that others are writing.
async fn lock_webhooks(tx: &Tx, outcomes: &[Arc<DeliveryOutcome>]) -> Result<()> {
    if !tx.domain().db.is_postgres() {
        return Ok(());
    }
    let failed = outcomes.iter().filter(|one| one.status != DeliveryStatus::Delivered);
    let failed: BTreeSet<_> = failed.map(|one| one.webhook_id).collect();
    let all: BTreeSet<_> = outcomes.iter().map(|one| one.webhook_id).collect();
    let may_change = Condition::any()
        .add(webhook::Column::Id.is_in(failed))
        .add(webhook::Column::FailingSince.is_not_null());
    webhook::Entity::find()
        .select_only()
        .column(webhook::Column::Id)
        .filter(webhook::Column::Id.is_in(all))
        .filter(may_change)
        .order_by_asc(webhook::Column::Id)
        .lock_exclusive()
        .into_tuple::<WebhookId>()
        .all(tx.conn())
        .await?;
    Ok(())
}

/// Records successes and failures on the webhooks; a success resets the failures before it.
async fn update_webhooks<'a>(
    tx: &mut Tx,
    outcomes: impl Iterator<Item = &'a DeliveryOutcome> + Clone,
    now: Millis,
) -> Result<()> {
    let good: BTreeSet<_> = outcomes
        .clone()
        .filter(|one| one.status == DeliveryStatus::Delivered)
        .map(|one| one.webhook_id)
        .collect();
    let bad: BTreeSet<_> =
        outcomes.clone().map(|one| one.webhook_id).filter(|id| !good.contains(id)).collect();
    let gone: BTreeSet<_> = outcomes.filter(|one| one.gone).map(|one| one.webhook_id).collect();
    if !good.is_empty() {
        webhook::Entity::update_many()
            .col_expr(webhook::Column::FailingSince, Expr::value(Option::<Millis>::None))
            .filter(webhook::Column::Id.is_in(good))
            .filter(webhook::Column::FailingSince.is_not_null())
            .exec(tx.conn())
            .await?;
    }
    for id in bad {
        let row = webhook::Entity::find_by_id(id).lock_exclusive().one(tx.conn()).await?;
        let Some(row) = row.filter(|row| row.enabled) else { continue };
        let since = row.failing_since.unwrap_or(now);
        let reason = if gone.contains(&id) {
            Some("the receiver answered 410 Gone")
        } else {
            (now - since >= DISABLE_AFTER).then_some("no delivery succeeded for five days")
        };
        let first = row.failing_since.is_none();
        if reason.is_none() && !first {
            continue;
        }
        let mut next: webhook::ActiveModel = row.into();
        next.failing_since = Set(Some(since));
        if let Some(reason) = reason {
            next.enabled = Set(false);
            next.disabled_reason = Set(Some(reason.to_owned()));
            next.updated_at = Set(now);
        }
        let row = next.update(tx.conn()).await?;
        if let Some(reason) = reason {
            fail_pending(tx.conn(), id).await?;
            tx.emit(disabled_event(&row, reason));
        }
    }
    Ok(())
}
