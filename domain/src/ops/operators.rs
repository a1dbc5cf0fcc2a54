//! The people who run the service, and their passwords.

use std::sync::LazyLock;

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use fanfare_entities::{OperatorId, operator, operator_session};
use rand::RngExt;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, sea_query::OnConflict};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use super::{Actor, audit};
use crate::{
    Domain,
    error::{Code, Error, Result},
    people,
};

/// Fewest and most characters of a password.
const LENGTH: std::ops::RangeInclusive<usize> = 12..=256;

/// Letters of generated passwords: none that look alike.
const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";

/// A hash takes 19 MiB and a core for a moment; more at once would let log-ins starve everything else.
static HASHING: Semaphore = Semaphore::const_new(2);

/// What an unknown name's password is compared with, so that it takes as long as a known one's.
static NOBODY: LazyLock<String> =
    LazyLock::new(|| hash(b"nobody has this password").unwrap_or_default());

/// A password that nobody can guess.
#[must_use]
pub fn generate() -> SecretString {
    let mut rng = rand::rng();
    let mut groups = (0..5).map(|_| {
        (0..5).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])).collect::<String>()
    });
    let first = groups.next().unwrap_or_default();
    SecretString::from(groups.fold(first, |all, group| all + "-" + &group))
}

/// Makes an operator, or gives one that there is a new password and ends its log-ins. True if it was made.
///
/// # Errors
/// [`Code::InvalidField`] if the address is none or the password too short.
pub async fn create(
    cx: &Domain,
    actor: &Actor,
    email: &str,
    password: SecretString,
) -> Result<bool> {
    let email = people::normalised(email)?;
    let length = password.expose_secret().chars().count();
    if !LENGTH.contains(&length) {
        let (least, most) = (LENGTH.start(), LENGTH.end());
        let message = format!("The password has {length} characters; it needs {least} to {most}.");
        let remedy = "Choose a longer one, or let one be generated.";
        return Err(Error::field(Code::InvalidField, "password", message, remedy));
    }
    let hash = on_a_thread(move || hash(password.expose_secret().as_bytes())).await??;
    let (now, tx) = (cx.clock.now(), cx.db.begin().await?);
    let known =
        operator::Entity::find().filter(operator::Column::Email.eq(&email)).one(&tx).await?;
    let id = known.as_ref().map_or_else(OperatorId::fresh, |row| row.id);
    let row = operator::ActiveModel {
        id: Set(id),
        email: Set(email.clone()),
        password_hash: Set(hash),
        created_at: Set(now),
        updated_at: Set(now),
    };
    let again = OnConflict::column(operator::Column::Email)
        .update_columns([operator::Column::PasswordHash, operator::Column::UpdatedAt])
        .to_owned();
    operator::Entity::insert(row).on_conflict(again).exec_without_returning(&tx).await?;
    operator_session::Entity::delete_many()
        .filter(operator_session::Column::OperatorId.eq(id))
        .exec(&tx)
        .await?;
    let what = if known.is_some() { "New password; log-ins ended." } else { "Made." };
    audit::note(&tx, actor, ("operator", &email, what), now).await?;
    tx.commit().await?;
    Ok(known.is_none())
}

/// The operator with this address and password, if there is one. Takes as long for an unknown address.
pub(super) async fn verify(
    cx: &Domain,
    email: &str,
    password: SecretString,
) -> Result<Option<operator::Model>> {
    let known = match people::normalised(email) {
        Ok(email) => {
            let by_email = operator::Column::Email.eq(email);
            operator::Entity::find().filter(by_email).one(&cx.db.read).await?
        }
        Err(_) => None,
    };
    let stored = known.as_ref().map(|row| row.password_hash.clone());
    let same = on_a_thread(move || {
        let stored = stored.as_deref().unwrap_or(&NOBODY);
        // The comparison of two hashes inside takes the same time wherever they differ.
        PasswordHash::new(stored).is_ok_and(|stored| {
            let given = password.expose_secret().as_bytes();
            Argon2::default().verify_password(given, &stored).is_ok()
        })
    })
    .await?;
    Ok(known.filter(|_| same))
}

fn hash(password: &[u8]) -> Result<String> {
    let hashed = Argon2::default().hash_password(password).map_err(Error::internal)?;
    Ok(hashed.to_string())
}

/// Runs what takes a core for a while where it delays nobody.
async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let _turn = HASHING.acquire().await.map_err(Error::internal)?;
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_password_is_long_and_never_the_same() {
        let (one, other) = (generate(), generate());
        assert!(LENGTH.contains(&one.expose_secret().len()));
        assert_ne!(one.expose_secret(), other.expose_secret());
    }

    #[test]
    fn a_hash_is_argon2id_and_salted() {
        let (one, other) = (hash(b"x").unwrap(), hash(b"x").unwrap());
        assert!(one.starts_with("$argon2id$"));
        assert_ne!(one, other);
    }
}
