//! The options of videos.

use std::{borrow::Cow, collections::BTreeMap};

use fanfare_ai::{Ai, Audio, DurationRule, VideoModel, VideoProvider};
use fanfare_core::{Act, Reply, error::Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The options of videos, with their prices.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct VideoOptions {
    pub providers: Vec<ProviderOptions>,
    /// The day of the prices.
    pub as_of: String,
}

/// A provider of videos.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct ProviderOptions {
    /// `xai_grok` or `google_veo`.
    pub id: Cow<'static, str>,
    /// True if it can be used here.
    pub configured: bool,
    /// True if it is simulated.
    pub sandbox: bool,
    pub models: Vec<ModelOptions>,
}

/// A model that makes videos.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct ModelOptions {
    pub id: String,
    /// True for the model that is used if none is named.
    pub default: bool,
    /// The inputs that it takes: `text`, or `text` and `image`.
    pub input_modes: Vec<Cow<'static, str>>,
    /// Lengths in seconds.
    pub durations: Vec<u32>,
    pub resolutions: Vec<String>,
    pub aspect_ratios: Vec<String>,
    /// `optional` or `always`.
    pub audio: Cow<'static, str>,
    /// Resolutions with fewer lengths.
    pub rules: Vec<RuleOptions>,
    /// The price of a second, by resolution.
    pub credits_per_second: BTreeMap<String, f64>,
    /// The additional price of a first frame, for the whole video.
    pub credits_with_image: f64,
    /// The prices of videos without a first frame.
    pub estimates: Vec<VideoEstimate>,
}

/// A rule: videos of a resolution have one of these lengths.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RuleOptions {
    #[serde(rename = "if")]
    condition: OfResolution,
    then: HasLength,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct OfResolution {
    resolution: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct HasLength {
    duration_seconds: Vec<u32>,
}

impl RuleOptions {
    fn of(rule: &DurationRule) -> Self {
        Self {
            condition: OfResolution { resolution: rule.resolution.clone() },
            then: HasLength { duration_seconds: rule.durations.clone() },
        }
    }
}

/// The price of a video.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct VideoEstimate {
    pub duration_seconds: u32,
    pub resolution: String,
    pub credits: i64,
}

/// Lists the options of videos with their prices.
///
/// # Errors
/// None.
pub async fn options(act: &Act) -> Result<Reply<VideoOptions>> {
    let ai = &crate::settings(&act.cx).ai;
    let provider = |provider: VideoProvider| ProviderOptions {
        id: provider.as_str().into(),
        configured: ai.offers_video(provider),
        sandbox: ai.is_sandbox,
        models: ai.video_models(provider).enumerate().map(|it| model(ai, it)).collect(),
    };
    let providers = VideoProvider::ALL.into_iter().map(provider).collect();
    Ok(Reply::ok(&VideoOptions { providers, as_of: ai.catalogue.as_of.clone() }))
}

fn model(ai: &Ai, (nth, model): (usize, &VideoModel)) -> ModelOptions {
    let estimates = model.resolutions.iter().flat_map(|resolution| {
        let estimate = |seconds: &u32| {
            let cents = model.cost(*seconds, resolution, false)?;
            let (resolution, credits) = (resolution.clone(), ai.credits(cents));
            Some(VideoEstimate { duration_seconds: *seconds, resolution, credits })
        };
        model.durations_at(resolution).iter().filter_map(estimate)
    });
    #[expect(clippy::cast_precision_loss, reason = "prices are small")]
    let times = |cents: i64| cents as f64 * ai.factor;
    ModelOptions {
        id: model.id.clone(),
        default: nth == 0,
        input_modes: vec!["text".into(), "image".into()],
        durations: model.durations.clone(),
        resolutions: model.resolutions.clone(),
        aspect_ratios: model.aspect_ratios.clone(),
        audio: match model.audio {
            Audio::Optional => "optional".into(),
            Audio::Always => "always".into(),
        },
        rules: model.rules.iter().map(RuleOptions::of).collect(),
        credits_per_second: model
            .credits_per_second
            .iter()
            .map(|(resolution, cents)| (resolution.clone(), times(*cents)))
            .collect(),
        credits_with_image: times(model.with_image),
        estimates: estimates.collect(),
    }
}
