//! The signed tokens of a PDS: access, refresh, and the short-lived ones for other services.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// The lifetime of an access token, in seconds.
const ACCESS: i64 = 2 * 3_600;
/// The lifetime of a refresh token, in seconds.
pub(crate) const REFRESH: i64 = 90 * 86_400;

/// The claims of a token.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Claims {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sub: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub iss: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lxm: String,
    pub aud: String,
    pub iat: i64,
    pub exp: i64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub jti: String,
    /// The number of its token pair among the account's, counted from 1.
    #[serde(default)]
    pub pair: u64,
}

impl Claims {
    /// Creates an access token's claims. Times are in seconds since 1970.
    pub fn access(did: &str, aud: &str, pair: u64, now: i64) -> Self {
        let scope = "com.atproto.appPass".into();
        Self {
            scope,
            sub: did.into(),
            aud: aud.into(),
            iat: now,
            exp: now + ACCESS,
            pair,
            ..Self::default()
        }
    }

    /// Creates a refresh token's claims.
    pub fn refresh(did: &str, aud: &str, pair: u64, now: i64, id: &str) -> Self {
        let scope = "com.atproto.refresh".into();
        Self {
            scope,
            sub: did.into(),
            aud: aud.into(),
            iat: now,
            exp: now + REFRESH,
            jti: id.into(),
            pair,
            ..Self::default()
        }
    }

    /// Returns the DID of its owner.
    pub fn did(&self) -> &str {
        if self.sub.is_empty() { &self.iss } else { &self.sub }
    }

    /// Returns the token, signed with `key`.
    pub fn sign(&self, kind: &str, key: &str) -> String {
        let head = format!(r#"{{"typ":"{kind}","alg":"HS256"}}"#);
        let claims = serde_json::to_vec(self).unwrap_or_default();
        let mut token = BASE64.encode(head);
        token.push('.');
        BASE64.encode_string(claims, &mut token);
        let signature = BASE64.encode(signature(&token, key));
        token.push('.');
        token.push_str(&signature);
        token
    }
}

fn signature(text: &str, key: &str) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else {
        return Vec::new();
    };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// Returns the claims of a token, without verifying its signature.
pub(crate) fn read(token: &str) -> Option<Claims> {
    let mut parts = token.split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    serde_json::from_slice(&BASE64.decode(claims).ok()?).ok()
}

/// Returns true if `key` signed the token.
pub(crate) fn is_signed(token: &str, key: &str) -> bool {
    let Some((text, claimed)) = token.rsplit_once('.') else {
        return false;
    };
    BASE64.decode(claimed).is_ok_and(|claimed| claimed == signature(text, key))
}
