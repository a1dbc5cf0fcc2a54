//! The common parts of operators' and users' log-ins: tokens, and limits of attempts.
//!
//! The token is only in the browser's cookie; the database has its SHA-256. Attempts are counted in the database before
//! the password is checked, so that the limit holds over all processes. An attempt beyond a limit writes nothing.
//!
//! A browser in which somebody has logged in before keeps a signed proof of it, and is counted by itself for that name:
//! a person who tries the name elsewhere cannot lock its owner out.

use fanfare_entities::{Millis, login_attempt};
use fanfare_mail::canonical_address;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use secrecy::{ExposeSecret, SecretString};

use crate::{
    Domain, batches,
    db::statement,
    error::{Code, Error, Result},
    token::{self, hash},
};

/// The window in which attempts are counted together, in ms.
const WINDOW: Millis = 15 * 60_000;

/// The most attempts in a window from one address.
const MAX_PER_ADDRESS: i32 = 60;

/// The most attempts in a window for one name from one address, or from one browser that has logged in before.
const MAX_PER_NAME_AND_PLACE: i32 = 5;

/// The most attempts in a window for one name of a user, from all addresses together: more addresses do not make
/// guessing faster. A browser that has not logged in before may have to wait meanwhile; the link of `/forgot` works.
/// Names of operators have no such limit, since nobody else could let them in.
const MAX_PER_NAME: i32 = 20;

/// The most names that a browser remembers.
const MAX_REMEMBERED: usize = 5;

/// The purpose of the signatures of what browsers remember.
const REMEMBERED: &str = "a browser that has logged in";

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

    /// Returns the counter of attempts for a name from one browser.
    fn browser_key(self, email: &str, browser: &str) -> String {
        format!("{}#{browser}", self.name_key(email))
    }
}

/// Where an attempt comes from.
#[derive(Debug, Clone, Copy)]
pub struct LoginSource<'a> {
    /// The network address.
    pub address: &'a str,
    /// What the browser has kept from earlier log-ins (see [`remember`]).
    pub remembered: Option<&'a str>,
}

/// Returns what a browser keeps after a log-in under this name, in place of what it kept before.
///
/// # Errors
/// None in practice, since HMAC takes keys of any length.
pub fn remember(
    cx: &Domain,
    realm: LoginKind,
    email: &str,
    before: Option<&str>,
) -> Result<String> {
    let email = login_name(email);
    let mut kept: Vec<String> = Vec::new();
    for entry in before.into_iter().flat_map(entries) {
        if browser_of(cx, realm, &email, entry)?.is_none() {
            kept.push(entry.to_owned());
        }
    }
    let nonce: String = token::generate().expose_secret().chars().take(16).collect();
    let signature = cx.vault.sign(REMEMBERED, &signed(realm, &email, &nonce))?;
    kept.insert(0, format!("{nonce}~{signature}"));
    kept.truncate(MAX_REMEMBERED);
    Ok(kept.join("."))
}

fn entries(remembered: &str) -> impl Iterator<Item = &str> {
    remembered.split('.').take(MAX_REMEMBERED)
}

fn signed(realm: LoginKind, email: &str, nonce: &str) -> String {
    format!("{} {nonce} {}", realm.name(), hash(email))
}

/// Returns the id of the browser, if the entry proves a log-in under this name.
fn browser_of<'a>(
    cx: &Domain,
    realm: LoginKind,
    email: &str,
    entry: &'a str,
) -> Result<Option<&'a str>> {
    let Some((nonce, signature)) = entry.split_once('~') else { return Ok(None) };
    let is_ours = cx.vault.is_signed(REMEMBERED, &signed(realm, email, nonce), signature)?;
    Ok(is_ours.then_some(nonce))
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

/// Whether an attempt is admitted.
#[derive(Debug)]
pub enum Admission {
    /// Yes, and it was counted under these names, which are forgotten if it succeeds.
    Counted(Vec<String>),
    /// Not before so many seconds.
    Wait(i64),
}

/// Counts an attempt. The address is counted first, so that one address cannot create rows for any number of names.
pub async fn admit(
    cx: &Domain,
    realm: LoginKind,
    email: &str,
    from: LoginSource<'_>,
) -> Result<Admission> {
    for entry in from.remembered.into_iter().flat_map(entries) {
        if let Some(browser) = browser_of(cx, realm, email, entry)? {
            return admit_browser(cx, realm, email, browser).await;
        }
    }
    let address = format!("{}:address:{}", realm.name(), from.address);
    let mut counted = vec![(realm.pair_key(email, from.address), MAX_PER_NAME_AND_PLACE)];
    if realm == LoginKind::Persons {
        counted.push((realm.name_key(email), MAX_PER_NAME));
    }
    for (name, most) in [(address, MAX_PER_ADDRESS)].iter().chain(&counted) {
        if let Some(wait) = count_attempt(cx, name, *most).await? {
            tracing::warn!(address = from.address, "too many log-ins were tried");
            return Ok(Admission::Wait(wait));
        }
    }
    Ok(Admission::Counted(counted.into_iter().map(|(name, _)| name).collect()))
}

/// Counts an attempt of a browser in which somebody is or was logged in under this name.
pub async fn admit_browser(
    cx: &Domain,
    realm: LoginKind,
    email: &str,
    browser: &str,
) -> Result<Admission> {
    let name = realm.browser_key(email, browser);
    Ok(match count_attempt(cx, &name, MAX_PER_NAME_AND_PLACE).await? {
        Some(wait) => Admission::Wait(wait),
        None => Admission::Counted(vec![name]),
    })
}

/// Forgets the attempts that were counted under these names, because the last one succeeded.
pub async fn clear_attempts(cx: &Domain, names: Vec<String>) -> Result<()> {
    let theirs = login_attempt::Column::Name.is_in(names);
    login_attempt::Entity::delete_many().filter(theirs).exec(&cx.db.write).await?;
    Ok(())
}

/// Forgets all attempts that were counted for a name.
pub async fn clear_name(cx: &Domain, realm: LoginKind, email: &str) -> Result<()> {
    let theirs = login_attempt::Column::Name.starts_with(realm.name_key(email));
    login_attempt::Entity::delete_many().filter(theirs).exec(&cx.db.write).await?;
    Ok(())
}

/// Returns the name under which somebody logs in. What is not an e-mail address is nobody's.
pub fn login_name(email: &str) -> String {
    canonical_address(email).unwrap_or_else(|| email.trim().to_lowercase())
}

/// Lets a name try again at once, from every address, both as a user and as an operator.
///
/// # Errors
/// The database's.
pub async fn unlock(cx: &Domain, email: &str) -> Result<()> {
    let email = login_name(email);
    for realm in [LoginKind::Operators, LoginKind::Persons] {
        clear_name(cx, realm, &email).await?;
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
pub async fn prune(cx: &Domain) -> Result<u64> {
    let end = login_attempt::Column::UntilAt;
    batches::delete::<login_attempt::Entity>(cx, end, end.lte(cx.clock.now())).await
}

/// Returns the error for a form whose token does not belong to the log-in.
#[must_use]
pub fn forged_form() -> Error {
    Error::new(Code::InvalidField, "This form was not made for your log-in. Load its page again.")
}
