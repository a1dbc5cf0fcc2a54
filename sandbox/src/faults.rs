//! Faults on demand: how an account's next calls fail.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The phase of publishing that a call belongs to. Every route of every network has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    /// Uploads, containers, tokens: repeatable, and leaves nothing public.
    Prepare,
    /// The call that makes something public, or deletes it.
    #[default]
    Commit,
    /// Status and permalinks of created objects.
    Confirm,
    /// All other reads.
    Read,
}

/// The kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FaultKind {
    /// The change is made; the connection closes after `at_byte` bytes of the body, at 0 before the head.
    DropAfterChange,
    /// No change; the connection closes after `at_byte` bytes of the body, at 0 before the head.
    Reset,
    /// No change; the response is `status` in the network's format, or with `body`.
    Status,
    /// The change is made; its response is delayed by `ms`.
    Delay,
    /// From this call on the account's token is expired.
    TokenExpired,
    /// The change is made; the response is `status` (default 500).
    ErrorAfterChange,
    /// The change is made; the response is 200 with `body`, or with an HTML page.
    Nonsense,
    /// No change and no response for `ms` (default ten minutes), then the connection closes.
    Hang,
    /// The change is made; the response is valid JSON of 64 MiB.
    Huge,
}

/// One entry of an account's fault list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    #[serde(default)]
    pub on: Phase,
    pub kind: FaultKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Milliseconds of `delay` and `hang`; of a 429, how long to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// The number of calls it affects.
    #[serde(default = "once")]
    pub times: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_byte: Option<u64>,
    /// Of a `status`: the number of parts that are made before the call is refused, on networks whose calls make several
    /// things one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<u32>,
    /// Of a `delay`: what becomes of what was accepted, on networks that go on with it after their answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later: Option<Later>,
}

/// What becomes of something that a network has accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Later {
    pub after_ms: u32,
    pub state: LaterState,
}

/// The state that something takes after it was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LaterState {
    /// Everybody sees it.
    Published,
    /// Nobody sees it until somebody publishes it.
    Draft,
    /// It failed.
    Error,
}

fn once() -> u32 {
    1
}

impl Fault {
    /// Returns the first invalid field and the reason, if any.
    pub fn invalid_field(&self) -> Option<(&'static str, String)> {
        match (self.kind, self.status, self.ms) {
            (FaultKind::Status | FaultKind::ErrorAfterChange, Some(s), _)
                if !(400..=599).contains(&s) =>
            {
                Some(("status", format!("{s} is no error: 400 to 599 are")))
            }
            (FaultKind::Status, None, _) => Some(("status", "it is missing".into())),
            (FaultKind::Delay, _, None) => Some(("ms", "it is missing".into())),
            (kind, ..) if self.effect.is_some() && kind != FaultKind::Status => {
                Some(("effect", "only a status is answered after a part".into()))
            }
            (kind, ..) if self.later.is_some() && kind != FaultKind::Delay => {
                Some(("later", "only what was accepted, by a delay, changes later".into()))
            }
            _ => None,
        }
    }

    /// Returns how long a hang lasts.
    pub fn hang(&self) -> Duration {
        Duration::from_millis(self.ms.unwrap_or(600_000))
    }
}

/// An account's fault list: a script with an entry per call.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub fn new(list: Vec<Fault>) -> Self {
        Self(list.into_iter().filter(|f| f.times > 0).collect())
    }

    /// Returns the faults that are left, each with the number of calls that it will still meet.
    pub fn list(&self) -> Vec<Fault> {
        self.0.clone()
    }

    /// Removes and returns the first fault for a call of this phase.
    pub fn take(&mut self, phase: Phase) -> Option<Fault> {
        let index = self.0.iter().position(|f| f.on == phase)?;
        let fault = &mut self.0[index];
        fault.times -= 1;
        if fault.times == 0 { Some(self.0.remove(index)) } else { Some(fault.clone()) }
    }
}

/// A `status` fault, which a network answers in its own format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal {
    pub status: u16,
    /// For 429: how long to wait, in milliseconds.
    pub retry_ms: u64,
    /// The sandbox's time, in milliseconds since 1970.
    pub now_ms: i64,
}

impl Refusal {
    /// Returns the time to wait in whole seconds, rounded up.
    pub fn retry_seconds(&self) -> u64 {
        self.retry_ms.div_ceil(1_000).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, Faults, Phase};

    fn list(json: serde_json::Value) -> Faults {
        Faults::new(serde_json::from_value(json).unwrap())
    }

    #[test]
    fn a_fault_meets_its_phase_and_its_number_of_calls() {
        let mut faults = list(serde_json::json!([
            {"on": "read", "kind": "reset", "times": 2},
            {"kind": "status", "status": 429},
        ]));
        assert!(faults.take(Phase::Prepare).is_none());
        assert!(faults.take(Phase::Read).is_some());
        assert_eq!(faults.list().iter().map(|fault| fault.times).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(faults.take(Phase::Commit).unwrap().status, Some(429));
        assert!(faults.take(Phase::Commit).is_none());
        assert!(faults.take(Phase::Read).is_some());
        assert!(faults.take(Phase::Read).is_none());
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        let fault = serde_json::json!({"kind": "reset", "time": 2});
        assert!(serde_json::from_value::<Fault>(fault).is_err());
    }

    #[test]
    fn a_status_fault_needs_an_error_status() {
        for (json, flawed) in [
            (serde_json::json!({"kind": "status", "status": 503}), false),
            (serde_json::json!({"kind": "status", "status": 200}), true),
            (serde_json::json!({"kind": "status"}), true),
            (serde_json::json!({"kind": "error_after_change"}), false),
            (serde_json::json!({"kind": "delay"}), true),
        ] {
            let fault: Fault = serde_json::from_value(json).unwrap();
            assert_eq!(fault.invalid_field().is_some(), flawed, "{fault:?}");
        }
    }
}
