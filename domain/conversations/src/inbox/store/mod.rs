//! Stores what networks send and list: in any order and any number of times, with the same result.
//!
//! For new messages (`messages.rs`) and comments (`comments.rs`), `received_events.rs` emits events.

mod comments;
mod conversations;
mod messages;
mod received_events;

pub(super) use self::{
    comments::{comment, deleted, hidden},
    conversations::conversation_with,
    messages::message,
};

use fanfare_core::{Tx, error::Result};
use fanfare_entities::{Millis, account};
use fanfare_platforms::InboundItem;

/// The way in which an item is stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Intake {
    /// It is new to the account, so an event is emitted.
    pub live: bool,
    /// It stands in a list, which may lag behind what happened; else it is an event.
    pub is_listed: bool,
}

/// The longest time for which a list may show what was deleted, in ms.
const LIST_LAG: Millis = 600_000;

impl Intake {
    /// Returns the time by which what is shown may be older than its reading.
    pub const fn lag(self) -> Millis {
        if self.is_listed { LIST_LAG } else { 0 }
    }
}

/// Stores what a network sent. Returns false if the item that it is about is not known yet.
pub(super) async fn inbound(
    tx: &mut Tx,
    account: &account::Model,
    item: InboundItem,
    happened_at: Millis,
    how: Intake,
) -> Result<bool> {
    match item {
        InboundItem::Message(message) => messages::message(tx, account, message, how).await?,
        InboundItem::Unsent { id, participant, out } => {
            messages::mark_unsent(tx, account, &id, &participant, (out, happened_at)).await?;
        }
        InboundItem::Comment(comment) => {
            comments::comment(tx, account, comment, happened_at, how).await?;
        }
        InboundItem::CommentDeleted { id, post } => {
            return comments::deleted(tx, account, &id, post, happened_at).await;
        }
        InboundItem::CommentHidden { id, hidden } => {
            return comments::hidden(tx, account, &id, hidden, happened_at).await;
        }
    }
    Ok(true)
}
