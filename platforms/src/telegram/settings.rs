//! The `settings` of a Telegram post.

use serde::{Deserialize, Serialize};

use super::{PHOTO_BYTES_MAX, markup};
use crate::{Draft, Media, Shape, Violation, settings::settings, text};

/// Longest video of a live photo (<https://core.telegram.org/bots/api#sendlivephoto>).
const LIVE_MS_MAX: u64 = 10_000;

settings! {
    /// The settings of a message.
    Settings {
        /// Markup of the caption; without it the caption is plain text.
        optional parse_mode: Option<ParseMode> = Shape::Choice(&["HTML", "MarkdownV2"]),
        /// Buttons below the message, one a row, that open an address.
        optional inline_buttons: Vec<Button> = Shape::List {
            of: &Shape::Object(Button::FIELDS),
            min: 1,
            max: 100,
        },
        /// A poll; a caption or media go before it.
        optional poll: Option<Poll> = Shape::Object(Poll::FIELDS),
        /// Address of the picture shown before the video plays; one video only.
        optional video_cover_url: Option<String> = Shape::Url,
        /// Makes one photo and one video of up to 10 s and 10 MB a live photo.
        optional is_live_photo: bool = Shape::Bool,
        /// Second at which the video starts to play; one video only.
        optional start_timestamp: Option<i64> = Shape::Integer { min: 0, max: 86_400 },
    }

    /// A button below a message.
    Button {
        /// The text on the button.
        required text: String = Shape::Text { min: 1, max: 256 },
        /// The address that it opens.
        required url: String = Shape::Url,
    }

    /// A poll.
    Poll {
        /// The question.
        required question: String = Shape::Text { min: 1, max: 300 },
        /// The answers to choose from.
        required options: Vec<String> = Shape::List {
            of: &Shape::Text { min: 1, max: 100 },
            min: 2,
            max: 12,
        },
        /// Hides who voted for what; true unless given, and always in channels.
        optional is_anonymous: Option<bool> = Shape::Bool,
        /// Lets people choose several.
        optional allows_multiple_answers: Option<bool> = Shape::Bool,
    }
}

/// The markup format of a caption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ParseMode {
    #[serde(rename = "HTML")]
    Html,
    MarkdownV2,
}

/// Returns the markup format, even if other settings are invalid.
pub(super) fn parse_mode(draft: &Draft) -> Option<ParseMode> {
    serde_json::from_value(draft.settings.get("parse_mode")?.clone()).ok()
}

/// Checks rules that the list above cannot express.
pub(super) fn check(draft: &Draft) -> Vec<Violation> {
    let mut violations: Vec<_> = markup_violation(draft).into_iter().collect();
    violations.extend(album_violations(&draft.media));
    let Ok(settings) = draft.settings::<Settings>() else { return violations };
    violations.extend(
        settings.is_live_photo.then(|| live_photo_violations(&draft.media)).into_iter().flatten(),
    );
    let is_album = draft.media.len() > 1 && !settings.is_live_photo;
    if is_album && text::is_blank(&draft.caption) && !settings.inline_buttons.is_empty() {
        violations.push(Violation::new(
            "settings.inline_buttons",
            "setting_invalid",
            "Telegram shows no buttons below an album; they go below the caption, and there is none.",
            "Write a caption, use one file, or leave out inline_buttons.",
        ));
    }
    let one_video =
        matches!(draft.media.as_slice(), [media] if media.mime.is_empty() || media.is_video());
    let video_only = [
        ("video_cover_url", settings.video_cover_url.is_some()),
        ("start_timestamp", settings.start_timestamp.is_some()),
    ];
    violations.extend(video_only.iter().filter(|(_, given)| *given && !one_video).map(
        |(name, _)| {
            Violation::new(
                format!("settings.{name}"),
                "setting_invalid",
                format!("{name} needs a post with one video and no other media."),
                format!("Leave out {name}, or post one video."),
            )
        },
    ));
    violations
}

/// Checks the media of a live photo: a photo and a short video.
fn live_photo_violations(media: &[Media]) -> Vec<Violation> {
    let kinds =
        |is: fn(&Media) -> bool| media.iter().filter(|one| one.mime.is_empty() || is(one)).count();
    if media.len() != 2 || kinds(Media::is_image) == 0 || kinds(Media::is_video) == 0 {
        let message = "A live photo is made of one photo and one video.";
        let remedy = "Give one photo and one video, or leave out is_live_photo.";
        return vec![Violation::new("settings.is_live_photo", "setting_invalid", message, remedy)];
    }
    let videos = media.iter().enumerate().filter(|(_, one)| one.is_video());
    let rules = videos.flat_map(|(place, video)| {
        let field = format!("media_urls[{place}]");
        let long = video.duration_ms.filter(|ms| *ms > LIVE_MS_MAX).map(|ms| {
            let message = "The video of a live photo lasts 10 s at most on telegram.";
            Violation::new(&field, "video_too_long", message, "Shorten the video to 10 s.")
                .with_limit(LIVE_MS_MAX, ms)
                .in_unit("milliseconds")
        });
        let large = video.bytes.filter(|bytes| *bytes > PHOTO_BYTES_MAX).map(|bytes| {
            let message = "The video of a live photo has 10 MB at most on telegram.";
            Violation::new(&field, "video_exceeds_platform_limit", message, "Compress the video.")
                .with_limit(PHOTO_BYTES_MAX, bytes)
                .in_unit("bytes")
        });
        [long, large]
    });
    rules.flatten().collect()
}

fn markup_violation(draft: &Draft) -> Option<Violation> {
    let problem = markup::parse(parse_mode(draft)?, &draft.caption).err()?;
    Some(Violation::new(
        "caption",
        "caption_markup_invalid",
        format!("The caption cannot be read in its parse_mode: {}.", problem.what),
        problem.remedy,
    ))
}

/// Checks that an album has no animation, which must be its own message. The descriptor has the rules for numbers and
/// sizes.
fn album_violations(media: &[Media]) -> Vec<Violation> {
    let is_album = media.len() > 1;
    let animations =
        media.iter().enumerate().filter(|(_, one)| is_album && one.mime == "image/gif");
    animations
        .map(|(index, _)| {
            Violation::new(
                format!("media_urls[{index}]"),
                "mixed_media_unsupported",
                "Telegram takes an animated GIF only alone, not in an album.",
                "Post the GIF alone, or leave it out.",
            )
        })
        .collect()
}
