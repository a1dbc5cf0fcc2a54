//! Google's Vertex AI: Veo runs there as a long-running operation, whose last reply contains the video.

use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    Endpoint, Failure, ServiceAccount, endpoint,
    failure::Interface,
    video::{VideoParameters, VideoProgress},
};

/// The time-out of a call.
const DEADLINE: Duration = Duration::from_secs(60);

/// The time-out of a call whose reply may contain a video, and the largest such reply, in bytes.
const FILM_DEADLINE: Duration = Duration::from_secs(300);
const LARGEST: usize = 256 << 20;

/// The largest reply that names an operation, in bytes.
const LARGEST_NAME: usize = 1 << 20;

/// A project at Vertex AI.
#[derive(Debug, Clone)]
pub struct Vertex {
    endpoint: Endpoint,
    /// The path of the models, such as `v1/projects/p/locations/us-central1/publishers/google/models`.
    models: String,
    /// The service account for access tokens; without one the endpoint's key is sent.
    account: Option<Arc<ServiceAccount>>,
}

impl Vertex {
    /// Returns the client of a project at an endpoint.
    #[must_use]
    pub fn new(
        endpoint: Endpoint,
        (project, location): (&str, &str),
        account: Option<ServiceAccount>,
    ) -> Self {
        let models = format!("v1/projects/{project}/locations/{location}/publishers/google/models");
        Self { endpoint, models, account: account.map(Arc::new) }
    }

    /// Calls a method of a model. A call with a refused token had no effect, so it is repeated once with a fresh one.
    async fn call(
        &self,
        method: &str,
        model: &str,
        body: &Value,
        most: (Duration, usize),
    ) -> Result<Value, Failure> {
        let path = format!("{}/{model}:{method}", self.models);
        // A request that must not be made twice does not use a pooled connection, which may have been closed.
        let request = || Ok::<_, Failure>(self.endpoint.post(&path, body)?.on_new_connection());
        let Some(account) = &self.account else {
            let request = self.endpoint.with_bearer_token(request()?);
            return endpoint::json(Interface::Vertex, request, most).await;
        };
        let signed = request()?.bearer(&account.token().await?);
        let outcome = endpoint::json(Interface::Vertex, signed, most).await;
        if !matches!(&outcome, Err(failure) if failure.status == Some(401)) {
            return outcome;
        }
        account.forget().await;
        let signed = request()?.bearer(&account.token().await?);
        endpoint::json(Interface::Vertex, signed, most).await
    }

    pub(crate) async fn submit(&self, film: &VideoParameters<'_>) -> Result<String, Failure> {
        let most = (DEADLINE, LARGEST_NAME);
        let answer = self.call("predictLongRunning", film.model, &body(film), most).await?;
        answer["name"].as_str().map(str::to_owned).ok_or_else(Failure::bad_answer)
    }

    pub(crate) async fn poll(
        &self,
        model: &str,
        operation: &str,
    ) -> Result<VideoProgress, Failure> {
        let body = json!({ "operationName": operation });
        let most = (FILM_DEADLINE, LARGEST);
        Ok(read(&self.call("fetchPredictOperation", model, &body, most).await?))
    }
}

fn body(film: &VideoParameters<'_>) -> Value {
    let mut instance = json!({"prompt": film.prompt});
    if let Some((mime, bytes)) = film.image {
        instance["image"] = json!({"bytesBase64Encoded": STANDARD.encode(bytes), "mimeType": mime});
    }
    // Without a length the model chooses one, which is billed.
    json!({"instances": [instance], "parameters": {"sampleCount": 1, "durationSeconds": film.seconds,
        "aspectRatio": film.aspect_ratio, "resolution": film.resolution, "generateAudio": film.audio}})
}

/// Reads the state of an operation.
fn read(answer: &Value) -> VideoProgress {
    if answer["done"] != true {
        return VideoProgress::Pending(None);
    }
    let bytes = answer["response"]["videos"][0]["bytesBase64Encoded"].as_str();
    match bytes.and_then(|text| STANDARD.decode(text).ok()) {
        Some(bytes) => VideoProgress::Inline(Bytes::from(bytes)),
        None => VideoProgress::ended(Interface::Vertex, status(&answer["error"]["code"]), answer),
    }
}

/// Returns the HTTP status that stands for the code of an operation's error (`google.rpc.Code`).
fn status(code: &Value) -> u16 {
    match code.as_u64() {
        None | Some(0) => 200,
        Some(3 | 9 | 11) => 400,
        Some(5) => 404,
        Some(7) => 403,
        Some(8) => 429,
        Some(14) => 503,
        Some(16) => 401,
        Some(_) => 500,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_ends_with_a_film_a_refusal_or_a_failure() {
        let done = |more: Value| {
            let mut answer = json!({"name": "operations/1", "done": true});
            answer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            read(&answer)
        };
        assert_eq!(read(&json!({"name": "operations/1"})), VideoProgress::Pending(None));
        let film = json!({"response": {"videos": [{"bytesBase64Encoded": "Zm9v", "mimeType": "video/mp4"}]}});
        assert_eq!(done(film), VideoProgress::Inline(Bytes::from_static(b"foo")));
        assert_eq!(done(json!({"response": {"raiMediaFilteredCount": 1}})), VideoProgress::Refused);
        let refused =
            json!({"error": {"code": 3, "message": "The prompt violates the usage guidelines."}});
        assert_eq!(done(refused), VideoProgress::Refused);
        assert_eq!(
            done(json!({"error": {"code": 13, "message": "Internal"}})),
            VideoProgress::Failed
        );
        let failed =
            |code: u8, message: &str| done(json!({"error": {"code": code, "message": message}}));
        assert_eq!(failed(13, "The safety service failed."), VideoProgress::Failed);
        assert_eq!(failed(14, "Usage guidelines are not available."), VideoProgress::Failed);
        assert_eq!(failed(3, "The image is against the policy of sizes."), VideoProgress::Failed);
        assert_eq!(failed(7, "The project broke our usage guidelines."), VideoProgress::Denied);
        assert_eq!(done(json!({"response": {}})), VideoProgress::Failed);
    }

    #[test]
    fn length_resolution_and_sound_are_always_sent() {
        let image = ("image/png".to_owned(), Bytes::from_static(b"x"));
        let film = VideoParameters {
            model: "m",
            prompt: "p",
            seconds: 8,
            resolution: "1080p",
            aspect_ratio: "9:16",
            audio: false,
            image: Some(&image),
        };
        let sent = body(&film);
        let parameters = &sent["parameters"];
        assert_eq!(parameters["durationSeconds"], 8);
        assert_eq!(parameters["resolution"], "1080p");
        assert_eq!(parameters["generateAudio"], false);
        assert_eq!(sent["instances"][0]["image"]["mimeType"], "image/png");
    }
}
