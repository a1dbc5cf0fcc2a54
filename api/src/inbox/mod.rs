//! The social inbox.

pub mod hooks;

use fanfare_conversations::inbox;
use fanfare_core::{Code, CommentId, ConversationId, Reply, Result};

use crate::{Call, call::parse};

/// Lists conversations.
pub async fn list_conversations(mut call: Call) -> Result<Reply<inbox::ConversationPage>> {
    let filter = call.query()?;
    inbox::list_conversations(&call.act, filter).await
}

/// Shows a conversation with its messages.
pub async fn get_conversation(mut call: Call) -> Result<Reply<inbox::ConversationWithMessages>> {
    let (id, query) = (conversation(&call)?, call.query()?);
    inbox::get_conversation(&call.act, id, query).await
}

/// Answers a conversation.
pub async fn reply_to_conversation(mut call: Call) -> Result<Reply<inbox::OneMessage>> {
    let (id, reply) = (conversation(&call)?, call.body()?);
    inbox::reply_to_conversation(&call.act, id, reply).await
}

/// Lists comments.
pub async fn list_comments(mut call: Call) -> Result<Reply<inbox::CommentPage>> {
    let filter = call.query()?;
    inbox::list_comments(&call.act, filter).await
}

/// Shows a comment with its replies.
pub async fn get_comment(call: Call) -> Result<Reply<inbox::CommentWithReplies>> {
    inbox::get_comment(&call.act, comment(&call)?).await
}

/// Answers a comment.
pub async fn reply_to_comment(mut call: Call) -> Result<Reply<inbox::ReplyCreated>> {
    let (id, reply) = (comment(&call)?, call.body()?);
    inbox::reply_to_comment(&call.act, id, reply).await
}

/// Hides a comment, or shows it again.
pub async fn update_comment(mut call: Call) -> Result<Reply<inbox::OneComment>> {
    let (id, changes) = (comment(&call)?, call.body()?);
    inbox::change_comment(&call.act, id, changes).await
}

/// Deletes a comment.
pub async fn delete_comment(call: Call) -> Result<Reply<inbox::CommentDeleted>> {
    inbox::delete_comment(&call.act, comment(&call)?).await
}

/// Requests a sync of inboxes.
pub async fn sync(mut call: Call) -> Result<Reply<inbox::SyncRequestedList>> {
    let wanted = call.body()?;
    inbox::request_sync(&call.act, wanted).await
}

fn conversation(call: &Call) -> Result<ConversationId> {
    parse(call.path("id"), Code::ConversationNotFound).map(ConversationId)
}

fn comment(call: &Call) -> Result<CommentId> {
    parse(call.path("id"), Code::CommentNotFound).map(CommentId)
}
