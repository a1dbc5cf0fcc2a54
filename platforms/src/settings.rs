//! Settings that several networks share.

use crate::{Setting, Shape};

/// Marks the post as made with AI where the network has such a label.
pub const AI_GENERATED: Setting = Setting::optional(
    "ai_generated",
    Shape::Bool,
    "Labels the post as AI-generated where the network supports it.",
);

/// The other accepted name of [`AI_GENERATED`].
pub const AI_DISCLOSURE: Setting =
    Setting::optional("ai_disclosure", Shape::Bool, "Another name for `ai_generated`.");

/// The settings a network takes: its own, then the shared ones it does not declare itself.
pub fn known(own: &'static [Setting]) -> impl Iterator<Item = &'static Setting> {
    const SHARED: &[Setting] = &[AI_GENERATED, AI_DISCLOSURE];
    let undeclared = |shared: &&Setting| own.iter().all(|setting| setting.name != shared.name);
    own.iter().chain(SHARED.iter().filter(undeclared))
}
