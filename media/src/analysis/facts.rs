//! The facts of a file.

use serde::{Deserialize, Serialize};

use crate::Flaw;

/// The largest number of pixels of a side.
const MAX_SIDE: u32 = 20_000;
/// The largest number of pixels of a picture or frame.
const MAX_PIXELS: u64 = 100_000_000;

/// The facts that an analysis found. Fields that a type does not have, or that could not be read, are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The media type, detected from the bytes.
    pub mime: String,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The displayed width in pixels.
    pub width: Option<u32>,
    /// The displayed height in pixels.
    pub height: Option<u32>,
    /// The rotation of video frames for display, in degrees clockwise.
    pub rotation: u16,
    /// The Exif orientation of a picture: 1 (as stored) to 8; 0 if unknown.
    pub orientation: u8,
    /// The width of a stored pixel divided by its height, if pixels are not square.
    pub pixel_aspect: Option<f64>,
    /// The colour space of a picture that is not sRGB: `profile` or `cmyk`.
    pub colours: Option<String>,
    /// The duration of a video or an animation.
    pub duration_ms: Option<u64>,
    /// The number of frames per second.
    pub frame_rate: Option<f64>,
    /// The video codec, for example `h264`.
    pub video_codec: Option<String>,
    /// The profile of the video codec, for example `High`.
    pub video_profile: Option<String>,
    /// The pixel format, for example `yuv420p`.
    pub pixel_format: Option<String>,
    /// The transfer function, for example `bt709`. `smpte2084` and `arib-std-b67` have a high dynamic range.
    pub transfer: Option<String>,
    /// The audio codec, for example `aac`. Absent if there is no audio.
    pub audio_codec: Option<String>,
    /// The profile of the audio codec, for example `LC`.
    pub audio_profile: Option<String>,
    /// The number of audio channels.
    pub channels: Option<u32>,
    /// The bit rate of audio and video together.
    pub bit_rate: Option<u64>,
    /// True if parts may be transparent.
    pub alpha: bool,
    /// True if a picture is animated.
    pub animated: bool,
    /// True if the index of an MP4 or MOV file comes before its frames, so that it can be played while it loads.
    pub faststart: Option<bool>,
    /// A BlurHash.
    pub placeholder: Option<String>,
}

impl Facts {
    /// Returns the width and height, if both are known.
    #[must_use]
    pub fn size(&self) -> Option<(u32, u32)> {
        self.width.zip(self.height)
    }

    /// Checks the size. Larger pictures are never decoded.
    pub(crate) fn check_size(&self) -> Result<(), Flaw> {
        let Some((width, height)) = self.size() else { return Ok(()) };
        let pixels = u64::from(width) * u64::from(height);
        if width.max(height) <= MAX_SIDE && pixels <= MAX_PIXELS {
            return Ok(());
        }
        Err(Flaw::TooManyPixels { width, height, side: MAX_SIDE, pixels: MAX_PIXELS })
    }

    /// Returns true if a picture looks right only in a viewer that applies its orientation, colour space or pixel
    /// shape.
    #[must_use]
    pub fn needs_redraw(&self) -> bool {
        self.orientation > 1 || self.pixel_aspect.is_some() || self.colours.is_some()
    }

    /// Returns true if a video has a high dynamic range.
    pub(crate) fn is_hdr(&self) -> bool {
        matches!(self.transfer.as_deref(), Some("smpte2084" | "arib-std-b67"))
    }

    pub(crate) fn is_video(&self) -> bool {
        self.mime.starts_with("video/")
    }
}
