//! Properties of videos, and the properties that a network accepts.

use crate::Media;

/// The analysed properties of a video; unknown ones are absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VideoProperties {
    /// Video codec, as ffprobe names it: `h264`.
    pub codec: Option<String>,
    /// Profile of that codec: `High`.
    pub profile: Option<String>,
    /// Pixel format: `yuv420p`.
    pub pixels: Option<String>,
    /// The transfer function, for example `bt709`.
    pub transfer: Option<String>,
    /// Audio codec; absent if there is no audio.
    pub sound: Option<String>,
    /// Profile of the audio codec: `LC`.
    pub sound_profile: Option<String>,
    /// Audio channels.
    pub channels: Option<u32>,
    /// Frames per second.
    pub frame_rate: Option<f64>,
    /// Bits per second, audio and video together.
    pub bit_rate: Option<u64>,
    /// True if the index of an MP4 or MOV file comes before its frames.
    pub faststart: Option<bool>,
}

impl VideoProperties {
    /// Returns true for high dynamic range (ITU-R BT.2100: PQ or HLG).
    #[must_use]
    pub fn is_hdr(&self) -> bool {
        matches!(self.transfer.as_deref(), Some("smpte2084" | "arib-std-b67"))
    }
}

/// A video format that a network accepts unchanged. A video that is known not to match is converted before it is
/// published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VideoFormat {
    /// Media types.
    pub types: &'static [&'static str],
    /// Video codecs.
    pub codecs: &'static [&'static str],
    /// Profiles of the codec; empty: any.
    pub profiles: &'static [&'static str],
    /// Pixel formats.
    pub pixels: &'static [&'static str],
    /// Audio codecs.
    pub sounds: &'static [&'static str],
    /// Profiles of the audio codec; empty: any.
    pub sound_profiles: &'static [&'static str],
    /// Most audio channels.
    pub channels_max: Option<u32>,
    /// Fewest and most frames per second.
    pub frame_rate: (f64, f64),
    /// Widest in pixels.
    pub width_max: Option<u32>,
    /// Most bits per second.
    pub bit_rate_max: Option<u64>,
    /// True if the index must come before the frames.
    pub faststart: bool,
}

impl VideoFormat {
    /// H.264 of 8 bits and 4:2:0 with AAC, which every network plays.
    pub const H264: Self = Self {
        types: &["video/mp4", "video/quicktime", "video/x-m4v"],
        codecs: &["h264"],
        profiles: &["Constrained Baseline", "Baseline", "Main", "High"],
        pixels: &["yuv420p", "yuvj420p"],
        sounds: &["aac"],
        sound_profiles: &[],
        channels_max: None,
        frame_rate: (0.0, 120.0),
        width_max: None,
        bit_rate_max: None,
        faststart: false,
    };

    /// WebM, as browsers play it.
    pub const WEBM: Self = Self {
        types: &["video/webm"],
        codecs: &["vp8", "vp9"],
        profiles: &[],
        pixels: &["yuv420p"],
        sounds: &["opus", "vorbis"],
        ..Self::H264
    };

    /// Returns true if no known property of the video violates this format.
    pub(crate) fn accepts(&self, media: &Media, film: &VideoProperties) -> bool {
        let named = |list: &[&str], name: &Option<String>| {
            list.is_empty() || name.as_deref().is_none_or(|name| list.contains(&name))
        };
        // Rates are measured, so 24 may be reported as 23.976.
        let rate = (self.frame_rate.0 - 0.1)..=(self.frame_rate.1 + 0.1);
        let width = media.dimensions.map(|(width, _)| width);
        self.types.contains(&media.mime.as_str())
            && named(self.codecs, &film.codec)
            && named(self.profiles, &film.profile)
            && named(self.pixels, &film.pixels)
            && named(self.sounds, &film.sound)
            && named(self.sound_profiles, &film.sound_profile)
            && film.channels.zip(self.channels_max).is_none_or(|(has, most)| has <= most)
            && film.frame_rate.is_none_or(|has| rate.contains(&has))
            && width.zip(self.width_max).is_none_or(|(has, most)| has <= most)
            && film.bit_rate.zip(self.bit_rate_max).is_none_or(|(has, most)| has <= most)
            && !(self.faststart && film.faststart == Some(false))
            && !film.is_hdr()
            && !media.needs_redraw
    }
}
