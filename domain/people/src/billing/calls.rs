//! Calls of Stripe. A call that changes something is recorded first, encrypted because it can contain addresses and
//! links; the id of its row is the idempotency key. Repeated for the same purpose it is the same call, and once
//! answered it is not made again.

use fanfare_core::{
    Domain, batches,
    error::{Error, Result},
};
use fanfare_entities::{Millis, SecretId, stripe_call, stripe_call::Column};
use fanfare_payments::{List, Request};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, QueryFilter,
    sea_query::{Expr, IntoCondition, OnConflict},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use uuid::Uuid;

use super::stripe_error;

/// The table to which the secrets are bound.
const TABLE: &str = "stripe_calls";

/// Makes the call for `purpose`, once, and returns Stripe's response.
///
/// # Errors
/// [`fanfare_core::Code::Unavailable`] if Stripe does not answer; then the same call can be made again.
pub async fn call<T: DeserializeOwned>(cx: &Domain, purpose: &str, request: &Request) -> Result<T> {
    let stripe = &crate::settings(cx).require_billing()?.stripe;
    let row = recorded_call(cx, purpose, request).await?;
    if let Some(reply) = row.reply_id {
        return unseal(cx, reply).await;
    }
    let request: Request = unseal(cx, row.request_id).await?;
    cx.failpoint.reach("stripe_call_written").await;
    let answered: Result<Value, _> = stripe.send(&request, Some(&row.id.to_string())).await;
    cx.failpoint.reach("stripe_call_made").await;
    let reply = answered.map_err(|failure| stripe_error(&failure))?;
    store_reply(cx, row.id, &reply).await?;
    serde_json::from_value(reply).map_err(Error::internal)
}

/// Returns true if a call for `purpose` was recorded.
///
/// # Errors
/// The database's.
pub(super) async fn is_recorded(cx: &Domain, purpose: &str) -> Result<bool> {
    let known = stripe_call::Entity::find().filter(Column::DedupKey.eq(purpose));
    Ok(known.one(&cx.db.write).await?.is_some())
}

/// Returns true if a call was recorded whose purpose matches the SQL pattern `purposes`.
///
/// # Errors
/// The database's.
pub(super) async fn is_any_recorded(cx: &Domain, purposes: &str) -> Result<bool> {
    let known = stripe_call::Entity::find().filter(Column::DedupKey.like(purposes));
    Ok(known.one(&cx.db.write).await?.is_some())
}

/// Reads an object at Stripe.
///
/// # Errors
/// [`fanfare_core::Code::Unavailable`] if Stripe does not answer.
pub async fn read<T: DeserializeOwned>(cx: &Domain, path: &str) -> Result<T> {
    let stripe = &crate::settings(cx).require_billing()?.stripe;
    stripe.read(&Request::get(path)).await.map_err(|failure| stripe_error(&failure))
}

/// Reads a list at Stripe.
///
/// # Errors
/// [`fanfare_core::Code::Unavailable`] if Stripe does not answer.
pub async fn list<T: DeserializeOwned>(cx: &Domain, request: &Request) -> Result<List<T>> {
    let stripe = &crate::settings(cx).require_billing()?.stripe;
    stripe.read(request).await.map_err(|failure| stripe_error(&failure))
}

async fn recorded_call(
    cx: &Domain,
    purpose: &str,
    request: &Request,
) -> Result<stripe_call::Model> {
    let by_purpose = || stripe_call::Entity::find().filter(Column::DedupKey.eq(purpose));
    if let Some(known) = by_purpose().one(&cx.db.write).await? {
        return Ok(known);
    }
    let tx = cx.db.begin().await?;
    let sealed = seal(cx, &tx, request).await?;
    let row = stripe_call::ActiveModel {
        id: Set(Uuid::now_v7()),
        dedup_key: Set(purpose.to_owned()),
        request_id: Set(sealed),
        reply_id: Set(None),
        created_at: Set(cx.clock.now()),
    };
    let known = OnConflict::column(Column::DedupKey).do_nothing().to_owned();
    let made = stripe_call::Entity::insert(row).on_conflict(known).exec_without_returning(&tx);
    if made.await? == 0 {
        tx.rollback().await?;
    } else {
        tx.commit().await?;
    }
    let row = by_purpose().one(&cx.db.write).await?;
    row.ok_or_else(|| Error::internal("a call that was written down is gone"))
}

async fn store_reply(cx: &Domain, id: Uuid, reply: &Value) -> Result<()> {
    let tx = cx.db.begin().await?;
    let sealed = seal(cx, &tx, reply).await?;
    let kept = stripe_call::Entity::update_many()
        .col_expr(Column::ReplyId, Expr::value(sealed.0))
        .filter(Column::Id.eq(id))
        .filter(Column::ReplyId.is_null())
        .exec(&tx)
        .await?;
    if kept.rows_affected == 0 {
        tx.rollback().await?;
    } else {
        tx.commit().await?;
    }
    Ok(())
}

async fn seal<C: sea_orm::ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    what: &impl Serialize,
) -> Result<SecretId> {
    let plain = serde_json::to_vec(what).map_err(Error::internal)?;
    cx.vault.store(conn, TABLE, &plain, cx.clock.now()).await
}

async fn unseal<T: DeserializeOwned>(cx: &Domain, id: SecretId) -> Result<T> {
    let plain = cx.vault.open(&cx.db.write, TABLE, id).await?;
    let plain = plain.ok_or_else(|| Error::internal("a call that was written down was wiped"))?;
    serde_json::from_slice(&plain).map_err(Error::internal)
}

/// Deletes calls that were recorded before then: Stripe has forgotten their keys as well.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain, before: Millis) -> Result<u64> {
    let old = Column::CreatedAt.lt(before).into_condition();
    batches::repeat(|| async {
        let first = batches::first::<stripe_call::Entity>(Column::CreatedAt, &old);
        delete(cx, &first.all(&cx.db.write).await?).await
    })
    .await
}

/// Deletes the calls of a purpose that were recorded before then: the same purpose means new calls from now on.
///
/// # Errors
/// The database's.
pub(super) async fn forget(cx: &Domain, purpose: &str, before: Millis) -> Result<()> {
    let rows = stripe_call::Entity::find()
        .filter(Column::DedupKey.starts_with(format!("{purpose}:")))
        .filter(Column::CreatedAt.lt(before))
        .all(&cx.db.write)
        .await?;
    if rows.is_empty() { Ok(()) } else { delete(cx, &rows).await.map(drop) }
}

async fn delete(cx: &Domain, rows: &[stripe_call::Model]) -> Result<u64> {
    let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    let sealed = rows.iter().flat_map(|row| [Some(row.request_id), row.reply_id]).flatten();
    let sealed: Vec<SecretId> = sealed.collect();
    let tx = cx.db.begin().await?;
    batches::delete_secrets(&tx, sealed).await?;
    let gone = stripe_call::Entity::delete_many().filter(Column::Id.is_in(ids)).exec(&tx).await?;
    tx.commit().await?;
    Ok(gone.rows_affected)
}
