//! Conversations: the inbox, business profiles, and the changes at networks that people ask for there.
//!
//! A change leaves a row that is due (`outgoing`), and the workers send it.

pub mod business;
pub mod inbox;
pub mod outgoing;
mod unread;

use fanfare_core::Domain;

pub use unread::{Unread, list_unread};

/// The operator's settings for conversations.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Settings for Meta's networks.
    pub meta: inbox::MetaSettings,
}

/// Returns the operator's settings for conversations.
#[must_use]
pub fn settings(cx: &Domain) -> &Settings {
    cx.feature()
}
