//! The `settings` of a Facebook post.

use super::{ALT_TEXT_MAX, PHOTOS_MAX};
use crate::{
    Shape,
    settings::{alt_texts, settings},
};

settings! {
    /// The settings of a post.
    Settings {
        /// Address shown as a preview below a text without media.
        optional link: Option<String> = Shape::Url,
        /// Coloured background of a text of at most 130 characters without link and media: the id of one of Facebook's
        /// presets. One that Facebook no longer has is left out.
        optional text_format_preset_id: Option<String> = Shape::Id { min: 1, max: 32 },
        /// Title of a video or reel.
        optional title: Option<String> = Shape::Text { min: 1, max: 255 },
        /// Address of the image that stands for a reel until it plays.
        optional reel_cover_url: Option<String> = Shape::Url,
        /// Has no effect: Facebook takes an image, in reel_cover_url.
        optional reel_thumb_offset: Option<i64> = Shape::Integer { min: 0, max: 900_000 },
        /// Has no effect: Facebook takes an image, in reel_cover_url.
        optional reel_cover_method: Option<String> = Shape::Text { min: 1, max: 50 },
        /// The visible part of a cover photo: the distance from the top, in percent.
        optional offset_y: Option<u8> = Shape::Integer { min: 0, max: 100 },
        /// A new cover photo is not announced in the feed.
        optional no_feed_story: bool = Shape::Bool,
        /// Description of each photo for people who cannot see it, in the order of the files.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, PHOTOS_MAX),
    }
}
