//! The HTTP client of Stripe's API.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use chrono::DateTime;
use fanfare_outbound::{Client, ErrorKind};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use crate::{Method, Request};

/// The API version of the objects in `crate::objects`.
pub const VERSION: &str = "2026-08-26.dahlia";

/// The time-out of a call.
const DEADLINE: Duration = Duration::from_secs(20);

/// A Stripe account. Cheap to clone.
#[derive(Clone)]
pub struct Stripe {
    http: Client,
    base: Url,
    key: SecretString,
    /// The time of its last reply, in Unix seconds; 0 before the first.
    time: Arc<AtomicI64>,
}

impl fmt::Debug for Stripe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stripe").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Stripe is unreachable or failing, so the outcome is unknown. Send the request again with its key.
    Unavailable,
    /// Stripe takes no more calls for a moment. Send the request again with its key.
    Limited,
    /// Stripe does not accept our key, or does not allow it this call.
    Key,
    /// Stripe has no such object.
    NotFound,
    /// The customer's card was declined.
    Declined,
    /// Stripe refuses the call; sending it again changes nothing.
    Refused,
}

/// A failed call. The message is Stripe's or ours and contains no key.
#[derive(Debug, Clone, thiserror::Error)]
#[error("Stripe: {message}")]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// Stripe's code, if it gave one.
    pub code: Option<String>,
    /// The message.
    pub message: String,
}

impl Failure {
    fn unavailable(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Unavailable, code: None, message: message.into() }
    }
}

impl Stripe {
    /// Returns a client for the account with this secret key, at `base`: `https://api.stripe.com`, or a simulator's
    /// address.
    #[must_use]
    pub fn new(http: &Client, base: Url, key: SecretString) -> Self {
        let http = http.counted_as("stripe").trusting(std::slice::from_ref(&base));
        Self { http, base, key, time: Arc::default() }
    }

    /// Returns the time of Stripe's last reply, in Unix seconds. That of a simulated account may be ahead of ours.
    #[must_use]
    pub fn time(&self) -> Option<i64> {
        Some(self.time.load(Ordering::Relaxed)).filter(|time| *time != 0)
    }

    /// Sends a request; one that changes something needs an idempotency `key`.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn send<T: DeserializeOwned>(
        &self,
        request: &Request,
        key: Option<&str>,
    ) -> Result<T, Failure> {
        let body = self.exchange(request, key).await?;
        serde_json::from_value(body).map_err(|error| {
            Failure::unavailable(format!("an object is not what it should be ({error})"))
        })
    }

    /// Sends a request that only reads.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn read<T: DeserializeOwned>(&self, request: &Request) -> Result<T, Failure> {
        self.send(request, None).await
    }

    async fn exchange(&self, request: &Request, key: Option<&str>) -> Result<Value, Failure> {
        let path = format!("{}/v1/{}", self.base.as_str().trim_end_matches('/'), request.path);
        let url = Url::parse(&path).map_err(|_| Failure::unavailable("its address is not one"))?;
        let mut call = match request.method {
            Method::Get => self.http.get(url).query(&request.form),
            Method::Post => self.http.post(url).form(&request.form),
            Method::Delete => self.http.request(http::Method::DELETE, url).query(&request.form),
        };
        call = call.bearer(&self.key).header("Stripe-Version", VERSION).deadline(DEADLINE);
        if let Some(key) = key {
            call = call.header("Idempotency-Key", key);
        }
        let reply = call.send().await.map_err(|error| match error.kind {
            ErrorKind::Invalid | ErrorKind::Blocked => {
                Failure { kind: FailureKind::Refused, code: None, message: error.to_string() }
            }
            _ => Failure::unavailable(error.to_string()),
        })?;
        let date = reply.header("date").and_then(|date| DateTime::parse_from_rfc2822(date).ok());
        if let Some(date) = date {
            self.time.store(date.timestamp(), Ordering::Relaxed);
        }
        let body: Option<Value> = reply.json().ok();
        if reply.is_success() {
            return body.ok_or_else(|| Failure::unavailable("an answer is no JSON"));
        }
        Err(failure(reply.status, body.as_ref()))
    }
}

fn failure(status: u16, body: Option<&Value>) -> Failure {
    let error = body.map_or(&Value::Null, |body| &body["error"]);
    let kind = match status {
        // The first request with the same key is still running.
        409 => FailureKind::Unavailable,
        429 => FailureKind::Limited,
        401 | 403 => FailureKind::Key,
        402 => FailureKind::Declined,
        404 => FailureKind::NotFound,
        // An object that a parameter names.
        400 if error["code"] == "resource_missing" => FailureKind::NotFound,
        400..=499 => FailureKind::Refused,
        _ => FailureKind::Unavailable,
    };
    let said = error["message"].as_str().map(str::to_owned);
    Failure {
        kind,
        code: error["code"].as_str().map(str::to_owned),
        message: said.unwrap_or_else(|| format!("it answered with status {status}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failure_says_whether_asking_again_may_help() {
        let body = json!({"error": {"code": "resource_missing", "message": "No such customer"}});
        let missing = failure(404, Some(&body));
        assert_eq!(missing.kind, FailureKind::NotFound);
        assert_eq!(missing.code.as_deref(), Some("resource_missing"));
        assert_eq!(failure(400, Some(&body)).kind, FailureKind::NotFound, "named by a parameter");
        for (status, right) in [
            (302, FailureKind::Unavailable),
            (400, FailureKind::Refused),
            (401, FailureKind::Key),
            (402, FailureKind::Declined),
            (403, FailureKind::Key),
            (409, FailureKind::Unavailable),
            (429, FailureKind::Limited),
            (500, FailureKind::Unavailable),
            (503, FailureKind::Unavailable),
        ] {
            assert_eq!(failure(status, None).kind, right, "{status}");
        }
    }
}
