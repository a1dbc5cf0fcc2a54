//! The rows that a change creates or changes, and how its outcome applies to them.

use fanfare_core::{
    Tx,
    error::{Error, Result},
};
use fanfare_entities::{
    BusinessMediaId, CommentId, ConversationId, MessageId, Millis, ReviewId, inbox_comment,
    inbox_conversation,
    inbox_message::{self, ItemStatus},
    outgoing,
};
use fanfare_platforms::RemoteChange;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait,
    QueryFilter, QueryOrder, sea_query::Expr,
};
use serde_json::Value;

use super::{business_target, change_of, made_within};

/// The row that a change is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutgoingTarget {
    /// A message of our own.
    Message(MessageId),
    /// An answer of our own to a comment.
    Reply(CommentId),
    /// A comment that is hidden, shown or deleted.
    Comment(CommentId),
    /// A review that is answered.
    Review(ReviewId),
    /// A photo or video that is added.
    Media(BusinessMediaId),
    /// A photo or video that is deleted.
    MediaGone(BusinessMediaId),
}

impl OutgoingTarget {
    /// Returns the table and the id, as the row of a change stores them.
    pub(super) const fn stored(self) -> (&'static str, i64) {
        match self {
            Self::Message(id) => ("message", id.0),
            Self::Reply(id) => ("reply", id.0),
            Self::Comment(id) => ("comment", id.0),
            Self::Review(id) => ("review", id.0),
            Self::Media(id) => ("media", id.0),
            Self::MediaGone(id) => ("media_gone", id.0),
        }
    }

    /// Returns the target of a change's row.
    pub(super) fn of(row: &outgoing::Model) -> Result<Self> {
        Ok(match row.target.as_str() {
            "message" => Self::Message(MessageId(row.target_id)),
            "reply" => Self::Reply(CommentId(row.target_id)),
            "comment" => Self::Comment(CommentId(row.target_id)),
            "review" => Self::Review(ReviewId(row.target_id)),
            "media" => Self::Media(BusinessMediaId(row.target_id)),
            "media_gone" => Self::MediaGone(BusinessMediaId(row.target_id)),
            other => return Err(Error::internal(format!("a change of {other}"))),
        })
    }
}

/// The outcome of a change, as far as it is known.
#[derive(Debug, Clone)]
pub enum OutgoingOutcome {
    /// It was made, under this id.
    Sent(String),
    /// It was not made.
    Failed(Value),
    /// It may have been made.
    Unknown,
}

/// Completes the outcome of a message that was sent under an unknown id, if the network has reported it already: its
/// report is then a row of its own, which no change of ours has made.
pub(super) async fn with_reported_id<C: ConnectionTrait>(
    conn: &C,
    row: &outgoing::Model,
    known: OutgoingOutcome,
) -> Result<OutgoingOutcome> {
    use inbox_message::Column;
    let (OutgoingOutcome::Sent(id), OutgoingTarget::Message(target)) =
        (&known, OutgoingTarget::of(row)?)
    else {
        return Ok(known);
    };
    let sent = inbox_message::Entity::find_by_id(target).one(conn).await?;
    let Some(sent) = sent.filter(|sent| id.is_empty() && sent.remote_id.is_none()) else {
        return Ok(known);
    };
    let (from, until) = made_within(sent.created_at);
    let reported = inbox_message::Entity::find()
        .filter(Column::ConversationId.eq(sent.conversation_id))
        .filter(Column::Outbound.eq(true))
        .filter(Column::RemoteId.is_not_null())
        .filter(Column::Id.gt(sent.id))
        .filter(Column::SentAt.between(from, until))
        .order_by_asc(Column::Id)
        .all(conn)
        .await?;
    for message in reported.into_iter().filter(|one| one.text.trim() == sent.text.trim()) {
        let ours = outgoing::Entity::find()
            .filter(outgoing::Column::Target.eq("message"))
            .filter(outgoing::Column::TargetId.eq(message.id.0));
        if ours.one(conn).await?.is_none()
            && let Some(id) = message.remote_id
        {
            return Ok(OutgoingOutcome::Sent(id));
        }
    }
    Ok(known)
}

/// Applies the outcome of a change to its target.
pub(super) async fn apply(tx: &Tx, row: &outgoing::Model, known: &OutgoingOutcome) -> Result<()> {
    let now = tx.now();
    match OutgoingTarget::of(row)? {
        OutgoingTarget::Message(id) => message(tx.conn(), id, known).await?,
        OutgoingTarget::Reply(id) => reply(tx.conn(), id, known, now).await?,
        OutgoingTarget::Comment(id) => comment(tx.conn(), id, &change_of(row)?, known, now).await?,
        OutgoingTarget::Review(id) => {
            business_target::apply_to_review(tx.conn(), id, &change_of(row)?, known, now).await?;
        }
        OutgoingTarget::Media(id) => business_target::apply_to_added_media(tx, id, known).await?,
        OutgoingTarget::MediaGone(id) => {
            business_target::apply_to_deleted_media(tx.conn(), id, known).await?
        }
    }
    if let (RemoteChange::PrivateReply { .. }, Some(comment)) =
        (change_of(row)?, scope_comment(row))
    {
        private_reply(tx.conn(), comment, known).await?;
    }
    Ok(())
}

fn scope_comment(row: &outgoing::Model) -> Option<CommentId> {
    row.scope.strip_prefix("comment:")?.parse().ok().map(CommentId)
}

const fn status(known: &OutgoingOutcome) -> ItemStatus {
    match known {
        OutgoingOutcome::Sent(_) => ItemStatus::Sent,
        OutgoingOutcome::Failed(_) => ItemStatus::Failed,
        OutgoingOutcome::Unknown => ItemStatus::Unknown,
    }
}

fn error(known: &OutgoingOutcome) -> Option<Value> {
    match known {
        OutgoingOutcome::Failed(error) => Some(error.clone()),
        OutgoingOutcome::Sent(_) | OutgoingOutcome::Unknown => None,
    }
}

async fn message<C: ConnectionTrait>(
    conn: &C,
    id: MessageId,
    known: &OutgoingOutcome,
) -> Result<()> {
    let Some(row) = inbox_message::Entity::find_by_id(id).one(conn).await? else { return Ok(()) };
    let mut change = inbox_message::ActiveModel {
        id: Set(id),
        status: Set(status(known)),
        error: Set(error(known)),
        ..Default::default()
    };
    if let OutgoingOutcome::Sent(remote_id) = known {
        // The network may have reported it before it was known to be ours.
        inbox_message::Entity::delete_many()
            .filter(inbox_message::Column::AccountId.eq(row.account_id))
            .filter(inbox_message::Column::RemoteId.eq(remote_id.as_str()))
            .filter(inbox_message::Column::Id.ne(id))
            .exec(conn)
            .await?;
        change.remote_id =
            Set(Some(remote_id.clone()).filter(|id| !id.is_empty()).or(row.remote_id));
        answered(conn, row.conversation_id, &row.text, row.sent_at).await?;
    }
    change.update(conn).await?;
    Ok(())
}

/// Marks a conversation as answered: its latest message is the account's.
async fn answered<C: ConnectionTrait>(
    conn: &C,
    id: ConversationId,
    text: &str,
    at: Millis,
) -> Result<()> {
    use inbox_conversation::Column;
    inbox_conversation::Entity::update_many()
        .col_expr(Column::LastText, Expr::value(text))
        .col_expr(Column::LastOutbound, Expr::value(true))
        .col_expr(Column::LastAt, Expr::value(at))
        .col_expr(Column::Unanswered, Expr::value(false))
        .filter(Column::Id.eq(id))
        .filter(Column::LastAt.lte(at))
        .exec(conn)
        .await?;
    Ok(())
}

async fn reply<C: ConnectionTrait>(
    conn: &C,
    id: CommentId,
    known: &OutgoingOutcome,
    now: Millis,
) -> Result<()> {
    use inbox_comment::Column;
    let Some(row) = inbox_comment::Entity::find_by_id(id).one(conn).await? else { return Ok(()) };
    let mut change = inbox_comment::ActiveModel {
        id: Set(id),
        status: Set(Some(status(known))),
        error: Set(error(known)),
        ..Default::default()
    };
    if let OutgoingOutcome::Sent(remote_id) = known {
        inbox_comment::Entity::delete_many()
            .filter(Column::AccountId.eq(row.account_id))
            .filter(Column::RemoteId.eq(remote_id.as_str()))
            .filter(Column::Id.ne(id))
            .exec(conn)
            .await?;
        change.remote_id =
            Set(Some(remote_id.clone()).filter(|id| !id.is_empty()).or(row.remote_id));
        change.changed_at = Set(now);
        if row.status != Some(ItemStatus::Sent)
            && let Some(parent) = row.parent_id
        {
            inbox_comment::Entity::update_many()
                .col_expr(Column::Unanswered, Expr::value(false))
                .col_expr(Column::ReplyCount, Expr::col(Column::ReplyCount).add(1))
                .filter(Column::Id.eq(parent))
                .exec(conn)
                .await?;
        }
    }
    change.update(conn).await?;
    Ok(())
}

async fn comment<C: ConnectionTrait>(
    conn: &C,
    id: CommentId,
    made: &RemoteChange,
    known: &OutgoingOutcome,
    now: Millis,
) -> Result<()> {
    if !matches!(known, OutgoingOutcome::Sent(_)) {
        return Ok(());
    }
    // A list that was read in the same millisecond may show the state before the change.
    let changed_at = Set(now + 1);
    let mut change = inbox_comment::ActiveModel { changed_at, ..Default::default() };
    match made {
        RemoteChange::Hide { hidden, .. } => {
            change.hidden = Set(*hidden);
            change.visibility_changed_at = Set(Some(now + 1));
        }
        RemoteChange::Delete { .. } => {
            change.deleted = Set(true);
            change.unanswered = Set(false);
        }
        _ => return Ok(()),
    }
    inbox_comment::Entity::update_many()
        .set(change)
        .filter(inbox_comment::Column::Id.eq(id))
        .exec(conn)
        .await?;
    Ok(())
}

/// Records that the one private reply to a comment is used, if it was sent or a refusal may have used it up.
async fn private_reply<C: ConnectionTrait>(
    conn: &C,
    id: CommentId,
    known: &OutgoingOutcome,
) -> Result<()> {
    let used = match known {
        OutgoingOutcome::Sent(_) | OutgoingOutcome::Unknown => true,
        OutgoingOutcome::Failed(error) => error["answered"].as_bool().unwrap_or(false),
    };
    if used {
        inbox_comment::Entity::update_many()
            .col_expr(inbox_comment::Column::PrivateReplied, Expr::value(true))
            .filter(inbox_comment::Column::Id.eq(id))
            .exec(conn)
            .await?;
    }
    Ok(())
}

/// Returns true if a change made a reply that is deleted by now.
pub(super) async fn is_deleted<C: ConnectionTrait>(
    conn: &C,
    row: &outgoing::Model,
) -> Result<bool> {
    let OutgoingTarget::Reply(id) = OutgoingTarget::of(row)? else { return Ok(false) };
    let reply = inbox_comment::Entity::find_by_id(id).one(conn).await?;
    Ok(reply.is_none_or(|reply| reply.deleted))
}
