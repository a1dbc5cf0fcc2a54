//! The refusal of a post's reading. It stands beside the reasons of the missing numbers, under a name that no number has.

use fanfare_core::clock::Time;
use fanfare_entities::{Millis, post_numbers};
use fanfare_platforms::{Error, analytics::is_trouble};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::pace::{DAY, HOUR};

/// Its name among the reasons.
pub(super) const NAME: &str = "read_error";

/// The number of equal refusals in a row from which on a post is read once a day.
const OFTEN: u32 = 3;

/// The time after which a post is asked for again whose reading had no answer; twice as long each time.
const TROUBLE_PAUSE: Millis = HOUR / 4;

/// Why the last reading of a post failed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ReadError {
    /// The network's code, else its status.
    pub code: String,
    /// The reason.
    pub message: String,
    /// Since when each reading failed so.
    pub since: Time,
}

/// The same, as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) code: String,
    pub(super) message: String,
    since: Millis,
    /// The number of readings in a row that failed so.
    times: u32,
    /// True if the network failed, or did not answer.
    is_trouble: bool,
}

impl ReadError {
    /// Returns the error of the last reading of a post, if it failed.
    pub(super) fn of(row: &post_numbers::Model) -> Option<Self> {
        let Stored { code, message, since, .. } = Stored::of(&row.unmeasured)?;
        Some(Self { code, message, since: Time(since) })
    }
}

impl Stored {
    /// Reads it from among the reasons of the missing numbers.
    pub(super) fn of(unmeasured: &Value) -> Option<Self> {
        serde_json::from_value(unmeasured.get(NAME)?.clone()).ok()
    }

    /// Returns the error of a reading at `now`, after those that `row` knows of.
    pub(super) fn after(row: &post_numbers::Model, error: &Error, now: Millis) -> Self {
        let reply = error.reply.as_ref();
        let said = reply.and_then(|reply| reply.code.clone());
        let code = said.or_else(|| reply.map(|reply| reply.status.to_string()));
        let code = code.unwrap_or_else(|| "no_answer".to_owned());
        let before = Self::of(&row.unmeasured).filter(|before| before.code == code);
        Self {
            since: before.as_ref().map_or(now, |before| before.since),
            times: before.map_or(0, |before| before.times).saturating_add(1),
            message: error.message.clone(),
            is_trouble: is_trouble(error),
            code,
        }
    }

    /// Returns the time after which the post is asked for again, if that is not its next age.
    pub(super) fn pause(&self) -> Option<Millis> {
        if self.is_trouble {
            let doubled = TROUBLE_PAUSE << self.times.saturating_sub(1).min(7);
            return Some(doubled.min(DAY));
        }
        (self.times >= OFTEN).then_some(DAY)
    }

    /// Writes it beside the reasons of the missing numbers.
    pub(super) fn write(&self, unmeasured: &mut serde_json::Map<String, Value>) {
        let _ = unmeasured.insert(NAME.to_owned(), json!(self));
    }
}
