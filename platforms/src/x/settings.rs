//! The `settings` of a post on X.

use super::{ALT_TEXT_MAX, IMAGES_MAX};
use crate::{
    Shape,
    settings::{alt_texts, settings},
};

/// The default duration of a poll, in minutes.
const POLL_MINUTES: u32 = 24 * 60;

settings! {
    /// The settings of a post; in a chain they are those of its first post.
    Settings {
        /// The people who may reply.
        optional reply_settings: Option<String> = Shape::Choice(&[
            "everyone",
            "following",
            "mentionedUsers",
            "subscribers",
            "verified",
        ]),
        /// A poll below a post without media.
        optional poll: Option<Poll> = Shape::Object(Poll::FIELDS),
        /// Labels the post as a paid partnership.
        optional paid_partnership: bool = Shape::Bool,
        /// Description of each image for people who cannot see it, in the order of the files.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, IMAGES_MAX),
    }

    /// A poll.
    Poll {
        /// The answers to choose from.
        required options: Vec<String> = Shape::List {
            of: &Shape::Text { min: 1, max: 25 },
            min: 2,
            max: 4,
        },
        /// The time it lasts, in minutes; a day if left out.
        optional duration_minutes: Option<u32> = Shape::Integer { min: 5, max: 10_080 },
    }
}

impl Poll {
    /// Returns its duration in minutes.
    pub fn minutes(&self) -> u32 {
        self.duration_minutes.unwrap_or(POLL_MINUTES)
    }
}
