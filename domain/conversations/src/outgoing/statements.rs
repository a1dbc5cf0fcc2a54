//! The statements of a change: what is about to be done, and its outcome. The fencing token guards each write: a holder
//! that has lost the row changes nothing. Each is tried again while the database is away, since only the caller knows what
//! it writes.

use fanfare_core::{
    Domain, Tx,
    db_retry::retry_while_unavailable,
    durable::LEASE,
    error::Result,
    mutation::{self, Mutation},
    notices::{self, Awaited},
};
use fanfare_entities::{Millis, outgoing, outgoing::Column, outgoing::OutgoingStatus};
use fanfare_jobs::JobKind;
use fanfare_platforms::RemoteChange;
use fanfare_publishing::lost_calls::{Owner, register};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
use serde_json::json;

use super::target::{self, OutgoingOutcome};
use crate::inbox::inbound;

/// Records the step that begins at `now`, as the row says it. Returns false if another worker has the row.
///
/// # Errors
/// The database's: no call may be made.
pub async fn begin_step(cx: &Domain, row: &mut outgoing::Model, now: Millis) -> Result<bool> {
    row.due_at = Some(now + LEASE);
    let sending = |at: Option<Millis>| at.filter(|_| mutation::is_off(Mutation::SendingWritten));
    let change = outgoing::ActiveModel {
        state: Set(row.state.clone()),
        steps: Set(row.steps.clone()),
        sending_at: Set(sending(row.sending_at)),
        sending_until: Set(sending(row.sending_until)),
        absent_at: Set(row.absent_at),
        repeated: Set(row.repeated),
        due_at: Set(row.due_at),
        updated_at: Set(now),
        ..Default::default()
    };
    let row = &*row;
    patiently(cx, || write_if(Mutation::BeginStepFenced, &cx.db.write, row, change.clone())).await
}

/// Writes what only this process knows, and tries again while the database is away. What was written is not written
/// again: it ends with the fencing token that it was written under, or says the same once more.
async fn patiently<T, F: Future<Output = Result<T>>>(
    cx: &Domain,
    write: impl Fn() -> F,
) -> Result<T> {
    retry_while_unavailable((&cx.clock, &cx.failpoint), LEASE, write).await
}

/// Records the progress between two steps; returns false if another worker has the row.
///
/// # Errors
/// The database's.
pub async fn save_progress(cx: &Domain, row: &mut outgoing::Model) -> Result<bool> {
    let now = cx.clock.now();
    row.due_at = Some(now + LEASE);
    let change = outgoing::ActiveModel {
        state: Set(row.state.clone()),
        steps: Set(row.steps.clone()),
        sending_at: Set(row.sending_at),
        sending_until: Set(row.sending_until),
        due_at: Set(row.due_at),
        updated_at: Set(now),
        ..Default::default()
    };
    let row = &*row;
    patiently(cx, || write(&cx.db.write, row, change.clone())).await
}

/// Records what will be sent before it is sent, so that a lost answer can be settled by it. Returns false if another
/// worker has the row.
///
/// # Errors
/// The database's.
pub async fn save_change(
    cx: &Domain,
    row: &mut outgoing::Model,
    change: &RemoteChange,
) -> Result<bool> {
    row.change = json!(change);
    let written = outgoing::ActiveModel {
        change: Set(row.change.clone()),
        updated_at: Set(cx.clock.now()),
        ..Default::default()
    };
    write(&cx.db.write, row, written).await
}

/// Gives the row back until it is due again. If the outcome of a call is unknown, its target shows that.
///
/// # Errors
/// The database's.
pub async fn defer(cx: &Domain, row: &outgoing::Model, due_at: Millis) -> Result<()> {
    patiently(cx, || write_defer(cx, row, due_at)).await
}

async fn write_defer(cx: &Domain, row: &outgoing::Model, due_at: Millis) -> Result<()> {
    let status = if row.sending_at.is_some() { OutgoingStatus::Unknown } else { row.status };
    let mut tx = Tx::begin(cx).await?;
    inbound::lock(&tx, row.account_id).await?;
    let change = outgoing::ActiveModel {
        status: Set(status),
        state: Set(row.state.clone()),
        steps: Set(row.steps.clone()),
        sending_at: Set(row.sending_at),
        sending_until: Set(row.sending_until),
        absent_at: Set(row.absent_at),
        repeated: Set(row.repeated),
        attempts: Set(row.attempts),
        due_at: Set(Some(due_at)),
        lease_expirations: Set(0),
        fencing_token: Set(row.fencing_token + 1),
        updated_at: Set(tx.now()),
        ..Default::default()
    };
    if !write(tx.conn(), row, change).await? {
        return Ok(());
    }
    if status == OutgoingStatus::Unknown {
        target::apply(&tx, row, &OutgoingOutcome::Unknown).await?;
    }
    tx.enqueue(JobKind::SendOutgoing, row.workspace_id, row.id.0, due_at);
    commit_and_notify(tx, row).await
}

/// Commits, and notifies the request that waits for the change.
async fn commit_and_notify(tx: Tx, row: &outgoing::Model) -> Result<()> {
    let (cx, waiting) = (tx.domain().clone(), Awaited::Outgoing(row.id));
    notices::notify_other_processes(&cx, tx.conn(), waiting).await?;
    tx.commit().await?;
    cx.notices.notify(waiting);
    Ok(())
}

/// Writes the outcome, to the row and to its target.
///
/// # Errors
/// The database's.
pub async fn complete(cx: &Domain, row: &outgoing::Model, known: OutgoingOutcome) -> Result<()> {
    patiently(cx, || write_outcome(cx, row, known.clone())).await
}

async fn write_outcome(cx: &Domain, row: &outgoing::Model, known: OutgoingOutcome) -> Result<()> {
    let tx = Tx::begin(cx).await?;
    // The network may report the same change at the same time. With this lock one of the two waits, and they do not
    // deadlock.
    inbound::lock(&tx, row.account_id).await?;
    let known = target::with_reported_id(tx.conn(), row, known).await?;
    let (status, remote_id, error) = match &known {
        OutgoingOutcome::Sent(id) => (OutgoingStatus::Sent, Some(id.clone()), None),
        OutgoingOutcome::Failed(error) => (OutgoingStatus::Failed, None, Some(error.clone())),
        OutgoingOutcome::Unknown => (OutgoingStatus::Unknown, None, None),
    };
    let now = tx.now();
    let change = outgoing::ActiveModel {
        status: Set(status),
        state: Set(row.state.clone()),
        steps: Set(row.steps.clone()),
        // A call whose outcome is unknown keeps its times.
        sending_at: Set(row.sending_at.filter(|_| status == OutgoingStatus::Unknown)),
        sending_until: Set(row.sending_until.filter(|_| status == OutgoingStatus::Unknown)),
        repeated: Set(row.repeated),
        remote_id: Set(remote_id),
        error: Set(error),
        due_at: Set(None),
        lease_expirations: Set(0),
        fencing_token: Set(row.fencing_token + 1),
        updated_at: Set(now),
        ..Default::default()
    };
    if !write(tx.conn(), row, change).await? {
        return Ok(());
    }
    register_result(&tx, row, &known).await?;
    target::apply(&tx, row, &known).await?;
    commit_and_notify(tx, row).await
}

/// Records what a change made in the register of what is ours. A change of something that was there makes nothing.
pub(super) async fn register_result(
    tx: &Tx,
    row: &outgoing::Model,
    known: &OutgoingOutcome,
) -> Result<()> {
    let OutgoingOutcome::Sent(id) = known else { return Ok(()) };
    if !super::change_of(row)?.makes_an_object() {
        return Ok(());
    }
    let owner = Owner::Outgoing(row.id.0);
    register::record(tx.conn(), row.account_id, owner, id, tx.now()).await
}

/// Writes a result; returns false if the row has a newer holder.
pub(super) async fn write<C: sea_orm::ConnectionTrait>(
    conn: &C,
    row: &outgoing::Model,
    change: outgoing::ActiveModel,
) -> Result<bool> {
    write_if(Mutation::CompleteStepFenced, conn, row, change).await
}

/// Writes if the row has the fencing token that it was read with; `unfenced` removes this guard.
async fn write_if<C: sea_orm::ConnectionTrait>(
    unfenced: Mutation,
    conn: &C,
    row: &outgoing::Model,
    change: outgoing::ActiveModel,
) -> Result<bool> {
    let mut update = outgoing::Entity::update_many().set(change).filter(Column::Id.eq(row.id));
    if mutation::is_off(unfenced) {
        update = update.filter(Column::FencingToken.eq(row.fencing_token));
    }
    Ok(update.exec(conn).await?.rows_affected == 1)
}
