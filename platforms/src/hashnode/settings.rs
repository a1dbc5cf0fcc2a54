//! The `settings` of a Hashnode article; names as in `PublishPostInput`, in snake case.

use crate::{
    Draft, Shape, Violation, article,
    settings::{alt_texts, settings},
};

/// Longest alt text in characters; Hashnode has no limit, this one is Fanfare's.
pub const ALT_TEXT_MAX: usize = 1_000;
/// Longest title in characters.
pub const TITLE_MAX: usize = 250;

settings! {
    /// The settings of an article.
    Settings {
        /// Title; without it, the first line of the caption. A Markdown heading that serves as the title is left out of
        /// the text.
        optional title: Option<String> = Shape::Text { min: 1, max: TITLE_MAX },
        /// A line below the title.
        optional subtitle: Option<String> = Shape::Text { min: 1, max: 250 },
        /// Up to four tags, by their names.
        optional tags: Vec<String> = Shape::List {
            of: &Shape::Text { min: 1, max: 50 },
            min: 0,
            max: 4,
        },
        /// Last part of the article's address: lower-case letters, digits and hyphens. It must be free in the
        /// publication. Without it, one is made from the title.
        optional slug: Option<String> = Shape::Text { min: 1, max: 150 },
        /// Publication to publish in, in place of the account's own.
        optional publication_id: Option<String> = Shape::Id { min: 24, max: 24 },
        /// Series that the article belongs to.
        optional series_id: Option<String> = Shape::Id { min: 24, max: 24 },
        /// Address of the original, if the article was published elsewhere first.
        optional original_article_url: Option<String> = Shape::Url,
        /// Title for search engines.
        optional meta_title: Option<String> = Shape::Text { min: 1, max: 250 },
        /// Summary for search engines.
        optional meta_description: Option<String> = Shape::Text { min: 1, max: 500 },
        /// Takes no comments.
        optional disable_comments: bool = Shape::Bool,
        /// Descriptions of the images below the text, in the order of all images. The cover has none.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, super::IMAGES_MAX),
    }
}

/// Checks rules that the descriptor cannot express. The descriptor reports values of the wrong type.
pub fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found = article::title_violation(draft, settings.title.as_deref());
    found.extend(article::slug_violation(settings.slug.as_deref()));
    for (index, tag) in settings.tags.iter().enumerate() {
        found.extend(article::slugify(tag).is_empty().then(|| {
            Violation::new(
                format!("settings.tags[{index}]"),
                "setting_invalid",
                format!("The tag {tag:?} has no letter or digit that an address can hold."),
                "Use a tag with Latin letters or digits.",
            )
        }));
    }
    for (name, id) in
        [("publication_id", &settings.publication_id), ("series_id", &settings.series_id)]
    {
        let is_wrong =
            id.as_ref().is_some_and(|id| !id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        found.extend(is_wrong.then(|| {
            let message = format!("{name} must be an id of Hashnode.");
            let remedy =
                "Give the 24 hexadecimal digits that Hashnode's dashboard shows in the address.";
            Violation::new(format!("settings.{name}"), "setting_invalid", message, remedy)
        }));
    }
    found
}
