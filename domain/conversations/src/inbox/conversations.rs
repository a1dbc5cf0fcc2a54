//! Reads conversations.

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result},
    input,
    page::{self, EmptyBecause},
};
use fanfare_entities::{
    AccountId, ConversationId, MessageId, inbox_conversation, inbox_conversation::Column,
    inbox_message,
};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Conversation, Message, accounts_of, action_context, no_conversation, on_platforms,
    platform_named, visible_conversations, why_empty,
};

/// The filter of a list of conversations.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConversationFilter {
    /// Only of this account.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// Only on these platforms, separated by commas.
    #[serde(default)]
    #[schemars(length(max = 300))]
    pub platform: Option<String>,
    /// Only those whose latest message is from the user, or only the others.
    #[serde(default)]
    pub unanswered: Option<bool>,
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// A page of conversations.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct ConversationPage {
    pub conversations: Vec<Conversation>,
    /// The cursor of the next page; null on the last one.
    pub next_cursor: Option<String>,
    /// Why the list is empty; null if it is not.
    pub empty_because: Option<EmptyBecause>,
}

/// The messages of a conversation to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessagesQuery {
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
}

/// A conversation with its messages, newest first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct ConversationWithMessages {
    pub conversation: Conversation,
    pub messages: Vec<Message>,
    /// The cursor of the next page; null on the last one.
    pub next_cursor: Option<String>,
}

/// A position in a list that is ordered by a time and an id, as cursors encode it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListPosition(pub i64, pub i64);

impl std::str::FromStr for ListPosition {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (at, id) = text.split_once('.').ok_or(())?;
        Ok(Self(at.parse().map_err(|_| ())?, id.parse().map_err(|_| ())?))
    }
}

/// Returns the condition for rows after a position, in a list with the latest first.
pub(crate) fn older_than<C: ColumnTrait>(
    at: C,
    id: C,
    ListPosition(time, row): ListPosition,
) -> Condition {
    let same = Condition::all().add(at.eq(time)).add(id.lt(row));
    Condition::any().add(at.lt(time)).add(same)
}

/// Lists conversations, latest activity first.
///
/// # Errors
/// An invalid filter.
pub async fn list(act: &Act, filter: ConversationFilter) -> Result<Reply<ConversationPage>> {
    let limit = input::limit(filter.limit)?;
    let mut query =
        visible_conversations(act).order_by_desc(Column::LastAt).order_by_desc(Column::Id);
    if let Some(id) = filter.account_id {
        query = query.filter(Column::AccountId.eq(AccountId(id)));
    }
    if let Some(platforms) = input::several(filter.platform.as_deref(), platform_named)? {
        query = query.filter(Column::AccountId.in_subquery(on_platforms(platforms)));
    }
    if let Some(unanswered) = filter.unanswered {
        query = query.filter(Column::Unanswered.eq(unanswered));
    }
    let cursor: Option<ListPosition> = input::cursor(filter.cursor.as_deref())?;
    let from = |last: Option<&inbox_conversation::Model>| {
        let place = last.map(|row| ListPosition(row.last_at, row.id.0)).or(cursor);
        match place {
            Some(place) => query.clone().filter(older_than(Column::LastAt, Column::Id, place)),
            None => query.clone(),
        }
    };
    let size = |row: &inbox_conversation::Model| row.last_text.len() + 1_000;
    let page = page::read(&act.cx.db.read, limit, from, size).await?;
    let next_cursor = page.next(|row| format!("{}.{}", row.last_at, row.id));
    let accounts = accounts_of(&act.cx, page.rows.iter().map(|row| row.account_id)).await?;
    let shown = page.rows.iter().filter_map(|row| {
        let account = accounts.get(&row.account_id)?;
        Some(Conversation::of(row, account, &action_context(act, account)))
    });
    let shown: Vec<_> = shown.collect();
    let empty_because = if shown.is_empty() {
        let any = visible_conversations(act).one(&act.cx.db.read).await?.is_some();
        Some(why_empty(act, any, filter.cursor.is_some()).await?)
    } else {
        None
    };
    Ok(Reply::ok(&ConversationPage { conversations: shown, next_cursor, empty_because }))
}

/// Shows a conversation with its messages, newest first.
///
/// # Errors
/// [`Code::ConversationNotFound`].
pub async fn get(
    act: &Act,
    id: ConversationId,
    query: MessagesQuery,
) -> Result<Reply<ConversationWithMessages>> {
    use inbox_message::Column as Of;
    let limit = input::limit(query.limit)?;
    let (row, account) = find(act, id).await?;
    let of_it = inbox_message::Entity::find()
        .filter(Of::ConversationId.eq(id))
        .order_by_desc(Of::SentAt)
        .order_by_desc(Of::Id);
    let cursor: Option<ListPosition> = input::cursor(query.cursor.as_deref())?;
    let from = |last: Option<&inbox_message::Model>| {
        let place = last.map(|row| ListPosition(row.sent_at, row.id.0)).or(cursor);
        match place {
            Some(place) => of_it.clone().filter(older_than(Of::SentAt, Of::Id, place)),
            None => of_it.clone(),
        }
    };
    let size = |row: &inbox_message::Model| row.text.len() + 1_000;
    let page = page::read(&act.cx.db.read, limit, from, size).await?;
    let next_cursor = page.next(|row| format!("{}.{}", row.sent_at, row.id));
    let asking = action_context(act, &account);
    let messages =
        page.rows.into_iter().map(|one| Message::of(&act.cx, one, &row, &account, &asking));
    Ok(Reply::ok(&ConversationWithMessages {
        messages: messages.collect(),
        conversation: Conversation::of(&row, &account, &asking),
        next_cursor,
    }))
}

/// Returns a conversation and its account.
pub(super) async fn find(
    act: &Act,
    id: ConversationId,
) -> Result<(inbox_conversation::Model, fanfare_entities::account::Model)> {
    let row = visible_conversations(act).filter(Column::Id.eq(id)).one(&act.cx.db.read).await?;
    let row = row.ok_or_else(|| no_conversation(id))?;
    let account = fanfare_publishing::accounts::find(act, row.account_id).await;
    Ok((row, account.map_err(|_| no_conversation(id))?))
}

/// Returns a message as replies show it.
pub(super) async fn message(act: &Act, id: MessageId) -> Result<Message> {
    let absent = || Error::new(Code::ConversationNotFound, "The message is gone.");
    let row = inbox_message::Entity::find_by_id(id).one(&act.cx.db.write).await?;
    let row = row.ok_or_else(absent)?;
    let conversation = inbox_conversation::Entity::find_by_id(row.conversation_id);
    let conversation = conversation.one(&act.cx.db.write).await?.ok_or_else(absent)?;
    let account = fanfare_publishing::accounts::find(act, row.account_id).await?;
    Ok(Message::of(&act.cx, row, &conversation, &account, &action_context(act, &account)))
}
