//! Hints about the effects of an operation, for agents that decide whether to ask their user first.

use serde::Serialize;

use crate::{Method, Route};

/// The effects of an operation, as MCP's tool annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "they are the four hints of MCP")]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// The change may be final.
    pub destructive: bool,
    /// Doing it again changes nothing more.
    pub idempotent: bool,
    /// It reaches networks and people outside the service.
    pub open_world: bool,
}

impl Hints {
    /// Returns the effects of a route.
    #[must_use]
    pub fn of(route: &Route) -> Self {
        let final_words = ["disconnect", "cancel", "create_post", "retry", "add_post_set"];
        Self {
            read_only: !route.method.writes(),
            destructive: route.method == Method::Delete
                || final_words.iter().any(|start| route.name.starts_with(start)),
            idempotent: !matches!(route.method, Method::Post | Method::Patch),
            open_world: ["posts", "post sets", "connect", "inbox", "google-business"]
                .contains(&route.tag),
        }
    }

    /// Returns the effects as a sentence.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self { read_only: true, .. } => "It changes nothing.",
            Self { destructive: true, .. } => "What it does may not be taken back: ask first.",
            Self { idempotent: true, .. } => {
                "It changes something; doing it again changes nothing more."
            }
            _ => "It changes something; an `Idempotency-Key` makes it safe to send again.",
        }
    }
}
