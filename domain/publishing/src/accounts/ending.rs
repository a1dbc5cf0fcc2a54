//! Accounts whose tokens the network renews no more: the access token is used to its end, and the
//! owner is warned at once.

use std::time::Duration;

use fanfare_core::{Domain, Tx, clock::to_rfc3339, error::Result, events::NewEvent};
use fanfare_entities::{Millis, account, account::AccountStatus};
use fanfare_platforms::{self as platforms, ErrorKind, Session};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, Condition, EntityTrait, ExprTrait, QueryFilter, sea_query::Expr,
};
use serde_json::json;

use super::{Account, refresh_schedule::WARNINGS, shared_credentials::Holder, upkeep::posts_after};

/// An access token that ends sooner is not worth to be kept, in ms.
const MIN_LIFE: Millis = 60_000;

const DAY: Millis = 24 * 3_600_000;

/// The time for the question whether the network still takes the access token.
const VERIFY_TIMEOUT: Duration = Duration::from_secs(15);

/// Returns a refusal that says what led to it: the network had answered with new tokens, which never came.
pub(super) fn of_lost_answer(row: &account::Model, error: platforms::Error) -> platforms::Error {
    let label = label(row);
    let message = format!(
        "The answer to a renewal of the account's access was lost on the way, and {label} takes each renewal once."
    );
    platforms::Error { message, ..error }
}

/// Plans the end of accounts whose tokens are renewed no more, and warns their owners, once. Returns false if their access
/// token has ended, or the network refuses it already.
pub(super) async fn note(
    cx: &Domain,
    (row, session): (&account::Model, &Session),
    sharing: &[Holder],
    error: &platforms::Error,
) -> Result<bool> {
    let alive = |end: &Millis| *end > cx.clock.now() + MIN_LIFE;
    let Some(end) = row.token_expires_at.filter(alive) else { return Ok(false) };
    if !is_accepted(row, session).await? {
        return Ok(false);
    }
    for (holder, _) in sharing {
        warn(cx, holder, end, error).await?;
    }
    Ok(true)
}

/// Returns true unless the network says, asked about the account itself, that it does not accept it.
async fn is_accepted(row: &account::Model, session: &Session) -> Result<bool> {
    let platform = platforms::find(crate::platforms::from_row(&row.platform)?);
    let asked = tokio::time::timeout(VERIFY_TIMEOUT, platform.verify(session)).await;
    Ok(match asked {
        Ok(Err(error)) => error.while_connecting().kind != ErrorKind::InvalidCredentials,
        Ok(Ok(_)) | Err(_) => true,
    })
}

/// Returns true if the tokens of an account will not be renewed before they end.
#[must_use]
pub fn is_ending(row: &account::Model) -> bool {
    row.refresh_at.is_some() && row.refresh_at == row.token_expires_at
}

async fn warn(
    cx: &Domain,
    row: &account::Model,
    end: Millis,
    error: &platforms::Error,
) -> Result<()> {
    let is_new = Condition::any()
        .add(account::Column::RefreshAt.is_null())
        .add(account::Column::RefreshAt.ne(end));
    let change = account::ActiveModel {
        refresh_at: Set(Some(end)),
        due_at: Set(Some(end)),
        updated_at: Set(cx.clock.now()),
        ..Default::default()
    };
    let mut tx = Tx::begin(cx).await?;
    let kept = account::Entity::update_many()
        .set(change)
        .col_expr(account::Column::FencingToken, Expr::col(account::Column::FencingToken).add(1))
        .filter(account::Column::Id.eq(row.id))
        .filter(account::Column::SecretId.eq(row.secret_id))
        .filter(account::Column::Status.eq(AccountStatus::Connected))
        .filter(is_new)
        .exec(tx.conn())
        .await?;
    if kept.rows_affected == 1 {
        let posts = posts_after(cx, row.id, end).await?;
        tx.emit(warning(cx, row, (end, posts), error));
        tx.commit().await?;
    }
    Ok(())
}

fn warning(
    cx: &Domain,
    row: &account::Model,
    (end, posts): (Millis, u64),
    error: &platforms::Error,
) -> NewEvent {
    let left = end - cx.clock.now();
    let before = match WARNINGS.iter().rev().find(|(before, _)| left <= *before) {
        Some((_, before)) => (*before).to_owned(),
        None => format!("{} days", left / DAY),
    };
    let ends_at = to_rfc3339(end);
    let data = json!({
        "account": Account::of(cx, row), "token_expires_at": ends_at, "warning": before, "posts": posts,
    });
    let message = format!(
        "{} {} renews the access of {} no more. It ends at {ends_at}, and posts go out until then: connect the account \
         again.",
        error.message,
        label(row),
        row.username
    );
    super::account_event(row, ("account.token_expiring", true), &data, message)
}

fn label(row: &account::Model) -> &str {
    crate::platforms::from_row(&row.platform)
        .map_or(row.platform.as_str(), |id| platforms::find(id).spec().label)
}
