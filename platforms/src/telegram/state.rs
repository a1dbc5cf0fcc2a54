//! The parts of a post that are already public.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::PublishedPart;

/// The state that is stored between two calls.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    /// One entry per completed call.
    pub sent: Vec<Sent>,
}

/// The message that one call made public.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sent {
    /// Name of the step.
    pub step: String,
    /// Ids of the messages; an album has several.
    pub ids: Vec<i64>,
}

impl State {
    /// Returns the state as JSON, for storing.
    pub fn write(&self) -> Value {
        json!(self)
    }

    /// Returns the id of the first message.
    pub fn first_id(&self) -> Option<i64> {
        self.sent.first()?.ids.first().copied()
    }

    /// Returns all messages after the first: `album_2`, `caption`, `poll`.
    pub fn parts(&self, address: impl Fn(i64) -> Option<String>) -> Vec<PublishedPart> {
        let name = |step: &str, index: usize| {
            let what = step.strip_prefix("send_").unwrap_or(step);
            if index == 0 { what.to_owned() } else { format!("{what}_{}", index + 1) }
        };
        let address = &address;
        let messages = self.sent.iter().flat_map(|sent| {
            let numbered = sent.ids.iter().enumerate();
            numbered.map(move |(index, id)| PublishedPart {
                name: name(&sent.step, index),
                id: id.to_string(),
                url: address(*id),
            })
        });
        messages.skip(1).collect()
    }
}
