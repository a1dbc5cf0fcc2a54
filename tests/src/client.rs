//! An API client for tests.

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::{Client, Method, RequestBuilder, header::HeaderMap};
use serde_json::{Value, json};

use crate::contract;

/// A caller with an API key.
#[derive(Clone)]
pub struct User {
    /// The client, for requests that the methods below do not make.
    pub http: Client,
    /// Origin of the service.
    pub origin: String,
    /// The API key.
    pub key: String,
}

/// A reply of the service.
#[derive(Debug, Clone)]
pub struct ApiReply {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// The body; null if it was not JSON.
    pub body: Value,
    /// The body as text.
    pub text: String,
}

impl ApiReply {
    /// Returns the reply, if it has this status.
    ///
    /// # Panics
    /// It has another.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// Returns the reply, if it is an error with this status and code.
    ///
    /// # Panics
    /// It is not.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(answer.body["code"], code, "{}", answer.text);
        assert!(answer.body["error"].is_string() && answer.body["request_id"].is_string());
        answer
    }

    /// Returns a header as text; empty if absent.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}

impl User {
    /// Returns a caller with `key`.
    #[must_use]
    pub fn new(origin: &str, key: String) -> Self {
        Self { http: crate::local_client(), origin: origin.to_owned(), key }
    }

    /// Sends a request with these additional headers.
    ///
    /// # Panics
    /// The service does not answer, or the reply violates the OpenAPI document.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> ApiReply {
        let mut request = self.http.request(method.clone(), format!("{}{path}", self.origin));
        if !self.key.is_empty() {
            request = request.bearer_auth(&self.key);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        self.checked(&method, path, request).await
    }

    /// Sends a request and checks the reply against the OpenAPI document.
    async fn checked(&self, method: &Method, path: &str, request: RequestBuilder) -> ApiReply {
        let answer = read(request.send().await.expect("the service answers")).await;
        contract::check(method, path, answer.status, &answer.body);
        answer
    }

    /// Sends raw bytes with a content type.
    ///
    /// # Panics
    /// The service does not answer.
    pub async fn send_raw(
        &self,
        method: Method,
        path: &str,
        mime: &str,
        body: Vec<u8>,
    ) -> ApiReply {
        let request = self.http.request(method.clone(), format!("{}{path}", self.origin));
        let request = request.bearer_auth(&self.key).header("Content-Type", mime).body(body);
        self.checked(&method, path, request).await
    }

    /// GET.
    pub async fn get(&self, path: &str) -> ApiReply {
        self.send(Method::GET, path, &[], None).await
    }

    /// POST.
    pub async fn post(&self, path: &str, body: Value) -> ApiReply {
        self.send(Method::POST, path, &[], Some(&body)).await
    }

    /// POST with an `Idempotency-Key`.
    pub async fn post_keyed(&self, path: &str, key: &str, body: &Value) -> ApiReply {
        self.send(Method::POST, path, &[("Idempotency-Key", key)], Some(body)).await
    }

    /// PATCH.
    pub async fn patch(&self, path: &str, body: Value) -> ApiReply {
        self.send(Method::PATCH, path, &[], Some(&body)).await
    }

    /// PUT.
    pub async fn put(&self, path: &str, body: Value) -> ApiReply {
        self.send(Method::PUT, path, &[], Some(&body)).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> ApiReply {
        self.send(Method::DELETE, path, &[], None).await
    }

    /// Uploads a small file; returns its record.
    ///
    /// # Panics
    /// The service refuses.
    pub async fn upload(&self, filename: &str, mime: &str, bytes: &[u8]) -> Value {
        let file =
            json!({"filename": filename, "content_type": mime, "data": STANDARD.encode(bytes)});
        self.post("/api/v1/media/upload", file).await.expect(201).body
    }

    /// Announces a file; returns where and how to send it.
    ///
    /// # Panics
    /// The service refuses.
    pub async fn announce(&self, filename: &str, mime: &str, size: usize) -> Value {
        let file = json!({"filename": filename, "content_type": mime, "size": size});
        self.post("/api/v1/media/signed-upload", file).await.expect(201).body
    }

    /// Sends bytes to an address outside the API, with these headers and without the key.
    ///
    /// # Panics
    /// The service does not answer.
    pub async fn put_bytes(
        &self,
        url: &Value,
        headers: &[(&str, &str)],
        bytes: Vec<u8>,
    ) -> ApiReply {
        let url = url.as_str().expect("an address");
        let mut request = self.http.put(url).body(bytes);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        read(request.send().await.expect("the service answers")).await
    }

    /// Requests an address outside the API, with these headers and without the key; returns status, headers and bytes.
    ///
    /// # Panics
    /// The service does not answer.
    pub async fn fetch(&self, url: &Value, headers: &[(&str, &str)]) -> (u16, HeaderMap, Vec<u8>) {
        let mut request = self.http.get(url.as_str().expect("an address"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let reply = request.send().await.expect("the service answers");
        let (status, headers) = (reply.status().as_u16(), reply.headers().clone());
        (status, headers, reply.bytes().await.expect("the whole body").to_vec())
    }

    /// Connects an account on a simulated network; returns its id.
    ///
    /// # Panics
    /// The service refuses.
    pub async fn connect(&self, platform: &str) -> i64 {
        let made = self.post("/api/v1/sandbox/accounts", json!({ "platform": platform })).await;
        made.expect(201).body["account"]["id"].as_i64().expect("an id")
    }

    /// Creates a post; returns its record.
    ///
    /// # Panics
    /// The service refuses.
    pub async fn publish(&self, body: Value) -> Value {
        self.post("/api/v1/posts", body).await.expect(201).body["post"].clone()
    }

    /// Returns the posts of an account on a simulated network.
    ///
    /// # Panics
    /// The service refuses.
    pub async fn on_network(&self, platform: &str, account: i64) -> Vec<Value> {
        let path = format!("/api/v1/sandbox/{platform}/posts?account_id={account}");
        let held = self.get(&path).await.expect(200).body["posts"].clone();
        held.as_array().expect("a list").clone()
    }

    /// Sets the faults that a simulated network shows for an account.
    ///
    /// # Panics
    /// The service refuses.
    pub async fn faults(&self, platform: &str, account: i64, faults: Value) {
        let path = format!("/api/v1/sandbox/{platform}/faults");
        let body = json!({ "account_id": account, "faults": faults });
        let _ = self.put(&path, body).await.expect(200);
    }
}

async fn read(reply: reqwest::Response) -> ApiReply {
    let (status, headers) = (reply.status().as_u16(), reply.headers().clone());
    let text = reply.text().await.expect("the whole body");
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    ApiReply { status, headers, body, text }
}
