//! Webhook deliveries, as callers see them.

use fanfare_entities::{
    DeliveryId, WebhookId, webhook, webhook_delivery, webhook_delivery::DeliveryStatus,
};
use fanfare_jobs::JobKind;
use schemars::JsonSchema;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, ExprTrait, QueryFilter,
    QueryOrder, QuerySelect, sea_query::Expr,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::find_locked;
use crate::{
    Act, Reply,
    activity::Event,
    clock::Time,
    error::{Code, Error, Result},
    input,
    json_size::json_size,
    page::{self, Listed},
};

/// The page of a list of deliveries.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveryQuery {
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// `next_cursor` of the previous page.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Returns the deliveries of a webhook, newest first.
///
/// # Errors
/// [`Code::WebhookNotFound`].
pub async fn list_deliveries(
    act: &Act,
    id: WebhookId,
    page: DeliveryQuery,
) -> Result<Reply<Listed<DeliveryPage>>> {
    let db = &act.cx.db.read;
    let limit = input::limit(page.limit)?;
    let hook = webhook::Entity::find_by_id(id)
        .filter(webhook::Column::WorkspaceId.eq(act.membership.workspace_id))
        .one(db)
        .await?;
    if hook.is_none() {
        return Err(Error::new(Code::WebhookNotFound, "There is no such webhook."));
    }
    let cursor = input::cursor::<i64>(page.cursor.as_deref())?;
    let all = webhook_delivery::Entity::find().filter(webhook_delivery::Column::WebhookId.eq(id));
    let from = |last: Option<&webhook_delivery::Model>| {
        let query = all.clone().order_by_desc(webhook_delivery::Column::Id);
        let below = last.map(|row| row.id.0).or(cursor);
        below.map_or(query.clone(), |below| query.filter(webhook_delivery::Column::Id.lt(below)))
    };
    let page = page::read(db, limit, from, |row| json_size(&row.last_error) + 500).await?;
    let next_cursor = page.next(|row| row.id.to_string());
    let why = page::why_empty(db, (page.rows.is_empty(), cursor.is_some()), all.clone()).await?;
    let deliveries = page.rows.into_iter().map(WebhookDelivery::of).collect();
    Ok(Reply::ok(&Listed::new(DeliveryPage { deliveries, next_cursor }, why)))
}

/// Delivers an event again, now; the delivery keeps its id.
///
/// # Errors
/// [`Code::DeliveryNotFound`].
pub async fn redeliver(act: &Act, id: WebhookId, delivery: Uuid) -> Result<Reply<OneDelivery>> {
    let mut tx = act.begin().await?;
    find_locked(act, &tx, id).await?;
    let row = webhook_delivery::Entity::find()
        .filter(webhook_delivery::Column::WebhookId.eq(id))
        .filter(webhook_delivery::Column::Uid.eq(delivery))
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    let missing = || Error::new(Code::DeliveryNotFound, "There is no such delivery.");
    let row = row.ok_or_else(missing)?;
    let now = act.cx.clock.now();
    let again = webhook_delivery::ActiveModel {
        id: Set(row.id),
        status: Set(DeliveryStatus::Pending),
        attempts: Set(0),
        lease_expirations: Set(0),
        fencing_token: Set(row.fencing_token + 1),
        due_at: Set(Some(now)),
        updated_at: Set(now),
        ..Default::default()
    };
    let again = again.update(tx.conn()).await?;
    tx.enqueue(JobKind::DeliverWebhook, again.workspace_id, again.id.0, now);
    act.finish(tx, accepted(again)).await
}

/// A request to deliver failed events again.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedeliverFailed {
    /// Only deliveries that were made at this time or later; RFC 3339 with an offset.
    #[schemars(length(max = 100))]
    pub since: String,
}

/// The deliveries that are sent again.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RedeliveredFailed {
    /// Their number.
    redelivered: u64,
    /// True if there are more: send the request again once these are delivered.
    has_more: bool,
}

/// The most deliveries of one request.
const MOST: u64 = 1_000;

/// Delivers all failed events since a time again, oldest first; each delivery keeps its id.
///
/// # Errors
/// [`Code::WebhookNotFound`], [`Code::InvalidTransition`] if the webhook is disabled, or an invalid time.
pub async fn redeliver_failed(
    act: &Act,
    id: WebhookId,
    asked: RedeliverFailed,
) -> Result<Reply<RedeliveredFailed>> {
    let since = input::time("since", &asked.since, None)?;
    let mut tx = act.begin().await?;
    let hook = find_locked(act, &tx, id).await?;
    if !hook.enabled {
        let message = "The webhook is disabled: enable it first.";
        return Err(Error::new(Code::InvalidTransition, message).with_state("disabled", &[]));
    }
    let now = act.cx.clock.now();
    let failed = webhook_delivery::Entity::find()
        .select_only()
        .column(webhook_delivery::Column::Id)
        .filter(webhook_delivery::Column::WebhookId.eq(id))
        .filter(webhook_delivery::Column::Status.eq(DeliveryStatus::Failed))
        .filter(webhook_delivery::Column::CreatedAt.gte(since))
        .order_by_asc(webhook_delivery::Column::Id)
        .limit(MOST + 1)
        .lock_exclusive();
    let mut failed: Vec<DeliveryId> = failed.into_tuple().all(tx.conn()).await?;
    let has_more = failed.len() as u64 > MOST;
    failed.truncate(MOST as usize);
    let fencing_token = Expr::col(webhook_delivery::Column::FencingToken).add(1);
    webhook_delivery::Entity::update_many()
        .col_expr(webhook_delivery::Column::Status, Expr::value(DeliveryStatus::Pending))
        .col_expr(webhook_delivery::Column::Attempts, Expr::value(0))
        .col_expr(webhook_delivery::Column::LeaseExpirations, Expr::value(0))
        .col_expr(webhook_delivery::Column::FencingToken, fencing_token)
        .col_expr(webhook_delivery::Column::DueAt, Expr::value(now))
        .col_expr(webhook_delivery::Column::UpdatedAt, Expr::value(now))
        .filter(webhook_delivery::Column::Id.is_in(failed.iter().copied()))
        .exec(tx.conn())
        .await?;
    for delivery in &failed {
        tx.enqueue(JobKind::DeliverWebhook, hook.workspace_id, delivery.0, now);
    }
    let redelivered = failed.len() as u64;
    let reply = Reply::ok(&RedeliveredFailed { redelivered, has_more }).with_status(202);
    act.finish(tx, reply).await
}

/// Sends a `webhook.test` delivery.
///
/// # Errors
/// [`Code::WebhookNotFound`].
pub async fn send_test(act: &Act, id: WebhookId) -> Result<Reply<OneDelivery>> {
    let mut tx = act.begin().await?;
    let hook = find_locked(act, &tx, id).await?;
    let (event_id, now) = (Uuid::now_v7(), act.cx.clock.now());
    let data = json!({"webhook": {"id": hook.id, "url": hook.url}});
    let body = json!(Event::test(event_id, now, hook.workspace_id, data));
    let row = webhook_delivery::ActiveModel {
        uid: Set(Uuid::now_v7()),
        workspace_id: Set(hook.workspace_id),
        webhook_id: Set(hook.id),
        event_id: Set(event_id),
        event_type: Set("webhook.test".to_owned()),
        body: Set(Some(body)),
        status: Set(if hook.enabled { DeliveryStatus::Pending } else { DeliveryStatus::Failed }),
        due_at: Set(hook.enabled.then_some(now)),
        last_error: Set((!hook.enabled).then(|| "the webhook was disabled".to_owned())),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let row = row.insert(tx.conn()).await?;
    if let Some(due_at) = row.due_at {
        tx.enqueue(JobKind::DeliverWebhook, row.workspace_id, row.id.0, due_at);
    }
    act.finish(tx, accepted(row)).await
}

fn accepted(row: webhook_delivery::Model) -> Reply<OneDelivery> {
    Reply::ok(&OneDelivery { delivery: WebhookDelivery::of(row) }).with_status(202)
}

/// The delivery of an event to a webhook.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct WebhookDelivery {
    /// The same for all attempts.
    pub id: Uuid,
    pub event_id: Uuid,
    pub event_type: String,
    pub status: DeliveryStatus,
    /// The number of attempts so far.
    pub tries: i32,
    /// The time of the next attempt.
    pub next_try_at: Option<Time>,
    /// The HTTP status of the last answer.
    pub last_status: Option<i32>,
    /// The last error.
    pub last_error: Option<String>,
    pub created_at: Time,
}

/// One delivery.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneDelivery {
    delivery: WebhookDelivery,
}

/// A page of deliveries.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct DeliveryPage {
    pub deliveries: Vec<WebhookDelivery>,
    /// The cursor of the next page; null on the last one.
    pub next_cursor: Option<String>,
}

impl WebhookDelivery {
    fn of(row: webhook_delivery::Model) -> Self {
        let pending = row.status == DeliveryStatus::Pending;
        Self {
            id: row.uid,
            event_id: row.event_id,
            event_type: row.event_type,
            status: row.status,
            tries: row.attempts,
            next_try_at: row.due_at.filter(|_| pending).map(Time),
            last_status: row.last_status,
            last_error: row.last_error,
            created_at: Time(row.created_at),
        }
    }
}
