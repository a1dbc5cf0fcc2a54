//! The `settings` of a Threads post.

use super::{ALT_TEXT_MAX, CAROUSEL_MAX};
use crate::{
    Draft, Shape,
    settings::{alt_texts, settings},
};

/// Longest text of an attachment that opens as a page of its own.
const LONG_TEXT_MAX: usize = 10_000;

/// Most spoilers of one post.
const SPOILERS_MAX: usize = 10;

settings! {
    /// The settings of a post.
    Settings {
        /// The people who may reply.
        optional reply_control: Option<String> = Shape::Choice(&[
            "everyone",
            "accounts_you_follow",
            "mentioned_only",
            "parent_post_author_only",
            "followers_only",
        ]),
        /// Topic of the post, without # and without the characters . and &.
        optional topic_tag: Option<String> = Shape::Text { min: 1, max: 50 },
        /// A poll below a post without media.
        optional poll: Option<Poll> = Shape::Object(Poll::FIELDS),
        /// A long text attached to a post without media.
        optional text_attachment: Option<TextAttachment> = Shape::Object(TextAttachment::FIELDS),
        /// Address shown as a preview card on a post without media.
        optional link_attachment: Option<String> = Shape::Url,
        /// A GIF on a post without media.
        optional gif_attachment: Option<Gif> = Shape::Object(Gif::FIELDS),
        /// Id of the post to quote.
        optional quote_post_id: Option<String> = Shape::Id { min: 1, max: 64 },
        /// A text that disappears after 24 hours and takes no replies.
        optional is_ghost_post: bool = Shape::Bool,
        /// Parts of the text that are hidden until tapped.
        optional spoilers: Vec<Spoiler> = Shape::List {
            of: &Shape::Object(Spoiler::FIELDS),
            min: 1,
            max: SPOILERS_MAX,
        },
        /// Hides the media until tapped.
        optional is_spoiler_media: bool = Shape::Bool,
        /// Shows replies only after they were approved.
        optional enable_reply_approvals: bool = Shape::Bool,
        /// Shows the post, of a chain the first, as a story on the linked Instagram account too.
        optional share_to_instagram: bool = Shape::Bool,
        /// The same in dark colours.
        optional share_to_instagram_dark: bool = Shape::Bool,
        /// Description of each file for people who cannot see it, in the order of the files.
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
    }

    /// A long text that opens as a page of its own.
    TextAttachment {
        /// The text.
        required plaintext: String = Shape::Text { min: 1, max: LONG_TEXT_MAX },
        /// Address shown below the text.
        #[serde(skip_serializing_if = "Option::is_none")]
        optional link_attachment_url: Option<String> = Shape::Url,
    }

    /// A GIF of a provider.
    Gif {
        /// Id of the GIF at its provider.
        required gif_id: String = Shape::Id { min: 1, max: 128 },
        /// The source of the GIF.
        required provider: String = Shape::Choice(&["GIPHY"]),
    }

    /// A part of the text.
    Spoiler {
        /// The start of the part, in characters from the start of the text.
        required offset: usize = Shape::Integer { min: 0, max: 9_999 },
        /// Its length in characters.
        required length: usize = Shape::Integer { min: 1, max: 10_000 },
    }
}

impl Settings {
    /// Returns the parameter that shows the post on Instagram too
    /// (<https://developers.facebook.com/docs/threads/create-posts/share-to-ig-stories>).
    pub const fn share(&self) -> Option<&'static str> {
        match (self.share_to_instagram_dark, self.share_to_instagram) {
            (true, _) => Some("crossreshare_to_ig_dark_mode"),
            (false, true) => Some("crossreshare_to_ig"),
            (false, false) => None,
        }
    }

    /// Leaves the post on Threads alone.
    pub const fn without_share(&mut self) {
        (self.share_to_instagram, self.share_to_instagram_dark) = (false, false);
    }

    /// Returns the names of the given attachments; Threads accepts only one.
    pub fn attachments(&self) -> Vec<&'static str> {
        let given = [
            ("link_attachment", self.link_attachment.is_some()),
            ("poll", self.poll.is_some()),
            ("gif_attachment", self.gif_attachment.is_some()),
            ("text_attachment", self.text_attachment.is_some()),
        ];
        given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect()
    }
}

/// Returns true if a GIF or a long text makes a post without a caption.
pub(super) fn settings_suffice(draft: &Draft) -> bool {
    draft.settings::<Settings>().is_ok_and(|settings| {
        settings.gif_attachment.is_some() || settings.text_attachment.is_some()
    })
}
