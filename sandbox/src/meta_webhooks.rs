//! Webhooks of Meta's networks: events of an account are sent to the product, signed with the app's secret, until it
//! accepts them.

use std::sync::RwLock;
use std::time::Duration;

use bytes::Bytes;
use fanfare_outbound::Client;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use sha2::Sha256;
use url::Url;

use crate::env::{read, write};

/// The time that the product may take to respond.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The number of attempts of one delivery; the wait doubles each time.
const TRIES: u32 = 8;
const WAIT: Duration = Duration::from_millis(100);

/// Sends webhooks to the product's address, signed with a secret.
pub(crate) struct MetaWebhooks {
    http: Client,
    secret: SecretString,
    base: RwLock<Option<Url>>,
}

impl MetaWebhooks {
    pub fn new(http: Client, secret: SecretString) -> Self {
        Self { http, secret, base: RwLock::default() }
    }

    /// Sets the address below which the product receives webhooks.
    pub fn set_base(&self, base: Url) {
        *write(&self.base) = Some(base);
    }

    /// Returns the secret of a network's simulated app, which is derived from the simulator's.
    fn app_secret(&self, network: &str) -> String {
        hmac(self.secret.expose_secret().as_bytes(), format!("app {network}").as_bytes())
    }

    /// Sends a body until it is accepted.
    pub async fn deliver(&self, network: &str, body: &Value) {
        for nth in 0..TRIES {
            if nth > 0 {
                tokio::time::sleep(WAIT * (1 << nth.min(5))).await;
            }
            if self.send(network, body).await {
                return;
            }
        }
        tracing::debug!(network, "the product did not take a webhook");
    }

    /// Sends a body once; returns true if there is nothing more to do.
    pub async fn send(&self, network: &str, body: &Value) -> bool {
        let Some(base) = read(&self.base).clone() else { return true };
        let Ok(url) = base.join(network) else { return true };
        let body = body.to_string();
        let signature = hmac(self.app_secret(network).as_bytes(), body.as_bytes());
        let request = self
            .http
            .trusting(std::slice::from_ref(&url))
            .post(url)
            .header("X-Hub-Signature-256", &format!("sha256={signature}"))
            .body("application/json", Bytes::from(body))
            .deadline(TIMEOUT);
        request.send().await.is_ok_and(|reply| reply.is_success())
    }
}

fn hmac(key: &[u8], text: &[u8]) -> String {
    // HMAC accepts keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    mac.update(text);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}
