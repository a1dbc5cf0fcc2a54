//! Which files must be converted to be accepted, and to what.

use super::rules;
use crate::{Draft, Media, MediaRules, Spec};

/// Types of images that can be converted.
const IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];
/// Types of videos that can be converted to MP4.
const VIDEOS: &[&str] = &["video/mp4", "video/quicktime", "video/webm", "video/x-m4v"];

const JPEG: &str = "image/jpeg";
const PNG: &str = "image/png";
const MP4: &str = "video/mp4";

/// The target of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversion {
    /// Type.
    pub mime: &'static str,
    /// Most bytes.
    pub bytes_max: u64,
    /// The largest width in pixels; 0 keeps the width.
    pub width_max: u32,
}

/// Returns, for each file of the post in order, what it must be converted to; `None` if it is accepted unchanged, or
/// cannot be converted.
#[must_use]
pub fn conversions(spec: &Spec, draft: &Draft) -> Vec<Option<Conversion>> {
    let rules = rules(spec, &draft.post_type);
    draft.media.iter().map(|media| of(&rules, media)).collect()
}

/// Returns what a file must be converted to under these rules.
#[must_use]
pub fn of(rules: &MediaRules, media: &Media) -> Option<Conversion> {
    if media.is_video() && rules.videos_max > 0 {
        let foreign =
            !rules.video_types.contains(&media.mime.as_str()) || needs_transcoding(rules, media);
        let possible = VIDEOS.contains(&media.mime.as_str()) && rules.video_types.contains(&MP4);
        return (foreign && possible).then_some(Conversion {
            mime: MP4,
            bytes_max: rules.video_bytes_max,
            width_max: rules
                .video_forms
                .iter()
                .filter_map(|form| form.width_max)
                .min()
                .unwrap_or(0),
        });
    }
    if media.is_image() && rules.images_max > 0 { of_image(rules, media) } else { None }
}

/// Returns true if the known properties of a video match none of the formats that the network accepts.
fn needs_transcoding(rules: &MediaRules, media: &Media) -> bool {
    let Some(film) = &media.video else { return false };
    !rules.video_forms.is_empty() && rules.video_forms.iter().all(|form| !form.accepts(media, film))
}

fn of_image(rules: &MediaRules, media: &Media) -> Option<Conversion> {
    let taken = |mime: &str| rules.image_types.contains(&mime);
    let (mime, width) = (media.mime.as_str(), target_width(rules, media));
    let passes = taken(mime)
        && media.bytes.is_none_or(|bytes| bytes <= rules.image_bytes_max)
        && width.is_none()
        && !media.needs_redraw;
    // A conversion would lose the animation.
    if passes || media.animated || !IMAGES.contains(&mime) {
        return None;
    }
    let keeps_alpha = media.alpha && taken(PNG);
    let target = [PNG, JPEG].into_iter().filter(|target| taken(target));
    let target = target.max_by_key(|target| (*target == PNG) == keeps_alpha)?;
    Some(Conversion {
        mime: target,
        bytes_max: rules.image_bytes_max,
        width_max: width.unwrap_or(0),
    })
}

/// Returns the width that an image must be scaled to, if it is too wide or too large.
fn target_width(rules: &MediaRules, media: &Media) -> Option<u32> {
    let (width, height) = media.dimensions?;
    let narrow = rules.frame.image_width_max.filter(|most| width > *most);
    let sides = u64::from(width) + u64::from(height);
    let small = rules.frame.image_sides_max.filter(|most| sides > u64::from(*most));
    let small = small.map(|most| u64::from(width) * u64::from(most) / sides.max(1));
    let small = small.and_then(|width| u32::try_from(width).ok()).map(|width| width.max(1));
    narrow.into_iter().chain(small).min()
}
