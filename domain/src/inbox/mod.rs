//! The social inbox: direct messages and comments of accounts, and replies to them.
//!
//! Webhooks of networks (`inbound.rs`) and readings (`sync/`) are both stored by `store/`, in any order and any number
//! of times. Replies are sent as [`outgoing`](crate::outgoing) rows.

mod act_on_comment;
mod actions;
mod comments;
mod conversations;
pub mod files;
pub mod inbound;
mod reply;
mod store;
pub mod sync;
mod view;

use std::collections::HashMap;

use fanfare_entities::{
    AccountId, CommentId, ConversationId, Millis, account, account::AccountStatus, inbox_comment,
    inbox_conversation,
};
use fanfare_platforms::InboxRules;
use sea_orm::{
    ColumnTrait, EntityTrait, ExprTrait, QueryFilter, QuerySelect, QueryTrait, Select,
    sea_query::Expr,
};
use secrecy::SecretString;

pub use act_on_comment::{
    CommentChanges, CommentDeleted, delete as delete_comment, hide as change_comment,
};
pub use actions::{ActionContext, CommentState, InboxAction};
pub use comments::{
    CommentFilter, CommentPage, CommentWithReplies, get as get_comment, list as list_comments,
};
pub use conversations::{
    ConversationFilter, ConversationPage, ConversationWithMessages, MessagesQuery,
    get as get_conversation, list as list_conversations,
};
pub(crate) use conversations::{ListPosition, older_than};
pub use reply::{
    CommentReply, MessageReply, ReplyCreated, to_comment as reply_to_comment,
    to_conversation as reply_to_conversation,
};
pub(crate) use reply::{finish, status as outgoing_status};
pub use sync::{SyncRequest, SyncRequestedList, request as request_sync};
pub use view::{Comment, Conversation, Message, OneComment, OneMessage};

use crate::{
    Act, Domain, accounts,
    error::{Code, Error, Result},
};

/// The operator's settings for Meta's networks.
#[derive(Debug, Clone, Default)]
pub struct MetaSettings {
    /// The token that Meta sends to verify that a webhook is ours.
    pub verify_token: Option<SecretString>,
    /// Meta allows the app to send replies that humans wrote for a week.
    pub human_agent: bool,
}

/// Returns the scaled length of a time for a simulated account.
pub(crate) fn shortened(time: Millis, factor: f64) -> Millis {
    if factor <= 1.0 {
        return time;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "times of days are small"
    )]
    let short = (time as f64 / factor) as Millis;
    Ord::max(short, 1)
}

/// Returns the divisor of an account's times.
pub(crate) fn factor(cx: &Domain, row: &account::Model) -> f64 {
    if row.sandbox { cx.settings.sandbox_time_factor } else { 1.0 }
}

/// Returns the rules of the account's network.
fn rules(row: &account::Model) -> Option<InboxRules> {
    let platform = row.platform.parse().ok()?;
    fanfare_platforms::find(platform).inbox().map(|inbox| inbox.rules())
}

/// Returns what the possible actions with an account's items depend on.
fn action_context(act: &Act, row: &account::Model) -> ActionContext {
    ActionContext {
        role: act.membership.role,
        rules: rules(row),
        connected: row.status == AccountStatus::Connected,
        now: act.cx.clock.now(),
        factor: factor(&act.cx, row),
    }
}

/// Returns what the possible actions with a comment depend on.
fn comment_state(row: &inbox_comment::Model) -> CommentState {
    CommentState {
        own: row.own,
        known: row.remote_id.is_some(),
        hidden: row.hidden,
        deleted: row.deleted,
        is_reply: row.parent_id.is_some() || row.parent_remote_id.is_some(),
        private_replied: row.private_replied,
        at: row.commented_at,
    }
}

/// Selects conversations of the accounts that the membership can see.
fn visible_conversations(act: &Act) -> Select<inbox_conversation::Entity> {
    inbox_conversation::Entity::find()
        .filter(inbox_conversation::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(inbox_conversation::Column::AccountId.in_subquery(visible_accounts(act)))
}

/// Selects comments of the accounts that the membership can see.
fn visible_comments(act: &Act) -> Select<inbox_comment::Entity> {
    inbox_comment::Entity::find()
        .filter(inbox_comment::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(inbox_comment::Column::AccountId.in_subquery(visible_accounts(act)))
}

fn visible_accounts(act: &Act) -> sea_orm::sea_query::SelectStatement {
    accounts::visible(act).select_only().column(account::Column::Id).into_query()
}

fn no_conversation(id: ConversationId) -> Error {
    Error::new(Code::ConversationNotFound, format!("There is no conversation {id}."))
}

fn no_comment(id: CommentId) -> Error {
    Error::new(Code::CommentNotFound, format!("There is no comment {id}."))
}

/// Returns the accounts with these ids.
async fn accounts_of(
    cx: &Domain,
    ids: impl IntoIterator<Item = AccountId>,
) -> Result<HashMap<AccountId, account::Model>> {
    let ids: Vec<AccountId> = ids.into_iter().collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = account::Entity::find().filter(account::Column::Id.is_in(ids));
    let rows = rows.all(&cx.db.read).await?;
    Ok(rows.into_iter().map(|row| (row.id, row)).collect())
}

/// Returns the platform that a filter names.
fn platform_named(name: &str) -> Result<String> {
    Ok(crate::platforms::parse("platform", name)?.as_str().to_owned())
}

/// Selects the accounts on a platform, as a condition for rows of accounts.
fn on_platform(platform: &str) -> sea_orm::sea_query::SelectStatement {
    account::Entity::find()
        .select_only()
        .column(account::Column::Id)
        .filter(account::Column::Platform.eq(platform))
        .into_query()
}

/// Deletes items that are older than 180 days, and those of disconnected accounts.
///
/// # Errors
/// The database's.
pub(crate) async fn prune(cx: &Domain) -> Result<u64> {
    use fanfare_entities::{inbox_message, inbox_sync};
    const DAY: Millis = 24 * 3_600_000;
    let (db, now) = (&cx.db.write, cx.clock.now());
    let gone = || {
        account::Entity::find()
            .select_only()
            .column(account::Column::Id)
            .filter(account::Column::Status.eq(AccountStatus::Disconnected))
            .into_query()
    };
    let old = now - 180 * DAY;
    let mut deleted = 0;
    let messages = inbox_message::Entity::delete_many().filter(
        Expr::col(inbox_message::Column::SentAt)
            .lt(old)
            .or(Expr::col(inbox_message::Column::AccountId).in_subquery(gone())),
    );
    deleted += messages.exec(db).await?.rows_affected;
    let conversations = inbox_conversation::Entity::delete_many().filter(
        Expr::col(inbox_conversation::Column::LastAt)
            .lt(old)
            .or(Expr::col(inbox_conversation::Column::AccountId).in_subquery(gone())),
    );
    deleted += conversations.exec(db).await?.rows_affected;
    let comments = inbox_comment::Entity::delete_many().filter(
        Expr::col(inbox_comment::Column::CommentedAt)
            .lt(old)
            .or(Expr::col(inbox_comment::Column::AccountId).in_subquery(gone())),
    );
    deleted += comments.exec(db).await?.rows_affected;
    deleted += files::prune(cx, old, gone()).await?;
    let syncs =
        inbox_sync::Entity::delete_many().filter(inbox_sync::Column::AccountId.in_subquery(gone()));
    deleted += syncs.exec(db).await?.rows_affected;
    deleted += inbound::prune(cx, now - 7 * DAY).await?;
    Ok(deleted + crate::outgoing::prune(cx, now - 180 * DAY).await?)
}
