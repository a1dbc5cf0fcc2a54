//! Google service accounts: they sign a JWT with their key and exchange it for an access token for an hour.

use std::{
    fmt,
    time::{Duration, Instant, SystemTime},
};

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use fanfare_outbound::Client;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Mutex;
use url::Url;

use crate::{Failure, FailureKind, endpoint, failure::Interface};

/// The requested scope.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// The lifetime of a JWT, and how long before its expiration a token is renewed.
const CLAIM: Duration = Duration::from_secs(3_600);
const RENEW_BEFORE: Duration = Duration::from_secs(300);

const DEADLINE: Duration = Duration::from_secs(20);
const LARGEST: usize = 64 << 10;

/// Why a file is not that of a service account.
#[derive(Debug, thiserror::Error)]
pub enum ServiceAccountError {
    /// It is not the JSON of a service account.
    #[error("it is no JSON file of a service account: {0}")]
    Json(#[from] serde_json::Error),
    /// Its token address is invalid.
    #[error("its token_uri is no address")]
    Address,
    /// Its key cannot be read.
    #[error("its private_key is no RSA key in PKCS #8")]
    Key,
}

#[derive(Deserialize)]
struct File {
    client_email: String,
    private_key: String,
    private_key_id: Option<String>,
    token_uri: String,
}

/// A service account, which caches its access token.
pub struct ServiceAccount {
    http: Client,
    email: String,
    key: RsaKeyPair,
    key_id: Option<String>,
    token_uri: Url,
    token: Mutex<Option<(SecretString, Instant)>>,
}

impl fmt::Debug for ServiceAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccount").field("email", &self.email).finish_non_exhaustive()
    }
}

impl ServiceAccount {
    /// Reads the key file from Google's console. Its token address is trusted, since the operator configured it.
    ///
    /// # Errors
    /// [`ServiceAccountError`].
    pub fn read(http: &Client, text: &str) -> Result<Self, ServiceAccountError> {
        let file: File = serde_json::from_str(text)?;
        let der = der(&SecretString::from(file.private_key)).ok_or(ServiceAccountError::Key)?;
        let key = RsaKeyPair::from_pkcs8(&der).map_err(|_| ServiceAccountError::Key)?;
        let token_uri = Url::parse(&file.token_uri).map_err(|_| ServiceAccountError::Address)?;
        let http = http.counted_as("vertex").trusting(std::slice::from_ref(&token_uri));
        Ok(Self {
            http,
            email: file.client_email,
            key,
            key_id: file.private_key_id,
            token_uri,
            token: Mutex::default(),
        })
    }

    /// Returns a token that is valid for some more minutes; concurrent callers share one exchange.
    pub(crate) async fn token(&self) -> Result<SecretString, Failure> {
        let mut kept = self.token.lock().await;
        if let Some((token, until)) = kept.as_ref()
            && Instant::now() < *until
        {
            return Ok(token.clone());
        }
        let asked = Instant::now();
        // No video was requested yet, so that a failure may be retried.
        let unsent = |mut failure: Failure| {
            failure.kind = unsent(failure.kind);
            failure
        };
        let (token, life) = self.exchange().await.map_err(unsent)?;
        *kept = Some((token.clone(), asked + life.saturating_sub(RENEW_BEFORE)));
        Ok(token)
    }

    /// Drops its token, which was refused.
    pub(crate) async fn forget(&self) {
        *self.token.lock().await = None;
    }

    async fn exchange(&self) -> Result<(SecretString, Duration), Failure> {
        let claim = self.claim()?;
        let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
        let form = [("grant_type", grant), ("assertion", claim.expose_secret())];
        let request = self.http.post(self.token_uri.clone()).form(&form[..]);
        let answer = endpoint::json(Interface::Tokens, request, (DEADLINE, LARGEST)).await?;
        let token = answer["access_token"].as_str().ok_or_else(Failure::bad_answer)?;
        let life = answer["expires_in"].as_u64().unwrap_or_default();
        Ok((SecretString::from(token), Duration::from_secs(life)))
    }

    /// Signs the JWT that requests a token.
    fn claim(&self) -> Result<SecretString, Failure> {
        let broken = || Failure::new(FailureKind::Denied, "The service account cannot sign.");
        // Google tolerates a clock error of some minutes.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_err(|_| broken())?;
        let now = now.as_secs();
        let head = json!({"alg": "RS256", "typ": "JWT", "kid": self.key_id});
        let body = json!({"iss": self.email, "scope": SCOPE, "aud": self.token_uri.as_str(),
            "iat": now, "exp": now + CLAIM.as_secs()});
        let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&head), part(&body));
        let mut signature = vec![0; self.key.public_modulus_len()];
        self.key
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature)
            .map_err(|_| broken())?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)).into())
    }
}

/// Maps a failure to get a token: the video was not requested; a refused key is final.
const fn unsent(kind: FailureKind) -> FailureKind {
    match kind {
        FailureKind::Lost | FailureKind::BadAnswer | FailureKind::Failed => FailureKind::NotSent,
        other => other,
    }
}

/// Decodes a PEM key.
fn der(pem: &SecretString) -> Option<Vec<u8>> {
    let body = pem.expose_secret().split_once("-----BEGIN PRIVATE KEY-----")?.1;
    let body = body.split_once("-----END PRIVATE KEY-----")?.0;
    let body: String = body.chars().filter(|it| !it.is_whitespace()).collect();
    STANDARD.decode(body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_good_key_is_refused_without_the_key() {
        let http = Client::new(fanfare_outbound::Policy { allow_private: false }).unwrap();
        let file = |key: &str| {
            json!({"client_email": "videos@project.example", "private_key": key,
                "token_uri": "https://oauth2.example.com/token"})
            .to_string()
        };
        for key in
            ["c2VjcmV0", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"]
        {
            let refused = ServiceAccount::read(&http, &file(key)).unwrap_err();
            assert!(matches!(refused, ServiceAccountError::Key));
            assert!(!refused.to_string().contains("c2VjcmV0"), "{refused}");
        }
        assert!(matches!(ServiceAccount::read(&http, "{}"), Err(ServiceAccountError::Json(_))));
    }
}
