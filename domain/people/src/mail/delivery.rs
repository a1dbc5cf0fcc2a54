//! The statements of sending e-mails.

use fanfare_core::{
    Domain, Tx,
    durable::{self, Lease},
    error::{Error, Result},
};
use fanfare_entities::{
    Millis,
    letter::{self, Column, LetterStatus},
};
use fanfare_jobs::JobKind;
use fanfare_mail::Letter;
use sea_orm::{
    ActiveEnum, ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait, QueryFilter, sea_query::Expr,
};

use super::{Content, TABLE, password_reset};

/// Claims an e-mail if it is due.
///
/// # Errors
/// The database's. The row may have been claimed nevertheless; then its lease expires.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<letter::Model>> {
    let now = cx.clock.now();
    let taken = durable::claim(&cx.db.write, JobKind::SendMail, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// Returns the text of an e-mail, which is written now if the e-mail was only requested. From then on it is stored, so
/// that a second attempt sends the same.
///
/// Returns `None` if there is no recipient, the e-mail was wiped, or another worker has the row.
///
/// # Errors
/// The database's, or the master key is missing.
pub async fn render(cx: &Domain, row: &letter::Model) -> Result<Option<Letter>> {
    let email = match open_content(cx, &cx.db.write, row).await? {
        None => return Ok(None),
        Some(Content::Written(letter)) => return Ok(Some(letter)),
        Some(Content::ResetAsked { email }) => email,
    };
    let tx = Tx::begin(cx).await?;
    let held = letter::Entity::find_by_id(row.id).one(tx.conn()).await?;
    if held.is_none_or(|held| held.fencing_token != row.fencing_token) {
        return Ok(None);
    }
    let Some(letter) = password_reset::compose(&tx, &email, row).await? else { return Ok(None) };
    let plain = serde_json::to_vec(&Content::Written(letter.clone())).map_err(Error::internal)?;
    let secret = cx.vault.store(tx.conn(), TABLE, &plain, tx.now()).await?;
    if let Some(asked) = row.secret_id {
        cx.vault.delete(tx.conn(), asked).await?;
    }
    let kept = letter::Entity::update_many()
        .col_expr(Column::SecretId, Expr::value(secret.0))
        .filter(Column::Id.eq(row.id))
        .filter(Column::FencingToken.eq(row.fencing_token))
        .exec(tx.conn())
        .await?;
    if kept.rows_affected != 1 {
        return Ok(None);
    }
    tx.commit().await?;
    Ok(Some(letter))
}

/// Decrypts the content of an e-mail.
pub(super) async fn open_content<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    row: &letter::Model,
) -> Result<Option<Content>> {
    let Some(secret) = row.secret_id else { return Ok(None) };
    let Some(plain) = cx.vault.open(conn, TABLE, secret).await? else { return Ok(None) };
    serde_json::from_slice(&plain).map(Some).map_err(Error::internal)
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailOutcome {
    /// It is sent.
    Sent,
    /// The e-mail has no recipient any more.
    Dropped,
    /// It cannot be sent, for this reason.
    Failed(String),
    /// It is tried again at this time, for this reason.
    Retry(Millis, String),
}

/// Writes the outcome of an attempt; returns false if the row was no longer held.
///
/// # Errors
/// The database's.
pub async fn finish(cx: &Domain, lease: Lease, outcome: &MailOutcome) -> Result<bool> {
    let (status, due_at, why, tried) = match outcome {
        MailOutcome::Sent => (LetterStatus::Sent, None, None, 0),
        MailOutcome::Dropped => (LetterStatus::Dropped, None, None, 0),
        MailOutcome::Failed(why) => (LetterStatus::Failed, None, Some(why), 1),
        MailOutcome::Retry(at, why) => (LetterStatus::Pending, Some(*at), Some(why), 1),
    };
    let mut tx = Tx::begin(cx).await?;
    let update = durable::give_back::<letter::Entity>(lease, due_at, tx.now())
        .col_expr(Column::Status, Expr::value(status.to_value()))
        .col_expr(Column::LastError, Expr::value(why.cloned()))
        .col_expr(Column::Attempts, Expr::col(Column::Attempts).add(tried));
    if update.exec(tx.conn()).await?.rows_affected != 1 {
        return Ok(false);
    }
    if let Some(at) = due_at {
        tx.enqueue_global(JobKind::SendMail, lease.id, at);
    }
    tx.commit().await?;
    Ok(true)
}
