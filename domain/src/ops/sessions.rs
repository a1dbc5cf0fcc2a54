//! Operators' log-ins.
//!
//! The token is in the operator's cookie and nowhere else; here is its SHA-256. Tries are counted in the database, so
//! that the limit holds over all processes, before the password is looked at.

use fanfare_entities::{Millis, OperatorId, login_attempt, operator, operator_session};
use sea_orm::{ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use super::{Actor, audit, operators};
use crate::{
    Domain,
    db::statement,
    error::{Code, Error, Result},
    token::{self, hash},
};

/// How long a log-in lasts, in ms.
pub const LASTS: Millis = 12 * 3_600_000;

/// How long tries are counted together, in ms.
const WINDOW: Millis = 15 * 60_000;

/// Most tries of a window for one name from one address, and from one address in all.
const TRIES: (i32, i32) = (5, 60);

/// An operator who is logged in.
#[derive(Debug, Clone)]
pub struct Session {
    /// Who.
    pub operator_id: OperatorId,
    /// The address that names the operator.
    pub email: String,
    /// When it ends.
    pub expires_at: Millis,
}

/// What came of a try.
#[derive(Debug)]
pub enum LogIn {
    /// The token for the cookie.
    Welcome(SecretString),
    /// Wrong name or password; which of them is not told.
    Wrong,
    /// Too many tries; seconds until the next one.
    TooMany(i64),
}

/// Tries to log in from `address`.
///
/// # Errors
/// The database's.
pub async fn log_in(
    cx: &Domain,
    (email, password): (&str, SecretString),
    address: &str,
    request_id: &str,
) -> Result<LogIn> {
    let email = email.trim().to_lowercase();
    let names = [format!("{}@{address}", hash(&email)), format!("address:{address}")];
    for (name, most) in names.iter().zip([TRIES.0, TRIES.1]) {
        if let Some(wait) = count(cx, name, most).await? {
            tracing::warn!(address, "too many log-ins were tried");
            return Ok(LogIn::TooMany(wait));
        }
    }
    let Some(known) = operators::verify(cx, &email, password).await? else {
        tracing::warn!(address, request.id = request_id, "a log-in was refused");
        return Ok(LogIn::Wrong);
    };
    login_attempt::Entity::delete_by_id(names[0].as_str()).exec(&cx.db.write).await?;
    let token = token::fresh();
    let (now, tx) = (cx.clock.now(), cx.db.begin().await?);
    let row = operator_session::ActiveModel {
        hash: Set(hash(token.expose_secret())),
        operator_id: Set(known.id),
        created_at: Set(now),
        expires_at: Set(now + LASTS),
    };
    operator_session::Entity::insert(row).exec_without_returning(&tx).await?;
    let actor = Actor { name: known.email.clone(), request_id: request_id.to_owned() };
    audit::note(&tx, &actor, ("log_in", &known.email, &format!("From {address}.")), now).await?;
    tx.commit().await?;
    Ok(LogIn::Welcome(token))
}

/// Counts a try; the seconds to wait if there were too many.
async fn count(cx: &Domain, name: &str, most: i32) -> Result<Option<i64>> {
    let (now, conn) = (cx.clock.now(), &cx.db.write);
    let sql = "INSERT INTO login_attempts (name, tries, until_at) VALUES ($1, 1, $2) \
               ON CONFLICT (name) DO UPDATE SET \
               tries = CASE WHEN login_attempts.until_at <= $3 THEN 1 ELSE login_attempts.tries + 1 END, \
               until_at = CASE WHEN login_attempts.until_at <= $3 THEN excluded.until_at \
               ELSE login_attempts.until_at END RETURNING tries, until_at";
    let values = [name.into(), (now + WINDOW).into(), now.into()];
    let row = conn.query_one_raw(statement(conn, sql, values)).await?;
    let row = row.ok_or_else(|| Error::internal("a try was not counted"))?;
    let (tries, until): (i32, Millis) = (row.try_get("", "tries")?, row.try_get("", "until_at")?);
    Ok((tries > most).then(|| ((until - now) / 1_000).max(1)))
}

/// The log-in that a cookie's token belongs to, if it has not ended.
///
/// # Errors
/// The database's.
pub async fn find(cx: &Domain, token: &SecretString) -> Result<Option<Session>> {
    let hash = hash(token.expose_secret());
    let row = operator_session::Entity::find_by_id(hash.as_str()).one(&cx.db.read).await?;
    let now = cx.clock.now();
    let live = row.filter(|row| {
        bool::from(row.hash.as_bytes().ct_eq(hash.as_bytes())) && row.expires_at > now
    });
    let Some(live) = live else { return Ok(None) };
    let known = operator::Entity::find_by_id(live.operator_id).one(&cx.db.read).await?;
    Ok(known.map(|operator| Session {
        operator_id: operator.id,
        email: operator.email,
        expires_at: live.expires_at,
    }))
}

/// Ends a log-in.
///
/// # Errors
/// The database's.
pub async fn log_out(cx: &Domain, token: &SecretString) -> Result<()> {
    let hash = hash(token.expose_secret());
    operator_session::Entity::delete_by_id(hash).exec(&cx.db.write).await?;
    Ok(())
}

/// Forgets what has ended.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let (now, db) = (cx.clock.now(), &cx.db.write);
    let ended = operator_session::Column::ExpiresAt.lte(now);
    let sessions = operator_session::Entity::delete_many().filter(ended).exec(db).await?;
    let ended = login_attempt::Column::UntilAt.lte(now);
    let tries = login_attempt::Entity::delete_many().filter(ended).exec(db).await?;
    Ok(sessions.rows_affected + tries.rows_affected)
}

/// The refusal of a form whose token is not the log-in's.
#[must_use]
pub fn forged() -> Error {
    Error::new(Code::InvalidField, "This form was not made for your log-in. Load its page again.")
}
