//! Webhooks whose deliveries fail, and replaying those deliveries.

use fanfare_core::{
    Domain, Tx,
    db::statement,
    error::{Code, Error, Result},
    webhooks::DISABLED_BY_OWNER,
};
use fanfare_entities::{Millis, WebhookId, WorkspaceId, webhook};
use fanfare_jobs::JobKind;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect,
};
use serde::Serialize;
use serde_json::{Value, json};
use url::Url;

use super::Preview;

/// The most deliveries of one replay, oldest first.
const MAX_REPLAYED: i64 = 1_000;

/// The most webhooks that are shown.
const MAX_SHOWN: u64 = 100;

/// The most rows of a webhook that are counted, so that a webhook with a million rows is as fast as one with ten.
const MAX_COUNTED: i64 = 10_000;

/// A webhook that fails or was disabled.
#[derive(Debug, Clone, Serialize)]
pub struct FailingWebhook {
    /// Its id.
    pub id: WebhookId,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The address, without parts that may be secret.
    pub address: String,
    /// True if events are delivered to it.
    pub enabled: bool,
    /// The reason it is disabled.
    pub disabled_reason: Option<String>,
    /// The first failure since the last success.
    pub failing_since: Option<Millis>,
    /// The number of deliveries to be tried again, among the newest ones.
    pub pending: i64,
    /// The number of failed deliveries, among the newest ones.
    pub failed: i64,
    /// The HTTP status of the last attempt.
    pub last_status: Option<i32>,
    /// The error of the last attempt.
    pub last_error: Option<String>,
}

/// Returns the webhooks that fail or were disabled by failures, the longest failing first.
///
/// # Errors
/// The database's.
pub async fn list(cx: &Domain) -> Result<Vec<FailingWebhook>> {
    let rows = webhook::Entity::find()
        .filter(webhook::Column::FailingSince.is_not_null())
        .order_by_asc(webhook::Column::FailingSince)
        .limit(MAX_SHOWN)
        .all(&cx.db.read)
        .await?;
    let mut shown = Vec::with_capacity(rows.len());
    for row in rows {
        shown.push(describe(cx, row).await?);
    }
    Ok(shown)
}

async fn describe(cx: &Domain, row: webhook::Model) -> Result<FailingWebhook> {
    let conn = &cx.db.read;
    let sql = format!(
        "SELECT CAST(count(CASE WHEN status = 'pending' THEN 1 END) AS BIGINT) AS pending, \
         CAST(count(CASE WHEN status = 'failed' THEN 1 END) AS BIGINT) AS failed FROM \
         (SELECT status FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY id DESC LIMIT {MAX_COUNTED}) AS newest"
    );
    let counts = conn.query_one_raw(statement(conn, sql, [row.id.into()])).await?;
    let sql = "SELECT last_status, last_error FROM webhook_deliveries WHERE webhook_id = $1 \
               AND last_error IS NOT NULL AND last_error <> 'the webhook was disabled' \
               ORDER BY id DESC LIMIT 1";
    let last = conn.query_one_raw(statement(conn, sql, [row.id.into()])).await?;
    let number = |name: &str| -> Result<i64, DbErr> {
        counts.as_ref().map_or(Ok(0), |row| row.try_get("", name))
    };
    Ok(FailingWebhook {
        pending: number("pending")?,
        failed: number("failed")?,
        last_status: last.as_ref().map_or(Ok(None), |row| row.try_get("", "last_status"))?,
        last_error: last.as_ref().map_or(Ok(None), |row| row.try_get("", "last_error"))?,
        address: redacted_address(&row.url),
        id: row.id,
        workspace_id: row.workspace_id,
        enabled: row.enabled,
        disabled_reason: row.disabled_reason,
        failing_since: row.failing_since,
    })
}

/// Returns an address without its user, path and query, which may contain secrets.
#[must_use]
pub fn redacted_address(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return "(not an address)".to_owned() };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let more = if url.path().len() > 1 || url.query().is_some() { "…" } else { "" };
    format!("{}://{}{port}/{more}", url.scheme(), url.host_str().unwrap_or_default())
}

async fn row<C: ConnectionTrait>(conn: &C, id: WebhookId) -> Result<webhook::Model> {
    let missing = || Error::new(Code::WebhookNotFound, format!("There is no webhook {id}."));
    webhook::Entity::find_by_id(id).one(conn).await?.ok_or_else(missing)
}

/// Returns the preview of a replay.
pub(super) async fn preview(cx: &Domain, id: WebhookId) -> Result<Preview> {
    let shown = describe(cx, row(&cx.db.read, id).await?).await?;
    let mut consequences = vec![format!(
        "{} deliveries that were given up and {} that wait for their next try are sent now, oldest first, {MAX_REPLAYED} at most; each keeps its id, so a receiver \
         can tell what it has heard before.",
        shown.failed, shown.pending
    )];
    if !shown.enabled {
        consequences.push("The webhook is enabled again.".to_owned());
    }
    let question = format!("Deliver the failed events to {} again?", shown.address);
    Ok(Preview { question, consequences, rows: Vec::new() })
}

/// Makes the failed deliveries of a webhook due, and those that wait for their next attempt. Deliveries that are being
/// sent are not changed.
pub(super) async fn replay(tx: &mut Tx, id: WebhookId) -> Result<(String, Value)> {
    let now = tx.now();
    let found = row(tx.conn(), id).await?;
    if found.disabled_reason.as_deref() == Some(DISABLED_BY_OWNER) {
        let message = "Its owner disabled this webhook; only the owner can enable it.";
        return Err(Error::new(Code::InvalidTransition, message));
    }
    let again = webhook::ActiveModel {
        id: Set(id),
        enabled: Set(true),
        disabled_reason: Set(None),
        failing_since: Set(found.failing_since.filter(|_| found.enabled)),
        updated_at: Set(now),
        ..Default::default()
    };
    webhook::Entity::update(again).exec(tx.conn()).await?;
    let sql = format!(
        "UPDATE webhook_deliveries SET status = 'pending', due_at = $2, attempts = 0, lease_expirations = 0, \
         fencing_token = fencing_token + 1, updated_at = $2 WHERE id IN (SELECT id FROM webhook_deliveries \
         WHERE webhook_id = $1 AND (status = 'failed' OR status = 'pending' AND attempts > 0 \
         AND lease_expirations = 0 AND due_at > $2) ORDER BY id LIMIT {MAX_REPLAYED}) RETURNING id"
    );
    let values = [id.into(), now.into()];
    let sent = tx.conn().query_all_raw(statement(tx.conn(), sql, values)).await?;
    for row in &sent {
        tx.enqueue(JobKind::DeliverWebhook, found.workspace_id, row.try_get("", "id")?, now);
    }
    Ok((format!("Sent again: {}.", sent.len()), json!({"deliveries": sent.len()})))
}

#[cfg(test)]
mod tests {
    use super::redacted_address;

    #[test]
    fn what_may_be_secret_in_an_address_is_not_shown() {
        let shown = redacted_address(
            "https://user:pw@hooks.example.com/services/T0000/B1111/xyzsecret?t=1",
        );
        assert_eq!(shown, "https://hooks.example.com/…");
        assert_eq!(redacted_address("http://127.0.0.1:8080/s3cret"), "http://127.0.0.1:8080/…");
        assert_eq!(redacted_address("http://127.0.0.1:80"), "http://127.0.0.1/");
    }
}
