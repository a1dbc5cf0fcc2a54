//! Rules that the descriptor cannot express.

use super::{PHOTO_TITLE_MAX, content, settings::Settings};
use crate::{Draft, Media, Violation, Warning, WarningCode, text::utf16_units};

/// Fewest and most pixels of a side of a video.
const SIDE: std::ops::RangeInclusive<u32> = 360..=4_096;

/// Returns the violations of rules that the descriptor cannot express.
pub(super) fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found = Vec::new();
    found.extend(title(&settings));
    found.extend(kind(draft, &settings));
    if settings.brand_content_toggle && settings.privacy_level.as_deref() == Some("SELF_ONLY") {
        found.push(invalid(
            "brand_content_toggle",
            "TikTok takes no paid partnership that only its creator sees.",
            "Choose another privacy_level, or leave out brand_content_toggle.",
        ));
    }
    if settings.photo_cover_index.is_some_and(|index| index >= draft.media.len()) {
        found.push(invalid(
            "photo_cover_index",
            "There is no image of this index.",
            "Count the images from 0.",
        ));
    }
    found.extend(sides(draft));
    found
}

fn title(settings: &Settings) -> Option<Violation> {
    let length = utf16_units(settings.title.as_deref()?);
    (length > PHOTO_TITLE_MAX).then(|| {
        let message =
            format!("The title has {length} UTF-16 units; tiktok allows {PHOTO_TITLE_MAX}.");
        let remedy = format!("Shorten the title to {PHOTO_TITLE_MAX}; emoji take two or more.");
        invalid("title", &message, &remedy)
            .with_limit(PHOTO_TITLE_MAX, length)
            .in_unit("UTF-16 units")
    })
}

fn kind(draft: &Draft, settings: &Settings) -> Option<Violation> {
    let (wrong, files) = match settings.media_type.as_deref()? {
        "PHOTO" => (draft.media.iter().any(Media::is_video), "images"),
        _ => (draft.media.iter().any(Media::is_image), "a video"),
    };
    wrong.then(|| {
        let message = format!("This media_type needs {files}.");
        invalid("media_type", &message, "Leave out media_type, or change the files.")
    })
}

fn sides(draft: &Draft) -> Vec<Violation> {
    let videos = draft.media.iter().enumerate().filter(|(_, media)| media.is_video());
    let sized = videos.filter_map(|(index, media)| Some((index, media.dimensions?)));
    sized
        .filter(|(_, (width, height))| !SIDE.contains(width) || !SIDE.contains(height))
        .map(|(index, (width, height))| {
            Violation::new(
                format!("media_urls[{index}]"),
                "video_exceeds_platform_limit",
                format!(
                    "The video has {width} by {height} pixels; tiktok takes sides of {} to {}.",
                    SIDE.start(),
                    SIDE.end()
                ),
                "Scale the video.",
            )
            .with_limit(
                if width.min(height) < *SIDE.start() { *SIDE.start() } else { *SIDE.end() },
                if width.min(height) < *SIDE.start() {
                    width.min(height)
                } else {
                    width.max(height)
                },
            )
            .in_unit("pixels")
        })
        .collect()
}

/// Returns warnings about values without effect.
pub(super) fn warnings(draft: &Draft) -> Vec<Warning> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let (video, still) = (content::is_video(draft), draft.media.iter().any(Media::is_image));
    let of_videos = "TikTok takes this for videos only: it has no effect on a slideshow.";
    let of_photos = "TikTok takes this for slideshows only: it has no effect on a video.";
    let rules = [
        (still && settings.disable_duet, "disable_duet", of_videos),
        (still && settings.disable_stitch, "disable_stitch", of_videos),
        (
            still && settings.video_cover_timestamp_ms.is_some(),
            "video_cover_timestamp_ms",
            of_videos,
        ),
        (still && settings.ai_generated, "ai_generated", of_videos),
        (still && settings.ai_disclosure, "ai_disclosure", of_videos),
        (video && settings.auto_add_music, "auto_add_music", of_photos),
        (video && settings.photo_cover_index.is_some(), "photo_cover_index", of_photos),
        (
            video && settings.title.is_some() && !draft.caption.is_empty(),
            "title",
            "A video has its caption as title: beside one this has no effect.",
        ),
    ];
    let told = rules.into_iter().filter(|(applies, ..)| *applies);
    let warning = |(_, name, message)| {
        let cause = if name == "title" { "caption" } else { "media_urls" };
        Warning::new(WarningCode::NoEffect, format!("settings.{name}"), message).because(cause)
    };
    told.map(warning).collect()
}

fn invalid(name: &str, message: &str, remedy: &str) -> Violation {
    Violation::new(format!("settings.{name}"), "setting_invalid", message, remedy)
}
