//! Taking in what networks hold and send: in any order, any number of times, to the same end.
//!
//! Messages (`messages.rs`) and comments (`comments.rs`) are told of by events where they are new (`tell.rs`).

mod comments;
mod conversations;
mod messages;
mod tell;

pub(super) use self::{
    comments::{comment, deleted, hidden},
    conversations::conversation_with,
    messages::message,
};

use fanfare_entities::{Millis, account};
use fanfare_platforms::InboundItem;

use crate::{Tx, error::Result};

/// The way in which something is taken in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Intake {
    /// It is new to the account: events tell of it.
    pub live: bool,
}

/// Takes in what a network sent. False: what it is about is not there yet.
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
            messages::unsent(tx, account, &id, &participant, (out, happened_at)).await?;
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
