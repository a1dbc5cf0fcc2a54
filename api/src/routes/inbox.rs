//! Routes of messages and comments.

use super::parts::{REFUSED_OUTGOING, pro, reads, writes};
use crate::{Body, Bucket, Method, Query, Route, WorkspaceScope, inbox};
use fanfare_conversations::inbox::{
    CommentChanges, CommentFilter, CommentReply, ConversationFilter, MessageReply, MessagesQuery,
    SyncRequest,
};
use fanfare_core::{
    Code,
    access::{Role, Scope},
};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/inbox/conversations", "list_conversations",
        pro(reads(Scope::PostsRead, WorkspaceScope::AccountFilter)), &inbox::list_conversations)
        .doc("inbox", "List conversations, those with the latest activity first")
        .when("Use it to find messages that need attention, such as those that wait for an answer; not for comments on posts.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<ConversationFilter>())
        .answers(200, "A page of conversations."),
    Route::new(Method::Get, "/api/v1/inbox/conversations/{id}", "get_conversation",
        pro(reads(Scope::PostsRead, WorkspaceScope::Conversation)), &inbox::get_conversation)
        .doc("inbox", "Show a conversation with its messages, newest first")
        .when("Use it to read a conversation before answering; reading changes nothing.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<MessagesQuery>())
        .answers(200, "The conversation."),
    Route::new(Method::Post, "/api/v1/inbox/conversations/{id}/reply", "reply_to_conversation",
        pro(writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Conversation)), &inbox::reply_to_conversation)
        .doc("inbox", "Answer a conversation, up to 24 hours after the person's last message")
        .when("Use it before `reply_until`; not after, since networks refuse later answers.")
        .takes_body(Body::of::<MessageReply>(r#"{"text": "Thank you for asking: we are open until six."}"#))
        .answers(201, "The network has the message.")
        .answers(202, "The outcome is open: read the message again.")
        .refuses(REFUSED_OUTGOING),
    Route::new(Method::Get, "/api/v1/inbox/comments", "list_comments",
        pro(reads(Scope::PostsRead, WorkspaceScope::AccountFilter)), &inbox::list_comments)
        .doc("inbox", "List comments on posts, newest first, replies among them")
        .when("Use it to find comments that wait for an answer (`unanswered=true`); not for direct messages.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<CommentFilter>())
        .answers(200, "A page of comments."),
    Route::new(Method::Get, "/api/v1/inbox/comments/{id}", "get_comment",
        pro(reads(Scope::PostsRead, WorkspaceScope::Comment)), &inbox::get_comment)
        .doc("inbox", "Show a comment with its replies, oldest first")
        .when("Use it to read a comment with its replies before answering; not to list many.")
        .counts_against(Bucket::Reads)
        .answers(200, "The comment."),
    Route::new(Method::Patch, "/api/v1/inbox/comments/{id}", "update_comment",
        pro(writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Comment)), &inbox::update_comment)
        .doc("inbox", "Hide a comment, or show it again")
        .when("Use it to hide a comment or show it again; not for comments of the account itself.")
        .takes_body(Body::of::<CommentChanges>(r#"{"hidden": true}"#))
        .answers(200, "The comment.")
        .answers(202, "The outcome is open: read the comment again.")
        .refuses(REFUSED_OUTGOING),
    Route::new(Method::Delete, "/api/v1/inbox/comments/{id}", "delete_comment",
        pro(writes(Scope::PostsWrite, Role::Admin, WorkspaceScope::Comment)), &inbox::delete_comment)
        .doc("inbox", "Delete a comment")
        .when("Use it when the user named the comment; hiding can be taken back, and this cannot.")
        .answers(200, "It is deleted.")
        .answers(202, "The outcome is open: read the comment again.")
        .refuses(REFUSED_OUTGOING),
    Route::new(Method::Post, "/api/v1/inbox/comments/{id}/reply", "reply_to_comment",
        pro(writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Comment)), &inbox::reply_to_comment)
        .doc("inbox", "Answer a comment in public, or on Instagram once by a direct message")
        .when("Use it once the user agreed, because it is public; not while `can` lacks `reply`.")
        .takes_body(Body::of::<CommentReply>(r#"{"text": "Glad that you like it!"}"#))
        .shows("comment")
        .answers(201, "The network has the answer.")
        .answers(202, "The outcome is open: read the comment again.")
        .refuses(REFUSED_OUTGOING),
    Route::new(Method::Post, "/api/v1/inbox/sync", "sync_inbox",
        pro(writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::AccountInBody)), &inbox::sync)
        .doc("inbox", "Have inboxes read now")
        .when("Use it when the user expects something that is not there yet; inboxes are read by themselves otherwise.")
        .takes_body(Body::of::<SyncRequest>(r#"{"account_id": 7}"#))
        .answers(202, "The accounts that will be read.")
        .refuses(&[Code::AccountNotFound]),
];
