//! Password resets. Every address gets the same answer, because only the worker looks up the user.

use fanfare_core::{
    Domain, Tx,
    error::Result,
    limits::{self, Bucket},
    token::hash,
};
use fanfare_entities::{letter, password_link::LinkKind, user};
use fanfare_mail::Letter;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use secrecy::ExposeSecret;
use uuid::Uuid;

use super::{Content, insert, require_transport};
use crate::{sign_in::links, users};

/// Requests a link to set a new password, from this network address. The reply does not reveal whether a user has the
/// e-mail address. After three requests an hour for one e-mail address no more e-mails are sent.
///
/// # Errors
/// [`fanfare_core::Code::InvalidField`] if it is not an e-mail address, [`fanfare_core::Code::RateLimited`] after too many requests
/// from this network address, or [`fanfare_core::Code::MailNotConfigured`].
pub async fn request_reset(cx: &Domain, email: &str, address: &str) -> Result<()> {
    require_transport(cx)?;
    let email = users::normalized_email(email)?;
    limits::admit_anonymous(cx, &[(Bucket::ForgotAddress, address), (Bucket::ForgotAll, "all")])
        .await?;
    let is_within =
        limits::admit_anonymous(cx, &[(Bucket::ForgotEmail, &hash(&email))]).await.is_ok();
    if !is_within {
        return Ok(());
    }
    let mut tx = Tx::begin(cx).await?;
    let key = format!("reset:{}", Uuid::now_v7());
    insert(&mut tx, &key, &Content::ResetAsked { email }, None).await?;
    tx.commit().await
}

/// Writes the requested e-mail with a new link, if there is such a user.
pub(super) async fn compose(tx: &Tx, email: &str, row: &letter::Model) -> Result<Option<Letter>> {
    let by_email = user::Column::Email.eq(email);
    let known = user::Entity::find().filter(by_email).one(tx.conn()).await?;
    let Some(person) = known else {
        tracing::debug!(letter.id = %row.uid, "nobody has the address of a reset");
        return Ok(None);
    };
    let token = links::create(tx, person.id, LinkKind::Reset, links::DEFAULT_NEXT).await?;
    let link = links::link_url(tx.domain(), token.expose_secret());
    Ok(Some(Letter::reset_password(&person.email, &link)))
}
