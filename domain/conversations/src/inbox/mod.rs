//! The social inbox: direct messages and comments of accounts, and replies to them.
//!
//! Webhooks of networks (`inbound.rs`) and readings (`sync/`) are both stored by `store/`, in any order and any number
//! of times. Replies are sent as [`outgoing`](crate::outgoing) rows.

mod act_on_comment;
mod actions;
mod comments;
mod conversations;
pub mod files;
mod hooks;
pub mod inbound;
mod reply;
mod store;
pub mod sync;
mod upkeep;
mod view;

use std::collections::HashMap;

use fanfare_core::{
    Act, Domain,
    error::{Code, Error, Result},
    page::EmptyBecause,
};
use fanfare_entities::{
    AccountId, CommentId, ConversationId, Millis, account, account::AccountStatus, inbox_comment,
    inbox_conversation, inbox_sync,
};
use fanfare_platforms::InboxRules;
use fanfare_publishing::accounts;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Select};
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
pub use hooks::ReadsAccounts;
pub use reply::{
    CommentReply, MessageReply, ReplyCreated, to_comment as reply_to_comment,
    to_conversation as reply_to_conversation,
};
pub(crate) use reply::{finish, status as outgoing_status};
pub use sync::{SyncRequest, SyncRequestedList, request as request_sync};
pub use upkeep::prune;
pub use view::{
    Attachment, Author, Comment, Conversation, ItemError, LastMessage, Message, MessageDirection,
    OneComment, OneMessage, Participant,
};

/// The most characters of a message that a list of conversations shows.
const PREVIEW_CHARS: usize = 200;

/// The operator's settings for Meta's networks.
#[derive(Debug, Clone, Default)]
pub struct MetaSettings {
    /// The token that Meta sends to verify that a webhook is ours.
    pub verify_token: Option<SecretString>,
    /// Meta allows the app to send replies that humans wrote for a week.
    pub human_agent: bool,
}

/// Returns the scaled length of a time for a simulated account.
#[must_use]
pub fn shortened(time: Millis, factor: f64) -> Millis {
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
#[must_use]
pub fn factor(cx: &Domain, row: &account::Model) -> f64 {
    if row.sandbox { fanfare_publishing::settings(cx).sandbox_time_factor } else { 1.0 }
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

/// Returns why a list of comments or conversations is empty; `any` is true if there are some beyond its filter.
async fn why_empty(act: &Act, any: bool, is_later: bool) -> Result<EmptyBecause> {
    if any {
        return Ok(EmptyBecause::of(any, is_later));
    }
    let all = accounts::all(act).await?;
    if all.is_empty() {
        return Ok(EmptyBecause::NoAccounts);
    }
    let with_inbox = all.iter().filter(|row| {
        let platform = fanfare_publishing::platforms::from_row(&row.platform);
        platform.is_ok_and(|platform| fanfare_platforms::find(platform).inbox().is_some())
    });
    let ids: Vec<_> = with_inbox.map(|row| row.id).collect();
    if ids.is_empty() {
        return Ok(EmptyBecause::NotOffered);
    }
    let theirs = inbox_sync::Column::AccountId.is_in(ids);
    let read = inbox_sync::Entity::find().filter(theirs).all(&act.cx.db.read).await?;
    Ok(if read.iter().any(|one| one.last_synced_at.is_some()) {
        EmptyBecause::NothingYet
    } else if !read.is_empty() && read.iter().all(|one| one.needs_permission) {
        EmptyBecause::PermissionMissing
    } else {
        EmptyBecause::NotReadYet
    })
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
    Ok(fanfare_publishing::platforms::parse("platform", name)?.as_str().to_owned())
}

/// Selects the accounts on these platforms, as a condition for rows of accounts.
fn on_platforms(platforms: Vec<String>) -> sea_orm::sea_query::SelectStatement {
    account::Entity::find()
        .select_only()
        .column(account::Column::Id)
        .filter(fanfare_core::input::one_of(account::Column::Platform, platforms))
        .into_query()
}
