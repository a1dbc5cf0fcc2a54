//! The clock of the simulated networks of a workspace.

use chrono::DateTime;
use fanfare_core::{
    Act, Reply,
    clock::Time,
    error::{Error, Result},
};
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::sandbox_control::call_simulator;

/// A request to set the clock of the simulated networks of a workspace.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSandboxClock {
    /// The number of seconds by which the networks' clock is ahead of the real time, at most ten years; 0 sets it right.
    #[schemars(range(min = 0, max = 315_360_000))]
    pub ahead_seconds: i64,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// The clock of the simulated networks of a workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SandboxClock {
    /// The number of seconds by which it is ahead of the real time.
    ahead_seconds: i64,
    /// The time there.
    now: Time,
}

/// Sets the clock of the simulated networks of a workspace. This service goes on by the real time.
///
/// # Errors
/// [`fanfare_core::Code::Unavailable`] if there is no simulator here.
pub async fn set_clock(act: &Act, new: NewSandboxClock) -> Result<Reply<SandboxClock>> {
    let body = json!({"ahead_seconds": new.ahead_seconds});
    let set = call_simulator(act, Method::PUT, &["clock"], &[], Some(&body)).await?;
    let tx = act.begin().await?;
    act.finish(tx, Reply::ok(&SandboxClock::of(&set)?)).await
}

/// Returns the clock of the simulated networks of a workspace.
///
/// # Errors
/// [`fanfare_core::Code::Unavailable`] if there is no simulator here.
pub async fn show_clock(act: &Act) -> Result<Reply<SandboxClock>> {
    let shown = call_simulator(act, Method::GET, &["clock"], &[], None).await?;
    Ok(Reply::ok(&SandboxClock::of(&shown)?))
}

impl SandboxClock {
    /// Reads what the simulator answered.
    fn of(answer: &Value) -> Result<Self> {
        let ahead_seconds = answer["ahead_seconds"].as_i64();
        let now = answer["now"].as_str().and_then(|now| DateTime::parse_from_rfc3339(now).ok());
        let (Some(ahead_seconds), Some(now)) = (ahead_seconds, now) else {
            return Err(Error::internal("the simulator's clock cannot be read"));
        };
        Ok(Self { ahead_seconds, now: Time(now.timestamp_millis()) })
    }
}
