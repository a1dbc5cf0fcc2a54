//! The control API of the simulated networks.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use url::Url;

/// The address of a simulator, and the secret of its control API.
#[derive(Debug, Clone)]
pub struct Simulator {
    /// Its address.
    pub url: Url,
    /// The secret of its control API.
    pub secret: String,
}

impl Simulator {
    /// Returns the simulator that `up` or `sandbox` last started on a data directory.
    ///
    /// # Panics
    /// None was.
    #[must_use]
    pub fn of(data_dir: &Path) -> Self {
        let note = std::fs::read(data_dir.join("simulator.json")).expect("a simulator's note");
        let note: Value = serde_json::from_slice(&note).expect("the note is JSON");
        let text = |name: &str| note[name].as_str().expect("a text").to_owned();
        Self { url: text("address").parse().expect("an address"), secret: text("secret") }
    }

    /// Calls the control API.
    ///
    /// # Panics
    /// It refuses.
    pub async fn ask(&self, method: Method, path: &str, body: &Value) -> Value {
        let url = format!("{}_control/{path}", self.url);
        let request = crate::local_client().request(method, url).bearer_auth(&self.secret);
        let request = if body.is_null() { request } else { request.json(body) };
        let answer = request.send().await.expect("the simulator answers");
        let status = answer.status();
        let said: Value = answer.json().await.expect("the simulator answers with JSON");
        assert!(status.is_success(), "{path}: {status} {said}");
        said
    }

    /// Creates a service account at the simulated Vertex AI; returns its file.
    ///
    /// # Panics
    /// The simulator refuses.
    pub async fn service_account(&self) -> Value {
        self.ask_vertex("accounts").await
    }

    /// Ends all tokens of service accounts.
    ///
    /// # Panics
    /// The simulator refuses.
    pub async fn end_vertex_tokens(&self) {
        let _ = self.ask_vertex("accounts/end_tokens").await;
    }

    async fn ask_vertex(&self, path: &str) -> Value {
        let url = self.url.join(&format!("/ai/vertex/{path}")).expect("an address");
        let request = crate::local_client().post(url).bearer_auth(&self.secret).json(&json!({}));
        let answer = request.send().await.and_then(reqwest::Response::error_for_status);
        answer.expect("the simulator answers").json().await.expect("JSON")
    }

    /// Returns the accounts of a network, oldest first in each realm.
    pub async fn accounts(&self, network: &str) -> Vec<Value> {
        let said = self.ask(Method::GET, &format!("{network}/accounts"), &Value::Null).await;
        said["accounts"].as_array().expect("a list").clone()
    }

    /// Returns a network's calls for an account, oldest first.
    pub async fn calls(&self, network: &str, remote_id: &str) -> Vec<Value> {
        let path = format!("{network}/calls?remote_id={remote_id}");
        let said = self.ask(Method::GET, &path, &Value::Null).await;
        said["calls"].as_array().expect("a list").clone()
    }

    /// Sets how a network behaves for an account, besides its faults.
    pub async fn behave(&self, network: &str, remote_id: &str, behaviour: &Value) {
        let body = json!({ "remote_id": remote_id, "behaviour": behaviour });
        let _ = self.ask(Method::PUT, &format!("{network}/behaviour"), &body).await;
    }

    /// Makes a post on a network as a person does there; returns its id.
    ///
    /// # Panics
    /// The simulator refuses.
    pub async fn post_by_hand(
        &self,
        network: &str,
        remote_id: &str,
        text: &str,
        media_urls: &[String],
    ) -> String {
        let body = json!({ "remote_id": remote_id, "text": text, "media_urls": media_urls });
        let made = self.ask(Method::POST, &format!("{network}/posts"), &body).await;
        made["id"].as_str().expect("an id").to_owned()
    }

    /// Creates an account on the network that replaces the real one; returns its credentials.
    pub async fn stand_in(&self, network: &str) -> Value {
        self.ask(Method::POST, &format!("{network}/accounts"), &json!({})).await
    }

    /// Returns the address of the network that replaces the real one.
    ///
    /// # Panics
    /// Never: it is below a good address.
    #[must_use]
    pub fn stand_in_url(&self, network: &str) -> Url {
        self.url.join(&format!("shared/{network}")).expect("an address")
    }
}
