//! Sends requests, and retries them where that is safe.

use std::time::Duration;

use anyhow::Context as _;
use reqwest::{Client, Method, StatusCode};
use serde_json::Value;

use super::request::{KEY, Request};
use crate::account::{ProfileOptions, Target};

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

/// Sends a request with the credentials of a profile. A log-in whose token the service refuses before its time is renewed
/// once.
///
/// # Errors
/// The service does not answer, or the log-in cannot be renewed.
pub async fn as_user(profile: &ProfileOptions, request: &Request) -> anyhow::Result<Reply> {
    let target = profile.target().await?;
    let reply = send(&target, request).await?;
    if reply.status != 401 {
        return Ok(reply);
    }
    match profile.renewed(&target).await? {
        Some(fresh) => send(&fresh, request).await,
        None => Ok(reply),
    }
}

/// Sends a request. All attempts of a change carry the same `Idempotency-Key`, so that it is made once.
///
/// # Errors
/// The service does not answer.
pub async fn send(target: &Target, request: &Request) -> anyhow::Result<Reply> {
    let http = Client::builder().timeout(Duration::from_secs(120)).build()?;
    let is_key = |header: &(String, String)| header.0.eq_ignore_ascii_case(KEY);
    let needs_key = request.method != Method::GET && !request.headers.iter().any(is_key);
    let own_key = needs_key.then(|| (KEY.to_owned(), uuid::Uuid::new_v4().to_string()));
    let headers: Vec<_> = request.headers.iter().chain(&own_key).collect();
    let (mut tried, mut may_be_done) = (0, false);
    loop {
        tried += 1;
        let mut sent =
            http.request(request.method.clone(), format!("{}{}", target.url, request.path));
        if !target.key.is_empty() {
            sent = sent.bearer_auth(&target.key);
        }
        for (name, value) in headers.iter().copied() {
            sent = sent.header(name, value);
        }
        if let Some(body) = &request.body {
            sent = sent.json(body);
        }
        match answer(sent).await {
            Ok((status, wait, text)) => {
                if tried < TRIES && is_transient(status) && wait <= MAX_RETRY_WAIT {
                    tokio::time::sleep(Duration::from_secs(wait)).await;
                    continue;
                }
                let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
                return Ok(Reply { status: status.as_u16(), body });
            }
            Err(error) => {
                may_be_done |= !error.is_connect() && !error.is_builder();
                if tried < TRIES {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    continue;
                }
                let key = headers.iter().find(|header| is_key(header)).filter(|_| may_be_done);
                let is_away = error.is_connect();
                let failed = Err(anyhow::Error::from(error.without_url()));
                return match key {
                    Some((_, key)) => failed.with_context(|| repeat(key)),
                    None if is_away => failed.with_context(|| away(&target.url)),
                    None => failed,
                };
            }
        }
    }
}

/// Sends a request once; returns the status, the seconds to wait before the next attempt, and the body. An answer whose
/// body does not come is none.
async fn answer(request: reqwest::RequestBuilder) -> reqwest::Result<(StatusCode, u64, String)> {
    let reply = request.send().await?;
    let (status, wait) = (reply.status(), wait(&reply));
    Ok((status, wait, reply.text().await?))
}

/// Returns what to do about a service that is not there.
fn away(url: &str) -> String {
    format!(
        "nothing answers at {url}; start the service there with fanfare, or name another one with --api-url or FANFARE_URL"
    )
}

/// Returns what to do about a change whose answer was lost.
fn repeat(key: &str) -> String {
    format!(
        "no answer came, so it may be done or not; the same command with --idempotency-key {key} does it once"
    )
}

fn is_transient(status: StatusCode) -> bool {
    [429, 502, 503, 504].contains(&status.as_u16())
}

fn wait(reply: &reqwest::Response) -> u64 {
    let header =
        reply.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    header.unwrap_or(1)
}
