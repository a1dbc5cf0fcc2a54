//! Passwords of operators and persons alike.

use std::sync::LazyLock;

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use rand::RngExt;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use crate::error::{Code, Error, Result};

/// Fewest and most characters of a password.
const LENGTH: std::ops::RangeInclusive<usize> = 12..=256;

/// Letters of generated passwords: none that look alike.
const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";

/// A hash takes 19 MiB and a core for a moment; more at once would let log-ins starve everything else.
static HASHING: Semaphore = Semaphore::const_new(2);

/// What an unknown name's password is compared with, so that it takes as long as a known one's.
static NOBODY: LazyLock<String> =
    LazyLock::new(|| digest(b"nobody has this password").unwrap_or_default());

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

/// What is stored of a new password.
///
/// # Errors
/// [`Code::InvalidField`] if it is too short or too long.
pub(crate) async fn hash(password: SecretString) -> Result<String> {
    let length = password.expose_secret().chars().count();
    if !LENGTH.contains(&length) {
        let (least, most) = (LENGTH.start(), LENGTH.end());
        let message = format!("The password has {length} characters; it needs {least} to {most}.");
        let remedy = "Choose a longer one, or let one be generated.";
        return Err(Error::field(Code::InvalidField, "password", message, remedy));
    }
    on_a_thread(move || digest(password.expose_secret().as_bytes())).await?
}

/// Is this the password that was stored? Takes as long where nothing was.
///
/// # Errors
/// The machine could not do it.
pub(crate) async fn is_right(stored: Option<String>, password: SecretString) -> Result<bool> {
    on_a_thread(move || {
        let stored = stored.as_deref();
        // The comparison of two hashes inside takes the same time wherever they differ.
        let same = PasswordHash::new(stored.unwrap_or(&NOBODY)).is_ok_and(|hash| {
            let given = password.expose_secret().as_bytes();
            Argon2::default().verify_password(given, &hash).is_ok()
        });
        same && stored.is_some()
    })
    .await
}

fn digest(password: &[u8]) -> Result<String> {
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

    #[tokio::test]
    async fn a_hash_is_argon2id_and_salted() {
        let (one, other) = (digest(b"x").unwrap(), digest(b"x").unwrap());
        assert!(one.starts_with("$argon2id$"));
        assert_ne!(one, other);
        assert!(is_right(Some(one.clone()), "x".into()).await.unwrap());
        assert!(!is_right(Some(one), "y".into()).await.unwrap());
        assert!(!is_right(None, "nobody has this password".into()).await.unwrap());
    }

    #[tokio::test]
    async fn a_short_password_is_refused() {
        assert_eq!(hash("eleven char".into()).await.unwrap_err().code(), Code::InvalidField);
        assert!(hash("twelve chars".into()).await.is_ok());
    }
}
