//! Table `inbox_comments`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, CommentId, Millis, PostId, WorkspaceId, inbox_message::ItemStatus};

/// A comment on a post, or a reply to one.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "inbox_comments")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key)]
    pub id: CommentId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The post, if it was published with this service.
    pub post_id: Option<PostId>,
    /// The network's id of the post.
    pub platform_post_id: String,
    /// The network's id; null until it is known.
    pub remote_id: Option<String>,
    /// The comment that it answers.
    pub parent_id: Option<CommentId>,
    /// The network's id of that.
    pub parent_remote_id: Option<String>,
    /// The network's id of the author, if it tells.
    pub author_id: Option<String>,
    /// The author's user name.
    pub author_username: Option<String>,
    /// The author's name.
    pub author_name: Option<String>,
    /// The author's picture.
    pub author_avatar: Option<String>,
    /// The account wrote it.
    pub own: bool,
    /// The text.
    pub text: String,
    /// List of `{type, url, mime, bytes, path, reason}`.
    pub attachments: Json,
    /// The number of likes, if known.
    pub like_count: Option<i64>,
    /// The number of replies, if known.
    pub reply_count: Option<i64>,
    /// It is hidden.
    pub hidden: bool,
    /// It is deleted.
    pub deleted: bool,
    /// True if another person wrote it and the account has not answered.
    pub unanswered: bool,
    /// True if the one allowed private reply was sent.
    pub private_replied: bool,
    /// The public address.
    pub url: Option<String>,
    /// The status of our own reply. Null for a comment that came from the platform.
    pub status: Option<ItemStatus>,
    /// The reason for the failure.
    pub error: Option<Json>,
    /// The time at which it was written, by the network's time.
    pub commented_at: Millis,
    /// The time at which what is known of it happened.
    pub changed_at: Millis,
    /// The time at which it was last hidden or shown; null: never. It stands apart from `changed_at`, since what a
    /// network tells of the two comes in any order: an edit counts although the comment was hidden after it.
    pub visibility_changed_at: Option<Millis>,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
