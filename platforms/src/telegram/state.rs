//! The parts of a post that are already public.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::message::ALBUM;
use crate::PublishedPart;

/// The state that is stored between two calls.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    /// One entry per completed call.
    pub sent: Vec<Sent>,
    /// The number of the album's files that went out in calls that were refused in the middle, which tell no ids.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub album_sent: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
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

    /// Returns the id of the first message whose id is known.
    pub fn first_id(&self) -> Option<i64> {
        self.sent.iter().find_map(|sent| sent.ids.first().copied())
    }

    /// Returns all messages but the first whose id is known: `album_2`, `caption`, `poll`.
    pub fn further_parts(&self, address: impl Fn(i64) -> Option<String>) -> Vec<PublishedPart> {
        let mut parts = self.parts(address);
        if let Some(first) = parts.iter().position(|part| !part.id.is_empty()) {
            let _ = parts.remove(first);
        }
        parts
    }

    /// Returns all messages: `album`, `album_2`, `caption`, `poll`. Those of a call that was refused in the middle have no
    /// ids.
    pub fn parts(&self, address: impl Fn(i64) -> Option<String>) -> Vec<PublishedPart> {
        let name = |step: &str, index: usize| {
            let what = step.strip_prefix("send_").unwrap_or(step);
            if index == 0 { what.to_owned() } else { format!("{what}_{}", index + 1) }
        };
        let address = &address;
        let untold = (0..self.album_sent).map(|index| PublishedPart {
            name: name(ALBUM, index),
            id: String::new(),
            url: None,
        });
        let messages = self.sent.iter().flat_map(|sent| {
            let before = if sent.step == ALBUM { self.album_sent } else { 0 };
            let numbered = (before..).zip(&sent.ids);
            numbered.map(move |(index, id)| PublishedPart {
                name: name(&sent.step, index),
                id: id.to_string(),
                url: address(*id),
            })
        });
        untold.chain(messages).collect()
    }
}
