//! Properties of videos, and the properties that a network accepts.

use crate::Media;

/// The properties of a video that an analysis found; unknown ones are absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Film {
    /// Codec of the picture, as ffprobe names it: `h264`.
    pub codec: Option<String>,
    /// Profile of that codec: `High`.
    pub profile: Option<String>,
    /// Pixel format: `yuv420p`.
    pub pixels: Option<String>,
    /// The transfer function, for example `bt709`.
    pub transfer: Option<String>,
    /// Codec of the sound; absent if there is none.
    pub sound: Option<String>,
    /// Profile of the sound's codec: `LC`.
    pub sound_profile: Option<String>,
    /// Channels of sound.
    pub channels: Option<u32>,
    /// Frames a second.
    pub frame_rate: Option<f64>,
    /// Bits a second, sound and picture together.
    pub bit_rate: Option<u64>,
    /// The index of an MP4 or MOV file stands before its frames.
    pub faststart: Option<bool>,
}

impl Film {
    /// True if its light is written for screens of high dynamic range (ITU-R BT.2100: PQ or HLG).
    #[must_use]
    pub fn is_hdr(&self) -> bool {
        matches!(self.transfer.as_deref(), Some("smpte2084" | "arib-std-b67"))
    }
}

/// A form of video that a network takes as it is. What is known of a video and does not fit is converted before it goes out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VideoForm {
    /// Types of file.
    pub types: &'static [&'static str],
    /// Codecs of the picture.
    pub codecs: &'static [&'static str],
    /// Profiles of the codec; empty: any.
    pub profiles: &'static [&'static str],
    /// Pixel formats.
    pub pixels: &'static [&'static str],
    /// Codecs of the sound.
    pub sounds: &'static [&'static str],
    /// Profiles of the sound's codec; empty: any.
    pub sound_profiles: &'static [&'static str],
    /// Most channels of sound.
    pub channels_max: Option<u32>,
    /// Fewest and most frames a second.
    pub frame_rate: (f64, f64),
    /// Widest in pixels.
    pub width_max: Option<u32>,
    /// Most bits a second.
    pub bit_rate_max: Option<u64>,
    /// The index has to stand before the frames.
    pub faststart: bool,
}

impl VideoForm {
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

    /// WebM as browsers play it.
    pub const WEBM: Self = Self {
        types: &["video/webm"],
        codecs: &["vp8", "vp9"],
        profiles: &[],
        pixels: &["yuv420p"],
        sounds: &["opus", "vorbis"],
        ..Self::H264
    };

    /// True if nothing that is known of the video speaks against it.
    pub(crate) fn fits(&self, media: &Media, film: &Film) -> bool {
        let named = |list: &[&str], name: &Option<String>| {
            list.is_empty() || name.as_deref().is_none_or(|name| list.contains(&name))
        };
        // Rates are measured, so that 24 may be told as 23.976.
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
