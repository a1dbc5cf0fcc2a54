//! The parts of items that the pages of the inbox share.

use fanfare_conversations::inbox::{Attachment, Author, ItemError, Participant};
use fanfare_entities::inbox_message::ItemStatus;
use maud::{Markup, html};

use crate::dashboard::parts;

/// Returns the best available name of the other user in a conversation.
pub fn participant(one: &Participant) -> &str {
    best_name([one.name.as_deref(), one.username.as_deref(), Some(&one.id)])
}

/// Returns the best available name of the author of something.
pub fn author(one: &Author) -> &str {
    best_name([one.name.as_deref(), one.username.as_deref(), one.id.as_deref()])
}

fn best_name(names: [Option<&str>; 3]) -> &str {
    let mut named = names.into_iter().flatten().filter(|name| !name.trim().is_empty());
    named.next().unwrap_or("Somebody")
}

/// Renders the text of an item and its files.
pub fn content(text: &str, files: &[Attachment], is_deleted: bool) -> Markup {
    html! {
        @if is_deleted { p.soft { "This was deleted." } }
        @if !text.is_empty() { p.said { (parts::lines(text)) } }
        @for file in files {
            @match (&file.url, file.kind.as_str()) {
                (Some(url), "image") => { a href=(url) rel="noreferrer" { img.attached src=(url) alt="Attached image" loading="lazy"; } }
                (Some(url), kind) => { p { a href=(url) rel="noreferrer" { "Attached " (kind) } } }
                (None, kind) => {
                    p.soft { "An attached " (parts::one_line(kind, 20)) " was not copied" @if let Some(reason) = &file.reason { ": " (parts::one_line(reason, 80)) } "." }
                }
            }
        }
    }
}

/// Returns true for an item of ours whose outcome is not known yet.
pub const fn is_open(status: Option<ItemStatus>) -> bool {
    matches!(status, Some(ItemStatus::Unknown | ItemStatus::Sending))
}

/// Renders the status of an answer of ours, unless it was simply sent.
pub fn outcome(status: Option<ItemStatus>, error: Option<&ItemError>) -> Markup {
    html! {
        @match status {
            Some(ItemStatus::Sending) => { span.badge.busy { "sending" } }
            Some(ItemStatus::Failed) => { span.badge.bad { "not sent" } }
            Some(ItemStatus::Unknown) => { span.badge.warn title="The network did not answer. This is settled within two minutes." { "outcome unknown" } }
            _ => {}
        }
        @if let Some(error) = error {
            p.late { (error.message) @if let Some(remedy) = &error.remedy { " " (remedy) } }
        }
    }
}
