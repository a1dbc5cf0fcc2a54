//! Records what is about to be done, and its outcome. The fencing token guards each write: a holder that has lost the
//! row changes nothing.

use fanfare_entities::{Millis, outgoing, outgoing::Column, outgoing::OutgoingStatus};
use fanfare_jobs::JobKind;
use fanfare_platforms::{Phase, RemoteChange, Step};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};

use super::target::{self, OutgoingOutcome};
use crate::{
    Domain, Tx,
    clock::{from_rfc3339, to_rfc3339},
    db_retry::retry_while_unavailable,
    durable::LEASE,
    error::Result,
    inbox::inbound,
    lost_calls::{Owner, register},
};

/// The longest time for a call, in ms.
pub(super) const DEADLINE: Millis = 20_000;

/// Adds a step that begins now.
fn begin_step(row: &mut outgoing::Model, holder: &str, step: &Step, now: Millis) {
    let entry = json!({
        "name": step.name, "phase": step.phase.as_str(), "started_at": to_rfc3339(now),
        "ended_at": null, "outcome": null, "worker": holder,
    });
    if let Some(steps) = row.steps.as_array_mut() {
        steps.push(entry);
    }
}

/// Ends the last step.
pub(super) fn end_step(row: &mut outgoing::Model, outcome: &str, now: Millis) {
    let last = row.steps.as_array_mut().and_then(|steps| steps.last_mut());
    if let Some(last) = last {
        last["ended_at"] = Value::from(to_rfc3339(now));
        last["outcome"] = Value::from(outcome);
    }
}

/// Returns when the answer to the last commit call was lost; `None` if its worker died before.
pub(super) fn lost_at(row: &outgoing::Model) -> Option<Millis> {
    let steps = row.steps.as_array()?;
    let call = steps.iter().rev().find(|step| step["phase"] == Phase::Commit.as_str())?;
    from_rfc3339(call["ended_at"].as_str()?)
}

/// The longest time between recording a commit call and making it, in ms: the call must be over before anybody asks about
/// it, and a process may have been frozen meanwhile, or its database slow.
const MAX_START_DELAY: Millis = 5_000;

/// Records a step before it is taken; returns false if another worker has the row.
pub(super) async fn begin(
    cx: &Domain,
    row: &mut outgoing::Model,
    holder: &str,
    step: &Step,
) -> Result<bool> {
    begin_step(row, holder, step, cx.clock.now());
    let mut asked = cx.clock.elapsed_ms();
    let mut held = write_begin(cx, row, step).await?;
    if held {
        cx.failpoint.reach(begun_failpoint(step.phase)).await;
    }
    // A process that was frozen here, or waited for a slow database, may have lost the row.
    while held && step.phase == Phase::Commit && cx.clock.elapsed_ms() - asked > MAX_START_DELAY {
        tracing::warn!("a change came late to its call; its lease is asked for again");
        asked = cx.clock.elapsed_ms();
        held = write_begin(cx, row, step).await?;
    }
    Ok(held)
}

const fn begun_failpoint(phase: Phase) -> &'static str {
    match phase {
        Phase::Commit => "outgoing_armed",
        Phase::Prepare | Phase::Confirm => "outgoing_prepare_armed",
    }
}

/// Writes the step that begins now, with the deadline of its call.
async fn write_begin(cx: &Domain, row: &mut outgoing::Model, step: &Step) -> Result<bool> {
    let now = cx.clock.now();
    if step.phase == Phase::Commit {
        // A repeated call counts from the start of the first one.
        row.sending_at = row.sending_at.or(Some(now));
        row.sending_until = Some(now + DEADLINE);
        row.absent_at = None;
    }
    row.due_at = Some(now + LEASE);
    let change = outgoing::ActiveModel {
        state: Set(row.state.clone()),
        steps: Set(row.steps.clone()),
        sending_at: Set(row.sending_at),
        sending_until: Set(row.sending_until),
        absent_at: Set(row.absent_at),
        repeated: Set(row.repeated),
        due_at: Set(row.due_at),
        updated_at: Set(now),
        ..Default::default()
    };
    let row = &*row;
    patiently(cx, || write(&cx.db.write, row, change.clone())).await
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
pub(super) async fn save_progress(cx: &Domain, row: &mut outgoing::Model) -> Result<bool> {
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
pub(super) async fn save_change(
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
pub(super) async fn defer(cx: &Domain, row: &mut outgoing::Model, due_at: Millis) -> Result<()> {
    let row = &*row;
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
    tx.commit().await
}

/// Writes the outcome, to the row and to its target.
pub(super) async fn complete(
    cx: &Domain,
    row: &mut outgoing::Model,
    known: OutgoingOutcome,
) -> Result<()> {
    let row = &*row;
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
    tx.commit().await
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

pub(super) async fn write<C: sea_orm::ConnectionTrait>(
    conn: &C,
    row: &outgoing::Model,
    change: outgoing::ActiveModel,
) -> Result<bool> {
    let written = outgoing::Entity::update_many()
        .set(change)
        .filter(Column::Id.eq(row.id))
        .filter(Column::FencingToken.eq(row.fencing_token))
        .exec(conn)
        .await?;
    Ok(written.rows_affected == 1)
}
