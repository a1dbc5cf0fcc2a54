//! The `settings` of a TikTok post.

use super::PHOTO_TITLE_MAX;
use crate::{Shape, settings::settings};

/// Audiences of a post, from everybody to nobody else.
pub(super) const PRIVACY: &[&str] =
    &["PUBLIC_TO_EVERYONE", "MUTUAL_FOLLOW_FRIENDS", "FOLLOWER_OF_CREATOR", "SELF_ONLY"];

/// Index of the last image of the longest slideshow.
const COVER_MAX: i64 = 34;

settings! {
    /// The settings of a post.
    Settings {
        /// The audience of the post; the widest that the creator's account offers unless set. The tool
        /// `tiktok.creator_info` tells what it offers.
        optional privacy_level: Option<String> = Shape::Choice(PRIVACY),
        /// Title of a slideshow. A video has its caption as title, or this when it has no caption.
        optional title: Option<String> = Shape::Text { min: 1, max: PHOTO_TITLE_MAX },
        /// Nobody may comment.
        optional disable_comment: bool = Shape::Bool,
        /// Nobody may make a duet with the video.
        optional disable_duet: bool = Shape::Bool,
        /// Nobody may stitch the video.
        optional disable_stitch: bool = Shape::Bool,
        /// TikTok adds music to a slideshow.
        optional auto_add_music: bool = Shape::Bool,
        /// The post is a paid partnership for somebody else's brand.
        optional brand_content_toggle: bool = Shape::Bool,
        /// The post advertises the creator's own business.
        optional brand_organic_toggle: bool = Shape::Bool,
        /// Time in the video, in milliseconds, whose frame is the cover.
        optional video_cover_timestamp_ms: Option<i64> = Shape::Integer { min: 0, max: 600_000 },
        /// The image of a slideshow that is the cover, counted from 0.
        optional photo_cover_index: Option<usize> = Shape::Integer { min: 0, max: COVER_MAX },
        /// Says what the files must be: `PHOTO` makes a slideshow.
        optional media_type: Option<String> = Shape::Choice(&["PHOTO", "VIDEO"]),
        /// Labels a video as made with AI.
        optional ai_generated: bool = Shape::Bool,
        /// Another name for `ai_generated`.
        optional ai_disclosure: bool = Shape::Bool,
    }
}

impl Settings {
    /// Returns true if the post must be labelled as made with AI.
    pub fn is_aigc(&self) -> bool {
        self.ai_generated || self.ai_disclosure
    }
}
