//! Proof of possession of a code (RFC 7636), with SHA-256 alone.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Returns true if a text may be a challenge or a verifier: 43 to 128 unreserved characters.
pub(super) fn is_well_formed(text: &str) -> bool {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    (43..=128).contains(&text.len()) && text.bytes().all(unreserved)
}

/// Returns true if the challenge was made from this verifier.
pub(super) fn verifies(verifier: &str, challenge: &str) -> bool {
    let made = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    is_well_formed(verifier) && bool::from(made.as_bytes().ct_eq(challenge.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn a_challenge_fits_its_verifier_alone() {
        assert!(verifies(VERIFIER, CHALLENGE));
        assert!(!verifies(CHALLENGE, CHALLENGE), "the plain method is none");
        assert!(!verifies(&VERIFIER.replace('d', "e"), CHALLENGE));
        assert!(!verifies("", CHALLENGE) && !verifies(VERIFIER, ""));
    }

    #[test]
    fn both_have_43_to_128_unreserved_characters() {
        for good in [VERIFIER, CHALLENGE, &"~".repeat(128)] {
            assert!(is_well_formed(good), "{good}");
        }
        for bad in ["", &"a".repeat(42), &"a".repeat(129), &format!("{}=", "a".repeat(43))] {
            assert!(!is_well_formed(bad), "{bad}");
        }
    }
}
