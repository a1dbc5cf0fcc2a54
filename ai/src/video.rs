//! Video models: a video is submitted, then polled until it is finished.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde_json::{Value, json};
use url::Url;

use crate::{
    Failure, Vertex, endpoint,
    endpoint::Endpoint,
    failure::{Blame, Interface, blame},
};

/// The time-out of a call.
const DEADLINE: Duration = Duration::from_secs(60);

/// The largest reply, in bytes.
const LARGEST: usize = 4 << 20;

/// The parameters of a video.
#[derive(Clone)]
pub struct VideoParameters<'a> {
    /// The model.
    pub model: &'a str,
    /// The prompt.
    pub prompt: &'a str,
    /// Its length, in seconds.
    pub seconds: u32,
    /// The resolution, in lower case.
    pub resolution: &'a str,
    /// The aspect ratio.
    pub aspect_ratio: &'a str,
    /// True if it has sound.
    pub audio: bool,
    /// The first frame: media type and bytes.
    pub image: Option<&'a (String, Bytes)>,
}

/// The client of a provider of videos.
#[derive(Debug, Clone, Copy)]
pub enum VideoClient<'a> {
    /// xAI.
    Xai(&'a Endpoint),
    /// Google.
    Google(&'a Endpoint),
    /// Google's Vertex AI.
    Vertex(&'a Vertex),
}

/// The progress of a video.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VideoProgress {
    /// It is being made; its progress in percent, if the provider reports it.
    Pending(Option<u8>),
    /// It is finished, at this address.
    DoneAt(Url),
    /// It is finished; these are its bytes.
    Inline(Bytes),
    /// The provider refuses its content.
    Refused,
    /// The provider refuses the operator's key, plan, quota or project.
    Denied,
    /// It failed.
    Failed,
}

impl VideoProgress {
    /// Returns how a video ended that is not there.
    pub(crate) fn ended(interface: Interface, status: u16, answer: &Value) -> Self {
        match blame(interface, status, answer) {
            Some(Blame::Content) => Self::Refused,
            Some(Blame::Operator | Blame::Retired) => Self::Denied,
            Some(Blame::Nobody) | None => Self::Failed,
        }
    }
}

/// Submits a video; returns the provider's id of it. A submission whose reply is lost cannot be checked later.
///
/// # Errors
/// [`Failure`].
pub async fn submit(
    filmer: VideoClient<'_>,
    film: &VideoParameters<'_>,
) -> Result<String, Failure> {
    let (interface, request, id) = match filmer {
        VideoClient::Vertex(vertex) => return vertex.submit(film).await,
        VideoClient::Xai(endpoint) => {
            let request = endpoint.post("videos/generations", &for_xai(film))?;
            (Interface::Xai, endpoint.with_bearer_token(request), "request_id")
        }
        VideoClient::Google(endpoint) => {
            let request = endpoint.post("v1beta/interactions", &for_google(film))?;
            (Interface::Interactions, endpoint.with_google_key(request), "id")
        }
    };
    let request = request.on_new_connection();
    let answer = endpoint::json(interface, request, (DEADLINE, LARGEST)).await?;
    answer[id].as_str().map(str::to_owned).ok_or_else(Failure::bad_answer)
}

fn data_url((mime, bytes): &(String, Bytes)) -> String {
    format!("data:{mime};base64,{}", STANDARD.encode(bytes))
}

fn for_xai(film: &VideoParameters<'_>) -> Value {
    // Defaults would be billed without length and resolution, so both are always sent.
    let mut body = json!({"model": film.model, "prompt": film.prompt, "duration": film.seconds,
        "resolution": film.resolution, "generate_audio": film.audio});
    match film.image {
        // The ratio is not sent with a picture, which would be stretched to it.
        Some(image) => body["image"] = json!({"url": data_url(image)}),
        None => body["aspect_ratio"] = film.aspect_ratio.into(),
    }
    body
}

fn for_google(film: &VideoParameters<'_>) -> Value {
    let mut input = vec![json!({"type": "text", "text": film.prompt})];
    let mut task = "text_to_video";
    if let Some((mime, bytes)) = film.image {
        input.push(json!({"type": "image", "mime_type": mime, "data": STANDARD.encode(bytes)}));
        task = "image_to_video";
    }
    json!({"model": film.model, "input": input, "background": true, "store": true,
        "response_format": {"type": "video", "aspect_ratio": film.aspect_ratio,
            "resolution": film.resolution, "duration": format!("{}s", film.seconds), "delivery": "uri"},
        "generation_config": {"video_config": {"task": task}}})
}

/// Polls the progress of a video.
///
/// # Errors
/// [`Failure`].
pub async fn poll(
    filmer: VideoClient<'_>,
    model: &str,
    id: &str,
) -> Result<VideoProgress, Failure> {
    match filmer {
        VideoClient::Vertex(vertex) => vertex.poll(model, id).await,
        VideoClient::Xai(endpoint) => {
            let request = endpoint.with_bearer_token(endpoint.get(&format!("videos/{id}"))?);
            Ok(of_xai(&endpoint::json(Interface::Xai, request, (DEADLINE, LARGEST)).await?))
        }
        VideoClient::Google(endpoint) => {
            let request = endpoint.get(&format!("v1beta/interactions/{id}"))?;
            let request = endpoint.with_google_key(request);
            let most = (DEADLINE, LARGEST);
            Ok(of_google(&endpoint::json(Interface::Interactions, request, most).await?))
        }
    }
}

/// Opens the download of a video at the address that the provider gave.
///
/// # Errors
/// [`Failure`].
pub async fn download(
    filmer: VideoClient<'_>,
    url: Url,
) -> Result<fanfare_outbound::Download, Failure> {
    match filmer {
        VideoClient::Xai(endpoint) => endpoint.download(url, false).await,
        VideoClient::Google(endpoint) => endpoint.download(url, true).await,
        VideoClient::Vertex(_) => Err(Failure::bad_answer()),
    }
}

fn of_xai(answer: &Value) -> VideoProgress {
    let video = &answer["video"];
    let url = video["url"].as_str().and_then(|url| Url::parse(url).ok());
    match (answer["status"].as_str().unwrap_or_default(), url) {
        ("done", Some(url)) => VideoProgress::DoneAt(url),
        ("done" | "failed" | "expired", _) => VideoProgress::ended(Interface::Xai, 200, answer),
        _ => {
            let percent =
                answer["progress"].as_u64().and_then(|percent| u8::try_from(percent).ok());
            VideoProgress::Pending(percent)
        }
    }
}

fn of_google(answer: &Value) -> VideoProgress {
    let outputs = answer["outputs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let film = outputs.iter().find(|output| output["type"] == "video");
    let url = film.and_then(|film| film["uri"].as_str()).and_then(|url| Url::parse(url).ok());
    match (answer["status"].as_str().unwrap_or_default(), url) {
        ("completed", Some(url)) => VideoProgress::DoneAt(url),
        ("completed" | "failed" | "cancelled" | "incomplete" | "budget_exceeded", _) => {
            VideoProgress::ended(Interface::Interactions, 200, answer)
        }
        // Other statuses are not final.
        _ => VideoProgress::Pending(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_final_words_are_final() {
        let url = Url::parse("https://films.example.com/1.mp4").unwrap();
        let done = json!({"status": "done", "video": {"url": url.as_str(), "duration": 8}});
        assert_eq!(of_xai(&done), VideoProgress::DoneAt(url.clone()));
        assert_eq!(
            of_xai(&json!({"status": "pending", "progress": 40})),
            VideoProgress::Pending(Some(40))
        );
        let blocked = json!({"status": "done", "video": {"respect_moderation": false}});
        assert_eq!(of_xai(&blocked), VideoProgress::Refused);
        assert_eq!(of_xai(&json!({"status": "expired"})), VideoProgress::Failed);
        let done =
            json!({"status": "completed", "outputs": [{"type": "video", "uri": url.as_str()}]});
        assert_eq!(of_google(&done), VideoProgress::DoneAt(url));
        for word in ["queued", "in_progress", "requires_continuation", "something_new"] {
            assert_eq!(of_google(&json!({"status": word})), VideoProgress::Pending(None), "{word}");
        }
        assert_eq!(of_google(&json!({"status": "budget_exceeded"})), VideoProgress::Denied);
        let failed = |code: &str| of_google(&json!({"status": "failed", "error": {"code": code}}));
        assert_eq!(failed("prohibited_content"), VideoProgress::Refused);
        assert_eq!(failed("api_error"), VideoProgress::Failed);
    }

    #[test]
    fn length_and_resolution_are_always_sent_and_a_ratio_never_beside_a_picture() {
        let image = ("image/png".to_owned(), Bytes::from_static(b"x"));
        let mut film = VideoParameters {
            model: "m",
            prompt: "p",
            seconds: 6,
            resolution: "720p",
            aspect_ratio: "9:16",
            audio: true,
            image: None,
        };
        let body = for_xai(&film);
        assert_eq!((&body["duration"], &body["resolution"]), (&json!(6), &json!("720p")));
        assert_eq!(body["aspect_ratio"], "9:16");
        film.image = Some(&image);
        assert!(for_xai(&film).get("aspect_ratio").is_none());
        assert_eq!(for_google(&film)["response_format"]["duration"], "6s");
        assert_eq!(
            for_google(&film)["generation_config"]["video_config"]["task"],
            "image_to_video"
        );
    }
}
