//! The common parts of operators' and users' log-ins: tokens, and limits of attempts.
//!
//! The token is only in the browser's cookie; the database has its SHA-256. Attempts are counted in the database before
//! the password is checked, so that the limit holds over all processes. An attempt beyond a limit writes nothing.

use fanfare_entities::{Millis, login_attempt};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use secrecy::SecretString;

use crate::{
    Domain,
    db::statement,
    error::{Code, Error, Result},
    token::hash,
};

/// The window in which attempts are counted together, in ms.
const WINDOW: Millis = 15 * 60_000;

/// The most attempts in a window from one address.
const MAX_PER_ADDRESS: i32 = 60;

/// The most attempts in a window for one name from one address.
const MAX_PER_NAME_AND_ADDRESS: i32 = 5;

/// The most attempts in a window for one name, from all addresses together: more addresses do not make guessing faster.
/// The owner of the name may be locked out meanwhile, until an operator unlocks it.
const MAX_PER_NAME: i32 = 20;

/// The kind of log-in. The kinds are counted separately, so that neither can lock the other out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginKind {
    /// The operators, who run the service.
    Operators,
    /// The users, who own the workspaces.
    Persons,
}

impl LoginKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Operators => "operator",
            Self::Persons => "person",
        }
    }

    /// Returns the counter of attempts for a name from all addresses.
    fn name_key(self, email: &str) -> String {
        format!("{}:name:{}", self.name(), hash(email))
    }

    /// Returns the counter of attempts for a name from one address.
    fn pair_key(self, email: &str, address: &str) -> String {
        format!("{}@{address}", self.name_key(email))
    }
}

/// The outcome of an attempt to log in.
#[derive(Debug)]
pub enum LoginOutcome {
    /// Logged in; the token for the cookie.
    LoggedIn(SecretString),
    /// Wrong name or password, without saying which.
    Wrong,
    /// Too many attempts; the seconds until the next one.
    TooMany(i64),
}

/// Counts an attempt; returns the seconds to wait if there were too many. The address is counted first, so that one
/// address cannot create rows for any number of names.
pub(crate) async fn admit(
    cx: &Domain,
    realm: LoginKind,
    email: &str,
    address: &str,
) -> Result<Option<i64>> {
    let counted = [
        (format!("{}:address:{address}", realm.name()), MAX_PER_ADDRESS),
        (realm.pair_key(email, address), MAX_PER_NAME_AND_ADDRESS),
        (realm.name_key(email), MAX_PER_NAME),
    ];
    for (name, most) in &counted {
        if let Some(wait) = count_attempt(cx, name, *most).await? {
            tracing::warn!(address, "too many log-ins were tried");
            return Ok(Some(wait));
        }
    }
    Ok(None)
}

/// Deletes the counted attempts of a name that has logged in.
pub(crate) async fn clear_attempts(
    cx: &Domain,
    realm: LoginKind,
    email: &str,
    address: &str,
) -> Result<()> {
    let names = [realm.pair_key(email, address), realm.name_key(email)];
    let theirs = login_attempt::Column::Name.is_in(names);
    login_attempt::Entity::delete_many().filter(theirs).exec(&cx.db.write).await?;
    Ok(())
}

/// Lets a name try again at once, from every address, both as a user and as an operator.
///
/// # Errors
/// The database's.
pub async fn unlock(cx: &Domain, email: &str) -> Result<()> {
    let email = email.trim().to_lowercase();
    for realm in [LoginKind::Operators, LoginKind::Persons] {
        let name = realm.name_key(&email);
        let theirs = login_attempt::Column::Name.starts_with(name);
        login_attempt::Entity::delete_many().filter(theirs).exec(&cx.db.write).await?;
    }
    Ok(())
}

/// Counts an attempt under a name, unless there were `most` of them; then returns the seconds until the next one.
async fn count_attempt(cx: &Domain, name: &str, most: i32) -> Result<Option<i64>> {
    let (now, conn) = (cx.clock.now(), &cx.db.write);
    let sql = "INSERT INTO login_attempts (name, tries, until_at) VALUES ($1, 1, $2) \
               ON CONFLICT (name) DO UPDATE SET \
               tries = CASE WHEN login_attempts.until_at <= $3 THEN 1 ELSE login_attempts.tries + 1 END, \
               until_at = CASE WHEN login_attempts.until_at <= $3 THEN excluded.until_at \
               ELSE login_attempts.until_at END \
               WHERE login_attempts.until_at <= $3 OR login_attempts.tries < $4 RETURNING tries";
    let values = [name.into(), (now + WINDOW).into(), now.into(), most.into()];
    if conn.query_one_raw(statement(conn, sql, values)).await?.is_some() {
        return Ok(None);
    }
    let row = login_attempt::Entity::find_by_id(name).one(conn).await?;
    Ok(Some(row.map_or(1, |row| ((row.until_at - now) / 1_000).max(1))))
}

/// Deletes attempts that no longer count.
pub(crate) async fn prune(cx: &Domain) -> Result<u64> {
    let ended = login_attempt::Column::UntilAt.lte(cx.clock.now());
    Ok(login_attempt::Entity::delete_many().filter(ended).exec(&cx.db.write).await?.rows_affected)
}

/// Returns the error for a form whose token does not belong to the log-in.
#[must_use]
pub fn forged_form() -> Error {
    Error::new(Code::InvalidField, "This form was not made for your log-in. Load its page again.")
}
