//! Signing secrets: shown once, kept encrypted, several at a time while one is being rotated.

use fanfare_entities::{Millis, WebhookId, webhook_secret};
use rand::RngExt;
use schemars::JsonSchema;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, Select, sea_query::Expr};
use serde::Serialize;
use serde_json::json;

use super::{OneWebhookWithSecret, find_locked, note, with_secret};
use crate::{
    Act, Reply, Tx,
    error::{Code, Error, Result},
};

/// The table name to which the secrets are bound.
pub(super) const TABLE: &str = "webhook_secrets";

/// The most secrets of a webhook: each signs every delivery.
const MOST: usize = 10;

/// The time for which a secret is still used after the next one was made, in ms.
const OVERLAP: Millis = 24 * 3_600_000;

const DIGITS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn generate() -> String {
    let mut rng = rand::rng();
    let random: String =
        (0..32).map(|_| char::from(DIGITS[rng.random_range(0..DIGITS.len())])).collect();
    format!("whsec_{random}")
}

/// Creates a new secret of a webhook.
pub(super) async fn add(act: &Act, tx: &Tx, id: WebhookId, now: Millis) -> Result<String> {
    let secret = generate();
    let stored = act.cx.vault.store(tx.conn(), TABLE, secret.as_bytes(), now).await?;
    let row = webhook_secret::ActiveModel {
        webhook_id: Set(id),
        secret_id: Set(stored),
        expires_at: Set(None),
        created_at: Set(now),
    };
    webhook_secret::Entity::insert(row).exec_without_returning(tx.conn()).await?;
    Ok(secret)
}

/// Creates a new secret of a webhook. Each earlier one also signs for a day after the next one was made.
///
/// # Errors
/// [`Code::WebhookNotFound`], or [`Code::SecretLimit`].
pub async fn rotate_secret(act: &Act, id: WebhookId) -> Result<Reply<OneWebhookWithSecret>> {
    let tx = act.begin().await?;
    let row = find_locked(act, &tx, id).await?;
    let now = act.cx.clock.now();
    delete(act, &tx, own(id).filter(webhook_secret::Column::ExpiresAt.lte(now))).await?;
    require_room(own(id).all(tx.conn()).await?, now)?;
    webhook_secret::Entity::update_many()
        .col_expr(webhook_secret::Column::ExpiresAt, Expr::value(now + OVERLAP))
        .filter(webhook_secret::Column::WebhookId.eq(id))
        .filter(webhook_secret::Column::ExpiresAt.is_null())
        .exec(tx.conn())
        .await?;
    let secret = add(act, &tx, id, now).await?;
    note(act, &tx, ("webhook_secret_rotated", id), json!({})).await?;
    act.finish(tx, with_secret(row, secret)).await
}

/// Ends all secrets of a webhook but the newest, at once.
///
/// # Errors
/// [`Code::WebhookNotFound`].
pub async fn end_earlier_secrets(act: &Act, id: WebhookId) -> Result<Reply<SecretsEnded>> {
    let tx = act.begin().await?;
    find_locked(act, &tx, id).await?;
    let earlier = own(id).filter(webhook_secret::Column::ExpiresAt.is_not_null());
    let ended = delete(act, &tx, earlier).await?;
    note(act, &tx, ("webhook_secrets_ended", id), json!({"ended": ended})).await?;
    act.finish(tx, Reply::ok(&SecretsEnded { deleted: true, id, ended })).await
}

/// The secrets that were ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SecretsEnded {
    /// Always true.
    deleted: bool,
    /// The webhook.
    id: WebhookId,
    /// The number of secrets that signed until now.
    ended: usize,
}

fn own(id: WebhookId) -> Select<webhook_secret::Entity> {
    webhook_secret::Entity::find().filter(webhook_secret::Column::WebhookId.eq(id))
}

async fn delete(act: &Act, tx: &Tx, secrets: Select<webhook_secret::Entity>) -> Result<usize> {
    let secrets = secrets.all(tx.conn()).await?;
    for row in &secrets {
        let key = (row.webhook_id, row.secret_id);
        webhook_secret::Entity::delete_by_id(key).exec(tx.conn()).await?;
        act.cx.vault.delete(tx.conn(), row.secret_id).await?;
    }
    Ok(secrets.len())
}

/// Fails if a webhook has as many secrets as may sign each delivery.
fn require_room(alive: Vec<webhook_secret::Model>, now: Millis) -> Result<()> {
    if alive.len() < MOST {
        return Ok(());
    }
    let first = alive.iter().filter_map(|row| row.expires_at).min().unwrap_or(now);
    let seconds = u64::try_from(first - now).unwrap_or_default().div_ceil(1_000);
    let message = format!("The webhook has {MOST} secrets that are still used.");
    Err(Error::new(Code::SecretLimit, message).with_retry_after(seconds.max(1)))
}
