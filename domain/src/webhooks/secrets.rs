//! Signing secrets: shown once, kept encrypted, two at a time while one is being rotated.

use fanfare_entities::{Millis, WebhookId, webhook_secret};
use rand::RngExt;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, sea_query::Expr,
};

use super::{OneWebhookWithSecret, find_locked, with_secret};
use crate::{Act, Reply, Tx, error::Result};

/// The table name to which the secrets are bound.
pub(super) const TABLE: &str = "webhook_secrets";

/// The time for which the previous secret is still used, in ms.
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

/// Creates a new secret of a webhook. The previous one also signs for another day; older ones are deleted.
///
/// # Errors
/// [`crate::Code::WebhookNotFound`].
pub async fn rotate_secret(act: &Act, id: WebhookId) -> Result<Reply<OneWebhookWithSecret>> {
    let tx = act.begin().await?;
    let row = find_locked(act, &tx, id).await?;
    let now = act.cx.clock.now();
    let known = webhook_secret::Entity::find()
        .filter(webhook_secret::Column::WebhookId.eq(id))
        .order_by_desc(webhook_secret::Column::SecretId)
        .all(tx.conn())
        .await?;
    for old in known.iter().skip(1) {
        webhook_secret::Entity::delete_by_id((id, old.secret_id)).exec(tx.conn()).await?;
        act.cx.vault.delete(tx.conn(), old.secret_id).await?;
    }
    webhook_secret::Entity::update_many()
        .col_expr(webhook_secret::Column::ExpiresAt, Expr::value(now + OVERLAP))
        .filter(webhook_secret::Column::WebhookId.eq(id))
        .exec(tx.conn())
        .await?;
    let secret = add(act, &tx, id, now).await?;
    act.finish(tx, with_secret(row, secret)).await
}
