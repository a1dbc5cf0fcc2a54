//! Shows e-mails on the page `/dev/mail`, for trying the service on one's own machine.

use fanfare_core::{
    Domain,
    error::{Code, Error, Result},
};
use fanfare_entities::{Millis, letter, letter::LetterStatus};
use fanfare_mail::Letter;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::{Content, MailTransport, delivery::open_content};

/// The most e-mails that are shown.
const MAX_SHOWN: u64 = 50;

/// An e-mail as the page shows it.
#[derive(Debug, Clone)]
pub struct ShownLetter {
    /// The id.
    pub id: Uuid,
    /// The time at which it was written.
    pub created_at: Millis,
    /// The text.
    pub letter: Letter,
}

/// Returns the last e-mails, newest first.
///
/// # Errors
/// [`Code::NotFound`] if e-mails are sent by SMTP, or not at all.
pub async fn list_shown(cx: &Domain) -> Result<Vec<ShownLetter>> {
    if !matches!(crate::mail::mail_transport(cx), MailTransport::Shown) {
        return Err(Error::new(Code::NotFound, "There is nothing at this address."));
    }
    let rows = letter::Entity::find()
        .filter(letter::Column::SecretId.is_not_null())
        .filter(letter::Column::Status.eq(LetterStatus::Sent))
        .order_by_desc(letter::Column::Id)
        .limit(MAX_SHOWN)
        .all(&cx.db.read)
        .await?;
    let mut letters = Vec::with_capacity(rows.len());
    for row in rows {
        if let Some(Content::Written(letter)) = open_content(cx, &cx.db.read, &row).await? {
            letters.push(ShownLetter { id: row.uid, created_at: row.created_at, letter });
        }
    }
    Ok(letters)
}
