//! The `settings` of a Slack message; names as in Slack's own API.

use serde_json::Value;

use super::{ALT_TEXT_MAX, FILES_MAX, MARKDOWN_MAX, blocks};
use crate::{
    Draft, Shape, Violation, Warning, WarningCode,
    settings::{alt_texts, settings},
    text,
};

settings! {
    /// The settings of a message.
    Settings {
        /// The caption is Markdown (up to 12,000 characters); otherwise it is plain text.
        optional markdown: bool = Shape::Bool,
        /// Blocks of Slack's Block Kit that make the message; the caption is what notifications show then. With files, the
        /// blocks replace the caption.
        optional blocks: Vec<Value> = Shape::List { of: &Shape::Foreign, min: 1, max: 50 },
        /// Shows previews of linked pages; as the workspace has it unless given.
        optional unfurl_links: Option<bool> = Shape::Bool,
        /// Shows previews of linked media; as the workspace has it unless given.
        optional unfurl_media: Option<bool> = Shape::Bool,
        /// Answers the message with this timestamp (its id) in a thread.
        optional thread_ts: Option<String> = Shape::Id { min: 17, max: 17 },
        /// Shows the answer in the channel too; for messages without files.
        optional reply_broadcast: bool = Shape::Bool,
        /// Descriptions of the files for people who cannot see them, in the order of the files.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, FILES_MAX),
    }
}

/// Checks rules that the descriptor cannot express. The descriptor reports values of the wrong type.
pub fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found = blocks::check(&settings.blocks);
    let mut wrong = |field: &str, message: &str, remedy: &str| {
        found.push(Violation::new(field, "setting_invalid", message, remedy));
    };
    if settings.markdown && !settings.blocks.is_empty() {
        wrong(
            "settings.markdown",
            "A message is Markdown or blocks, not both.",
            "Leave out markdown or blocks.",
        );
    }
    if settings.markdown && !draft.media.is_empty() {
        wrong(
            "settings.markdown",
            "Slack takes no Markdown text beside files.",
            "Leave out markdown, or post without files.",
        );
    }
    let is_ts = |ts: &str| {
        let (seconds, micros) = ts.split_once('.').unwrap_or_default();
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        seconds.len() == 10 && micros.len() == 6 && is_number(seconds) && is_number(micros)
    };
    if settings.thread_ts.as_deref().is_some_and(|ts| !is_ts(ts)) {
        let message = "thread_ts must be the timestamp of a message.";
        wrong("settings.thread_ts", message, "Give it like 1700000000.123456.");
    }
    if settings.reply_broadcast && settings.thread_ts.is_none() {
        let message = "reply_broadcast needs thread_ts.";
        wrong("settings.reply_broadcast", message, "Set thread_ts, or leave out reply_broadcast.");
    }
    let length = text::characters(&draft.caption);
    if settings.markdown && length > MARKDOWN_MAX {
        let message =
            format!("Caption is {length} characters; slack allows {MARKDOWN_MAX} of Markdown.");
        let remedy =
            format!("Shorten the caption to {MARKDOWN_MAX} characters, or leave out markdown.");
        let violation = Violation::new("caption", "caption_too_long", message, remedy);
        found.push(violation.with_limit(MARKDOWN_MAX, length).in_unit("characters"));
    }
    found
}

/// Returns warnings about what Slack's upload of files does not have: some settings, and a text beside blocks
/// (<https://docs.slack.dev/reference/methods/files.completeUploadExternal>).
pub fn warnings(draft: &Draft) -> Vec<Warning> {
    if draft.media.is_empty() {
        return Vec::new();
    }
    let names = ["unfurl_links", "unfurl_media", "reply_broadcast"];
    let given = names.iter().filter(|name| draft.settings.contains_key(**name));
    let message = "Slack has no such choice for a message with files: this has no effect.";
    let warning = |name| Warning::new(WarningCode::NoEffect, format!("settings.{name}"), message);
    let mut told: Vec<Warning> = given.map(|name| warning(name).because("media_urls")).collect();
    if draft.settings.contains_key("blocks") && !draft.caption.is_empty() {
        let message = "Slack takes blocks or a text with files, not both: the blocks are sent, and the caption is shown nowhere.";
        let warning = Warning::new(WarningCode::NoEffect, "caption", message);
        told.push(warning.because("settings.blocks"));
    }
    told
}
