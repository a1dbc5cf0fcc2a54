//! The `settings` of a WordPress post.

use super::article;
use crate::{
    Draft, Shape, Violation,
    article::{slug_violation, title_violation},
    settings::{alt_text, alt_texts, settings},
};

/// Longest alt text in characters; WordPress has no limit; this is Fanfare's own.
pub const ALT_TEXT_MAX: usize = 1_000;

const TERM: Shape = Shape::Integer { min: 1, max: i64::MAX };

settings! {
    /// The settings of a post.
    Settings {
        /// Title; without it, the first line of the caption. A Markdown heading that serves as the title is left out of
        /// the text.
        optional title: Option<String> = Shape::Text { min: 1, max: article::TITLE_MAX },
        /// Summary for lists and feeds.
        optional excerpt: Option<String> = Shape::Text { min: 0, max: 2_000 },
        /// Last part of the post's address: lower-case letters, digits and hyphens. It must be free on the site. Without
        /// it, one is made from the title.
        optional slug: Option<String> = Shape::Text { min: 1, max: article::SLUG_MAX },
        /// Numbers of the site's categories.
        optional categories: Vec<i64> = Shape::List { of: &TERM, min: 0, max: 50 },
        /// Numbers of the site's tags.
        optional tags: Vec<i64> = Shape::List { of: &TERM, min: 0, max: 50 },
        /// Descriptions of the images for people who cannot see them, in the order of the images.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, super::IMAGES_MAX),
    }
}

impl Settings {
    /// Returns the alt text of the image with this index, if there is one.
    pub fn alt_text(&self, index: usize) -> Option<&str> {
        alt_text(&self.media_alt_texts, index)
    }
}

/// Checks rules that the descriptor cannot express. The descriptor reports values of the wrong type.
pub fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found = title_violation(draft, settings.title.as_deref());
    found.extend(slug_violation(settings.slug.as_deref()));
    found
}
