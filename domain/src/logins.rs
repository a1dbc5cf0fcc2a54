//! What operators' and persons' log-ins have in common: tokens, and how often a password may be tried.
//!
//! The token is in the browser's cookie and nowhere else; in the database is its SHA-256. Tries are counted in the
//! database, so that the limit holds over all processes, before the password is looked at.

use fanfare_entities::{Millis, login_attempt};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use secrecy::SecretString;

use crate::{
    Domain,
    db::statement,
    error::{Code, Error, Result},
    token::hash,
};

/// How long tries are counted together, in ms.
const WINDOW: Millis = 15 * 60_000;

/// Most tries of a window for one name from one address, and from one address in all.
const TRIES: (i32, i32) = (5, 60);

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

/// One name at one address, as its tries are counted. `realm` keeps operators and persons apart.
fn name(realm: &str, email: &str, address: &str) -> String {
    format!("{realm}{}@{address}", hash(email))
}

/// Counts a try; the seconds to wait if there were too many.
pub(crate) async fn admit(
    cx: &Domain,
    realm: &str,
    email: &str,
    address: &str,
) -> Result<Option<i64>> {
    let names = [name(realm, email, address), format!("address:{address}")];
    for (name, most) in names.iter().zip([TRIES.0, TRIES.1]) {
        if let Some(wait) = count(cx, name, most).await? {
            tracing::warn!(address, "too many log-ins were tried");
            return Ok(Some(wait));
        }
    }
    Ok(None)
}

/// Forgets the tries of a name that got in.
pub(crate) async fn forgive(cx: &Domain, realm: &str, email: &str, address: &str) -> Result<()> {
    let name = name(realm, email, address);
    login_attempt::Entity::delete_by_id(name).exec(&cx.db.write).await?;
    Ok(())
}

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

/// Forgets tries that no longer count.
pub(crate) async fn prune(cx: &Domain) -> Result<u64> {
    let ended = login_attempt::Column::UntilAt.lte(cx.clock.now());
    Ok(login_attempt::Entity::delete_many().filter(ended).exec(&cx.db.write).await?.rows_affected)
}

/// The refusal of a form whose token is not the log-in's.
#[must_use]
pub fn forged() -> Error {
    Error::new(Code::InvalidField, "This form was not made for your log-in. Load its page again.")
}
