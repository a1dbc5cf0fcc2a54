//! What `settings` of a WordPress post may hold.

use serde::Deserialize;

use super::article;
use crate::{Draft, Setting, Shape, Violation, settings};

/// Longest alt text in characters; WordPress has no limit, this one is Fanfare's.
pub const ALT_TEXT_MAX: usize = 1_000;

const TERM: Shape = Shape::Integer { min: 1, max: i64::MAX };

pub const SETTINGS: &[Setting] = &[
    Setting::optional(
        "title",
        Shape::Text { min: 1, max: article::TITLE_MAX },
        "Title; without it, the first line of the caption. A Markdown heading that serves as the title is left out of \
         the text.",
    ),
    Setting::optional(
        "excerpt",
        Shape::Text { min: 0, max: 2_000 },
        "Summary for lists and feeds.",
    ),
    Setting::optional(
        "slug",
        Shape::Text { min: 1, max: article::SLUG_MAX },
        "Last part of the post's address: lower-case letters, digits and hyphens. It must be free on the site. Without \
         it, one is made from the title.",
    ),
    Setting::optional(
        "categories",
        Shape::List { of: &TERM, min: 0, max: 50 },
        "Numbers of the site's categories.",
    ),
    Setting::optional(
        "tags",
        Shape::List { of: &TERM, min: 0, max: 50 },
        "Numbers of the site's tags.",
    ),
    Setting::optional(
        "media_alt_texts",
        Shape::List {
            of: &Shape::Text { min: 0, max: ALT_TEXT_MAX },
            min: 0,
            max: super::IMAGES_MAX,
        },
        "Descriptions of the images for people who cannot see them, in the order of the images.",
    ),
    settings::AI_GENERATED,
    settings::AI_DISCLOSURE,
];

/// The settings as the connector uses them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub title: Option<String>,
    pub excerpt: Option<String>,
    pub slug: Option<String>,
    pub categories: Vec<i64>,
    pub tags: Vec<i64>,
    pub media_alt_texts: Vec<String>,
}

impl Settings {
    /// Alt text of the image with this index, if there is one.
    pub fn alt_text(&self, index: usize) -> Option<&str> {
        self.media_alt_texts.get(index).map(String::as_str).filter(|text| !text.trim().is_empty())
    }
}

/// Rules that the descriptor cannot express. Values of the wrong kind are the descriptor's to report.
pub fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found = Vec::new();
    if article::title(draft, &settings).is_empty() && !draft.media.is_empty() {
        let message = "A post without text needs a title.";
        let remedy = "Set settings.title, or write a caption; its first line becomes the title.";
        found.push(Violation::new("settings.title", "setting_required", message, remedy));
    }
    if settings.slug.is_some_and(|slug| !slug.is_empty() && slug != article::slugified(&slug)) {
        let message = "slug may hold lower-case letters, digits and single hyphens between them.";
        let remedy = "Use a slug like autumn-news-2030.";
        found.push(Violation::new("settings.slug", "setting_invalid", message, remedy));
    }
    found
}
