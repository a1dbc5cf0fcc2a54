//! Taking in what networks hold and send: in any order, any number of times, to the same end.

use fanfare_entities::{
    CommentId, Millis, PostId, account, inbox_comment, inbox_conversation,
    inbox_message::{self, ItemStatus},
    post,
};
use fanfare_platforms::{InboundItem, Person, RemoteComment, RemoteMessage};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect, sea_query::Expr,
};
use serde_json::json;

use super::{Asking, Comment, Message, files, rules};
use crate::{
    Tx,
    access::Role,
    error::{Error, Result},
    events::NewEvent,
    outgoing::{self, Target},
};

/// How something is taken in.
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
        InboundItem::Message(message) => self::message(tx, account, message, how).await?,
        InboundItem::Unsent { id, participant, out } => {
            unsent(tx, account, &id, &participant, (out, happened_at)).await?;
        }
        InboundItem::Comment(comment) => {
            self::comment(tx, account, comment, happened_at, how).await?;
        }
        InboundItem::CommentDeleted { id, post } => {
            return deleted(tx, account, &id, post, happened_at).await;
        }
        InboundItem::CommentHidden { id, hidden } => {
            return self::hidden(tx, account, &id, hidden, happened_at).await;
        }
    }
    Ok(true)
}

/// The account's conversation with a person, locked; made if there is none.
async fn conversation(
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
    Ok(named(tx, found, person).await?)
}

/// The same with what is newly known of the person.
async fn named(
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

/// The account's conversation with the author of a comment.
pub(super) async fn conversation_with(
    tx: &Tx,
    account: &account::Model,
    comment: &inbox_comment::Model,
) -> Result<inbox_conversation::Model> {
    let Some(id) = comment.author_id.clone().filter(|id| !id.is_empty()) else {
        let message = "The network does not tell who wrote the comment.";
        return Err(Error::new(crate::error::Code::ActionNotAllowed, message));
    };
    let person = Person {
        id,
        username: comment.author_username.clone(),
        name: comment.author_name.clone(),
        avatar_url: None,
    };
    conversation(tx, account, &person, tx.now()).await
}

/// Takes in a message.
pub(super) async fn message(
    tx: &mut Tx,
    account: &account::Model,
    message: RemoteMessage,
    how: Intake,
) -> Result<()> {
    use inbox_message::Column;
    let at = message.at.timestamp_millis();
    let conversation = conversation(tx, account, &message.participant, at).await?;
    let known = inbox_message::Entity::find()
        .filter(Column::AccountId.eq(account.id))
        .filter(Column::RemoteId.eq(message.id.as_str()))
        .one(tx.conn())
        .await?;
    if known.is_some() {
        return Ok(());
    }
    if message.out && joined(tx, &conversation, &message).await? {
        return Ok(());
    }
    let row = inbox_message::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        conversation_id: Set(conversation.id),
        remote_id: Set(Some(message.id.clone())),
        outbound: Set(message.out),
        text: Set(message.text.clone()),
        attachments: Set(files::stored(&message.attachments)),
        status: Set(if message.out { ItemStatus::Sent } else { ItemStatus::Received }),
        deleted: Set(false),
        sent_at: Set(at),
        created_at: Set(tx.now()),
        ..Default::default()
    };
    let row = inbox_message::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    files::expect(tx, files::of_message(&row), &message.attachments).await?;
    let conversation = latest(tx, conversation, &message, at).await?;
    if how.live && !message.out {
        tell_message(tx, account, row, &conversation);
    }
    Ok(())
}

/// A message of our own that the network tells of: it joins its row.
async fn joined(
    tx: &Tx,
    conversation: &inbox_conversation::Model,
    message: &RemoteMessage,
) -> Result<bool> {
    use inbox_message::Column;
    let open = inbox_message::Entity::find()
        .filter(Column::ConversationId.eq(conversation.id))
        .filter(Column::Outbound.eq(true))
        .filter(Column::RemoteId.is_null())
        .filter(Column::Status.is_in([ItemStatus::Sending, ItemStatus::Unknown]))
        .order_by_asc(Column::Id)
        .all(tx.conn())
        .await?;
    let is_it = |row: &&inbox_message::Model| {
        let files = row.attachments.as_array().is_some_and(|files| !files.is_empty());
        row.text.trim() == message.text.trim() && files != message.attachments.is_empty()
    };
    // A mark says for certain which it is; a text says it as long as there is one of it.
    let marked = match &message.mark {
        Some(mark) => outgoing::marked(tx.conn(), conversation.account_id, mark).await?,
        None => None,
    };
    let row = match marked {
        Some(id) => open.iter().find(|row| row.id.0 == id),
        None => open.iter().find(is_it),
    };
    let Some(row) = row else { return Ok(false) };
    outgoing::happened(tx, Target::Message(row.id), &message.id).await?;
    let change = inbox_message::ActiveModel {
        id: Set(row.id),
        remote_id: Set(Some(message.id.clone())),
        status: Set(ItemStatus::Sent),
        error: Set(None),
        ..Default::default()
    };
    change.update(tx.conn()).await?;
    let at = message.at.timestamp_millis();
    latest(tx, conversation.clone(), message, at).await?;
    Ok(true)
}

/// Notes the latest message of a conversation, and when the person last wrote.
async fn latest(
    tx: &Tx,
    row: inbox_conversation::Model,
    message: &RemoteMessage,
    at: Millis,
) -> Result<inbox_conversation::Model> {
    let mut change = inbox_conversation::ActiveModel { id: Set(row.id), ..Default::default() };
    let is_first = row.last_text.is_empty() && row.last_inbound_at.is_none() && !row.last_outbound;
    if at >= row.last_at || is_first {
        change.last_text = Set(message.text.clone());
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

/// A message was taken back: its text and files go. One that is not here yet is noted as deleted.
async fn unsent(
    tx: &mut Tx,
    account: &account::Model,
    id: &str,
    person: &Person,
    (out, at): (bool, Millis),
) -> Result<()> {
    use inbox_message::Column;
    let conversation = conversation(tx, account, person, at).await?;
    let known = inbox_message::Entity::find()
        .filter(Column::AccountId.eq(account.id))
        .filter(Column::RemoteId.eq(id))
        .one(tx.conn())
        .await?;
    let Some(row) = known else {
        let row = inbox_message::ActiveModel {
            workspace_id: Set(account.workspace_id),
            account_id: Set(account.id),
            conversation_id: Set(conversation.id),
            remote_id: Set(Some(id.to_owned())),
            outbound: Set(out),
            text: Set(String::new()),
            attachments: Set(json!([])),
            status: Set(if out { ItemStatus::Sent } else { ItemStatus::Received }),
            deleted: Set(true),
            sent_at: Set(at),
            created_at: Set(tx.now()),
            ..Default::default()
        };
        inbox_message::Entity::insert(row).exec_without_returning(tx.conn()).await?;
        return Ok(());
    };
    if row.deleted {
        return Ok(());
    }
    if conversation.last_at == row.sent_at && conversation.last_text == row.text {
        let blank = inbox_conversation::ActiveModel {
            id: Set(conversation.id),
            last_text: Set(String::new()),
            ..Default::default()
        };
        blank.update(tx.conn()).await?;
    }
    let change = inbox_message::ActiveModel {
        id: Set(row.id),
        text: Set(String::new()),
        attachments: Set(json!([])),
        deleted: Set(true),
        ..Default::default()
    };
    change.update(tx.conn()).await?;
    files::forget(tx, files::of_message(&row)).await
}

async fn comment_named(
    tx: &Tx,
    account: &account::Model,
    id: &str,
) -> Result<Option<inbox_comment::Model>> {
    let found = inbox_comment::Entity::find()
        .filter(inbox_comment::Column::AccountId.eq(account.id))
        .filter(inbox_comment::Column::RemoteId.eq(id));
    Ok(found.one(tx.conn()).await?)
}

/// Takes in a comment, or what is now known of it.
pub(super) async fn comment(
    tx: &mut Tx,
    account: &account::Model,
    comment: RemoteComment,
    happened_at: Millis,
    how: Intake,
) -> Result<()> {
    if let Some(row) = comment_named(tx, account, &comment.id).await? {
        return update_comment(tx, row, comment, happened_at).await;
    }
    let parent = match &comment.parent {
        Some(id) => comment_named(tx, account, id).await?,
        None => None,
    };
    if comment.own && joined_reply(tx, account, &comment, parent.as_ref()).await? {
        return Ok(());
    }
    let at = comment.at.timestamp_millis();
    let row = inbox_comment::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        post_id: Set(post_of(tx, account, &comment.post).await?),
        platform_post_id: Set(comment.post.clone()),
        remote_id: Set(Some(comment.id.clone())),
        parent_id: Set(parent.as_ref().map(|parent| parent.id)),
        parent_remote_id: Set(comment.parent.clone()),
        author_id: Set(Some(comment.author.id).filter(|id| !id.is_empty())),
        author_username: Set(comment.author.username),
        author_name: Set(comment.author.name),
        author_avatar: Set(comment.author.avatar_url),
        own: Set(comment.own),
        text: Set(comment.text),
        attachments: Set(files::stored(&comment.attachments)),
        like_count: Set(comment.like_count),
        reply_count: Set(comment.reply_count),
        hidden: Set(comment.hidden.unwrap_or(false)),
        deleted: Set(false),
        unanswered: Set(!comment.own),
        private_replied: Set(false),
        url: Set(comment.url),
        commented_at: Set(at),
        changed_at: Set(happened_at),
        created_at: Set(tx.now()),
        ..Default::default()
    };
    let row = inbox_comment::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    files::expect(tx, files::of_comment(&row), &comment.attachments).await?;
    let answered = adopt(tx, &row).await?;
    if let Some(parent) = parent.filter(|_| row.own) {
        answer(tx, parent.id).await?;
    }
    if answered {
        answer(tx, row.id).await?;
    }
    if how.live && !row.own {
        tell_comment(tx, account, row);
    }
    Ok(())
}

/// Replies that came before their comment are hung below it; true if one of them is the account's.
async fn adopt(tx: &Tx, row: &inbox_comment::Model) -> Result<bool> {
    use inbox_comment::Column;
    let Some(remote_id) = &row.remote_id else { return Ok(false) };
    let below = || {
        inbox_comment::Entity::find()
            .filter(Column::AccountId.eq(row.account_id))
            .filter(Column::ParentRemoteId.eq(remote_id.as_str()))
    };
    let waiting = below().filter(Column::ParentId.is_null()).all(tx.conn()).await?;
    if waiting.is_empty() {
        return Ok(false);
    }
    inbox_comment::Entity::update_many()
        .col_expr(Column::ParentId, Expr::value(row.id.0))
        .filter(Column::Id.is_in(waiting.iter().map(|one| one.id)))
        .exec(tx.conn())
        .await?;
    Ok(waiting.iter().any(|one| one.own))
}

async fn answer(tx: &Tx, id: CommentId) -> Result<()> {
    inbox_comment::Entity::update_many()
        .col_expr(inbox_comment::Column::Unanswered, Expr::value(false))
        .filter(inbox_comment::Column::Id.eq(id))
        .exec(tx.conn())
        .await?;
    Ok(())
}

async fn post_of(tx: &Tx, account: &account::Model, remote: &str) -> Result<Option<PostId>> {
    let found = post::Entity::find()
        .select_only()
        .column(post::Column::Id)
        .filter(post::Column::AccountId.eq(account.id))
        .filter(post::Column::PlatformPostId.eq(remote));
    Ok(found.into_tuple().one(tx.conn()).await?)
}

/// What is known of a comment changes; what happened earlier than that changes nothing.
async fn update_comment(
    tx: &Tx,
    row: inbox_comment::Model,
    comment: RemoteComment,
    happened_at: Millis,
) -> Result<()> {
    if row.deleted {
        return Ok(());
    }
    let later = happened_at >= row.changed_at;
    let hidden = comment.hidden.filter(|hidden| later && *hidden != row.hidden);
    let text = Some(comment.text).filter(|text| later && *text != row.text);
    let likes = comment.like_count.filter(|likes| Some(*likes) != row.like_count);
    let replies = comment.reply_count.filter(|replies| Some(*replies) != row.reply_count);
    let url = comment.url.filter(|url| row.url.as_ref() != Some(url));
    if hidden.is_none()
        && text.is_none()
        && likes.is_none()
        && replies.is_none()
        && url.is_none()
        && (row.author_id.is_some() || comment.author.id.is_empty())
    {
        return Ok(());
    }
    let change = inbox_comment::ActiveModel {
        id: Set(row.id),
        hidden: Set(hidden.unwrap_or(row.hidden)),
        text: Set(text.unwrap_or(row.text)),
        like_count: Set(likes.or(row.like_count)),
        reply_count: Set(replies.or(row.reply_count)),
        url: Set(url.or(row.url)),
        author_id: Set(row.author_id.or(Some(comment.author.id).filter(|id| !id.is_empty()))),
        changed_at: Set(row.changed_at.max(happened_at)),
        ..Default::default()
    };
    change.update(tx.conn()).await?;
    Ok(())
}

/// An answer of our own that the network tells of: it joins its row.
async fn joined_reply(
    tx: &Tx,
    account: &account::Model,
    comment: &RemoteComment,
    parent: Option<&inbox_comment::Model>,
) -> Result<bool> {
    use inbox_comment::Column;
    let Some(parent) = parent else { return Ok(false) };
    let open = inbox_comment::Entity::find()
        .filter(Column::AccountId.eq(account.id))
        .filter(Column::Own.eq(true))
        .filter(Column::RemoteId.is_null())
        .filter(Column::PlatformPostId.eq(parent.platform_post_id.as_str()))
        .filter(Column::Status.is_in([ItemStatus::Sending, ItemStatus::Unknown]))
        .order_by_asc(Column::Id)
        .all(tx.conn())
        .await?;
    // An answer to a reply stands beside it, below the same comment.
    let below = |row: &&inbox_comment::Model| {
        row.parent_id == Some(parent.id) || parent.parent_id.is_none()
    };
    let mut same = open.iter().filter(|row| row.text.trim() == comment.text.trim());
    let Some(row) = same.find(below) else { return Ok(false) };
    outgoing::happened(tx, Target::Reply(row.id), &comment.id).await?;
    let at = comment.at.timestamp_millis();
    let change = inbox_comment::ActiveModel {
        id: Set(row.id),
        remote_id: Set(Some(comment.id.clone())),
        status: Set(Some(ItemStatus::Sent)),
        error: Set(None),
        commented_at: Set(at),
        changed_at: Set(at),
        ..Default::default()
    };
    change.update(tx.conn()).await?;
    if let Some(parent) = row.parent_id {
        answer(tx, parent).await?;
    }
    Ok(true)
}

/// A comment was deleted on the network. False: it is not here yet, and where it stood is not known.
pub(super) async fn deleted(
    tx: &mut Tx,
    account: &account::Model,
    id: &str,
    post: Option<String>,
    at: Millis,
) -> Result<bool> {
    if let Some(row) = comment_named(tx, account, id).await? {
        let change = inbox_comment::ActiveModel {
            id: Set(row.id),
            deleted: Set(true),
            unanswered: Set(false),
            text: Set(String::new()),
            attachments: Set(json!([])),
            changed_at: Set(row.changed_at.max(at)),
            ..Default::default()
        };
        change.update(tx.conn()).await?;
        files::forget(tx, files::of_comment(&row)).await?;
        return Ok(true);
    }
    let Some(post) = post else { return Ok(false) };
    let row = inbox_comment::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        post_id: Set(post_of(tx, account, &post).await?),
        platform_post_id: Set(post),
        remote_id: Set(Some(id.to_owned())),
        own: Set(false),
        text: Set(String::new()),
        attachments: Set(json!([])),
        hidden: Set(false),
        deleted: Set(true),
        unanswered: Set(false),
        private_replied: Set(false),
        commented_at: Set(at),
        changed_at: Set(at),
        created_at: Set(tx.now()),
        ..Default::default()
    };
    inbox_comment::Entity::insert(row).exec_without_returning(tx.conn()).await?;
    Ok(true)
}

/// A comment was hidden on the network, or shown again. False: it is not here yet.
async fn hidden(
    tx: &Tx,
    account: &account::Model,
    id: &str,
    hidden: bool,
    at: Millis,
) -> Result<bool> {
    let Some(row) = comment_named(tx, account, id).await? else { return Ok(false) };
    if at >= row.changed_at - 999 && row.hidden != hidden {
        let change = inbox_comment::ActiveModel {
            id: Set(row.id),
            hidden: Set(hidden),
            changed_at: Set(row.changed_at.max(at)),
            ..Default::default()
        };
        change.update(tx.conn()).await?;
    }
    Ok(true)
}

/// A role that may do everything: events have no caller.
fn anybody(tx: &Tx, account: &account::Model) -> Asking {
    Asking {
        role: Role::Admin,
        rules: rules(account),
        connected: true,
        now: tx.now(),
        factor: super::factor(tx.domain(), account),
    }
}

fn tell_message(
    tx: &mut Tx,
    account: &account::Model,
    row: inbox_message::Model,
    conversation: &inbox_conversation::Model,
) {
    let asking = anybody(tx, account);
    let message = Message::of(tx.domain(), row, conversation, account, &asking);
    let data = json!({ "message": message }).to_string();
    tell(tx, account, "message.received", "A message", data, None);
}

fn tell_comment(tx: &mut Tx, account: &account::Model, row: inbox_comment::Model) {
    let post = row.post_id;
    let asking = anybody(tx, account);
    let comment = Comment::of(tx.domain(), row, account, &asking);
    let data = json!({ "comment": comment }).to_string();
    tell(tx, account, "comment.received", "A comment", data, post);
}

/// Tells of something that came; its text stands in the payload alone.
fn tell(
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
