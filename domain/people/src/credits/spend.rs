//! Spends credits: they are reserved before an operation begins, then settled or refunded exactly once.

use fanfare_core::{
    Domain, RefusalDetails,
    error::{Code, Error, Result},
};
use fanfare_entities::{
    KeyId, Millis, WorkspaceId, ai_job, credit_reservation,
    credit_reservation::{Column, Model, ReservationStatus},
};
use sea_orm::{
    ActiveEnum, ActiveValue::Set, ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter,
    QueryOrder, QuerySelect, sea_query::Expr,
};

use uuid::Uuid;

use super::{
    grants, payer,
    store::{self, Note},
    wallet::Book,
};

/// The time after which the reservation of a short operation expires, in ms.
pub const SHORT_EXPIRY: Millis = 3_600_000;

/// The time after which the reservation of a video expires, in ms.
pub const VIDEO_EXPIRY: Millis = 24 * SHORT_EXPIRY;

/// Returns the operation of a video job.
pub fn video_operation(job: Uuid) -> String {
    format!("video:{job}")
}

/// The most expired reservations to refund at once.
const BATCH: u64 = 500;

/// The operation for which credits are reserved.
#[derive(Debug, Clone, Copy)]
pub struct Spend<'a> {
    /// The workspace whose owner pays.
    pub workspace: WorkspaceId,
    /// The name of the operation. It has at most one reservation.
    pub operation: &'a str,
    /// The number of credits.
    pub credits: i64,
    /// The time after which an unsettled reservation expires: [`SHORT_EXPIRY`] or [`VIDEO_EXPIRY`].
    pub expires_after: Millis,
}

/// The caller of an operation, as the ledger names it.
#[derive(Debug, Clone, Default)]
pub struct SpentBy {
    /// The key, or the grant of a tool; `None` for people at pages.
    pub key: Option<KeyId>,
    /// The text by which the caller knows the operation.
    pub reference: Option<String>,
}

/// Reserves credits, included ones first. Repeated for the same operation it changes nothing.
///
/// # Errors
/// [`Code::InsufficientCredits`].
pub async fn reserve(cx: &Domain, tx: &DatabaseTransaction, spend: Spend<'_>) -> Result<()> {
    reserve_for(cx, tx, spend, &SpentBy::default()).await
}

/// Reserves credits for this caller.
///
/// # Errors
/// [`Code::InsufficientCredits`].
pub async fn reserve_for(
    cx: &Domain,
    tx: &DatabaseTransaction,
    spend: Spend<'_>,
    by: &SpentBy,
) -> Result<()> {
    let now = cx.clock.now();
    let person = payer(tx, spend.workspace).await?;
    let mut book = store::lock(tx, person, now).await?;
    if find(tx, spend.operation).await?.is_some() {
        return Ok(());
    }
    grants::bring_up_to_date(cx, tx, &mut book).await?;
    let available = book.wallet.included + book.wallet.purchased;
    let Some((included, purchased)) = book.reserve(spend.credits) else {
        return Err(not_enough(spend.credits, available));
    };
    let row = credit_reservation::ActiveModel {
        operation: Set(spend.operation.to_owned()),
        user_id: Set(person),
        workspace_id: Set(Some(spend.workspace)),
        included: Set(included),
        purchased: Set(purchased),
        period: Set(book.wallet.period.clone()),
        status: Set(ReservationStatus::Open),
        expires_at: Set(now + spend.expires_after),
        created_at: Set(now),
        ended_at: Set(None),
        key_id: Set(by.key),
        caller_reference: Set(by.reference.clone()),
    };
    credit_reservation::Entity::insert(row).exec_without_returning(tx).await?;
    let note = Note {
        workspace: Some(spend.workspace),
        operation: Some(spend.operation),
        reference: None,
        key: by.key,
        caller_reference: by.reference.as_deref(),
    };
    store::write(tx, &mut book, note, now).await
}

fn not_enough(needed: i64, available: i64) -> Error {
    let message = format!("This costs {needed} credits, and the wallet has {available}.");
    Error::new(Code::InsufficientCredits, message).with_details(RefusalDetails {
        required: Some(needed),
        available: Some(available),
        ..RefusalDetails::default()
    })
}

/// Pays for an operation with `spent` of its reserved credits, and returns the rest to the wallet. Returns false if it
/// was already settled or refunded.
///
/// # Errors
/// The database's, or more was spent than was reserved.
pub async fn settle(
    cx: &Domain,
    tx: &DatabaseTransaction,
    operation: &str,
    spent: i64,
) -> Result<bool> {
    end(cx, tx, operation, ReservationStatus::Settled, |book, held| {
        if !(0..=held.included + held.purchased).contains(&spent) {
            return Err(Error::internal("more credits were spent than were reserved"));
        }
        book.settle(held, spent);
        Ok(())
    })
    .await
}

/// Pays for what the transaction delivers. As [`settle`], but nothing is delivered whose credits went back before.
///
/// # Errors
/// The reservation has ended, or the database's.
pub async fn pay(cx: &Domain, tx: &DatabaseTransaction, operation: &str, spent: i64) -> Result<()> {
    if settle(cx, tx, operation, spent).await? {
        return Ok(());
    }
    Err(Error::internal(format!("the credits of {operation} went back before it was delivered")))
}

/// Returns all reserved credits of an operation to the wallet. Returns false if it was already settled or refunded.
///
/// # Errors
/// The database's.
pub async fn refund(cx: &Domain, tx: &DatabaseTransaction, operation: &str) -> Result<bool> {
    end(cx, tx, operation, ReservationStatus::Refunded, |book, held| {
        book.refund(held);
        Ok(())
    })
    .await
}

async fn end(
    cx: &Domain,
    tx: &DatabaseTransaction,
    operation: &str,
    status: ReservationStatus,
    change: impl FnOnce(&mut Book, &Model) -> Result<()>,
) -> Result<bool> {
    let now = cx.clock.now();
    let Some(held) = find(tx, operation).await? else { return Ok(false) };
    let mut book = store::lock(tx, held.user_id, now).await?;
    // The reservation was read before the lock and may have ended meanwhile; the guard decides.
    let ended = credit_reservation::Entity::update_many()
        .col_expr(Column::Status, Expr::value(status.to_value()))
        .col_expr(Column::EndedAt, Expr::value(now))
        .filter(Column::Operation.eq(operation))
        .filter(Column::Status.eq(ReservationStatus::Open));
    if ended.exec(tx).await?.rows_affected != 1 {
        tracing::warn!(operation, "a reservation of credits had ended before");
        return Ok(false);
    }
    grants::bring_up_to_date(cx, tx, &mut book).await?;
    change(&mut book, &held)?;
    let note = Note {
        workspace: held.workspace_id,
        operation: Some(operation),
        reference: None,
        key: held.key_id,
        caller_reference: held.caller_reference.as_deref(),
    };
    store::write(tx, &mut book, note, now).await?;
    Ok(true)
}

async fn find(tx: &DatabaseTransaction, operation: &str) -> Result<Option<Model>> {
    Ok(credit_reservation::Entity::find_by_id(operation.to_owned()).one(tx).await?)
}

/// Refunds expired reservations. Returns how many. That of a video stays as long as its job is open: the job's end
/// settles or refunds it.
///
/// # Errors
/// The database's.
pub async fn refund_expired(cx: &Domain) -> Result<u64> {
    let now = cx.clock.now();
    let open: Vec<Uuid> = ai_job::Entity::find()
        .select_only()
        .column(ai_job::Column::Uid)
        .filter(ai_job::Column::DueAt.is_not_null())
        .filter(ai_job::Column::CreatedAt.lte(now - VIDEO_EXPIRY))
        .into_tuple()
        .all(&cx.db.read)
        .await?;
    let expired: Vec<String> = credit_reservation::Entity::find()
        .select_only()
        .column(Column::Operation)
        .filter(Column::Status.eq(ReservationStatus::Open))
        .filter(Column::ExpiresAt.lte(now))
        .filter(Column::Operation.is_not_in(open.into_iter().map(video_operation)))
        .order_by_asc(Column::ExpiresAt)
        .limit(BATCH)
        .into_tuple()
        .all(&cx.db.read)
        .await?;
    let mut refunded = 0;
    for operation in expired {
        match refund_one(cx, &operation).await {
            Ok(is_done) => refunded += u64::from(is_done),
            // The others get theirs all the same.
            Err(error) => {
                tracing::warn!(operation, %error, "credits were not refunded; it is tried again later");
            }
        }
    }
    Ok(refunded)
}

async fn refund_one(cx: &Domain, operation: &str) -> Result<bool> {
    let tx = cx.db.begin().await?;
    if !refund(cx, &tx, operation).await? {
        return Ok(false);
    }
    tx.commit().await?;
    tracing::warn!(operation, "credits of an operation that did not end were refunded");
    Ok(true)
}
