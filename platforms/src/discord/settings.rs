//! What `settings` of a Discord post may hold.

use serde::Deserialize;

use super::{ALT_TEXT_MAX, FILES_MAX};
use crate::{Draft, Setting, Shape, Violation};

pub(super) const SETTINGS: &[Setting] = &[
    Setting::optional(
        "media_alt_texts",
        Shape::List { of: &Shape::Text { min: 0, max: ALT_TEXT_MAX }, min: 0, max: FILES_MAX },
        "Description of each file for people who cannot see it, in the order of the files.",
    ),
    Setting::optional(
        "thread_name",
        Shape::Text { min: 1, max: 100 },
        "Opens a new thread with this name; a forum or media channel needs it or `thread_id`.",
    ),
    Setting::optional(
        "thread_id",
        Shape::Text { min: 1, max: 20 },
        "Id of the thread of this channel to post in.",
    ),
];

/// The same, typed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Settings {
    pub media_alt_texts: Vec<String>,
    pub thread_name: Option<String>,
    pub thread_id: Option<String>,
}

/// Rules that the list above cannot say.
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
