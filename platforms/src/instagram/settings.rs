//! The `settings` of an Instagram post.

use serde::Serialize;

use super::{ALT_TEXT_MAX, CAROUSEL_MAX, COLLABORATORS_MAX, COMMENT_MAX};
use crate::{
    Draft, Shape,
    settings::{alt_texts, is_ai_generated, settings},
};

/// Most people tagged in one post, <https://developers.facebook.com/docs/instagram-platform/content-publishing>.
const TAGS_MAX: usize = 20;

settings! {
    /// The settings of a post.
    Settings {
        /// A comment of the account itself below the post, made right after it.
        optional first_comment: Option<String> = Shape::Text { min: 1, max: COMMENT_MAX },
        /// User names of up to three accounts that are asked to be authors too.
        optional collaborators: Vec<String> = Shape::List {
            of: &Shape::Id { min: 1, max: 30 },
            min: 1,
            max: COLLABORATORS_MAX,
        },
        /// Address of the JPEG image that stands for a reel until it plays.
        optional reel_cover_url: Option<String> = Shape::Url,
        /// The frame that stands for a reel until it plays, in milliseconds from its start; an image in reel_cover_url comes
        /// before it.
        optional reel_thumb_offset: Option<i64> = Shape::Integer { min: 0, max: 900_000 },
        /// Has no effect: the cover follows from reel_cover_url or reel_thumb_offset.
        optional reel_cover_method: Option<String> = Shape::Text { min: 1, max: 50 },
        /// Shows a reel to people who do not follow the account first.
        optional is_trial_reel: bool = Shape::Bool,
        /// The way a trial reel becomes one for followers: by hand, or by itself when it does well.
        optional graduation_strategy: Option<String> = Shape::Choice(&["MANUAL", "SS_PERFORMANCE"]),
        /// Labels the post as made with AI; the same as ai_generated.
        optional is_ai_generated: bool = Shape::Bool,
        /// Id of the licensed sound of a reel.
        optional audio_id: Option<String> = Shape::Id { min: 1, max: 64 },
        /// People to tag; in a carousel they are tagged in its first image.
        optional user_tags: Vec<UserTag> = Shape::List {
            of: &Shape::Object(UserTag::FIELDS),
            min: 1,
            max: TAGS_MAX,
        },
        /// A poll below the caption, which is its question.
        optional poll: Option<Poll> = Shape::Object(Poll::FIELDS),
        /// Asks people to answer the caption in the comments.
        optional comment_prompt: bool = Shape::Bool,
        /// Publishes the first file as a story too.
        optional companion_story: bool = Shape::Bool,
        /// Description of each image for people who cannot see it, in the order of the files.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, CAROUSEL_MAX),
    }

    /// A poll.
    Poll {
        /// The answers to choose from.
        required options: Vec<String> = Shape::List {
            of: &Shape::Text { min: 1, max: 25 },
            min: 2,
            max: 4,
        },
        /// Leaves the poll open; others end after three days.
        optional open_ended: bool = Shape::Bool,
    }

    /// A person in an image or video.
    UserTag {
        /// The user name, without @.
        required username: String = Shape::Id { min: 1, max: 30 },
        /// Place in an image, from 0 (left) to 1 (right). Needed for images.
        #[serde(skip_serializing_if = "Option::is_none")]
        optional x: Option<f64> = Shape::Number { min: 0.0, max: 1.0 },
        /// Place in an image, from 0 (top) to 1 (bottom). Needed for images.
        #[serde(skip_serializing_if = "Option::is_none")]
        optional y: Option<f64> = Shape::Number { min: 0.0, max: 1.0 },
    }
}

/// A person tagged in a video, without a position.
#[derive(Serialize)]
pub(super) struct InVideo<'a> {
    username: &'a str,
}

impl UserTag {
    /// Returns the tag without a position.
    pub fn in_video(&self) -> InVideo<'_> {
        InVideo { username: &self.username }
    }
}

/// An addition to a caption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Addon {
    Poll,
    CommentPrompt,
}

impl Addon {
    /// Returns the edge of a post that shows it.
    pub const fn edge(self) -> &'static str {
        match self {
            Self::Poll => "poll_attachment",
            Self::CommentPrompt => "prompt_response",
        }
    }

    /// Returns the setting that asks for it.
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::CommentPrompt => "comment_prompt",
        }
    }
}

impl Settings {
    /// Returns what is to be attached to the caption.
    pub const fn addon(&self) -> Option<Addon> {
        match (&self.poll, self.comment_prompt) {
            (Some(_), _) => Some(Addon::Poll),
            (None, true) => Some(Addon::CommentPrompt),
            (None, false) => None,
        }
    }

    /// Returns true if the AI label was requested, under any of its names.
    pub fn is_ai(&self, draft: &Draft) -> bool {
        self.is_ai_generated || is_ai_generated(draft)
    }
}
