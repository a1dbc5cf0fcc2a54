//! Messages that another program sends through the webhook.

use super::snowflake;
use super::state::{Attachment, Change, Message, State};
use crate::native_post::NativePost;
use crate::network::Medium;

/// Returns the change that sends a message, and its id.
pub(super) fn post(state: &State, new: &NativePost) -> (Vec<Change>, String) {
    let is_taken = |us: u64| state.messages.contains_key(&snowflake(us));
    let id = snowflake(new.free_number(is_taken));
    let attachments = (id + 1..).zip(new.media()).map(|(id, medium)| attachment(id, medium));
    let message = Message {
        id,
        at_ms: new.at_ms,
        content: new.text.clone(),
        edited_ms: None,
        attachments: attachments.collect(),
        allowed_mentions: None,
        rest: None,
        thread: None,
    };
    (vec![Change::Sent(message)], id.to_string())
}

fn attachment(id: u64, medium: Medium) -> Attachment {
    Attachment {
        id,
        filename: medium.file_name(),
        description: None,
        mime: medium.mime,
        size: 0,
        sha256: String::new(),
        dimensions: None,
        source: medium.url,
    }
}
