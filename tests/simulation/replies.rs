//! People who answer: the rows that a request for a reply leaves.

use fanfare_entities::{
    ConversationId, MessageId, OutgoingId, inbox_message, inbox_message::ItemStatus, outgoing,
    outgoing::OutgoingStatus,
};
use fanfare_platforms::RemoteChange;
use sea_orm::{ActiveModelTrait, ActiveValue::NotSet, EntityTrait};
use serde_json::json;
use uuid::Uuid;

use crate::{callers::post_same_text_elsewhere, dice::Dice, world::World};

/// Returns what a network knows a reply by that has this number.
pub fn key(id: i64) -> Uuid {
    Uuid::from_u128(u128::try_from(id).expect("a row's number") << 64)
}

/// Answers on a random account; returns a line for the trace.
pub async fn create(world: &World, dice: &mut Dice, number: usize) -> String {
    let account = dice.place(world.accounts.len());
    let of = &world.accounts[account];
    let text = if number.is_multiple_of(2) {
        "The same words".to_owned()
    } else {
        format!("Reply {number}")
    };
    post_same_text_elsewhere(world, account, &text);
    let (workspace_id, now) = (world.callers[of.caller].membership.workspace_id, world.now());
    let message = inbox_message::Model {
        id: MessageId(0),
        workspace_id,
        account_id: of.id,
        conversation_id: ConversationId(1),
        remote_id: None,
        outbound: true,
        text: text.clone(),
        attachments: json!([]),
        sent_at: now,
        status: ItemStatus::Sending,
        error: None,
        deleted: false,
        created_at: now,
    };
    let message = inbox_message::ActiveModel {
        id: NotSet,
        ..inbox_message::ActiveModel::from(message).reset_all()
    };
    let message = inbox_message::Entity::insert(message).exec_with_returning(&world.db.write).await;
    let change = RemoteChange::Message {
        to: "1".to_owned(),
        text: Some(text.clone()),
        file: None,
        human_agent: false,
        mark: String::new(),
    };
    let row = outgoing::Model {
        id: OutgoingId(0),
        workspace_id,
        account_id: of.id,
        target: "message".to_owned(),
        target_id: message.expect("a message").id.0,
        scope: format!("conversation:{account}"),
        fingerprint: text,
        dedup_key: None,
        change: json!(change),
        status: OutgoingStatus::Sending,
        state: None,
        steps: json!([]),
        sending_at: None,
        sending_until: None,
        absent_at: None,
        repeated: 0,
        remote_id: None,
        error: None,
        request_id: "request".to_owned(),
        due_at: Some(now),
        fencing_token: 0,
        attempts: 0,
        lease_expirations: 0,
        created_at: now,
        updated_at: now,
    };
    let row = outgoing::ActiveModel { id: NotSet, ..outgoing::ActiveModel::from(row).reset_all() };
    let made = outgoing::Entity::insert(row).exec_with_returning(&world.db.write).await;
    format!("answer {} on {}", made.expect("a reply").id, of.platform)
}
