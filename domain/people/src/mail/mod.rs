//! E-mails as durable work: written in the transaction that causes them, sent by a worker, wiped a day later.
//!
//! The text and the recipient of an e-mail are encrypted in the vault. Its key names its topic, and each key has one
//! e-mail. The `Message-ID` is derived from the row, so that an e-mail that is sent again after a lost answer is the
//! same e-mail.

pub mod delivery;
mod dev_mail;
mod password_reset;

use fanfare_core::{
    Domain, Tx, batches,
    error::{Code, Error, Result},
};
use fanfare_entities::{LetterId, Millis, UserId, letter, letter::LetterStatus};
use fanfare_jobs::JobKind;
use fanfare_mail::{Letter, Mailer};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, ExprTrait, QueryFilter,
    sea_query::{Expr, IntoCondition, OnConflict},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::settings;

pub use dev_mail::{ShownLetter, list_shown};
pub use password_reset::request_reset;

/// The table name under which the vault stores e-mails.
const TABLE: &str = "letters";

/// The time for which the content of an e-mail is kept after it was sent, in ms.
const RETENTION: Millis = 24 * 3_600_000;

/// The content of an e-mail, encrypted beside its row.
#[derive(Serialize, Deserialize)]
enum Content {
    /// The e-mail.
    Written(Letter),
    /// A new password was requested for this address; the e-mail is written when it is sent.
    ResetAsked { email: String },
}

/// The way in which e-mails are sent.
#[derive(Debug, Clone, Copy)]
pub enum MailTransport<'a> {
    /// Through the operator's mail server.
    Smtp(&'a Mailer),
    /// Not sent, but shown on the page `/dev/mail`.
    Shown,
    /// Not at all.
    None,
}

/// Returns how e-mails are sent: by SMTP if a server is set, else shown on a page if the service is on loopback.
#[must_use]
pub fn mail_transport(cx: &Domain) -> MailTransport<'_> {
    match &settings(cx).mailer {
        Some(mailer) => MailTransport::Smtp(mailer),
        None if cx.settings.is_on_loopback() => MailTransport::Shown,
        None => MailTransport::None,
    }
}

/// Fails if e-mails cannot be sent.
///
/// # Errors
/// [`Code::MailNotConfigured`].
pub fn require_transport(cx: &Domain) -> Result<()> {
    match mail_transport(cx) {
        MailTransport::Smtp(_) | MailTransport::Shown => Ok(()),
        MailTransport::None => {
            let message = "This service cannot send e-mails: its operator has set no mail server.";
            Err(Error::new(Code::MailNotConfigured, message))
        }
    }
}

/// Writes an e-mail in a transaction, unless there is one under this key. Returns true if it was written.
///
/// # Errors
/// The database's.
pub async fn write(tx: &mut Tx, key: &str, letter: &Letter, to: UserId) -> Result<bool> {
    insert(tx, key, &Content::Written(letter.clone()), Some(to)).await
}

/// Writes an e-mail to an address that may belong to no user yet, unless there is one under this key.
///
/// # Errors
/// The database's.
pub(crate) async fn write_to_address(tx: &mut Tx, key: &str, letter: &Letter) -> Result<bool> {
    insert(tx, key, &Content::Written(letter.clone()), None).await
}

async fn insert(tx: &mut Tx, key: &str, content: &Content, to: Option<UserId>) -> Result<bool> {
    let (now, plain) = (tx.now(), serde_json::to_vec(content).map_err(Error::internal)?);
    let secret = tx.domain().vault.store(tx.conn(), TABLE, &plain, now).await?;
    let row = letter::ActiveModel {
        uid: Set(Uuid::now_v7()),
        dedup_key: Set(key.to_owned()),
        secret_id: Set(Some(secret)),
        user_id: Set(to),
        status: Set(LetterStatus::Pending),
        due_at: Set(Some(now)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let known = OnConflict::column(letter::Column::DedupKey).do_nothing().to_owned();
    let made = letter::Entity::insert(row).on_conflict(known).exec_without_returning(tx.conn());
    if made.await? == 0 {
        tx.domain().vault.delete(tx.conn(), secret).await?;
        return Ok(false);
    }
    let by_key = letter::Column::DedupKey.eq(key);
    let made = letter::Entity::find().filter(by_key).one(tx.conn()).await?;
    let id = made.ok_or_else(|| Error::internal("an e-mail is gone"))?.id;
    tx.enqueue_global(JobKind::SendMail, id.0, now);
    Ok(true)
}

/// Wipes the content of e-mails a day after their end, and deletes their rows after thirty days.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let (now, at) = (cx.clock.now(), letter::Column::UpdatedAt);
    let ended = letter::Column::Status.ne(LetterStatus::Pending);
    let sealed = letter::Column::SecretId.is_not_null();
    let sealed = sealed.and(ended.clone()).and(at.lt(now - RETENTION)).into_condition();
    batches::repeat(|| async {
        let old = batches::first::<letter::Entity>(at, &sealed).all(&cx.db.write).await?;
        let ids: Vec<LetterId> = old.iter().map(|row| row.id).collect();
        let sealed = old.iter().filter_map(|row| row.secret_id).collect();
        let tx = cx.db.begin().await?;
        batches::delete_secrets(&tx, sealed).await?;
        let wiped = letter::Entity::update_many()
            .col_expr(letter::Column::SecretId, Expr::value(Option::<Uuid>::None))
            .filter(letter::Column::Id.is_in(ids))
            .exec(&tx)
            .await?;
        tx.commit().await?;
        Ok(wiped.rows_affected)
    })
    .await?;
    let wiped = letter::Column::SecretId.is_null();
    let old = wiped.and(ended).and(at.lt(now - 30 * RETENTION));
    batches::delete::<letter::Entity>(cx, at, old).await
}
