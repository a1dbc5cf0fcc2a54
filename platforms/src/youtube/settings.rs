//! The `settings` of a YouTube video.

use super::{TAGS_MAX, TITLE_MAX};
use crate::{Shape, settings::settings};

settings! {
    /// The settings of a video.
    Settings {
        /// Title of the video; the first line of the caption unless set.
        optional title: Option<String> = Shape::Text { min: 1, max: TITLE_MAX },
        /// Address of a JPEG or PNG that is shown before the video plays. The channel must be verified by phone.
        optional thumbnail_url: Option<String> = Shape::Url,
        /// The audience of the video: `public` unless set.
        optional privacy_status: Option<String> = Shape::Choice(&["public", "unlisted", "private"]),
        /// The video is made for children.
        optional self_declared_made_for_kids: bool = Shape::Bool,
        /// Words by which the video is found; 500 characters together, and two more for each that holds a space.
        optional tags: Vec<String> = Shape::List {
            of: &Shape::Text { min: 1, max: TAGS_MAX },
            min: 0,
            max: TAGS_MAX,
        },
        /// Number of one of YouTube's categories: `22` (people and blogs) unless set.
        optional category_id: Option<String> = Shape::Id { min: 1, max: 4 },
        /// Id of the playlist that the video is put into. The tool `youtube.playlists` lists the channel's.
        optional playlist_id: Option<String> = Shape::Id { min: 1, max: 100 },
        /// Subscribers are notified of the video, unless this is `false`.
        optional notify_subscribers: Option<bool> = Shape::Bool,
        /// Puts `#Shorts` below the caption.
        optional add_shorts_hashtag: bool = Shape::Bool,
        /// The company whose products the video is paid to show. YouTube takes only that it is paid, and not by whom.
        optional brand_partner: Option<String> = Shape::Text { min: 1, max: 100 },
    }
}
