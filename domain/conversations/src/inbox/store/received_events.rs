//! The events for received messages and comments.

use fanfare_core::{Tx, access::Role, events::NewEvent};
use fanfare_entities::{PostId, account, inbox_comment, inbox_conversation, inbox_message};
use serde_json::json;

use super::super::{ActionContext, Comment, Message, rules};

/// Returns a context in which every action is possible: events have no caller.
fn full_access(tx: &Tx, account: &account::Model) -> ActionContext {
    ActionContext {
        role: Role::Admin,
        rules: rules(account),
        connected: true,
        now: tx.now(),
        factor: super::super::factor(tx.domain(), account),
    }
}

pub(super) fn emit_message(
    tx: &mut Tx,
    account: &account::Model,
    row: inbox_message::Model,
    conversation: &inbox_conversation::Model,
) {
    let asking = full_access(tx, account);
    let message = Message::of(tx.domain(), row, conversation, account, &asking);
    let data = json!({ "message": message }).to_string();
    emit_received(tx, account, "message.received", "A message", data, None);
}

pub(super) fn emit_comment(tx: &mut Tx, account: &account::Model, row: inbox_comment::Model) {
    let post = row.post_id;
    let asking = full_access(tx, account);
    let comment = Comment::of(tx.domain(), row, account, &asking);
    let data = json!({ "comment": comment }).to_string();
    emit_received(tx, account, "comment.received", "A comment", data, post);
}

/// Emits an event for something that was received; its text is only in the payload.
fn emit_received(
    tx: &mut Tx,
    account: &account::Model,
    event_type: &'static str,
    what: &str,
    data: String,
    post_id: Option<PostId>,
) {
    tx.emit(NewEvent {
        workspace_id: account.workspace_id,
        event_type,
        streamed: true,
        data,
        post_id,
        account_id: Some(account.id),
        brand_id: account.brand_id,
        platform: Some(account.platform.clone()),
        status: None,
        message: format!("{what} came to {} on {}.", account.username, account.platform),
        request_id: None,
    });
}
