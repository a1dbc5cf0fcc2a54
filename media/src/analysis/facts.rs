//! What is known of a file.

use serde::{Deserialize, Serialize};

use crate::Flaw;

/// Most pixels of a side.
const MOST_SIDE: u32 = 20_000;
/// Most pixels in all.
const MOST_PIXELS: u64 = 100_000_000;

/// What an analysis found. Fields that a type does not have, or that could not be learned, are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Media type, told by the bytes.
    pub mime: String,
    /// Size of the file.
    pub bytes: u64,
    /// Pixels, as it is shown.
    pub width: Option<u32>,
    /// Pixels, as it is shown.
    pub height: Option<u32>,
    /// How far the stored picture is turned to be shown, in degrees clockwise.
    pub rotation: u16,
    /// Length of a film or an animation.
    pub duration_ms: Option<u64>,
    /// Frames a second.
    pub frame_rate: Option<f64>,
    /// For example `h264`.
    pub video_codec: Option<String>,
    /// For example `aac`; absent if there is no sound.
    pub audio_codec: Option<String>,
    /// Channels of sound.
    pub channels: Option<u32>,
    /// Bits a second, sound and picture together.
    pub bit_rate: Option<u64>,
    /// Parts may be transparent.
    pub alpha: bool,
    /// A picture that moves.
    pub animated: bool,
    /// The index of an MP4 or MOV file stands before its frames, so that it can be played while it loads.
    pub faststart: Option<bool>,
    /// A BlurHash.
    pub placeholder: Option<String>,
}

impl Facts {
    /// Width and height, if both are known.
    #[must_use]
    pub fn size(&self) -> Option<(u32, u32)> {
        self.width.zip(self.height)
    }

    /// Nothing larger is decoded, by whatever means.
    pub(crate) fn check_size(&self) -> Result<(), Flaw> {
        let Some((width, height)) = self.size() else { return Ok(()) };
        let pixels = u64::from(width) * u64::from(height);
        if width.max(height) <= MOST_SIDE && pixels <= MOST_PIXELS {
            return Ok(());
        }
        Err(Flaw::TooManyPixels { width, height, side: MOST_SIDE, pixels: MOST_PIXELS })
    }

    pub(crate) fn is_film(&self) -> bool {
        self.mime.starts_with("video/")
    }
}
