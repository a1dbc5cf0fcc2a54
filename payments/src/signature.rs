//! The signature of a webhook: `Stripe-Signature: t=<unix seconds>,v1=<hex>[,v1=…]`, an HMAC-SHA256 over `<t>.<raw
//! body>`.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// The allowed difference between a signature's time and ours, in seconds.
const TOLERANCE: i64 = 300;

/// Why a signature is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The header is missing or malformed.
    #[error("the header Stripe-Signature is missing or malformed")]
    Malformed,
    /// The time is too far from ours.
    #[error("the time of the signature is more than {TOLERANCE} seconds from ours")]
    Stale,
    /// No signature matches.
    #[error("no signature fits a secret")]
    Wrong,
}

/// Checks that a body was signed with one of these secrets, at `now` (Unix seconds) or shortly before.
///
/// # Errors
/// [`SignatureError`].
pub fn verify(
    body: &[u8],
    header: &str,
    secrets: &[SecretString],
    now: i64,
) -> Result<(), SignatureError> {
    let (mut time, mut signatures) = (None, Vec::new());
    for (name, value) in header.split(',').filter_map(|part| part.trim().split_once('=')) {
        match name {
            "t" if time.is_none() => time = Some(value),
            "v1" => signatures.push(value),
            _ => {}
        }
    }
    let time = time.ok_or(SignatureError::Malformed)?;
    let signed_at: i64 = time.parse().map_err(|_| SignatureError::Malformed)?;
    if signatures.is_empty() {
        return Err(SignatureError::Malformed);
    }
    if now.saturating_sub(signed_at).saturating_abs() > TOLERANCE {
        return Err(SignatureError::Stale);
    }
    let mut fits = false;
    for secret in secrets {
        let expected = sign(secret.expose_secret().as_bytes(), time.as_bytes(), body);
        for given in &signatures {
            fits |= bool::from(expected.as_bytes().ct_eq(given.as_bytes()));
        }
    }
    if fits { Ok(()) } else { Err(SignatureError::Wrong) }
}

fn sign(key: &[u8], time: &[u8], body: &[u8]) -> String {
    // HMAC accepts keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    for part in [time, b".", body] {
        mac.update(part);
    }
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn header(secret: &str, at: i64, body: &[u8]) -> String {
        let time = at.to_string();
        format!("t={time},v1={}", sign(secret.as_bytes(), time.as_bytes(), body))
    }

    fn check(body: &[u8], header: &str, secrets: &[&str]) -> Result<(), SignatureError> {
        let secrets: Vec<SecretString> = secrets.iter().map(|text| (*text).into()).collect();
        verify(body, header, &secrets, NOW)
    }

    #[test]
    fn any_signature_under_any_secret_is_taken() {
        let signed = header("new", NOW - 300, b"body");
        assert_eq!(check(b"body", &signed, &["old", "new"]), Ok(()));
        let several = format!("t={},v1=00,{},v0=x", NOW, &header("new", NOW, b"body")[13..]);
        assert_eq!(check(b"body", &several, &["new"]), Ok(()), "{several}");
    }

    #[test]
    fn what_was_not_signed_by_us_now_is_refused() {
        let signed = header("new", NOW, b"body");
        assert_eq!(check(b"other", &signed, &["new"]), Err(SignatureError::Wrong));
        assert_eq!(check(b"body", &signed, &["old"]), Err(SignatureError::Wrong));
        assert_eq!(check(b"body", &signed, &[]), Err(SignatureError::Wrong));
        for stale in [NOW - 301, NOW + 301, i64::MIN, i64::MAX] {
            let signed = header("new", stale, b"body");
            assert_eq!(check(b"body", &signed, &["new"]), Err(SignatureError::Stale), "{stale}");
        }
        for malformed in ["", "v1=00", "t=1", "t=x,v1=00", "nonsense"] {
            assert_eq!(check(b"body", malformed, &["new"]), Err(SignatureError::Malformed));
        }
    }

    #[test]
    fn the_form_is_the_published_one() {
        // HMAC-SHA256 of "1.{}" under "whsec_test", by another implementation.
        let expected = "7500d5d4be4b3ef07af1fe56f7d522d135cdaa7530de557e67cc1049c52de094";
        assert_eq!(sign(b"whsec_test", b"1", b"{}"), expected);
    }
}
