//! Secrets in addresses and cookies: 256 random bits, of which only the SHA-256 is stored.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::RngExt;
use secrecy::SecretString;
use sha2::{Digest, Sha256};

/// Generates an unguessable token of letters, digits, `-` and `_`.
#[must_use]
pub fn generate() -> SecretString {
    let mut bytes = [0_u8; 32];
    rand::rng().fill(&mut bytes);
    SecretString::from(URL_SAFE_NO_PAD.encode(bytes))
}

/// Returns the stored form of a token.
#[must_use]
pub fn hash(token: &str) -> String {
    Sha256::digest(token.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn tokens_differ_and_fit_into_an_address() {
        let (one, other) = (generate(), generate());
        let text = one.expose_secret();
        assert_ne!(text, other.expose_secret());
        assert_eq!(text.len(), 43);
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        assert_eq!(hash(text).len(), 64);
        assert_ne!(hash(text), hash(other.expose_secret()));
    }
}
