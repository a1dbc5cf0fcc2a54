//! Links in e-mails to set a password, valid once and for a limited time.

use fanfare_core::{
    Domain, Tx, batches,
    error::{Code, Error, Result},
    logins::{self, LoginKind},
    passwords,
    token::{self, hash},
    user_lock,
};
use fanfare_entities::{Millis, UserId, password_link, password_link::Column, user};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, sea_query::Expr,
};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use super::{open_session, store_password};
use crate::signup;

pub use fanfare_entities::password_link::LinkKind;

/// The default page after a link was used.
pub const DEFAULT_NEXT: &str = "/dashboard/api";

const HOUR: Millis = 3_600_000;

/// Returns how long a link is valid, in ms.
const fn lifetime(kind: LinkKind) -> Millis {
    match kind {
        LinkKind::Set => 24 * HOUR,
        LinkKind::Reset => HOUR,
    }
}

/// A valid link.
#[derive(Debug, Clone)]
pub struct PasswordLink {
    /// The e-mail address of the user whose password it sets.
    pub email: String,
    /// Its purpose.
    pub kind: LinkKind,
}

/// Creates a link that leads to `next`, a page of ours, after the password was set; ends the user's earlier links.
/// Returns its token, which is not stored.
///
/// # Errors
/// The database's.
pub(crate) async fn create(
    tx: &Tx,
    person: UserId,
    kind: LinkKind,
    next: &str,
) -> Result<SecretString> {
    let (now, token) = (tx.now(), token::generate());
    // Without the lock two e-mails at once would not end each other's link.
    user_lock::lock(tx.conn(), person).await?;
    end_all(tx.conn(), person, now).await?;
    let row = password_link::ActiveModel {
        hash: Set(hash(token.expose_secret())),
        user_id: Set(person),
        kind: Set(kind),
        next: Set(next.to_owned()),
        created_at: Set(now),
        expires_at: Set(now + lifetime(kind)),
        used_at: Set(None),
    };
    password_link::Entity::insert(row).exec_without_returning(tx.conn()).await?;
    Ok(token)
}

/// Returns the address of a first link for a person, for the operator to hand over.
///
/// # Errors
/// The database's.
pub async fn create_first(cx: &Domain, person: UserId, next: &str) -> Result<SecretString> {
    let tx = Tx::begin(cx).await?;
    let token = create(&tx, person, LinkKind::Set, next).await?;
    tx.commit().await?;
    Ok(SecretString::from(link_url(cx, token.expose_secret())))
}

/// Returns the address of a link.
#[must_use]
pub fn link_url(cx: &Domain, token: &str) -> String {
    format!("{}/set-password/{token}", cx.settings.base_url)
}

/// Returns the valid link with this token.
///
/// # Errors
/// [`Code::NotFound`], the same for every reason.
pub async fn find(cx: &Domain, token: &str) -> Result<PasswordLink> {
    let row = find_valid(&cx.db.read, token, cx.clock.now()).await?.ok_or_else(link_ended)?;
    let person = user::Entity::find_by_id(row.user_id).one(&cx.db.read).await?;
    Ok(PasswordLink { email: person.ok_or_else(link_ended)?.email, kind: row.kind })
}

/// A redeemed link.
#[derive(Debug)]
pub struct RedeemedLink {
    /// The token of the log-in that it started.
    pub session: SecretString,
    /// The page to go on to.
    pub next: String,
}

/// Sets a password by a link. Ends this link, every other link of the user, and every log-in except the new one.
///
/// # Errors
/// [`Code::NotFound`] if the link is not valid any more, [`Code::InvalidField`] for a password that is not good enough;
/// then the link stays valid.
pub async fn redeem(cx: &Domain, token: &str, password: SecretString) -> Result<RedeemedLink> {
    let link = find(cx, token).await?;
    let password_hash = passwords::hash(password, &link.email).await?;
    let tx = Tx::begin(cx).await?;
    let now = tx.now();
    let row = find_valid(tx.conn(), token, now).await?.ok_or_else(link_ended)?;
    user_lock::lock(tx.conn(), row.user_id).await?;
    let used = password_link::Entity::update_many()
        .col_expr(Column::UsedAt, Expr::value(now))
        .filter(Column::Hash.eq(row.hash.as_str()))
        .filter(Column::UsedAt.is_null())
        .exec(tx.conn())
        .await?;
    if used.rows_affected != 1 {
        return Err(link_ended());
    }
    store_password(tx.conn(), row.user_id, password_hash, now).await?;
    signup::mark_ready(tx.conn(), row.user_id, now).await?;
    let session = open_session(tx.conn(), row.user_id, now).await?;
    tx.commit().await?;
    // Whoever has the link is let in, however often others have tried the name.
    logins::clear_name(cx, LoginKind::Persons, &link.email).await?;
    Ok(RedeemedLink { session, next: row.next })
}

async fn find_valid<C: ConnectionTrait>(
    conn: &C,
    token: &str,
    now: Millis,
) -> Result<Option<password_link::Model>> {
    let hash = hash(token);
    let row = password_link::Entity::find_by_id(hash.as_str()).one(conn).await?;
    Ok(row.filter(|row| {
        bool::from(row.hash.as_bytes().ct_eq(hash.as_bytes()))
            && row.used_at.is_none()
            && row.expires_at > now
    }))
}

/// Ends every link of a user.
pub(super) async fn end_all<C: ConnectionTrait>(
    conn: &C,
    person: UserId,
    now: Millis,
) -> Result<()> {
    password_link::Entity::update_many()
        .col_expr(Column::UsedAt, Expr::value(now))
        .filter(Column::UserId.eq(person))
        .filter(Column::UsedAt.is_null())
        .exec(conn)
        .await?;
    Ok(())
}

fn link_ended() -> Error {
    let message = "This link has expired, was used already, or was replaced by a newer one.";
    Error::new(Code::NotFound, message)
}

/// Deletes links that have ended.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let end = Column::ExpiresAt;
    batches::delete::<password_link::Entity>(cx, end, end.lte(cx.clock.now() - 24 * HOUR)).await
}
