//! Sends requests, and retries them where that is safe.

use std::time::Duration;

use reqwest::{Client, Method, StatusCode};
use serde_json::Value;

use super::request::Request;
use crate::account::Target;

/// The most attempts of a request.
const TRIES: u32 = 3;

/// The longest wait before a retry, in seconds.
const MAX_RETRY_WAIT: u64 = 30;

/// The reply.
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// The body.
    pub body: Value,
}

/// Sends a request. All attempts of a change carry the same `Idempotency-Key`, so that it is made once.
///
/// # Errors
/// The service does not answer.
pub async fn send(target: &Target, request: &Request) -> anyhow::Result<Reply> {
    let http = Client::builder().timeout(Duration::from_secs(120)).build()?;
    let key = uuid::Uuid::new_v4().to_string();
    let mut tried = 0;
    loop {
        tried += 1;
        let mut sent =
            http.request(request.method.clone(), format!("{}{}", target.url, request.path));
        if !target.key.is_empty() {
            sent = sent.bearer_auth(&target.key);
        }
        if request.method != Method::GET {
            sent = sent.header("Idempotency-Key", &key);
        }
        if let Some(body) = &request.body {
            sent = sent.json(body);
        }
        match sent.send().await {
            Ok(reply) => {
                let (status, wait) = (reply.status(), wait(&reply));
                if tried < TRIES && is_transient(status) && wait <= MAX_RETRY_WAIT {
                    tokio::time::sleep(Duration::from_secs(wait)).await;
                    continue;
                }
                let body = reply.json().await.unwrap_or_default();
                return Ok(Reply { status: status.as_u16(), body });
            }
            Err(_) if tried < TRIES => tokio::time::sleep(Duration::from_secs(1)).await,
            Err(error) => return Err(error.without_url().into()),
        }
    }
}

fn is_transient(status: StatusCode) -> bool {
    [429, 502, 503, 504].contains(&status.as_u16())
}

fn wait(reply: &reqwest::Response) -> u64 {
    let header =
        reply.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    header.unwrap_or(1)
}
