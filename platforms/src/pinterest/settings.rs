//! The `settings` of a pin.

use super::{ALT_TEXT_MAX, IMAGES_MAX, TITLE_MAX};
use crate::{
    Shape,
    settings::{alt_texts, settings},
};

settings! {
    /// The settings of a pin.
    Settings {
        /// Id of the board that gets the pin; the tool `pinterest.boards` lists boards.
        required board: String = Shape::Id { min: 1, max: 30 },
        /// Title of the pin.
        optional title: Option<String> = Shape::Text { min: 1, max: TITLE_MAX },
        /// The address that the pin leads to.
        optional link: Option<String> = Shape::Url,
        /// Address of the picture that is shown until a video is played; its first frame unless set.
        optional cover_image_url: Option<String> = Shape::Url,
        /// Ids of the product pins shown in the picture. Only apps in a beta of Pinterest's may send them; for any other
        /// the pin goes out without.
        optional product_tags: Vec<String> = Shape::List {
            of: &Shape::Id { min: 1, max: 30 },
            min: 1,
            max: 24,
        },
        /// Description of the pin for people who cannot see it, as a list of one.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, IMAGES_MAX),
    }
}
