//! Checks the known dimensions and lengths of media.

use super::Violation;
use crate::{Media, MediaRules, PlatformId};

/// Returns the violations of an image's dimensions.
pub fn image(id: PlatformId, rules: &MediaRules, media: &Media, field: &str) -> Vec<Violation> {
    let Some((width, height)) = media.dimensions else { return Vec::new() };
    let ratio = ratio(id, "image", rules.frame.image_ratio, (width, height), field);
    let narrow = rules.frame.image_width_min.filter(|least| width < *least).map(|least| {
        let message = format!("The image is {width} pixels wide; {id} takes {least} and more.");
        let remedy = format!("Use an image at least {least} pixels wide.");
        Violation::new(field, "media_dimensions_unsupported", message, remedy)
            .with_limit(least, width)
            .in_unit("pixels")
    });
    ratio.into_iter().chain(narrow).collect()
}

/// Returns the violations of a video's dimensions and length.
pub fn video(id: PlatformId, rules: &MediaRules, media: &Media, field: &str) -> Vec<Violation> {
    let size = media.dimensions;
    let ratio = size.and_then(|size| ratio(id, "video", rules.frame.video_ratio, size, field));
    let short = rules.frame.video_ms_min.zip(media.duration_ms).filter(|(least, ms)| ms < least);
    let short = short.map(|(least, actual)| {
        let seconds = |ms: u64| std::time::Duration::from_millis(ms).as_secs_f64();
        let message = format!(
            "The video lasts {} s; {id} takes {} s and more.",
            seconds(actual),
            seconds(least)
        );
        let remedy = format!("Use a video of at least {} s.", seconds(least));
        let broken = Violation::new(field, "video_too_short", message, remedy);
        broken.with_limit(least, actual).in_unit("milliseconds")
    });
    ratio.into_iter().chain(short).collect()
}

fn ratio(
    id: PlatformId,
    what: &str,
    taken: Option<(f64, f64)>,
    (width, height): (u32, u32),
    field: &str,
) -> Option<Violation> {
    let (least, most) = taken?;
    let actual = f64::from(width) / f64::from(height.max(1));
    // A difference of one pixel comes from rounding.
    let slack = 1.0 / f64::from(width.min(height).max(1));
    if (least * (1.0 - slack)..=most * (1.0 + slack)).contains(&actual) {
        return None;
    }
    let actual = (actual * 1_000.0).round() / 1_000.0;
    let message = format!(
        "The {what} is {width} × {height} pixels, {actual} times as wide as high; {id} takes {least} to {most}."
    );
    let remedy = format!("Crop the {what} to between {least} and {most} times as wide as high.");
    let violation = Violation::new(field, "media_aspect_unsupported", message, remedy);
    Some(violation.with_limit([least, most], actual))
}
