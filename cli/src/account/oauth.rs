//! The OAuth client of the command line: a public client with PKCE (RFC 7636, RFC 8252).

use anyhow::{Context as _, Result, bail, ensure};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use reqwest::{Client, redirect::Policy};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

use crate::clock::now;

/// The client id of the command line, which is built into every service.
const CLIENT: &str = "app_fanfare_cli";

/// The time-out of a request.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);

/// The time before the expiration of the access token at which it is renewed, in seconds.
const RENEW_BEFORE: i64 = 60;

/// An error that only a new log-in can resolve.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The service refuses the stored log-in, with this message.
    #[error("the log-in is over ({0}); run fanfare login")]
    Ended(String),
    /// The user denied access.
    #[error("the command line was not let in")]
    Denied,
    /// The user did not answer in time.
    #[error("nobody answered for five minutes")]
    TimedOut,
}

/// The metadata of a service's authorization server (RFC 8414).
#[derive(Debug, Deserialize)]
pub struct AuthorizationServer {
    /// The issuer; each authorization response must contain it (RFC 9207).
    pub issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    revocation_endpoint: String,
}

/// The tokens of a log-in.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// The access token, sent with each request.
    pub access: String,
    /// The refresh token, valid once for the next pair.
    pub refresh: String,
    /// The expiration of the access token, in seconds since 1970.
    pub expires_at: i64,
}

/// One authorization request.
pub struct LoginAttempt {
    /// Comes back with the response, and proves that it belongs to this attempt.
    pub state: String,
    /// The address to which the response is sent.
    pub redirect_uri: String,
    verifier: String,
}

impl LoginAttempt {
    /// Returns a new attempt whose response goes to `redirect_uri`.
    pub fn new(redirect_uri: String) -> Self {
        Self { state: secret(), verifier: secret(), redirect_uri }
    }
}

/// Returns 256 random bits as text.
fn secret() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

impl AuthorizationServer {
    /// Fetches the metadata of the service at `url`.
    ///
    /// # Errors
    /// It does not answer, or its issuer is a different one.
    pub async fn discover(url: &str) -> Result<Self> {
        let place = format!("{url}/.well-known/oauth-authorization-server");
        let reply = http()?.get(place).send().await?.error_for_status()?;
        let server: Self = reply.json().await.context("this is no Fanfare service")?;
        ensure!(
            server.issuer == url,
            "the service calls itself {}; run this with --api-url {}",
            server.issuer,
            server.issuer
        );
        server.require_own_endpoints()?;
        Ok(server)
    }

    /// Fails if an endpoint is elsewhere: codes and tokens are sent to the service alone (RFC 8414 section 6.2).
    fn require_own_endpoints(&self) -> Result<()> {
        let issuer: Url = self.issuer.parse()?;
        let endpoints =
            [&self.authorization_endpoint, &self.token_endpoint, &self.revocation_endpoint];
        for endpoint in endpoints {
            let is_own = Url::parse(endpoint).is_ok_and(|url| url.origin() == issuer.origin());
            ensure!(is_own, "the service at {issuer} names an address elsewhere: {endpoint}");
        }
        Ok(())
    }

    /// Returns the URL of the authorization request, at which the user decides.
    ///
    /// # Errors
    /// The service has no such endpoint.
    pub fn authorize(&self, attempt: &LoginAttempt) -> Result<Url> {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&attempt.verifier));
        let mut place: Url = self.authorization_endpoint.parse()?;
        place.query_pairs_mut().extend_pairs([
            ("response_type", "code"),
            ("client_id", CLIENT),
            ("redirect_uri", &attempt.redirect_uri),
            ("state", &attempt.state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        Ok(place)
    }

    /// Exchanges a code for tokens.
    ///
    /// # Errors
    /// The service does not answer, or refuses.
    pub async fn redeem(&self, attempt: &LoginAttempt, code: &str) -> Result<Tokens> {
        self.token(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("client_id", CLIENT),
            ("redirect_uri", &attempt.redirect_uri),
            ("code_verifier", &attempt.verifier),
        ])
        .await
    }

    /// Exchanges a refresh token for the next pair.
    ///
    /// # Errors
    /// The service does not answer; [`LoginError`] when the grant has ended.
    pub async fn refresh(&self, tokens: &Tokens) -> Result<Tokens> {
        self.token(&[
            ("grant_type", "refresh_token"),
            ("refresh_token", &tokens.refresh),
            ("client_id", CLIENT),
        ])
        .await
    }

    /// Revokes the grant of the tokens.
    ///
    /// # Errors
    /// The service does not answer, or refuses.
    pub async fn revoke(&self, tokens: &Tokens) -> Result<()> {
        let fields = [("token", tokens.refresh.as_str()), ("client_id", CLIENT)];
        let sent = http()?.post(&self.revocation_endpoint).form(&fields).send().await?;
        sent.error_for_status()?;
        Ok(())
    }

    /// Requests tokens, without a retry: codes and refresh tokens are valid once.
    async fn token(&self, fields: &[(&str, &str)]) -> Result<Tokens> {
        let sent = http()?.post(&self.token_endpoint).form(fields).send().await?;
        let status = sent.status();
        let body: Value = sent.json().await.unwrap_or_default();
        let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
        if status.is_success() {
            let lasts = body["expires_in"].as_i64().unwrap_or_default();
            let expires_at = now() + lasts;
            let (access, refresh) = (text("access_token"), text("refresh_token"));
            return Ok(Tokens { access, refresh, expires_at });
        }
        let said = text("error_description");
        if ["invalid_grant", "invalid_client"].contains(&text("error").as_str()) {
            return Err(LoginError::Ended(said.trim_end_matches('.').to_owned()).into());
        }
        bail!("{said} ({status})")
    }
}

impl Tokens {
    /// Returns true while the access token can still be used.
    pub fn are_fresh(&self) -> bool {
        now() + RENEW_BEFORE < self.expires_at
    }
}

fn http() -> reqwest::Result<Client> {
    Client::builder().timeout(TIMEOUT).redirect(Policy::none()).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> AuthorizationServer {
        AuthorizationServer {
            issuer: "http://127.0.0.1:8080".to_owned(),
            authorization_endpoint: "http://127.0.0.1:8080/api/oauth/authorize".to_owned(),
            token_endpoint: "http://127.0.0.1:8080/api/oauth/token".to_owned(),
            revocation_endpoint: "http://127.0.0.1:8080/api/oauth/revoke".to_owned(),
        }
    }

    #[test]
    fn endpoints_are_at_the_issuer() {
        assert!(server().require_own_endpoints().is_ok());
        for elsewhere in [
            "https://evil.example/token",
            "http://127.0.0.1:8081/x",
            "http://127.0.0.1:8080@e.example/",
            "x",
        ] {
            let far = || elsewhere.to_owned();
            let servers = [
                AuthorizationServer { authorization_endpoint: far(), ..server() },
                AuthorizationServer { token_endpoint: far(), ..server() },
                AuthorizationServer { revocation_endpoint: far(), ..server() },
            ];
            assert!(servers.iter().all(|one| one.require_own_endpoints().is_err()), "{elsewhere}");
        }
    }

    #[test]
    fn the_address_carries_a_challenge_and_no_secret() {
        let server = server();
        let mut attempt = LoginAttempt::new("http://127.0.0.1:7/callback".to_owned());
        assert_ne!(attempt.state, LoginAttempt::new(String::new()).state);
        assert_eq!((attempt.state.len(), attempt.verifier.len()), (43, 43));
        attempt.verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned();
        let place = server.authorize(&attempt).unwrap().to_string();
        assert!(place.contains("code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"));
        assert!(place.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A7%2Fcallback"));
        assert!(!place.contains(&attempt.verifier));
    }
}
