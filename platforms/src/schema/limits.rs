//! The limits of texts and media, as the API shows them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{MediaRules, Spec, VideoFormat};

/// The limits of texts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContentLimits {
    caption_max: usize,
    caption_max_with_media: usize,
    caption_max_with_video: usize,
    caption_max_bytes: Option<usize>,
    /// The unit of the limits.
    unit: &'static str,
    /// The longest alt text, in characters; 0 where there are no alt texts.
    alt_text_max: usize,
    /// The hours within which the network may refuse a text that the account posted before; null where it is not known to.
    /// The hours are ours: the networks name none.
    equal_text_hours: Option<u32>,
}

/// The limits of media.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MediaLimits {
    /// Fewest files.
    min: usize,
    /// Most files.
    total_max: usize,
    images_max: usize,
    videos_max: usize,
    /// True if images and videos may be mixed.
    mixed: bool,
    image_types: &'static [&'static str],
    video_types: &'static [&'static str],
    /// The formats of videos that are accepted unchanged; others are converted.
    video_forms: Vec<VideoFormDescription>,
    image_bytes_max: u64,
    video_bytes_max: u64,
    video_duration_ms_max: Option<u64>,
    video_duration_ms_min: Option<u64>,
    /// The smallest and the largest ratio of width to height.
    video_ratio: Option<(f64, f64)>,
    /// The smallest and the largest ratio of width to height.
    image_ratio: Option<(f64, f64)>,
    image_width_min: Option<u32>,
    image_width_max: Option<u32>,
}

/// A permitted combination of codecs in a video.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "VideoForm")]
struct VideoFormDescription {
    types: &'static [&'static str],
    video_codecs: &'static [&'static str],
    video_profiles: &'static [&'static str],
    pixel_formats: &'static [&'static str],
    audio_codecs: &'static [&'static str],
    audio_profiles: &'static [&'static str],
    audio_channels_max: Option<u32>,
    /// The fewest and the most frames per second.
    frame_rate: (f64, f64),
    width_max: Option<u32>,
    bit_rate_max: Option<u64>,
    /// True if the index must come before the frames (fast start).
    faststart: bool,
}

impl ContentLimits {
    /// Returns the limits of a network, or of an account.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        let with_media = spec.caption.max_with_media;
        Self {
            caption_max: spec.caption.max,
            caption_max_with_media: with_media.unwrap_or(spec.caption.max),
            caption_max_with_video: spec
                .caption_max_with_video
                .or(with_media)
                .unwrap_or(spec.caption.max),
            caption_max_bytes: spec.caption.max_bytes,
            unit: spec.caption.unit,
            alt_text_max: spec.alt_text_max,
            equal_text_hours: spec.equal_text_hours,
        }
    }
}

impl MediaLimits {
    /// Returns the limits of a network, an account or a type of post.
    #[must_use]
    pub fn of(rules: &MediaRules) -> Self {
        Self {
            min: rules.min,
            total_max: rules.total_max,
            images_max: rules.images_max,
            videos_max: rules.videos_max,
            mixed: rules.mixed,
            image_types: rules.image_types,
            video_types: rules.video_types,
            video_forms: rules.video_forms.iter().map(VideoFormDescription::of).collect(),
            image_bytes_max: rules.image_bytes_max,
            video_bytes_max: rules.video_bytes_max,
            video_duration_ms_max: rules.video_ms_max,
            video_duration_ms_min: rules.frame.video_ms_min,
            video_ratio: rules.frame.video_ratio,
            image_ratio: rules.frame.image_ratio,
            image_width_min: rules.frame.image_width_min,
            image_width_max: rules.frame.image_width_max,
        }
    }
}

impl VideoFormDescription {
    fn of(form: &VideoFormat) -> Self {
        Self {
            types: form.types,
            video_codecs: form.codecs,
            video_profiles: form.profiles,
            pixel_formats: form.pixels,
            audio_codecs: form.sounds,
            audio_profiles: form.sound_profiles,
            audio_channels_max: form.channels_max,
            frame_rate: form.frame_rate,
            width_max: form.width_max,
            bit_rate_max: form.bit_rate_max,
            faststart: form.faststart,
        }
    }
}
