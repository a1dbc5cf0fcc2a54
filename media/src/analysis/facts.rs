//! The facts of a file.

use serde::{Deserialize, Serialize};

use crate::Flaw;

/// Most pixels of a side.
const MOST_SIDE: u32 = 20_000;
/// Most pixels in all.
const MOST_PIXELS: u64 = 100_000_000;

/// The facts that an analysis found. Fields that a type does not have, or that could not be read, are absent.
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
    /// The rotation of a film's frames for display, in degrees clockwise.
    pub rotation: u16,
    /// The Exif orientation of a picture: 1 (as stored) to 8; 0 if unknown.
    pub orientation: u8,
    /// Width of a stored pixel over its height, where pixels are not square.
    pub pixel_aspect: Option<f64>,
    /// The colour space of a picture that is not sRGB: `profile` or `cmyk`.
    pub colours: Option<String>,
    /// Length of a film or an animation.
    pub duration_ms: Option<u64>,
    /// Frames a second.
    pub frame_rate: Option<f64>,
    /// For example `h264`.
    pub video_codec: Option<String>,
    /// Profile of that codec, for example `High`.
    pub video_profile: Option<String>,
    /// For example `yuv420p`.
    pub pixel_format: Option<String>,
    /// The transfer function, for example `bt709`; `smpte2084` and `arib-std-b67` have a high dynamic range.
    pub transfer: Option<String>,
    /// For example `aac`; absent if there is no sound.
    pub audio_codec: Option<String>,
    /// Profile of that codec, for example `LC`.
    pub audio_profile: Option<String>,
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

    /// Larger pictures are never decoded.
    pub(crate) fn check_size(&self) -> Result<(), Flaw> {
        let Some((width, height)) = self.size() else { return Ok(()) };
        let pixels = u64::from(width) * u64::from(height);
        if width.max(height) <= MOST_SIDE && pixels <= MOST_PIXELS {
            return Ok(());
        }
        Err(Flaw::TooManyPixels { width, height, side: MOST_SIDE, pixels: MOST_PIXELS })
    }

    /// True if a picture looks as it is meant only to a reader that turns it, converts its colours or stretches it.
    #[must_use]
    pub fn needs_redraw(&self) -> bool {
        self.orientation > 1 || self.pixel_aspect.is_some() || self.colours.is_some()
    }

    /// True if a film is written for screens of high dynamic range.
    pub(crate) fn is_hdr(&self) -> bool {
        matches!(self.transfer.as_deref(), Some("smpte2084" | "arib-std-b67"))
    }

    pub(crate) fn is_film(&self) -> bool {
        self.mime.starts_with("video/")
    }
}
