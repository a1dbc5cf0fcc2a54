//! The conversations that messages belong to.

use fanfare_core::{
    Tx,
    error::{Error, Result},
};
use fanfare_entities::{Millis, account, inbox_comment, inbox_conversation};
use fanfare_platforms::{Person, RemoteMessage};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QuerySelect,
};

use super::super::PREVIEW_CHARS;

/// Returns the account's conversation with a user, locked; creates it if there is none.
pub(super) async fn conversation(
    tx: &Tx,
    account: &account::Model,
    person: &Person,
    at: Millis,
) -> Result<inbox_conversation::Model> {
    use inbox_conversation::Column;
    let find = || {
        inbox_conversation::Entity::find()
            .filter(Column::AccountId.eq(account.id))
            .filter(Column::ParticipantId.eq(person.id.as_str()))
            .lock_exclusive()
    };
    let found = match find().one(tx.conn()).await? {
        Some(found) => found,
        None => {
            let row = inbox_conversation::ActiveModel {
                workspace_id: Set(account.workspace_id),
                account_id: Set(account.id),
                participant_id: Set(person.id.clone()),
                last_text: Set(String::new()),
                last_outbound: Set(false),
                last_at: Set(at.min(tx.now())),
                unanswered: Set(false),
                created_at: Set(tx.now()),
                ..Default::default()
            };
            let known =
                sea_orm::sea_query::OnConflict::columns([Column::AccountId, Column::ParticipantId])
                    .do_nothing()
                    .to_owned();
            inbox_conversation::Entity::insert(row)
                .on_conflict(known)
                .exec_without_returning(tx.conn())
                .await?;
            let made = find().one(tx.conn()).await?;
            made.ok_or_else(|| Error::internal("a conversation is gone"))?
        }
    };
    Ok(with_participant(tx, found, person).await?)
}

/// Adds what is newly known about the user.
async fn with_participant(
    tx: &Tx,
    row: inbox_conversation::Model,
    person: &Person,
) -> Result<inbox_conversation::Model, sea_orm::DbErr> {
    let news = |known: &Option<String>, told: &Option<String>| told.is_some() && known != told;
    if !news(&row.participant_username, &person.username)
        && !news(&row.participant_name, &person.name)
        && !news(&row.participant_avatar, &person.avatar_url)
    {
        return Ok(row);
    }
    let change = inbox_conversation::ActiveModel {
        id: Set(row.id),
        participant_username: Set(person.username.clone().or(row.participant_username)),
        participant_name: Set(person.name.clone().or(row.participant_name)),
        participant_avatar: Set(person.avatar_url.clone().or(row.participant_avatar)),
        ..Default::default()
    };
    change.update(tx.conn()).await
}

/// Returns the account's conversation with the author of a comment.
pub(in crate::inbox) async fn conversation_with(
    tx: &Tx,
    account: &account::Model,
    comment: &inbox_comment::Model,
) -> Result<inbox_conversation::Model> {
    let Some(id) = comment.author_id.clone().filter(|id| !id.is_empty()) else {
        let message = "The network does not tell who wrote the comment.";
        return Err(Error::new(fanfare_core::error::Code::ActionNotAllowed, message));
    };
    let person = Person {
        id,
        username: comment.author_username.clone(),
        name: comment.author_name.clone(),
        avatar_url: None,
    };
    conversation(tx, account, &person, tx.now()).await
}

/// Records the latest message of a conversation, and when the user last wrote.
pub(super) async fn latest(
    tx: &Tx,
    row: inbox_conversation::Model,
    message: &RemoteMessage,
    at: Millis,
) -> Result<inbox_conversation::Model> {
    let mut change = inbox_conversation::ActiveModel { id: Set(row.id), ..Default::default() };
    let is_first = row.last_text.is_empty() && row.last_inbound_at.is_none() && !row.last_outbound;
    if at >= row.last_at || is_first {
        change.last_text = Set(message.text.chars().take(PREVIEW_CHARS).collect());
        change.last_outbound = Set(message.out);
        change.last_at = Set(at);
        change.unanswered = Set(!message.out);
    }
    if !message.out && row.last_inbound_at.is_none_or(|last| last < at) {
        change.last_inbound_at = Set(Some(at));
    } else if at < row.last_at && !is_first {
        return Ok(row);
    }
    Ok(change.update(tx.conn()).await?)
}
