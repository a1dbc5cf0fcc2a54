//! Passwords and log-ins of users, for the pages.

pub mod links;

use fanfare_core::{
    Domain, Tx, audit_trail, batches,
    error::{Code, Error, Result},
    logins::{self, Admission, LoginKind, LoginOutcome, LoginSource},
    passwords,
    token::{self, hash},
    user_lock,
};
use fanfare_entities::{Millis, UserId, user, user_password, user_session};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter,
    sea_query::{Expr, OnConflict},
};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use crate::users;

/// The time for which a log-in lasts, in ms.
pub const SESSION_LIFETIME: Millis = 7 * 24 * 3_600_000;

/// A user who is logged in.
#[derive(Debug, Clone)]
pub struct UserSession {
    /// The user.
    pub user_id: UserId,
    /// The user's e-mail address.
    pub email: String,
    /// The user's name.
    pub name: String,
    /// The time at which the user last gave the password.
    pub confirmed_at: Millis,
}

/// Sets the password of a user, and ends all log-ins and password links of the user.
///
/// # Errors
/// [`fanfare_core::Code::NotFound`] if there is no such user, [`fanfare_core::Code::InvalidField`] if the password is not good
/// enough.
pub async fn set_password(cx: &Domain, email: &str, password: SecretString) -> Result<UserId> {
    let user_id = users::by_email(cx, email).await?;
    let password_hash = passwords::hash(password, email).await?;
    let tx = cx.db.begin().await?;
    store_password(&tx, user_id, password_hash, cx.clock.now()).await?;
    tx.commit().await?;
    Ok(user_id)
}

/// Stores the password of a user, and ends all log-ins and password links of the user. It locks the user, so that no
/// log-in with the earlier password begins at the same time.
pub(crate) async fn store_password(
    tx: &DatabaseTransaction,
    user_id: UserId,
    password_hash: String,
    now: Millis,
) -> Result<()> {
    user_lock::lock(tx, user_id).await?;
    links::end_all(tx, user_id, now).await?;
    let row = user_password::ActiveModel {
        user_id: Set(user_id),
        password_hash: Set(password_hash),
        updated_at: Set(now),
    };
    let again = OnConflict::column(user_password::Column::UserId)
        .update_columns([user_password::Column::PasswordHash, user_password::Column::UpdatedAt])
        .to_owned();
    user_password::Entity::insert(row).on_conflict(again).exec_without_returning(tx).await?;
    let theirs = user_session::Column::UserId.eq(user_id);
    user_session::Entity::delete_many().filter(theirs).exec(tx).await?;
    Ok(())
}

/// Starts a log-in; returns the token for the cookie.
pub(crate) async fn open_session<C: ConnectionTrait>(
    conn: &C,
    user_id: UserId,
    now: Millis,
) -> Result<SecretString> {
    let token = token::generate();
    let row = user_session::ActiveModel {
        hash: Set(hash(token.expose_secret())),
        user_id: Set(user_id),
        created_at: Set(now),
        confirmed_at: Set(None),
        expires_at: Set(now + SESSION_LIFETIME),
    };
    user_session::Entity::insert(row).exec_without_returning(conn).await?;
    Ok(token)
}

/// Tries to log in.
///
/// # Errors
/// The database's.
pub async fn log_in(
    cx: &Domain,
    (email, password): (&str, SecretString),
    from: LoginSource<'_>,
) -> Result<LoginOutcome> {
    let email = logins::login_name(email);
    let counted = match logins::admit(cx, LoginKind::Persons, &email, from).await? {
        Admission::Wait(wait) => return Ok(LoginOutcome::TooMany(wait)),
        Admission::Counted(names) => names,
    };
    let by_email = user::Column::Email.eq(&email);
    let known = user::Entity::find().filter(by_email).one(&cx.db.read).await?;
    let stored = match &known {
        Some(user) => user_password::Entity::find_by_id(user.id).one(&cx.db.read).await?,
        None => None,
    };
    let tried = stored.as_ref().map(|row| row.password_hash.clone());
    let same = passwords::verify(tried.clone(), password).await?;
    let session = match known.filter(|_| same).zip(tried) {
        Some((known, tried)) => begin_session(cx, known.id, &tried).await?,
        None => None,
    };
    let Some(session) = session else {
        tracing::warn!(address = from.address, "a log-in was refused");
        audit_trail::note_refused_login(cx, "person", from.address).await?;
        return Ok(LoginOutcome::Wrong);
    };
    logins::clear_attempts(cx, counted).await?;
    Ok(LoginOutcome::LoggedIn(session))
}

/// Starts a log-in if the user's password is still the one that was checked: hashing takes a while, and a password that
/// was replaced meanwhile has ended every log-in.
async fn begin_session(cx: &Domain, person: UserId, tried: &str) -> Result<Option<SecretString>> {
    let tx = Tx::begin(cx).await?;
    user_lock::lock(tx.conn(), person).await?;
    let stored = user_password::Entity::find_by_id(person).one(tx.conn()).await?;
    if stored.is_none_or(|row| row.password_hash != tried) {
        return Ok(None);
    }
    let session = open_session(tx.conn(), person, tx.now()).await?;
    tx.commit().await?;
    Ok(Some(session))
}

/// Returns the log-in that a cookie's token belongs to, if it has not ended.
///
/// # Errors
/// The database's.
pub async fn find(cx: &Domain, token: &SecretString) -> Result<Option<UserSession>> {
    let hash = hash(token.expose_secret());
    let row = user_session::Entity::find_by_id(hash.as_str()).one(&cx.db.read).await?;
    let now = cx.clock.now();
    let live = row.filter(|row| {
        bool::from(row.hash.as_bytes().ct_eq(hash.as_bytes())) && row.expires_at > now
    });
    let Some(live) = live else { return Ok(None) };
    let known = user::Entity::find_by_id(live.user_id).one(&cx.db.read).await?;
    Ok(known.map(|user| UserSession {
        user_id: user.id,
        email: user.email,
        name: user.name,
        confirmed_at: live.confirmed_at.unwrap_or(live.created_at),
    }))
}

impl UserSession {
    /// Returns true if the user gave the password so recently that it is not asked for again before a sensitive change.
    #[must_use]
    pub fn is_recent(&self, cx: &Domain) -> bool {
        cx.clock.now() - self.confirmed_at <= crate::settings(cx).reauth
    }
}

/// Confirms the password of a user who is logged in, before a sensitive change.
///
/// # Errors
/// [`Code::InvalidField`] if it is wrong, [`Code::RateLimited`] if too many were tried.
pub async fn confirm_password(
    cx: &Domain,
    (session, token): (&UserSession, &SecretString),
    password: SecretString,
) -> Result<()> {
    let browser = hash(token.expose_secret());
    let admitted = logins::admit_browser(cx, LoginKind::Persons, &session.email, &browser);
    let counted = match admitted.await? {
        Admission::Counted(names) => names,
        Admission::Wait(wait) => {
            let message = format!("Too many passwords were tried. Wait {} minutes.", wait / 60 + 1);
            let seconds = wait.unsigned_abs();
            return Err(Error::new(Code::RateLimited, message).with_retry_after(seconds));
        }
    };
    let stored = user_password::Entity::find_by_id(session.user_id).one(&cx.db.read).await?;
    if !passwords::verify(stored.map(|row| row.password_hash), password).await? {
        let message = "The password is wrong.";
        return Err(Error::field(Code::InvalidField, "password", message, "Try again."));
    }
    logins::clear_attempts(cx, counted).await?;
    let confirmed = user_session::Entity::update_many()
        .col_expr(user_session::Column::ConfirmedAt, Expr::value(cx.clock.now()))
        .filter(user_session::Column::Hash.eq(hash(token.expose_secret())))
        .exec(&cx.db.write)
        .await?;
    if confirmed.rows_affected == 0 { Err(session_ended()) } else { Ok(()) }
}

/// Locks the user of a log-in, and checks that the log-in has not ended: a password that was replaced meanwhile has
/// ended it.
pub(crate) async fn lock_session(
    tx: &DatabaseTransaction,
    (session, token): (&UserSession, &SecretString),
) -> Result<()> {
    user_lock::lock(tx, session.user_id).await?;
    let found = user_session::Entity::find_by_id(hash(token.expose_secret())).one(tx).await?;
    found.map(|_| ()).ok_or_else(session_ended)
}

fn session_ended() -> Error {
    Error::field(Code::InvalidField, "password", "This log-in has ended.", "Log in again.")
}

/// Ends a log-in.
///
/// # Errors
/// The database's.
pub async fn log_out(cx: &Domain, token: &SecretString) -> Result<()> {
    let hash = hash(token.expose_secret());
    user_session::Entity::delete_by_id(hash).exec(&cx.db.write).await?;
    Ok(())
}

/// Deletes log-ins that have ended.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let end = user_session::Column::ExpiresAt;
    batches::delete::<user_session::Entity>(cx, end, end.lte(cx.clock.now())).await
}
