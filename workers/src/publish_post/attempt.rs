//! The running attempt of a post, as it will stand in the ledger.

use fanfare_core::{
    Result,
    clock::{from_rfc3339, to_rfc3339},
};
use fanfare_entities::{Millis, post};
use fanfare_platforms::{Phase, Step};
use fanfare_publishing::posts::publishing::{Attempt, read_attempt};
use serde_json::{Value, json};

use crate::Context;

/// Returns the attempt that an earlier claim left open on purpose, or begins the next one.
pub async fn open(cx: &Context, row: &post::Model) -> Result<Attempt> {
    let unsettled = row.sending_at.is_some();
    // More than one lease expiration means that the previous worker died; its attempt keeps what it did.
    if row.steps.is_some()
        && (row.lease_expirations <= 1 || unsettled)
        && let Some(open) = read_attempt(&cx.domain, row.id.0, row.attempt).await?
    {
        return Ok(open);
    }
    Ok(new_attempt(cx, row.attempt))
}

/// Returns a new attempt, which follows the one with this number.
pub fn new_attempt(cx: &Context, number: i32) -> Attempt {
    Attempt {
        number: number + 1,
        worker: cx.name.clone(),
        started_at: cx.now(),
        ended_at: None,
        outcome: None,
        error: None,
        steps: json!([]),
    }
}

/// Adds a step that begins now.
pub fn begin_step(attempt: &mut Attempt, step: &Step, now: Millis) {
    let entry = json!({
        "name": step.name, "phase": step.phase.as_str(), "started_at": to_rfc3339(now),
        "ended_at": null, "remote_id": null,
    });
    if let Some(steps) = attempt.steps.as_array_mut() {
        steps.push(entry);
    }
}

/// Removes the last step, which was not taken.
pub fn withdraw_step(attempt: &mut Attempt) {
    if let Some(steps) = attempt.steps.as_array_mut() {
        steps.pop();
    }
}

/// Ends the last step.
pub fn end_step(attempt: &mut Attempt, remote_id: Option<&str>, now: Millis) {
    let last = attempt.steps.as_array_mut().and_then(|steps| steps.last_mut());
    if let Some(last) = last {
        last["ended_at"] = Value::from(to_rfc3339(now));
        last["remote_id"] = remote_id.map_or(Value::Null, Value::from);
    }
}

/// Returns when the answer to the last commit call was lost; `None` if its worker died before.
pub fn lost_at(attempt: &Attempt) -> Option<Millis> {
    let steps = attempt.steps.as_array()?;
    let call = steps.iter().rev().find(|step| step["phase"] == Phase::Commit.as_str())?;
    from_rfc3339(call["ended_at"].as_str()?)
}

/// Ends the attempt.
pub fn close(attempt: &mut Attempt, outcome: &'static str, error: Option<Value>, now: Millis) {
    attempt.ended_at = Some(now);
    attempt.outcome = Some(outcome);
    attempt.error = error;
}
