//! The steps of a change, as its row keeps them.

use fanfare_core::clock::{from_rfc3339, to_rfc3339};
use fanfare_entities::{Millis, outgoing};
use fanfare_platforms::{Phase, Step};
use serde_json::{Value, json};

/// Adds a step that begins now.
pub fn begin_step(row: &mut outgoing::Model, worker: &str, step: &Step, now: Millis) {
    let entry = json!({
        "name": step.name, "phase": step.phase.as_str(), "started_at": to_rfc3339(now),
        "ended_at": null, "outcome": null, "worker": worker,
    });
    if let Some(steps) = row.steps.as_array_mut() {
        steps.push(entry);
    }
}

/// Ends the last step.
pub fn end_step(row: &mut outgoing::Model, outcome: &str, now: Millis) {
    let last = row.steps.as_array_mut().and_then(|steps| steps.last_mut());
    if let Some(last) = last {
        last["ended_at"] = Value::from(to_rfc3339(now));
        last["outcome"] = Value::from(outcome);
    }
}

/// Notes the refusal of the last step, which does not tell whether its change was made.
pub fn refuse(row: &mut outgoing::Model, failure: Value) {
    if let Some(last) = row.steps.as_array_mut().and_then(|steps| steps.last_mut()) {
        last["refusal"] = failure;
    }
}

/// Returns the refusal of the last commit call, if it left open whether the change was made.
pub fn refusal(row: &outgoing::Model) -> Option<&Value> {
    let steps = row.steps.as_array()?;
    steps.iter().rev().find(|step| step["phase"] == Phase::Commit.as_str())?.get("refusal")
}

/// Returns when the answer to the last commit call was lost; `None` if its worker died before.
pub fn lost_at(row: &outgoing::Model) -> Option<Millis> {
    let steps = row.steps.as_array()?;
    let call = steps.iter().rev().find(|step| step["phase"] == Phase::Commit.as_str())?;
    from_rfc3339(call["ended_at"].as_str()?)
}
