//! The suggestion that a post is made from: checked before the post is written, taken with it, and free again if the post
//! is deleted unpublished.

use fanfare_core::{
    Act,
    error::{Code, Error, Result},
};
use fanfare_entities::{
    AccountId, Millis, PostId, SuggestionId, post_suggestion, post_suggestion::SuggestionStatus,
};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, sea_query::Expr};

/// Returns the refusal of a suggestion that does not exist.
#[must_use]
pub fn not_found() -> Error {
    Error::new(Code::SuggestionNotFound, "There is no such suggestion.")
}

/// Returns the refusal of a suggestion that a post was made from.
#[must_use]
pub fn already_scheduled(row: &post_suggestion::Model) -> Error {
    let post = row.post_id.map(|post| format!(" as post {post}")).unwrap_or_default();
    let message = format!("The suggestion is already scheduled{post}.");
    Error::new(Code::SuggestionAlreadyScheduled, message)
}

/// Checks that a post can be made from a suggestion, before anything is written.
///
/// # Errors
/// The errors of [`assign`], and [`Code::InvalidField`] for a suggestion for another account.
pub(crate) async fn check(act: &Act, id: SuggestionId, account: AccountId) -> Result<()> {
    let row = post_suggestion::Entity::find_by_id(id)
        .filter(post_suggestion::Column::WorkspaceId.eq(act.membership.workspace_id))
        .one(&act.cx.db.read)
        .await?;
    let row = row.filter(|row| row.workspace_id == act.membership.workspace_id);
    let row = row.ok_or_else(not_found)?;
    if row.account_id != account {
        let message = format!("The suggestion is for account {}.", row.account_id);
        let remedy = "Post it on the account that it is for, or leave suggestion_id out.";
        return Err(Error::field(Code::InvalidField, "suggestion_id", message, remedy));
    }
    require_pending(&row)
}

fn require_pending(row: &post_suggestion::Model) -> Result<()> {
    match row.status {
        SuggestionStatus::Pending => Ok(()),
        SuggestionStatus::Scheduled => Err(already_scheduled(row)),
        SuggestionStatus::Dismissed => {
            Err(Error::new(Code::SuggestionDismissed, "The suggestion was dismissed."))
        }
    }
}

/// Assigns a suggestion to a post, in the transaction that creates the post: only one post gets it.
///
/// # Errors
/// [`Code::SuggestionAlreadyScheduled`], [`Code::SuggestionDismissed`].
pub(crate) async fn assign<C: ConnectionTrait>(
    conn: &C,
    id: SuggestionId,
    post: PostId,
    now: Millis,
) -> Result<()> {
    let taken = post_suggestion::Entity::update_many()
        .col_expr(post_suggestion::Column::Status, Expr::value(SuggestionStatus::Scheduled))
        .col_expr(post_suggestion::Column::PostId, Expr::value(post.0))
        .col_expr(post_suggestion::Column::UpdatedAt, Expr::value(now))
        .filter(post_suggestion::Column::Id.eq(id))
        .filter(post_suggestion::Column::Status.eq(SuggestionStatus::Pending))
        .exec(conn)
        .await?;
    if taken.rows_affected == 1 {
        return Ok(());
    }
    let row = post_suggestion::Entity::find_by_id(id).one(conn).await?.ok_or_else(not_found)?;
    require_pending(&row)
}

/// Makes a suggestion pending again if its post is deleted before it was published.
pub(crate) async fn unassign<C: ConnectionTrait>(
    conn: &C,
    post: PostId,
    now: Millis,
) -> Result<()> {
    post_suggestion::Entity::update_many()
        .col_expr(post_suggestion::Column::Status, Expr::value(SuggestionStatus::Pending))
        .col_expr(post_suggestion::Column::PostId, Expr::value(None::<i64>))
        .col_expr(post_suggestion::Column::UpdatedAt, Expr::value(now))
        .filter(post_suggestion::Column::PostId.eq(post))
        .exec(conn)
        .await?;
    Ok(())
}
