//! The limits of photos and videos of business profiles. They hold for a file whenever it is known well enough: when it is
//! added, or when its analysis has ended.

use fanfare_core::error::Code;
use fanfare_media::Facts;

/// The smallest and largest photo in bytes, and its minimum side in pixels.
const PHOTO_BYTES: (i64, i64) = (LEAST_PHOTO, 25_000_000);
const PHOTO_SIDE: i32 = 250;

/// The smallest size of a photo, in bytes.
pub(crate) const LEAST_PHOTO: i64 = 10 << 10;

/// The types of photos that are uploaded as they are, and those that are converted before.
const PHOTOS: [&str; 2] = ["image/jpeg", "image/png"];
const CONVERTED: [&str; 2] = ["image/gif", "image/webp"];

const VIDEO_BYTES: i64 = 75_000_000;

/// The longest video in ms, and the minimum number of lines it must have.
const VIDEO_MS: u64 = 30_000;
const VIDEO_LINES: u32 = 720;

/// The known facts of a file.
pub(crate) struct FileFacts<'a> {
    /// It is added as a video.
    pub(crate) video: bool,
    /// Its type.
    pub(crate) mime: &'a str,
    /// Its size in bytes.
    pub(crate) bytes: Option<i64>,
    /// Its width and height in pixels.
    pub(crate) sides: [Option<i32>; 2],
    /// The result of its analysis; `None` while there is none.
    pub(crate) facts: Option<&'a Facts>,
}

/// A limit that a file breaks.
pub(crate) struct MediaFlaw {
    /// The code.
    pub(crate) code: Code,
    /// The limit and what the file has, in words.
    pub(crate) message: String,
    /// The remedy.
    pub(crate) remedy: &'static str,
}

fn flaw(code: Code, message: impl Into<String>, remedy: &'static str) -> MediaFlaw {
    MediaFlaw { code, message: message.into(), remedy }
}

impl FileFacts<'_> {
    /// Returns the limits that the file is known to break.
    pub(crate) fn flaws(&self) -> Vec<MediaFlaw> {
        let is_converted = !self.video && CONVERTED.contains(&self.mime);
        let fits = match self.video {
            true => self.mime.starts_with("video/"),
            false => is_converted || PHOTOS.contains(&self.mime),
        };
        let mut flaws = Vec::new();
        if !fits {
            let wanted = if self.video { "a video" } else { "JPEG, PNG, GIF or WebP" };
            let message = format!("The file is {}; it must be {wanted}.", self.mime);
            flaws.push(flaw(Code::MediaTypeUnsupported, message, "Convert it."));
        }
        let (least, most) = if self.video { (0, VIDEO_BYTES) } else { PHOTO_BYTES };
        let bytes = self.bytes.unwrap_or(least);
        if bytes > most {
            let message = format!("The file has {bytes} bytes; it may have {most}.");
            flaws.push(flaw(Code::MediaTooLarge, message, "Send a smaller file."));
        }
        if self.video && fits {
            flaws.extend(self.facts.into_iter().flat_map(film_flaws));
            return flaws;
        }
        if is_converted && self.facts.is_some_and(|facts| facts.animated) {
            let message = "The picture moves; only a photo is taken.";
            let remedy = "Send one that stands still.";
            flaws.push(flaw(Code::MediaTypeUnsupported, message, remedy));
        }
        // The size in bytes of a converted file is known after the conversion.
        let is_small = self.sides.iter().flatten().any(|side| *side < PHOTO_SIDE);
        if (bytes < least && !is_converted) || is_small {
            let message = "The photo is smaller than 10 KB or 250 by 250 pixels.";
            flaws.push(flaw(Code::MediaDimensionsUnsupported, message, "Send a larger one."));
        }
        flaws
    }
}

fn film_flaws(facts: &Facts) -> Vec<MediaFlaw> {
    let mut flaws = Vec::new();
    if let Some(length) = facts.duration_ms.filter(|length| *length > VIDEO_MS) {
        let message = format!("The video lasts {:.1} s; it may last 30.", seconds(length));
        flaws.push(flaw(Code::VideoTooLong, message, "Cut it."));
    }
    if let Some(lines) = facts.size().map(|(width, height)| width.min(height))
        && lines < VIDEO_LINES
    {
        let message = format!("The video has {lines} lines; it needs {VIDEO_LINES}.");
        flaws.push(flaw(Code::MediaDimensionsUnsupported, message, "Send a larger one."));
    }
    flaws
}

#[expect(clippy::cast_precision_loss, reason = "videos are short")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes that a file of this kind, type, size and sides breaks.
    fn broken(video: bool, mime: &str, bytes: i64, sides: [i32; 2]) -> Vec<&'static str> {
        let known =
            FileFacts { video, mime, bytes: Some(bytes), sides: sides.map(Some), facts: None };
        known.flaws().iter().map(|flaw| flaw.code.entry().code).collect()
    }

    /// The limits as Google writes them: photos JPEG or PNG, 10 KB to 25 MB, 250 pixels; videos up to 75 MB.
    #[test]
    fn each_limit_of_a_file_holds_at_its_edge() {
        let none: [&str; 0] = [];
        for mime in ["image/jpeg", "image/png"] {
            assert_eq!(broken(false, mime, 10_240, [250, 250]), none);
            assert_eq!(broken(false, mime, 25_000_000, [4_000, 250]), none);
            let small = ["media_dimensions_unsupported"];
            assert_eq!(broken(false, mime, 10_239, [250, 250]), small);
            assert_eq!(broken(false, mime, 10_240, [249, 250]), small);
            assert_eq!(broken(false, mime, 10_240, [250, 249]), small);
            assert_eq!(broken(false, mime, 25_000_001, [250, 250]), ["media_too_large"]);
        }
        assert_eq!(broken(true, "video/mp4", 75_000_000, [1_280, 720]), none);
        assert_eq!(broken(true, "video/mp4", 75_000_001, [1_280, 720]), ["media_too_large"]);
        for (video, mime) in [(true, "image/png"), (false, "video/mp4"), (false, "application/pdf")]
        {
            assert_eq!(broken(video, mime, 20_000, [800, 800]), ["media_type_unsupported"]);
        }
    }
}
