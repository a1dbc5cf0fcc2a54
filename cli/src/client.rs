//! An HTTP client of the service.

use anyhow::{Result, bail};
use reqwest::{Client, Method};
use serde_json::Value;

/// A service and the API key for it.
pub struct Service {
    http: Client,
    origin: String,
    key: String,
}

impl Service {
    /// Returns a client of the service at `origin`, with an API key.
    pub fn new(origin: &str, key: &str) -> Self {
        Self { http: Client::new(), origin: origin.to_owned(), key: key.to_owned() }
    }

    /// Sends a request and reads its JSON.
    ///
    /// # Errors
    /// The service's message if it refuses.
    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let mut request =
            self.http.request(method, format!("{}{path}", self.origin)).bearer_auth(&self.key);
        if let Some(body) = body {
            request = request.json(body);
        }
        read(request.send().await?).await
    }

    /// Returns the HTTP client itself, for addresses outside the API.
    pub fn http(&self) -> &Client {
        &self.http
    }
}

/// Returns the JSON of a reply.
///
/// # Errors
/// The service's message if it refuses.
pub async fn read(reply: reqwest::Response) -> Result<Value> {
    let status = reply.status();
    let body: Value = reply.json().await.unwrap_or_default();
    if status.is_success() {
        return Ok(body);
    }
    let remedy = body["validation_errors"][0]["remedy"].as_str().unwrap_or_default();
    let error = body["error"].as_str().unwrap_or("the service refused the request");
    bail!("{} ({status})", [error, remedy].join(" ").trim())
}
