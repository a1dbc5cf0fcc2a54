//! Passwords of operators and users.

use std::sync::LazyLock;

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use rand::RngExt;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use crate::error::{Code, Error, Result, violation};

/// The fewest and the most characters of a password.
const LENGTH: std::ops::RangeInclusive<usize> = 10..=200;

/// The thousand most common passwords that are long enough, in lower case, the most common first.
static COMMON: &str = include_str!("passwords/common.txt");

/// The letters of generated passwords, without those that look alike.
const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";

/// Limits how many hashes are computed at once. Each takes 19 MiB and a core for a moment; more at once would let
/// log-ins starve everything else.
static HASH_PERMITS: Semaphore = Semaphore::const_new(2);

/// The digest that is compared for an unknown name, so that the answer takes as long as for a known one.
static DUMMY_HASH: LazyLock<String> =
    LazyLock::new(|| digest(b"nobody has this password").unwrap_or_default());

/// Generates an unguessable password.
#[must_use]
pub fn generate() -> SecretString {
    let mut rng = rand::rng();
    let mut groups = (0..5).map(|_| {
        (0..5).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])).collect::<String>()
    });
    let first = groups.next().unwrap_or_default();
    SecretString::from(groups.fold(first, |all, group| all + "-" + &group))
}

/// Returns the hash of a new password of the user or operator with this e-mail address.
///
/// # Errors
/// [`Code::InvalidField`] if it is too short, too long or too common.
pub async fn hash(password: SecretString, email: &str) -> Result<String> {
    check_strength(password.expose_secret(), email)?;
    run_blocking(move || digest(password.expose_secret().as_bytes())).await?
}

fn check_strength(password: &str, email: &str) -> Result<()> {
    let refused = |message: String, remedy: &str| {
        Err(Error::field(Code::InvalidField, "password", message, remedy))
    };
    let length = password.chars().count();
    if !LENGTH.contains(&length) {
        let (least, most) = (LENGTH.start(), LENGTH.end());
        let message = format!("The password has {length} characters; it needs {least} to {most}.");
        let remedy = "Choose one of that length; several words are easy to remember.";
        let broken = violation(Code::InvalidField, "password", message, remedy);
        let limit = if length < *least { least } else { most };
        return Err(Error::violation(broken.with_limit(limit, length).in_unit("characters")));
    }
    let (small, email) = (password.to_lowercase(), email.trim().to_lowercase());
    if COMMON.lines().any(|common| common == small) {
        let message = "The password is one of the thousand commonest, which are guessed first.";
        return refused(message.to_owned(), "Choose one of your own, such as several words.");
    }
    if small == email || email.split('@').next() == Some(small.as_str()) {
        return refused(
            "The password is your e-mail address.".to_owned(),
            "Choose one that nobody can guess.",
        );
    }
    Ok(())
}

/// Returns true if this is the stored password. Takes as long if none is stored.
///
/// # Errors
/// The hash could not be computed.
pub async fn verify(stored: Option<String>, password: SecretString) -> Result<bool> {
    run_blocking(move || {
        let stored = stored.as_deref();
        // The comparison of two hashes inside takes the same time wherever they differ.
        let same = PasswordHash::new(stored.unwrap_or(&DUMMY_HASH)).is_ok_and(|hash| {
            tracing::trace!("a password is compared");
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

/// Runs work that takes a core for a while on a blocking thread.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let _turn = HASH_PERMITS.acquire().await.map_err(Error::internal)?;
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
        assert!(verify(Some(one.clone()), "x".into()).await.unwrap());
        assert!(!verify(Some(one), "y".into()).await.unwrap());
        assert!(!verify(None, "nobody has this password".into()).await.unwrap());
    }

    #[tokio::test]
    async fn a_short_password_is_refused() {
        assert_eq!(hash("nine char".into(), "").await.unwrap_err().code(), Code::InvalidField);
        assert!(hash("ten chars.".into(), "").await.is_ok());
        let longest = "x".repeat(200);
        assert!(check_strength(&longest, "").is_ok());
        assert!(check_strength(&format!("{longest}x"), "").is_err());
    }

    #[test]
    fn what_is_guessed_first_is_refused() {
        assert_eq!(COMMON.lines().count(), 1_000);
        assert!(COMMON.lines().all(|line| line.len() >= *LENGTH.start()));
        for bad in ["1234567890", "Password123", "QWERTYUIOP"] {
            assert!(check_strength(bad, "ada@example.com").is_err(), "{bad}");
        }
        assert!(check_strength("Ada.Lovelace@example.com", "ada.lovelace@example.com ").is_err());
        assert!(check_strength("ada.lovelace", "Ada.Lovelace@example.com").is_err());
        assert!(check_strength("ada.lovelace.2", "ada.lovelace@example.com").is_ok());
    }
}
