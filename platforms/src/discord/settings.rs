//! The `settings` of a Discord post.

use super::{ALT_TEXT_MAX, FILES_MAX};
use crate::{
    Draft, Shape, Violation,
    settings::{alt_texts, settings},
};

settings! {
    /// The settings of a message.
    Settings {
        /// Description of each file for people who cannot see it, in the order of the files.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, FILES_MAX),
        /// Opens a new thread with this name; a forum or media channel needs it or `thread_id`.
        optional thread_name: Option<String> = Shape::Text { min: 1, max: 100 },
        /// Id of the thread of this channel to post in; without it, the thread that the webhook's address names.
        optional thread_id: Option<String> = Shape::Id { min: 1, max: 20 },
    }
}

/// Checks rules that the list above cannot express.
pub(super) fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut violations = Vec::new();
    if settings.thread_id.is_some() && settings.thread_name.is_some() {
        violations.push(Violation::new(
            "settings.thread_name",
            "setting_invalid",
            "A message goes either into an existing thread or into a new one.",
            "Leave out thread_name or thread_id.",
        ));
    }
    if settings.thread_id.is_some_and(|id| !id.bytes().all(|byte| byte.is_ascii_digit())) {
        violations.push(Violation::new(
            "settings.thread_id",
            "setting_invalid",
            "A thread's id is a number.",
            "Turn on developer mode in Discord and copy the id of the thread.",
        ));
    }
    violations
}
