//! The `settings` of a LinkedIn post.

use super::{ALT_TEXT_MAX, IMAGES_MAX};
use crate::{
    Shape,
    settings::{alt_texts, settings},
};

/// The labels of a call to action on LinkedIn.
const LABELS: &[&str] = &[
    "APPLY",
    "DOWNLOAD",
    "VIEW_QUOTE",
    "LEARN_MORE",
    "SIGN_UP",
    "SUBSCRIBE",
    "REGISTER",
    "JOIN",
    "ATTEND",
    "REQUEST_DEMO",
    "SEE_MORE",
    "BUY_NOW",
    "SHOP_NOW",
];

settings! {
    /// The settings of a post.
    Settings {
        /// Title of a document or a video. A document without one is called after its file.
        optional title: Option<String> = Shape::Text { min: 1, max: 200 },
        /// Name of a document's file. LinkedIn has no place for it: it is the title of a document that has none.
        optional filename: Option<String> = Shape::Text { min: 1, max: 255 },
        /// Organizations that the caption mentions: each `@name` in it becomes a link to the organization's page.
        optional mentions: Vec<Mention> = Shape::List {
            of: &Shape::Object(Mention::FIELDS),
            min: 1,
            max: 20,
        },
        /// A poll below a post without media.
        optional poll: Option<Poll> = Shape::Object(Poll::FIELDS),
        /// Address of a JPEG or PNG that is shown until a video is played.
        optional thumbnail_url: Option<String> = Shape::Url,
        /// Label of the button below the post, together with `content_landing_page`.
        optional content_call_to_action_label: Option<String> = Shape::Choice(LABELS),
        /// The address that the button opens.
        optional content_landing_page: Option<String> = Shape::Url,
        /// Description of each image for people who cannot see it, in the order of the images.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, IMAGES_MAX),
    }

    /// An organization in the caption. Give `urn` or `vanity_name`.
    Mention {
        /// Its name as it stands in the caption behind the @; with `urn` it must be the organization's full name.
        required name: String = Shape::Text { min: 1, max: 100 },
        /// Its URN, like `urn:li:organization:2414183`.
        optional urn: Option<String> = Shape::Id { min: 21, max: 60 },
        /// The last part of its page's address, by which its URN and its full name are looked up.
        optional vanity_name: Option<String> = Shape::Id { min: 1, max: 100 },
    }

    /// A poll.
    Poll {
        /// The question.
        required question: String = Shape::Text { min: 1, max: 140 },
        /// The answers to choose from.
        required options: Vec<String> = Shape::List {
            of: &Shape::Text { min: 1, max: 30 },
            min: 2,
            max: 4,
        },
        /// The time it runs; three days unless set.
        optional duration: Option<String> = Shape::Choice(&[
            "ONE_DAY",
            "THREE_DAYS",
            "SEVEN_DAYS",
            "FOURTEEN_DAYS",
        ]),
    }
}
