//! Models that generate videos: a job exists at once, and its video after some of the simulator's time.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{directives::PromptDirectives, error};
use crate::reply::Reply;

/// The time that a video takes unless the prompt says otherwise, in ms.
const GENERATION_MS: i64 = 3_000;

/// The time for which xAI keeps a video, in ms.
const RETENTION_MS: i64 = 24 * 3_600_000;

static FILM: &[u8] = include_bytes!("film.mp4");

/// A video that is being generated.
#[derive(Debug, Clone, Default)]
pub(super) struct VideoJob {
    duration: i64,
    begun: i64,
    ready: i64,
    url: String,
    words: PromptDirectives,
}

/// Returns the video's bytes.
pub(super) fn file() -> Reply {
    Reply {
        status: salvo::http::StatusCode::OK,
        content_type: "video/mp4",
        headers: Vec::new(),
        body: Bytes::from_static(FILM),
    }
}

/// Parses a request to xAI.
pub(super) fn read_xai(body: &Value) -> Result<VideoJob, Reply> {
    let duration = body["duration"].as_i64().unwrap_or(8);
    let resolution = body["resolution"].as_str().unwrap_or("480p");
    if body["prompt"].as_str().is_none_or(str::is_empty) || !(1..=15).contains(&duration) {
        return Err(error(400, "prompt is required, and duration is 1 to 15."));
    }
    let is_base = body["model"] == "grok-imagine-video";
    if !matches!(resolution, "480p" | "720p" | "1080p") || (is_base && resolution == "1080p") {
        return Err(error(400, "This model does not support this resolution."));
    }
    Ok(VideoJob { duration, ..VideoJob::default() })
}

/// Parses a request to Google.
pub(super) fn read_google(body: &Value) -> Result<VideoJob, Reply> {
    let form = &body["response_format"];
    let duration = form["duration"].as_str().and_then(|it| it.strip_suffix('s'));
    let duration: i64 = duration.and_then(|it| it.parse().ok()).unwrap_or(8);
    let is_film = form["type"] == "video" && (3..=10).contains(&duration);
    if !is_film || !matches!(form["resolution"].as_str(), Some("360p" | "720p" | "1080p" | "4k")) {
        return Err(error(400, "Request contains an invalid argument."));
    }
    if body["background"] == true && body["store"] != true {
        return Err(error(400, "background needs store."));
    }
    Ok(VideoJob { duration, ..VideoJob::default() })
}

impl VideoJob {
    pub fn of_seconds(duration: i64) -> Self {
        Self { duration, ..Self::default() }
    }

    pub fn begin(&mut self, now: i64, words: &PromptDirectives, url: &str) {
        let takes =
            words.delay.and_then(|it| i64::try_from(it.as_millis()).ok()).unwrap_or(GENERATION_MS);
        (self.begun, self.ready, self.words) = (now, now + takes, words.clone());
        url.clone_into(&mut self.url);
    }

    pub fn is_served(&self, now: i64) -> bool {
        now >= self.ready && now < self.ready + RETENTION_MS && !self.words.lost_result
    }

    /// Returns the job in xAI's format.
    pub fn for_xai(&self, now: i64) -> Value {
        if now < self.ready {
            let percent = (now - self.begun).max(0) * 100 / (self.ready - self.begun).max(1);
            return json!({"status": "pending", "progress": percent});
        }
        if let Some(end) = &self.words.end {
            let error = json!({"code": end.code, "message": end.message});
            return json!({"status": "failed", "error": error});
        }
        if self.words.fail {
            let error = json!({"code": "internal_error", "message": "The film could not be made."});
            return json!({"status": "failed", "error": error});
        }
        if self.words.refuse {
            return json!({"status": "done", "video": {"duration": self.duration, "respect_moderation": false}});
        }
        let film = json!({"url": self.url, "duration": self.duration, "respect_moderation": true});
        json!({"status": "done", "progress": 100, "video": film, "usage": {"cost_in_usd_ticks": 1_000_000_000_i64}})
    }

    /// Returns the job in Google's format.
    pub fn for_google(&self, now: i64) -> Value {
        if now < self.ready {
            return json!({"status": "in_progress"});
        }
        if let Some(end) = &self.words.end {
            let error = json!({"code": end.code, "message": end.message});
            return json!({"status": "failed", "error": error});
        }
        if self.words.fail {
            return json!({"status": "budget_exceeded"});
        }
        if self.words.refuse {
            return json!({"status": "failed", "error": {"code": "content_blocked", "message": "Blocked by safety filters."}});
        }
        json!({"status": "completed", "outputs": [{"type": "video", "mime_type": "video/mp4", "uri": self.url}]})
    }

    /// Returns the job in Vertex AI's format, which contains the video itself.
    pub fn for_vertex(&self, now: i64) -> Value {
        if now < self.ready {
            return json!({"metadata": {"@type": "type.googleapis.com/google.cloud.aiplatform.v1.PredictLongRunningMetadata"}});
        }
        if let Some(end) = &self.words.end {
            return json!({"done": true, "error": {"code": end.status, "message": end.message}});
        }
        if self.words.fail {
            return json!({"done": true, "error": {"code": 13, "message": "Video generation failed. Please try again."}});
        }
        if self.words.refuse {
            let filtered = json!({"raiMediaFilteredCount": 1, "raiMediaFilteredReasons": ["Blocked by safety filters."]});
            return json!({"done": true, "response": filtered});
        }
        let film = json!({"bytesBase64Encoded": STANDARD.encode(FILM), "mimeType": "video/mp4"});
        json!({"done": true, "response": {"raiMediaFilteredCount": 0, "videos": [film]}})
    }
}
