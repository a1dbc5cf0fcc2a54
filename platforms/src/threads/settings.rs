//! What `settings` of a Threads post may hold.

use serde::{Deserialize, Serialize};

use super::{ALT_TEXT_MAX, CAROUSEL_MAX};
use crate::{Draft, Setting, Shape};

/// Longest text of an attachment that opens as a page of its own.
const LONG_TEXT_MAX: usize = 10_000;

/// Most spoilers of one post.
const SPOILERS_MAX: usize = 10;

pub(super) const SETTINGS: &[Setting] = &[
    Setting::optional(
        "reply_control",
        Shape::Choice(&[
            "everyone",
            "accounts_you_follow",
            "mentioned_only",
            "parent_post_author_only",
            "followers_only",
        ]),
        "Who may reply.",
    ),
    Setting::optional(
        "topic_tag",
        Shape::Text { min: 1, max: 50 },
        "Topic of the post, without # and without the characters . and &.",
    ),
    Setting::optional("poll", Shape::Object(POLL), "A poll below a post without media."),
    Setting::optional(
        "text_attachment",
        Shape::Object(TEXT_ATTACHMENT),
        "A long text attached to a post without media.",
    ),
    Setting::optional(
        "link_attachment",
        Shape::Url,
        "Address shown as a preview card on a post without media.",
    ),
    Setting::optional("gif_attachment", Shape::Object(GIF), "A GIF on a post without media."),
    Setting::optional("quote_post_id", Shape::Text { min: 1, max: 64 }, "Id of the post to quote."),
    Setting::optional(
        "is_ghost_post",
        Shape::Bool,
        "A text that disappears after 24 hours and takes no replies.",
    ),
    Setting::optional(
        "spoilers",
        Shape::List { of: &Shape::Object(SPOILER), min: 1, max: SPOILERS_MAX },
        "Parts of the text that are hidden until tapped.",
    ),
    Setting::optional("is_spoiler_media", Shape::Bool, "Hides the media until tapped."),
    Setting::optional(
        "enable_reply_approvals",
        Shape::Bool,
        "Shows replies only after they were approved.",
    ),
    Setting::optional("share_to_instagram", Shape::Bool, "Accepted, without effect."),
    Setting::optional(
        "media_alt_texts",
        Shape::List { of: &Shape::Text { min: 0, max: ALT_TEXT_MAX }, min: 0, max: CAROUSEL_MAX },
        "Description of each file for people who cannot see it, in the order of the files.",
    ),
];

const POLL: &[Setting] = &[Setting::required(
    "options",
    Shape::List { of: &Shape::Text { min: 1, max: 25 }, min: 2, max: 4 },
    "The answers to choose from.",
)];

const TEXT_ATTACHMENT: &[Setting] = &[
    Setting::required("plaintext", Shape::Text { min: 1, max: LONG_TEXT_MAX }, "The text."),
    Setting::optional("link_attachment_url", Shape::Url, "Address shown below the text."),
];

const GIF: &[Setting] = &[
    Setting::required("gif_id", Shape::Text { min: 1, max: 128 }, "Id of the GIF at its provider."),
    Setting::required("provider", Shape::Choice(&["GIPHY"]), "Where the GIF comes from."),
];

const SPOILER: &[Setting] = &[
    Setting::required(
        "offset",
        Shape::Integer { min: 0, max: 9_999 },
        "Where the part starts, in characters from the start of the text.",
    ),
    Setting::required(
        "length",
        Shape::Integer { min: 1, max: 10_000 },
        "Its length in characters.",
    ),
];

/// The same, typed. `share_to_instagram` is missing: it does nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Settings {
    pub reply_control: Option<String>,
    pub topic_tag: Option<String>,
    pub poll: Option<Poll>,
    pub text_attachment: Option<TextAttachment>,
    pub link_attachment: Option<String>,
    pub gif_attachment: Option<Gif>,
    pub quote_post_id: Option<String>,
    pub is_ghost_post: bool,
    pub spoilers: Vec<Spoiler>,
    pub is_spoiler_media: bool,
    pub enable_reply_approvals: bool,
    pub media_alt_texts: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Poll {
    pub options: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TextAttachment {
    pub plaintext: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_attachment_url: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Gif {
    pub gif_id: String,
    pub provider: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Spoiler {
    pub offset: usize,
    pub length: usize,
}

impl Settings {
    /// Names of the attachments given; Threads takes one of them.
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

/// A GIF or a long text makes a post without a caption.
pub(super) fn suffice(draft: &Draft) -> bool {
    draft.settings::<Settings>().is_ok_and(|settings| {
        settings.gif_attachment.is_some() || settings.text_attachment.is_some()
    })
}
