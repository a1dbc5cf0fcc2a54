//! Requests for videos: validates them, applies defaults, and calculates the price.

use fanfare_ai::{Ai, Audio, VideoModel, VideoProvider};
use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result, Violation, Violations, violation},
    input::{
        strict,
        text::{self, TextRule},
    },
};
use fanfare_people::credits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

/// A request for a video.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VideoRequest {
    /// The subject of the video.
    #[schemars(length(min = 1, max = 4_096))]
    pub prompt: String,
    /// `xai` (`xai_grok`) or `google` (`google_veo`); the first that is configured if left out.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub provider: Option<String>,
    /// The model; one of the provider's that fits if left out.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub model: Option<String>,
    /// The shape; 16:9 if left out.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub aspect_ratio: Option<String>,
    /// The length in seconds; 8 if left out.
    #[serde(default)]
    pub duration_seconds: Option<i64>,
    /// 720p if left out.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub resolution: Option<String>,
    /// With sound, which is so if left out.
    #[serde(default)]
    pub generate_audio: Option<bool>,
    /// The first frame: the address of an image that is stored here.
    #[serde(default)]
    #[schemars(length(max = 2_048))]
    pub image_url: Option<String>,
    /// Only say what it costs; nothing is made or spent.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// A text by which you know this, such as the id of your customer. The ledger names it, and sums are made by it.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub reference: Option<String>,
    /// The most that it may cost, in credits. If it costs more, nothing is made or spent.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub max_credits: Option<i64>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Leaves the prompt out.
impl std::fmt::Debug for VideoRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VideoRequest").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// A valid request, with all defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VideoParams {
    /// `xai_grok` or `google_veo`.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The shape.
    pub aspect_ratio: String,
    /// The length in seconds.
    pub duration_seconds: u32,
    /// The resolution, in small letters.
    pub resolution: String,
    /// With sound.
    pub generate_audio: bool,
    /// The address of the first frame, if there is one.
    pub image_url: Option<String>,
}

/// Validates a request. Returns it with all defaults, and its price.
///
/// # Errors
/// All violations of the request, or [`Code::ProviderNotConfigured`].
pub fn normalize(ai: &Ai, asked: &VideoRequest) -> Result<(VideoParams, i64)> {
    let mut broken: Vec<Violation> = Vec::new();
    let provider = provider(ai, asked.provider.as_deref(), &mut broken);
    let resolution = asked.resolution.as_deref().unwrap_or("720p").to_lowercase();
    let seconds = asked.duration_seconds.unwrap_or(8);
    let ratio = asked.aspect_ratio.clone().unwrap_or_else(|| "16:9".to_owned());
    let model =
        provider.and_then(|it| model(ai, it, asked.model.as_deref(), &resolution, &mut broken));
    if asked.prompt.trim().is_empty() {
        let message = "prompt is empty.";
        broken.push(violation(Code::InvalidField, "prompt", message, "Say what the video shows."));
    }
    let most = model.map_or(4_096, |model| model.prompt_max);
    broken.extend(text::problem("prompt", &asked.prompt, TextRule::lines(most)));
    let Some(model) = model else {
        Error::check(broken)?;
        return Err(super::super::not_configured("videos"));
    };
    let mut refuse = |field: &str, message: String, remedy: String| {
        broken.push(violation(Code::InvalidField, field, message, remedy));
    };
    let lengths = model.durations_at(&resolution);
    let duration = u32::try_from(seconds).ok().filter(|it| lengths.contains(it));
    if duration.is_none() {
        let is_ruled = lengths.len() < model.durations.len();
        let lengths = lengths.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let at = if is_ruled { format!(" in {resolution}") } else { String::new() };
        let message =
            format!("{} makes videos{at} of {lengths} seconds, not of {seconds}.", model.id);
        refuse("duration_seconds", message, format!("Send one of {lengths}."));
    }
    for (field, value, known) in [
        ("resolution", &resolution, &model.resolutions),
        ("aspect_ratio", &ratio, &model.aspect_ratios),
    ] {
        if !known.contains(value) {
            let known = known.join(", ");
            let message = format!("{} takes {known} as {field}.", model.id);
            refuse(field, message, format!("Send one of {known}."));
        }
    }
    let audio = asked.generate_audio.unwrap_or(true);
    if !audio && model.audio == Audio::Always {
        let message = format!("Videos of {} always have sound.", model.id);
        refuse("generate_audio", message, "Leave it out, or use another provider.".to_owned());
    }
    Error::check(broken)?;
    let duration = duration.unwrap_or_default();
    let cents = model.cost(duration, &resolution, asked.image_url.is_some());
    let cents = cents.ok_or_else(|| Error::internal("a resolution has no price"))?;
    let normalized = VideoParams {
        provider: model.provider.as_str().to_owned(),
        model: model.id.clone(),
        aspect_ratio: ratio,
        duration_seconds: duration,
        resolution,
        generate_audio: audio,
        image_url: asked.image_url.clone(),
    };
    Ok((normalized, ai.credits(cents)))
}

fn provider(ai: &Ai, asked: Option<&str>, broken: &mut Vec<Violation>) -> Option<VideoProvider> {
    let Some(name) = asked else {
        return VideoProvider::ALL.into_iter().find(|provider| ai.offers_video(*provider));
    };
    let known = VideoProvider::named(name);
    if known.is_none() {
        let message = "provider is not one that makes videos.";
        let remedy = "Send xai or google, or leave it out.";
        broken.push(violation(Code::InvalidField, "provider", message, remedy));
    }
    known
}

/// Returns the named model; without a name, the provider's first model with the resolution, or else its first one.
fn model<'a>(
    ai: &'a Ai,
    provider: VideoProvider,
    asked: Option<&str>,
    resolution: &str,
    broken: &mut Vec<Violation>,
) -> Option<&'a VideoModel> {
    let mut films = ai.video_models(provider);
    if let Some(name) = asked {
        let known = ai.video_models(provider).find(|model| model.id == name);
        if known.is_none() {
            let message = format!("model is not one of {}.", provider.as_str());
            let remedy = "Send one that GET /api/v1/ai/video-options lists, or leave it out.";
            broken.push(violation(Code::InvalidField, "model", message, remedy));
        }
        return known.or_else(|| films.next());
    }
    let fits = |model: &&VideoModel| model.resolutions.iter().any(|one| one == resolution);
    let fitting = ai.video_models(provider).find(fits);
    fitting.or_else(|| films.next())
}

/// A question about videos that changes nothing.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VideoFunction {
    /// `google_veo` or `xai_grok`.
    #[schemars(length(max = 200))]
    pub identifier: String,
    /// `estimate_cost`, `validate_request` or `list_models`.
    #[schemars(length(max = 200))]
    pub function: String,
    /// The body of a request for a video; its provider is that of `identifier`. `list_models` does not look at it.
    #[serde(default)]
    #[schemars(with = "Option<VideoRequest>", extend("x-read-singly" = true))]
    pub params: Option<Value>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// The answer to a question about videos.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct FunctionResult {
    identifier: &'static str,
    function: String,
    /// The answer of the function.
    #[schemars(with = "serde_json::Map<String, Value>")]
    result: Value,
}

/// Answers a question about videos.
///
/// # Errors
/// An unknown provider or function; for `estimate_cost` the violations of the request, or [`Code::WalletUnavailable`].
pub async fn call_function(act: &Act, asked: VideoFunction) -> Result<Reply<FunctionResult>> {
    let provider = VideoProvider::named(&asked.identifier);
    let provider = provider.filter(|it| it.as_str() == asked.identifier).ok_or_else(|| {
        let message = "identifier is not a provider of videos.";
        Error::field(Code::InvalidField, "identifier", message, "Send google_veo or xai_grok.")
    })?;
    let ai = &crate::settings(&act.cx).ai;
    let result = match asked.function.as_str() {
        "list_models" => {
            let ids: Vec<_> = ai.video_models(provider).map(|model| &model.id).collect();
            json!({ "models": ids })
        }
        "validate_request" => validate(ai, provider, asked.params),
        "estimate_cost" => {
            let (_, credits) = checked(ai, provider, asked.params).map_err(within_params)?;
            let available = credits::available(&act.cx, act.membership.workspace_id).await?;
            json!({"credits": credits, "available": available, "affordable": credits <= available})
        }
        _ => {
            let message = "function is not one that there is.";
            let remedy = "Send estimate_cost, validate_request or list_models.";
            return Err(Error::field(Code::InvalidField, "function", message, remedy));
        }
    };
    let identifier = provider.as_str();
    Ok(Reply::ok(&FunctionResult { identifier, function: asked.function, result }).unchanged())
}

/// Checks the body of a request for a video as that request does; returns what is made of it, and its price.
fn checked(ai: &Ai, provider: VideoProvider, params: Option<Value>) -> Result<(VideoParams, i64)> {
    let params = params.unwrap_or_else(|| json!({}));
    let (mut request, flaws): (VideoRequest, _) = strict::read_partial(params)?;
    request.provider = Some(provider.as_str().to_owned());
    Error::merge(flaws, normalize(ai, &request))
}

/// Returns the same error about the fields of `params`.
fn within_params(error: Error) -> Error {
    if error.violations().is_empty() {
        return error;
    }
    let mut broken = error.into_violations();
    for one in broken.iter_mut() {
        one.field = format!("params.{}", one.field);
        // They are made for a body of its own.
        one.fix.clear();
    }
    Error::check(broken).err().unwrap_or_else(|| Error::internal("an error named no field"))
}

fn validate(ai: &Ai, provider: VideoProvider, params: Option<Value>) -> Value {
    match checked(ai, provider, params) {
        Ok((normalized, _)) => {
            json!({"valid": true, "validation_errors": [], "normalized": normalized})
        }
        Err(error) => {
            let entry = error.code().entry();
            // A refusal without a field is about the provider: it is not configured.
            let other =
                || vec![violation(error.code(), "provider", error.message(), entry.remedy)].into();
            let listed = Some(error.clone().into_violations()).filter(|listed| !listed.is_empty());
            let listed: Violations = listed.unwrap_or_else(other);
            json!({"valid": false, "validation_errors": *listed, "normalized": null})
        }
    }
}

#[cfg(test)]
mod tests {
    use fanfare_ai::{Ai, Catalogue};

    use super::*;

    fn ai() -> Ai {
        let http = fanfare_outbound::Client::new(fanfare_outbound::Policy { allow_private: true })
            .unwrap();
        let base: url::Url = "http://127.0.0.1:9".parse().unwrap();
        Ai::sandbox(Catalogue::built_in().unwrap(), |_| {
            fanfare_ai::Endpoint::new(&http, "ai", base.clone(), None)
        })
    }

    #[test]
    fn every_combination_is_refused_or_costs_what_the_table_says() {
        let ai = ai();
        let (mut fine, mut refused) = (0, 0);
        for provider in ["xai", "google_veo"] {
            for seconds in -1..=17 {
                for resolution in ["480p", "720P", "1080p", "4k", "8k"] {
                    for (ratio, image) in
                        [("16:9", false), ("1:1", true), ("9:16", true), ("5:7", false)]
                    {
                        let asked = VideoRequest {
                            prompt: "A cat".to_owned(),
                            provider: Some(provider.to_owned()),
                            duration_seconds: Some(seconds),
                            resolution: Some(resolution.to_owned()),
                            aspect_ratio: Some(ratio.to_owned()),
                            image_url: image.then(|| "http://x/y.png".to_owned()),
                            ..VideoRequest::default()
                        };
                        match normalize(&ai, &asked) {
                            Ok((it, credits)) => {
                                let model = ai
                                    .catalogue
                                    .video
                                    .iter()
                                    .find(|model| model.id == it.model)
                                    .unwrap();
                                let cents =
                                    model.cost(it.duration_seconds, &it.resolution, image).unwrap();
                                assert_eq!(credits, cents);
                                assert!(model.durations.contains(&it.duration_seconds));
                                fine += 1;
                            }
                            Err(error) => {
                                assert!(!error.violations().is_empty());
                                refused += 1;
                            }
                        }
                    }
                }
            }
        }
        assert!(fine > 100 && refused > 100, "{fine} {refused}");
    }

    #[test]
    fn veo_at_vertex_makes_longer_films_alone_in_high_resolution_and_silent_ones() {
        let mut ai = ai();
        let base: url::Url = "http://127.0.0.1:9".parse().unwrap();
        let http = fanfare_outbound::Client::new(fanfare_outbound::Policy { allow_private: true })
            .unwrap();
        let endpoint = fanfare_ai::Endpoint::new(&http, "ai", base, None);
        ai.vertex = Some(fanfare_ai::Vertex::new(endpoint, ("p", "l"), None));
        let asked = |seconds: i64, resolution: &str| VideoRequest {
            prompt: "A cat".to_owned(),
            provider: Some("google".to_owned()),
            duration_seconds: Some(seconds),
            resolution: Some(resolution.to_owned()),
            generate_audio: Some(false),
            ..VideoRequest::default()
        };
        for (seconds, resolution, credits) in [(4, "720p", 60), (8, "1080p", 120), (8, "4k", 280)] {
            let (it, cost) = normalize(&ai, &asked(seconds, resolution)).unwrap();
            assert_eq!((it.model.as_str(), cost), ("veo-3.1-fast-generate-001", credits));
        }
        let error = normalize(&ai, &asked(6, "4K")).unwrap_err();
        assert!(error.message().contains("videos in 4k of 8 seconds"), "{}", error.message());
        let omni =
            VideoRequest { model: Some("gemini-omni-1.1-flash".to_owned()), ..asked(8, "4k") };
        assert_eq!(normalize(&ai, &omni).unwrap_err().violations()[0].field, "model");
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let asked = VideoRequest {
            prompt: " ".to_owned(),
            provider: Some("google".to_owned()),
            duration_seconds: Some(5),
            resolution: Some("480p".to_owned()),
            aspect_ratio: Some("1:1".to_owned()),
            generate_audio: Some(false),
            ..VideoRequest::default()
        };
        let error = normalize(&ai(), &asked).unwrap_err();
        let fields: Vec<_> = error.violations().iter().map(|it| it.field.as_str()).collect();
        assert_eq!(
            fields,
            ["prompt", "duration_seconds", "resolution", "aspect_ratio", "generate_audio"]
        );
    }

    #[test]
    fn a_model_that_has_the_resolution_is_chosen() {
        let asked = |resolution: &str| VideoRequest {
            prompt: "A cat".to_owned(),
            resolution: Some(resolution.to_owned()),
            ..VideoRequest::default()
        };
        let model = |resolution| normalize(&ai(), &asked(resolution)).unwrap().0.model;
        assert_eq!(model("720p"), "grok-imagine-video");
        assert_eq!(model("1080p"), "grok-imagine-video-1.5");
        assert_eq!(normalize(&ai(), &asked("720p")).unwrap().1, 56);
    }
}
